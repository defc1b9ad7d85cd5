#include "kube/relay/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/ip_address.h"
#include "base/quote.h"
#include "kube/relay/relay.h"
#include "schema/field_error.h"
#include "value/path.h"

namespace keelson::kube {
namespace {

constexpr std::string_view kContainerLists[] = {"initContainers", "containers",
                                                "ephemeralContainers"};

std::optional<int64_t> Number(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Go's strconv.ParseBool, except that upstream takes anything but these for true.
bool IsTrue(const http::Query& query, std::string_view name) {
  auto value = query.Get(name);
  if (!value) return false;
  constexpr std::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};
  return std::ranges::find(kFalse, *value) == std::end(kFalse);
}

// Parameters in the order of their names, as Go encodes them.
class QueryText {
 public:
  void Add(std::string_view name, std::string_view value) { pairs_.emplace(name, value); }
  std::string Take() const {
    std::string text;
    for (const auto& [name, value] : pairs_) {
      if (!text.empty()) text += '&';
      text += EscapeQuery(name) + "=" + EscapeQuery(value);
    }
    return text;
  }

 private:
  std::multimap<std::string, std::string> pairs_;
};

ApiResult<std::optional<int64_t>> Whole(const http::Query& query, std::string_view name) {
  auto text = query.Get(name);
  if (!text || text->empty()) return std::optional<int64_t>();
  auto number = Number(*text);
  if (!number) {
    return std::unexpected(BadRequestStatus(
        fmt::format("strconv.ParseInt: parsing {}: invalid syntax", Quote(*text))));
  }
  return number;
}

}  // namespace

bool IsGlobalUnicast(const IpAddress& address) {
  static const auto multicast4 = *IpPrefix::Parse("224.0.0.0/4");
  static const auto multicast6 = *IpPrefix::Parse("ff00::/8");
  static const auto broadcast = *IpAddress::Parse("255.255.255.255");
  return !address.IsUnspecified() && !address.IsLoopback() && !address.IsLinkLocalUnicast() &&
         !multicast4.Contains(address) && !multicast6.Contains(address) && address != broadcast;
}

std::optional<ProxyName> ParseProxyName(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    const auto colon = text.find(':', at);
    parts.push_back(text.substr(at, colon - at));
    if (colon == text.npos) break;
    at = colon + 1;
  }
  ProxyName name;
  if (parts.size() > 3) return std::nullopt;
  if (parts.size() == 3) name.scheme = parts[0];
  name.name = parts[parts.size() == 3 ? 1 : 0];
  if (parts.size() > 1) name.port = parts.back();
  const bool known = name.scheme.empty() || name.scheme == "http" || name.scheme == "https";
  if (name.name.empty() || !known) return std::nullopt;
  return name;
}

ApiResult<std::string> PickContainer(const value::Value& pod, std::string_view asked) {
  const auto name = pod["metadata"]["name"].AsString();
  std::vector<std::string_view> names;
  for (auto list : kContainerLists) {
    for (const auto& container : pod["spec"][list].items()) {
      names.push_back(container["name"].AsString());
    }
  }
  if (!asked.empty()) {
    if (std::ranges::find(names, asked) != names.end()) return std::string(asked);
    return std::unexpected(
        BadRequestStatus(fmt::format("container {} is not valid for pod {}", asked, name)));
  }
  const auto containers = pod["spec"]["containers"].items();
  if (containers.size() == 1) return std::string(containers[0]["name"].AsString());
  return std::unexpected(
      BadRequestStatus(fmt::format("a container name must be specified for pod {}, choose one of: "
                                   "[{}]",
                                   name, fmt::join(names, " "))));
}

