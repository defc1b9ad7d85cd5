#include "rest/media_type.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "http/query.h"

namespace keelson::rest {
namespace {

constexpr std::string_view kFormats[] = {"application/json", "application/yaml",
                                         "application/vnd.kubernetes.protobuf"};
constexpr std::string_view kPatchTypes[] = {
    "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};

std::string_view Trim(std::string_view text, std::string_view set = " \t") {
  auto first = text.find_first_not_of(set);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(set) - first + 1);
}

// Takes the text up to `separator` off the front of `rest`.
std::string_view TakeUntil(std::string_view& rest, char separator) {
  auto at = rest.find(separator);
  auto part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

struct Clause {
  std::string_view type;
  std::string_view subtype;
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
  double quality = 1;
  size_t position = 0;
};

std::optional<Clause> ParseClause(std::string_view text) {
  Clause clause;
  auto range = TakeUntil(text, ';');
  clause.type = Trim(TakeUntil(range, '/'));
  clause.subtype = Trim(range);
  if (clause.subtype.empty()) {
    if (clause.type != "*") return std::nullopt;
    clause.subtype = "*";
  }
  if (clause.subtype.find('/') != std::string_view::npos) return std::nullopt;
  while (!text.empty()) {
    auto value = TakeUntil(text, ';');
    auto name = Trim(TakeUntil(value, '='));
    if (value.empty() || value.find('=') != std::string_view::npos) continue;
    if (name == "q") {
      clause.quality = std::strtod(std::string(value).c_str(), nullptr);
    } else {
      clause.parameters.emplace_back(name, Trim(value));
    }
  }
  return clause;
}

// Clauses by falling quality, wildcards after what they would swallow.
std::vector<Clause> ParseAccept(std::string_view accept) {
  std::vector<Clause> clauses;
  while (!accept.empty()) {
    if (auto clause = ParseClause(TakeUntil(accept, ','))) {
      clause->position = clauses.size();
      clauses.push_back(*std::move(clause));
    }
  }
  std::ranges::sort(clauses, {}, [](const Clause& c) {
    return std::tuple(-c.quality, c.type == "*", c.subtype == "*", c.position);
  });
  return clauses;
}

std::vector<std::string> Offered(const OutputOffer& offer) {
  std::vector<std::string> offered{std::string(kFormats[0]), std::string(kFormats[1])};
  if (offer.protobuf) offered.emplace_back(kFormats[2]);
  return offered;
}

std::vector<std::string> OfferedStreams(const OutputOffer& offer) {
  std::vector<std::string> offered{"application/json;stream=watch"};
  if (offer.protobuf) offered.emplace_back("application/vnd.kubernetes.protobuf;stream=watch");
  return offered;
}

std::string Join(const std::vector<std::string>& parts) {
  std::string joined;
  for (const auto& part : parts) {
    if (!joined.empty()) joined += ", ";
    joined += part;
  }
  return joined;
}

Status NotAcceptable(const std::vector<std::string>& offered) {
  return {.code = 406,
          .reason = "NotAcceptable",
          .message = "only the following media types are accepted: " + Join(offered)};
}

Status UnknownFormat(const std::vector<std::string>& accepted) {
  return {.code = 415,
          .reason = "UnsupportedMediaType",
          .message =
              "the body of the request was in an unknown format - accepted media types "
              "include: " +
              Join(accepted)};
}

// The router's look at Accept: parameters are ignored, only */* is a wildcard.
std::optional<Status> RefuseByRoute(std::string_view accept, const OutputOffer& offer) {
  auto produced = Offered(offer);
  if (offer.watch) {
    for (auto& stream : OfferedStreams(offer)) produced.push_back(std::move(stream));
  }
  for (std::string_view rest = accept; !rest.empty();) {
    auto type = TakeUntil(rest, ',');
    type = Trim(TakeUntil(type, ';'));
    if (type == "*/*" || std::ranges::find(produced, type) != produced.end()) return std::nullopt;
  }
  return Status{
      .code = 406,
      .reason = "NotAcceptable",
      .message = "406: Not Acceptable\n\nAvailable representations: " + Join(produced),
      .details = StatusDetails{},
  };
}

struct Wanted {
  std::string_view kind;
  std::string_view group;
  std::string_view version;
};

std::optional<Shape> ShapeFor(const Wanted& wanted, const OutputOffer& offer, Format format) {
  if (wanted.group != "meta.k8s.io" || (wanted.version != "v1" && wanted.version != "v1beta1")) {
    return std::nullopt;
  }
  if (wanted.kind == "Table") {
    // A Table has no protobuf form.
    return offer.table && format != Format::kProtobuf ? std::optional(Shape::kTable) : std::nullopt;
  }
  if (!offer.partial) return std::nullopt;
  if (wanted.kind == "PartialObjectMetadata") return Shape::kPartialObjectMetadata;
  if (wanted.kind == "PartialObjectMetadataList") return Shape::kPartialObjectMetadataList;
  return std::nullopt;
}

std::optional<OutputMedia> Accept(const Clause& clause, Format format, const OutputOffer& offer) {
  OutputMedia media{.format = format};
  std::optional<Wanted> wanted;
  auto want = [&]() -> Wanted& { return wanted ? *wanted : wanted.emplace(); };
  for (const auto& [name, value] : clause.parameters) {
    if (name == "as") {
      want().kind = value;
    } else if (name == "g") {
      want().group = value;
    } else if (name == "v") {
      want().version = value;
    } else if (name == "stream") {
      if (value != "watch" || format == Format::kYaml) return std::nullopt;
    } else if (name == "sv") {
      if (!value.empty()) return std::nullopt;
    } else if (name == "pretty") {
      media.pretty = value == "1";
    }
  }
  if (wanted) {
    auto shape = ShapeFor(*wanted, offer, format);
    if (!shape) return std::nullopt;
    media.shape = *shape;
    media.beta_meta = wanted->version == "v1beta1";
  }
  return media;
}

bool Covers(const Clause& clause, std::string_view media_type) {
  auto slash = media_type.find('/');
  bool same_type = clause.type == media_type.substr(0, slash);
  return (clause.type == "*" && clause.subtype == "*") ||
         (same_type && (clause.subtype == "*" || clause.subtype == media_type.substr(slash + 1)));
}

bool WantsPretty(const OutputRequest& request) {
  if (request.raw_query.find("pretty") != std::string_view::npos) {
    auto pretty = http::Query(request.raw_query).Get("pretty");
    if (pretty && !pretty->empty()) {
      constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
      return std::ranges::find(kTrue, *pretty) != std::end(kTrue);
    }
  }
  // Tools that people look at directly.
  return request.user_agent.starts_with("curl") || request.user_agent.starts_with("Wget") ||
         request.user_agent.starts_with("Mozilla/5.0");
}

std::optional<OutputMedia> PickMedia(std::string_view accept, const OutputOffer& offer) {
  if (accept.empty()) return OutputMedia{};
  for (const auto& clause : ParseAccept(accept)) {
    for (Format format : {Format::kJson, Format::kYaml, Format::kProtobuf}) {
      if (format == Format::kProtobuf && !offer.protobuf) continue;
      if (!Covers(clause, MediaTypeOf(format))) continue;
      if (auto media = Accept(clause, format, offer)) return media;
    }
  }
  return std::nullopt;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < 0x7f &&
           std::string_view("()<>@,;:\\\"/[]?=").find(c) == std::string::npos;
  });
}

// The media type without its parameters, in lower case; nothing when it is malformed.
std::optional<std::string> ParseMediaType(std::string_view text) {
  auto parameters = text;
  auto type = Trim(TakeUntil(parameters, ';'));
  auto subtype = type;
  auto main = TakeUntil(subtype, '/');
  if (!IsToken(main) || !IsToken(subtype)) return std::nullopt;
  while (!parameters.empty()) {
    auto value = TakeUntil(parameters, ';');
    if (Trim(value).empty()) continue;
    auto name = Trim(TakeUntil(value, '='));
    value = Trim(value);
    bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    if (!IsToken(name) || (!quoted && !IsToken(value))) return std::nullopt;
  }
  std::string lower(type);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

std::string_view MediaTypeOf(Format format) { return kFormats[static_cast<size_t>(format)]; }

ApiResult<OutputMedia> NegotiateOutput(const OutputRequest& request, const OutputOffer& offer) {
  if (!request.accept.empty()) {
    if (auto refused = RefuseByRoute(request.accept, offer)) {
      return std::unexpected(*std::move(refused));
    }
  }
  auto media = PickMedia(request.accept, offer);
  if (offer.streaming && (!media || media->format == Format::kYaml)) {
    return std::unexpected(NotAcceptable(OfferedStreams(offer)));
  }
  if (!media) return std::unexpected(NotAcceptable(Offered(offer)));
  media->pretty = media->pretty || WantsPretty(request);
  return *media;
}

std::optional<size_t> PickMediaType(std::string_view accept,
                                    std::span<const std::string_view> offered) {
  for (const auto& clause : ParseAccept(accept.empty() ? "*/*" : accept)) {
    for (size_t i = 0; i < offered.size(); ++i) {
      auto subtype = offered[i];
      auto type = TakeUntil(subtype, '/');
      if ((clause.type == type || clause.type == "*") &&
          (clause.subtype == subtype || clause.subtype == "*")) {
        return i;
      }
    }
  }
  return std::nullopt;
}

ApiResult<DiscoveryMedia> NegotiateDiscovery(const OutputRequest& request) {
  if (request.accept.empty()) return DiscoveryMedia{.pretty = WantsPretty(request)};
  if (auto refused = RefuseByRoute(request.accept, {})) {
    return std::unexpected(*std::move(refused));
  }
  for (const auto& clause : ParseAccept(request.accept)) {
    Wanted wanted;
    for (const auto& [name, value] : clause.parameters) {
      if (name == "as") wanted.kind = value;
      if (name == "g") wanted.group = value;
      if (name == "v") wanted.version = value;
    }
    const bool plain = wanted.kind.empty() && wanted.group.empty() && wanted.version.empty();
    const bool aggregated = wanted.kind == "APIGroupDiscoveryList" &&
                            wanted.group == "apidiscovery.k8s.io" && wanted.version == "v2";
    if (!plain && !aggregated) continue;
    for (Format format : {Format::kJson, Format::kYaml, Format::kProtobuf}) {
      if (aggregated && format == Format::kYaml) continue;
      if (!Covers(clause, MediaTypeOf(format))) continue;
      return DiscoveryMedia{format, aggregated, WantsPretty(request)};
    }
  }
  return std::unexpected(NotAcceptable(Offered({})));
}

ApiResult<Format> NegotiateInput(std::string_view content_type, bool protobuf) {
  if (content_type.empty()) return Format::kJson;
  if (auto type = ParseMediaType(content_type)) {
    for (Format format : {Format::kJson, Format::kYaml, Format::kProtobuf}) {
      if (format == Format::kProtobuf && !protobuf) continue;
      if (*type == MediaTypeOf(format)) return format;
    }
  }
  return std::unexpected(UnknownFormat(Offered({.protobuf = protobuf})));
}

ApiResult<PatchType> NegotiatePatch(std::string_view content_type, bool strategic) {
  auto type = Trim(content_type.substr(0, content_type.find(';')));
  for (size_t i = 0; i < std::size(kPatchTypes); ++i) {
    if (type != kPatchTypes[i]) continue;
    auto patch = static_cast<PatchType>(i);
    if (patch != PatchType::kStrategicMergePatch || strategic) return patch;
  }
  if (!strategic) {
    return std::unexpected(UnknownFormat(
        {std::string(kPatchTypes[0]), std::string(kPatchTypes[1]), std::string(kPatchTypes[3])}));
  }
  return std::unexpected(Status{.code = 415,
                                .reason = "UnsupportedMediaType",
                                .message = "415: Unsupported Media Type",
                                .details = StatusDetails{}});
}

}  // namespace keelson::rest
