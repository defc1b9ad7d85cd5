#include <string>

#include "api/apiextensions_v1.h"
#include "apiextensions/strategies.h"
#include "schema/transform.h"

namespace keelson::apiextensions {
namespace {

namespace apiextensions_v1 = api::apiextensions_v1;
using schema::StructEditor;
using value::Value;

constexpr schema::FieldDefault kServicePort[] = {
    {&apiextensions_v1::ServiceReference::Names::port, Value::Int(443)}};

void DefaultDefinitionNames(StructEditor& names) {
  using Names = apiextensions_v1::CustomResourceDefinitionNames::Names;
  const auto kind = names.Get(Names::kind).AsString();
  std::string singular(kind);
  for (char& c : singular) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (!singular.empty()) names.SetDefault(Names::singular, names.String(singular));
  if (!kind.empty()) names.SetDefault(Names::listKind, names.String(std::string(kind) + "List"));
}

void DefaultDefinitionSpec(StructEditor& spec) {
  static const value::Member kNone[] = {
      {&apiextensions_v1::CustomResourceConversion::Names::strategy,
       Value::String("None", /*plain=*/true)}};
  spec.SetDefault(apiextensions_v1::CustomResourceDefinitionSpec::Names::conversion,
                  Value::Object(kNone));
}

// The version that objects are stored in has been stored in from the start.
void DefaultDefinition(StructEditor& definition) {
  using Definition = apiextensions_v1::CustomResourceDefinition;
  using Status = apiextensions_v1::CustomResourceDefinitionStatus;
  StructEditor status(Status::Schema(), definition.Get(Definition::Names::status),
                      definition.arena());
  if (!status.IsUnset(Status::Names::storedVersions)) return;
  for (auto version : Definition(definition.value()).spec().versions()) {
    if (!version.storage()) continue;
    auto* stored = definition.arena().AllocateArray<Value>(1);
    stored[0] = Value::String(version.name());
    status.Set(Status::Names::storedVersions, Value::List({stored, 1}));
    definition.Set(Definition::Names::status, status.value());
    return;
  }
}

}  // namespace

std::span<const schema::DefaultHook> Defaults() {
  static const schema::DefaultHook kHooks[] = {
      {&apiextensions_v1::ServiceReference::Schema(), schema::FillDefaults<kServicePort>},
      {&apiextensions_v1::CustomResourceDefinition::Schema(), DefaultDefinition},
      {&apiextensions_v1::CustomResourceDefinitionSpec::Schema(), DefaultDefinitionSpec},
      {&apiextensions_v1::CustomResourceDefinitionNames::Schema(), DefaultDefinitionNames},
  };
  return kHooks;
}

}  // namespace keelson::apiextensions
