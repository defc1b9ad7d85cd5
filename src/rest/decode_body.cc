#include "rest/decode_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "schema/crd.h"
#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "value/yaml.h"

namespace keelson::rest {
namespace {

using schema::GroupVersionKind;

constexpr size_t kQuotedBytes = 30;
// Where upstream's registry of kinds is declared; its refusals say so.
constexpr std::string_view kScheme = "pkg/api/legacyscheme/scheme.go:30";

// The beginning of a body for an error: objects as they are, anything else in hex.
std::string Summary(std::string_view body) {
  if (body.empty()) return "<empty>";
  auto head = body.substr(0, kQuotedBytes);
  std::string text;
  if (body[0] == '{') {
    text = head;
  } else {
    for (char c : head) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  if (body.size() > kQuotedBytes) text += " ...";
  return text;
}

Status Unrecognized(const ExpectedBody& expected, std::string_view why, std::string_view body) {
  return BadRequestStatus(
      fmt::format("the object provided is unrecognized (must be of type {}): {} ({})",
                  expected.kind.kind, why, Summary(body)));
}

Status CannotHandle(const GroupVersionKind& given, const ExpectedBody& expected,
                    std::string_view why) {
  return BadRequestStatus(fmt::format("{} in version {} cannot be handled as a {}: {}", given.kind,
                                      Quote(given.version), expected.kind.kind, why));
}

// Versions that upstream still reads though it does not serve them: those of workloads before they
// moved to apps/v1. Bodies of such a version are known, and refused in other words.
constexpr GroupVersionKind kRetired[] = {
    {"apps", "v1beta1", "Deployment"},
    {"apps", "v1beta1", "StatefulSet"},
    {"apps", "v1beta1", "ControllerRevision"},
    {"apps", "v1beta2", "Deployment"},
    {"apps", "v1beta2", "StatefulSet"},
    {"apps", "v1beta2", "DaemonSet"},
    {"apps", "v1beta2", "ReplicaSet"},
    {"apps", "v1beta2", "ControllerRevision"},
    {"extensions", "v1beta1", "Deployment"},
    {"extensions", "v1beta1", "DaemonSet"},
    {"extensions", "v1beta1", "ReplicaSet"},
    {"extensions", "v1beta1", "Ingress"},
    {"extensions", "v1beta1", "NetworkPolicy"},
    {"networking.k8s.io", "v1beta1", "Ingress"},
    {"networking.k8s.io", "v1beta1", "IngressClass"},
    {"batch", "v1beta1", "CronJob"},
    {"policy", "v1beta1", "PodDisruptionBudget"},
    {"autoscaling", "v2beta1", "HorizontalPodAutoscaler"},
    {"autoscaling", "v2beta2", "HorizontalPodAutoscaler"},
};

// Whether `given` is the expected kind in another version that is known.
bool IsOtherVersion(const schema::Catalog& catalog, const GroupVersionKind& given,
                    const GroupVersionKind& expected) {
  if (std::ranges::find(kRetired, given) != std::end(kRetired)) return true;
  const auto* known = catalog.Find(given.group, given.version);
  return given.group == expected.group && known != nullptr &&
         known->FindKind(given.kind) != nullptr;
}

// The kind a body says it is, completed from the URL. Empty parts are what it leaves out.
ApiResult<GroupVersionKind> CompleteKind(std::string_view api_version, std::string_view kind,
                                         const ExpectedBody& expected, std::string_view body) {
  GroupVersionKind given = expected.kind;
  if (!kind.empty()) given.kind = kind;
  if (api_version.empty()) return given;
  if (std::ranges::count(api_version, '/') > 1) {
    return std::unexpected(Unrecognized(
        expected, fmt::format("unexpected GroupVersion string: {}", api_version), body));
  }
  return KindOf(api_version, given.kind);
}

// Bodies that are taken for those of a newer version, being the same in all but name.
struct Alias {
  GroupVersionKind given;
  GroupVersionKind meant;
};
constexpr Alias kAliases[] = {
    {{"policy", "v1beta1", "Eviction"}, {"policy", "v1", "Eviction"}},
};

Status VersionMismatch(std::string_view given, const ExpectedBody& expected) {
  return BadRequestStatus(
      fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                  given, ApiVersionText(expected.kind.group, expected.kind.version)));
}

// Refuses a body of another kind than the URL's.
ApiResult<void> CheckKind(const schema::Catalog& catalog, const GroupVersionKind& given,
                          const ExpectedBody& expected) {
  if (given == expected.kind) return {};
  for (const auto& alias : kAliases) {
    if (alias.given == given && alias.meant == expected.kind) return {};
  }
  if (given.kind == expected.kind.kind && IsOtherVersion(catalog, given, expected.kind)) {
    return std::unexpected(VersionMismatch(ApiVersionText(given.group, given.version), expected));
  }
  return std::unexpected(CannotHandle(given, expected, *KindMisfit(catalog, given, expected.kind)));
}

// A decoded object always carries its type, first.
value::Document WithType(const value::Document& object, const ExpectedBody& expected) {
  auto root = object.root();
  if (!root["kind"].AsString().empty() && !root["apiVersion"].AsString().empty()) return object;
  value::Builder builder(object);
  builder.root().RemoveField("kind");
  builder.root().RemoveField("apiVersion");
  builder.root().InsertField(0, *builder.Intern("kind"), builder.String(expected.kind.kind));
  builder.root().InsertField(
      1, *builder.Intern("apiVersion"),
      builder.String(ApiVersionText(expected.kind.group, expected.kind.version)));
  return std::move(builder).Finish();
}

// The usual case in one reading: a body that says it is of the expected kind and is. Nothing for
// every other one.
std::optional<DecodedBody> DecodeExpected(const ExpectedBody& expected, std::string_view json,
                                          FieldValidation validation) {
  auto decoded =
      schema::DecodeJson(*expected.type, json, {.strict = validation != FieldValidation::kIgnore});
  if (!decoded || !decoded->strict_errors.empty()) return std::nullopt;
  const auto& root = decoded->object.root();
  const auto given = KindOf(root["apiVersion"].AsString(), root["kind"].AsString());
  if (given != expected.kind) return std::nullopt;
  return DecodedBody{.object = std::move(decoded->object)};
}

// What strict decoding found becomes a refusal, warnings, or nothing.
ApiResult<DecodedBody> Judged(schema::Decoded decoded, std::vector<std::string> strict_errors,
                              const GroupVersionKind& given, const ExpectedBody& expected,
                              FieldValidation validation) {
  std::ranges::move(decoded.strict_errors, std::back_inserter(strict_errors));
  if (validation == FieldValidation::kStrict && !strict_errors.empty()) {
    return std::unexpected(CannotHandle(
        given, expected, fmt::format("strict decoding error: {}", fmt::join(strict_errors, ", "))));
  }
  DecodedBody result{.object = std::move(decoded.object)};
  if (validation == FieldValidation::kWarn) result.warnings = std::move(strict_errors);
  return result;
}

// A custom object says of which kind it is. That it is another than the URL's, validation finds.
ApiResult<DecodedBody> DecodeCustom(const ExpectedBody& expected, const schema::TypeMeta& meta,
                                    std::string_view json, std::string_view body,
                                    std::vector<std::string> strict_errors,
                                    FieldValidation validation) {
  if (meta.kind.empty()) {
    return std::unexpected(
        Unrecognized(expected, fmt::format("Object 'Kind' is missing in '{}'", json), body));
  }
  auto decoded =
      schema::DecodeJson(*expected.type, json, {.strict = validation != FieldValidation::kIgnore});
  const auto given = KindOf(meta.api_version, meta.kind);
  if (!decoded) return std::unexpected(CannotHandle(given, expected, decoded.error().message));
  auto judged = Judged(*std::move(decoded), std::move(strict_errors), given, expected, validation);
  if (judged && meta.api_version != ApiVersionText(expected.kind.group, expected.kind.version)) {
    return std::unexpected(VersionMismatch(meta.api_version, expected));
  }
  return judged;
}

ApiResult<DecodedBody> DecodeText(const schema::Catalog& catalog, const ExpectedBody& expected,
                                  std::string_view json, std::string_view body,
                                  std::vector<std::string> strict_errors,
                                  FieldValidation validation) {
  if (strict_errors.empty()) {
    if (auto usual = DecodeExpected(expected, json, validation)) return *std::move(usual);
  }
  auto meta = schema::ReadTypeMeta(json);
  if (!meta) {
    return std::unexpected(Unrecognized(
        expected,
        fmt::format("couldn't get version/kind; json parse error: {}", meta.error().message),
        body));
  }
  if (schema::IsCustomObject(*expected.type)) {
    return DecodeCustom(expected, *meta, json, body, std::move(strict_errors), validation);
  }
  auto given = CompleteKind(meta->api_version, meta->kind, expected, body);
  if (!given) return std::unexpected(std::move(given).error());
  if (auto checked = CheckKind(catalog, *given, expected); !checked) {
    return std::unexpected(std::move(checked).error());
  }
  auto decoded = schema::DecodeJson(*expected.type, json == "null" ? "{}" : json,
                                    {.strict = validation != FieldValidation::kIgnore});
  if (!decoded) {
    return std::unexpected(CannotHandle(*given, expected, decoded.error().message));
  }
  auto judged = Judged(*std::move(decoded), std::move(strict_errors), *given, expected, validation);
  if (judged) judged->object = WithType(judged->object, expected);
  return judged;
}

ApiResult<DecodedBody> DecodeYaml(const schema::Catalog& catalog, const ExpectedBody& expected,
                                  std::string_view body, FieldValidation validation) {
  std::vector<std::string> duplicates;
  auto json = value::YamlToJson(
      body, {.duplicates = validation == FieldValidation::kIgnore ? nullptr : &duplicates});
  if (!json) return std::unexpected(Unrecognized(expected, json.error().message, body));
  std::vector<std::string> strict_errors;
  if (!duplicates.empty()) {
    strict_errors.push_back(
        fmt::format("yaml: unmarshal errors:\n  {}", fmt::join(duplicates, "\n  ")));
  }
  return DecodeText(catalog, expected, *json, body, std::move(strict_errors), validation);
}

std::string PrefixBytes() {
  std::string text;
  for (char c : schema::kProtobufPrefix) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", static_cast<unsigned char>(c));
  }
  return text;
}

ApiResult<DecodedBody> DecodeBinary(const schema::Catalog& catalog, const ExpectedBody& expected,
                                    std::string_view body) {
  if (!body.starts_with(schema::kProtobufPrefix)) {
    return std::unexpected(Unrecognized(
        expected,
        fmt::format("provided data does not appear to be a protobuf message, expected prefix [{}]",
                    PrefixBytes()),
        body));
  }
  auto envelope = schema::ReadProtobufEnvelope(body);
  if (!envelope) return std::unexpected(Unrecognized(expected, envelope.error().message, body));
  auto given = CompleteKind(envelope->api_version, envelope->kind, expected, body);
  if (!given) return std::unexpected(std::move(given).error());
  if (auto checked = CheckKind(catalog, *given, expected); !checked) {
    return std::unexpected(std::move(checked).error());
  }
  auto object = schema::DecodeProtobufEnvelope(*expected.type, body);
  if (!object) return std::unexpected(CannotHandle(*given, expected, object.error().message));
  return DecodedBody{.object = WithType(*object, expected)};
}

}  // namespace