ApiResult<std::string> LogQuery(const http::Query& query, std::string_view pod) {
  QueryText text;
  for (auto name : {"follow", "previous", "timestamps"}) {
    if (IsTrue(query, name)) text.Add(name, "true");
  }
  struct Limit {
    std::string_view name;
    int64_t least;
    std::string_view complaint;
    std::optional<int64_t> value;
  };
  Limit limits[] = {{"tailLines", 0, "must be greater than or equal to 0", {}},
                    {"limitBytes", 1, "must be greater than 0", {}},
                    {"sinceSeconds", 1, "must be greater than 0", {}}};
  schema::FieldErrors errors;
  const auto since_time = query.Get("sinceTime").value_or("");
  for (auto& limit : limits) {
    auto value = Whole(query, limit.name);
    if (!value) return std::unexpected(std::move(value).error());
    limit.value = *value;
    if (!limit.value) continue;
    text.Add(limit.name, std::to_string(*limit.value));
    if (limit.name == "sinceSeconds" && !since_time.empty()) {
      errors.push_back(schema::Forbidden(
          value::Path(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"));
    } else if (*limit.value < limit.least) {
      errors.push_back(
          schema::Invalid(value::Path(limit.name), *limit.value, std::string(limit.complaint)));
    }
  }
  if (!since_time.empty()) text.Add("sinceTime", since_time);
  if (query.Has("stream")) {
    errors.push_back(schema::Forbidden(value::Path("stream"), "may not be specified"));
  }
  if (!errors.empty()) {
    return std::unexpected(schema::InvalidStatus("", "PodLogOptions", pod, errors));
  }
  return text.Take();
}

std::string StreamQuery(const http::Query& query, bool command) {
  struct Stream {
    std::string_view asked;
    std::string_view told;
  };
  QueryText text;
  for (const Stream& stream : {Stream{"stdin", "input"}, Stream{"stdout", "output"},
                               Stream{"stderr", "error"}, Stream{"tty", "tty"}}) {
    if (IsTrue(query, stream.asked)) text.Add(stream.told, "1");
  }
  if (command) {
    for (auto word : query.GetAll("command")) text.Add("command", word);
  }
  return text.Take();
}

std::string PortForwardQuery(const http::Query& query) {
  QueryText text;
  auto ports = query.GetAll("ports");
  if (!ports.empty()) text.Add("port", fmt::format("{}", fmt::join(ports, ",")));
  return text.Take();
}

ApiResult<std::string> PodOrigin(const value::Value& pod, const ProxyName& name) {
  std::string port(name.port);
  if (port.empty()) {
    for (const auto& container : pod["spec"]["containers"].items()) {
      auto ports = container["ports"].items();
      if (ports.empty()) continue;
      port = std::to_string(ports[0]["containerPort"].AsInt());
      break;
    }
  }
  auto ips = pod["status"]["podIPs"].items();
  const std::string ip(ips.empty() ? std::string_view() : ips[0]["ip"].AsString());
  auto address = IpAddress::Parse(ip);
  if (!address || !IsGlobalUnicast(*address)) {
    return std::unexpected(BadRequestStatus("address not allowed"));
  }
  const bool brackets = ip.find(':') != ip.npos;
  return fmt::format("{}://{}{}{}{}{}", name.scheme.empty() ? "http" : name.scheme,
                     brackets ? "[" : "", ip, brackets ? "]" : "", port.empty() ? "" : ":", port);
}

ApiResult<std::string> ServicePortName(const value::Value& service, const ProxyName& name) {
  auto number = Number(name.port);
  if (!number) return std::string(name.port);
  for (const auto& port : service["spec"]["ports"].items()) {
    if (port["port"].AsInt() == *number) return std::string(port["name"].AsString());
  }
  return std::unexpected(Status{.code = 503,
                                .reason = "ServiceUnavailable",
                                .message = fmt::format("no service port {} found for service {}",
                                                       *number, Quote(name.name))});
}

std::vector<EndpointChoice> EndpointChoices(const value::Value& endpoints, std::string_view port) {
  std::vector<EndpointChoice> choices;
  for (const auto& subset : endpoints["subsets"].items()) {
    for (const auto& offered : subset["ports"].items()) {
      if (offered["name"].AsString() != port) continue;
      for (const auto& address : subset["addresses"].items()) {
        const auto target = address["targetRef"];
        if (target["kind"].AsString() != "Pod") continue;
        choices.push_back({std::string(address["ip"].AsString()), offered["port"].AsInt(),
                           std::string(target["name"].AsString()),
                           std::string(target["namespace"].AsString())});
      }
    }
  }
  return choices;
}

Status KubeletRefusal(int code, std::string_view pod, std::string_view message) {
  if (code == 500) return InternalErrorStatus(std::string(message));
  if (code == 400) return BadRequestStatus(std::string(message));
  struct Text {
    int code;
    std::string_view reason;
    std::string_view message;
  };
  static constexpr Text kTexts[] = {
      {401, "Unauthorized", "the server has asked for the client to provide credentials"},
      {404, "NotFound", "the server could not find the requested resource"},
      {405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
      {409, "Conflict", "the server reported a conflict"},
      {422, "Invalid", "the server rejected our request due to an error in our request"},
      {429, "TooManyRequests",
       "the server has received too many requests and has asked us to try again later"},
      {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
      {504, "Timeout",
       "the server was unable to return a response in the time allotted, but may still be "
       "processing the request"},
  };
  std::string reason;
  std::string text = fmt::format(
      "the server responded with the status code {} but did not return more information", code);
  auto known = std::ranges::find(kTexts, code, &Text::code);
  if (known != std::end(kTexts)) {
    reason = known->reason;
    text = known->message;
  } else if (code == 403) {
    reason = "Forbidden";
    text = message;
  } else if (code > 500) {
    reason = "InternalError";
    text = fmt::format("an error on the server ({}) has prevented the request from succeeding",
                       Quote(message));
  }
  return {.code = code,
          .reason = reason,
          .message = fmt::format("{} ( pods/log {})", text, pod),
          .details = StatusDetails{.name = std::string(pod), .kind = "pods/log"}};
}

}  // namespace keelson::kube
