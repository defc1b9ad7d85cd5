#include "rest/stored_definition.h"

#include "value/json.h"

namespace keelson::rest {
namespace {

using value::Ref;
using value::Value;

constexpr std::string_view kColumns = "additionalPrinterColumns";

// What stands in the spec of v1beta1 and in each version of v1.
struct Shared {
  std::string_view in_spec;
  std::string_view in_version;
};
constexpr Shared kShared[] = {{"validation", "schema"},
                              {"subresources", "subresources"},
                              {kColumns, kColumns},
                              {"selectableFields", "selectableFields"}};

void Move(Ref object, std::string_view from, std::string_view to) {
  auto found = object.Find(from);
  if (!found) return;
  const Value value = found->Get();
  object.RemoveField(from);
  object.SetField(to, value);
}

void RestoreVersion(Ref version, Ref spec) {
  for (const auto& shared : kShared) {
    auto common = spec.Find(shared.in_spec);
    if (common && !version.Find(shared.in_version)) {
      version.SetField(shared.in_version, common->Get());
    }
  }
  auto columns = version.Find(kColumns);
  if (!columns || columns->kind() != value::Kind::kList) return;
  for (size_t i = 0; i < columns->size(); ++i) Move(columns->Item(i), "JSONPath", "jsonPath");
}

void RestoreConversion(Ref conversion) {
  Move(conversion, "webhookClientConfig", "clientConfig");
  for (std::string_view name : {"clientConfig", "conversionReviewVersions"}) {
    auto found = conversion.Find(name);
    if (!found) continue;
    const Value value = found->Get();
    conversion.RemoveField(name);
    conversion.Field("webhook").SetField(name, value);
  }
}

}  // namespace

Result<std::string> DefinitionFromV1beta1(std::string_view json) {
  TRY(auto stored, value::ParseJson(json));
  value::Builder builder(stored);
  auto root = builder.root();
  root.SetField("apiVersion", Value::String("apiextensions.k8s.io/v1"));
  auto spec = root.Field("spec");
  // One that was written before there could be several.
  if (auto name = spec.Find("version"); name && !spec.Find("versions")) {
    const value::Member only[] = {{builder.Intern("name"), name->Get()},
                                  {builder.Intern("served"), Value::Bool(true)},
                                  {builder.Intern("storage"), Value::Bool(true)}};
    const Value versions[] = {builder.Object(only)};
    spec.SetField("versions", builder.List(versions));
  }
  auto versions = spec.Field("versions");
  if (versions.kind() == value::Kind::kList) {
    for (size_t i = 0; i < versions.size(); ++i) {
      RestoreVersion(spec.Field("versions").Item(i), spec);
    }
  }
  for (const auto& shared : kShared) spec.RemoveField(shared.in_spec);
  spec.RemoveField("version");
  if (auto conversion = spec.Find("conversion")) RestoreConversion(*conversion);
  return value::ToJson(std::move(builder).Finish().root());
}

}  // namespace keelson::rest