std::optional<std::string> KindMisfit(const schema::Catalog& catalog, const GroupVersionKind& given,
                                      const GroupVersionKind& expected) {
  if (given == expected) return std::nullopt;
  const auto* known = catalog.Find(given.group, given.version);
  if (known == nullptr || known->FindKind(given.kind) == nullptr) {
    return fmt::format("no kind {} is registered for version {} in scheme {}", Quote(given.kind),
                       Quote(ApiVersionText(given.group, given.version)), Quote(kScheme));
  }
  return fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", given.version, given.kind,
                     InternalPackage(expected.group), expected.kind);
}

GroupVersionKind KindOf(std::string_view api_version, std::string_view kind) {
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", api_version, kind};
  return {api_version.substr(0, slash), api_version.substr(slash + 1), kind};
}

std::string_view InternalPackage(std::string_view group) {
  return group.empty() ? "core" : group.substr(0, group.find('.'));
}

std::string ApiVersionText(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

Status BodyTooLargeStatus() {
  return RequestEntityTooLargeStatus(fmt::format("limit is {}", kMaxBodyBytes));
}

ApiResult<DecodedBody> DecodeBody(const schema::Catalog& catalog, const ExpectedBody& expected,
                                  Format format, std::string_view body,
                                  FieldValidation validation) {
  switch (format) {
    case Format::kJson:
      return DecodeText(catalog, expected, body, body, {}, validation);
    case Format::kYaml:
      return DecodeYaml(catalog, expected, body, validation);
    case Format::kProtobuf:
      return DecodeBinary(catalog, expected, body);
  }
  return std::unexpected(InternalErrorStatus("unknown body format"));
}

}  // namespace keelson::rest
