#pragma once

// All API files together, resolved: every name is an index, embedded structs are flattened, equal
// anonymous types are one. What is here maps one to one onto the structs of schema/type.h, which
// the emitters print as constants.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/apifile.h"
#include "schema/resource.h"
#include "schema/type.h"

namespace keelson::apigen {

using TypeIndex = int32_t;
inline constexpr TypeIndex kNone = -1;

struct ModelRule {
  schema::RuleKind kind;
  std::string text;                 // kPattern, kFormat
  double number = 0;                // kMinimum, kMaximum
  int64_t count = 0;                // lengths
  std::vector<std::string> values;  // kEnum
};

struct ModelField {
  std::string name;
  TypeIndex type = kNone;
  uint32_t flags = 0;
  uint32_t number = 0;
  std::string description;
  std::string default_json;
  std::string gate;
  std::string merge_key;
  std::string union_value;

  bool HasExtra() const {
    return !description.empty() || !default_json.empty() || !gate.empty() || !merge_key.empty() ||
           !union_value.empty();
  }
};

struct ModelWire {
  uint32_t number = 0;
  uint16_t field = 0;
  schema::WireType wire = schema::WireType::kBytes;
  bool repeated = false;
  TypeIndex embedded = kNone;
};

struct ModelUnion {
  std::string name;
  std::string discriminator;
  std::vector<std::string> members;
  bool at_most_one = false;
};

struct ModelEmbedded {
  TypeIndex type = kNone;
  uint16_t first_field = 0;
  uint32_t number = 0;
};

struct ModelType {
  schema::TypeKind kind = schema::TypeKind::kAny;
  schema::ListType list_type = schema::ListType::kUnset;
  uint16_t flags = 0;
  TypeIndex element = kNone;
  std::vector<ModelField> fields;
  std::vector<ModelWire> wire;
  std::vector<ModelRule> rules;
  std::vector<std::string> keys;
  // Of named types, and of the variants of them that a field's facts make.
  std::string name;
  std::string go_name;
  std::string model;
  std::string proto_name;
  std::string description;
  size_t file = 0;
  TypeIndex info_of = kNone;  // the type whose info this one shows; itself when declared
  std::vector<ModelUnion> unions;
  std::vector<ModelEmbedded> embedded;
  std::vector<std::string> known_values;  // of enum and string declarations
};

struct ModelFile {
  const schema::ApiFile* source = nullptr;
  std::vector<TypeIndex> named;                          // sorted by name
  std::vector<std::pair<std::string, TypeIndex>> kinds;  // sorted by kind
};

struct Model {
  std::vector<ModelFile> files;
  std::vector<ModelType> types;
  std::map<std::string, TypeIndex, std::less<>> names;  // "core.v1.Pod"

  TypeIndex Find(const schema::ApiFile& from, std::string_view name) const;
};

// The files must outlive the model.
Result<Model> BuildModel(const std::vector<schema::ApiFile>& files);

}  // namespace keelson::apigen
