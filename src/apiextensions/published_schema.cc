#include "apiextensions/published_schema.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "value/json.h"

namespace keelson::apiextensions {
namespace {

using value::Member;
using value::Value;

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

constexpr std::string_view kApiVersion =
    R"({"description":"Version of the schema that the object follows.","type":"string"})";
constexpr std::string_view kKind =
    R"({"description":"What the object is, in CamelCase.","type":"string"})";

// What OpenAPI v2 cannot say.
constexpr std::string_view kOnlyInV3[] = {"anyOf", "oneOf", "not", "nullable"};

bool IsOnlyInV3(std::string_view key) {
  return std::ranges::find(kOnlyInV3, key) != std::end(kOnlyInV3);
}

// A part of the schema. In v2 a value that may be null, or of several types, has none.
void AppendSchema(std::string& out, const Value& schema, bool v3) {
  if (v3 || !schema.is_object()) return value::AppendJson(out, schema);
  const bool untyped = schema["nullable"].AsBool() || schema["x-kubernetes-int-or-string"].AsBool();
  out += '{';
  for (const Member& member : schema.members()) {
    const auto key = member.key();
    if (IsOnlyInV3(key) || (untyped && key == "type")) continue;
    if (!out.ends_with('{')) out += ',';
    AppendJsonString(out, key);
    out += ':';
    if (key == "properties") {
      out += '{';
      for (const Member& property : member.value.members()) {
        if (!out.ends_with('{')) out += ',';
        AppendJsonString(out, property.key());
        out += ':';
        AppendSchema(out, property.value, v3);
      }
      out += '}';
    } else if (key == "items" || key == "additionalProperties") {
      AppendSchema(out, member.value, v3);
    } else {
      value::AppendJson(out, member.value);
    }
  }
  out += '}';
}

// The properties with what every object has, sorted.
void AppendProperties(std::string& out, const Value& properties, bool v3) {
  const std::string metadata = std::string(R"({"$ref":")") +
                               (v3 ? "#/components/schemas/" : "#/definitions/") +
                               std::string(kObjectMeta) + R"("})";
  const std::string wrapped =
      v3 ? std::string(R"({"allOf":[)") + metadata + R"(],"default":{}})" : metadata;
  std::vector<std::pair<std::string_view, std::string>> all{
      {"apiVersion", std::string(kApiVersion)},
      {"kind", std::string(kKind)},
      {"metadata", wrapped}};
  for (const Member& property : properties.members()) {
    const auto key = property.key();
    if (key == "apiVersion" || key == "kind" || key == "metadata") continue;
    std::string text;
    AppendSchema(text, property.value, v3);
    all.emplace_back(key, std::move(text));
  }
  std::ranges::sort(all, {}, [](const auto& entry) { return entry.first; });
  out += '{';
  for (const auto& [key, text] : all) {
    if (!out.ends_with('{')) out += ',';
    AppendJsonString(out, key);
    out += ':';
    out += text;
  }
  out += '}';
}

std::string Rendered(const schema::ResourceInfo& info, const Value& schema, bool v3) {
  std::string out = "{";
  for (const Member& member : schema.members()) {
    if (member.key() == "properties" || (!v3 && IsOnlyInV3(member.key()))) continue;
    AppendJsonString(out, member.key());
    out += ':';
    value::AppendJson(out, member.value);
    out += ',';
  }
  out += R"("properties":)";
  AppendProperties(out, schema["properties"], v3);
  out += R"(,"x-kubernetes-group-version-kind":[{"group":)";
  AppendJsonString(out, info.group);
  out += R"(,"kind":)";
  AppendJsonString(out, info.kind);
  out += R"(,"version":)";
  AppendJsonString(out, info.version);
  return out + "}]}";
}

// com.example.stable.v1.CronTab
std::string ModelName(const schema::ResourceInfo& info) {
  std::string name;
  auto rest = info.group;
  while (!rest.empty()) {
    const auto dot = rest.rfind('.');
    const auto part = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    name += part;
    name += '.';
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
  }
  name += info.version;
  name += '.';
  return name += info.kind;
}

}  // namespace

schema::OpenApiResource PublishedResource(const schema::ResourceInfo& info, const Value& version) {
  const Value schema = version["schema"]["openAPIV3Schema"];
  return {.info = &info,
          .model = ModelName(info),
          .schema_v2 = Rendered(info, schema, /*v3=*/false),
          .schema_v3 = Rendered(info, schema, /*v3=*/true)};
}

}  // namespace keelson::apiextensions
