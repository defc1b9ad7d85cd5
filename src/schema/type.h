#pragma once

// The compiled form of a type: what every schema operation is driven by.
//
// The same structs describe built-in types (constant tables in read-only memory, made at build time
// from api/*.api) and custom resources (made at run time by schema::BuildCrdType, owned by its
// arena). All of it is immutable once published and may be read from any thread. Nothing here
// allocates and nothing has a constructor to run: spans are pointer + count so that tables are
// constant-initialised.
//
// Embedded ("inline") Go structs are flattened: their fields stand in the outer struct, in order.
// Only protobuf still sees them, as a nested message; WireField says which fields it holds.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "value/name.h"
#include "value/value.h"

namespace keelson::schema {

struct Type;

enum class TypeKind : uint8_t {
  kStruct,  // named fields, in struct order
  kMap,     // string keys, values of `element`
  kList,    // values of `element`
  kString,  // also every named string type
  kInt32,
  kInt64,
  kBool,
  kDouble,
  kBytes,         // base64 text in JSON
  kQuantity,      // string or number in JSON; canonical string out; message {1: string}
  kIntOrString,   // message {1: kind, 2: int32, 3: string}
  kTime,          // RFC 3339 seconds, null when zero; message {1: seconds, 2: nanos}
  kMicroTime,     // RFC 3339 microseconds
  kDuration,      // Go duration text; message {1: nanoseconds}
  kRawExtension,  // any JSON object, kept as written; message {1: raw bytes}
  kFieldsV1,      // any JSON object, kept as written; message {1: raw bytes}
  kJson,          // any JSON value, kept as written; message {1: raw bytes}
  kAny,           // any JSON value, no protobuf form
  // The three either-or types of CustomResourceDefinition; `element` is JSONSchemaProps.
  kSchemaOrBool,     // message {1: allows, 2: schema}
  kSchemaOrArray,    // message {1: schema, 2: schemas}
  kSchemaOrStrings,  // message {1: schema, 2: strings}
  // Only inside the logical rules of a custom resource: constrains whatever kind of value it meets.
  kUnspecified,
};

enum class ListType : uint8_t { kUnset, kAtomic, kSet, kMap };

// One simple constraint on a value. Which member of the union holds depends on `kind`.
enum class RuleKind : uint8_t {
  kMinimum,           // number
  kExclusiveMinimum,  // number
  kMaximum,           // number
  kExclusiveMaximum,  // number
  kMultipleOf,        // number
  kMinLength,         // count, in characters
  kMaxLength,         // count, in characters
  kMaxBytes,          // count
  kMinItems,          // count
  kMaxItems,          // count
  kMinProperties,     // count
  kMaxProperties,     // count
  kUniqueItems,       // nothing
  kPattern,           // text, an RE2 expression searched for
  kFormat,            // text, as named in OpenAPI or in declarative validation ("k8s-short-name")
  kEnum,              // values; of built-in types sorted strings
  kAllOf,             // types (kUnspecified)
  kAnyOf,             // types
  kOneOf,             // types
  kNot,               // types, exactly one
  kCel,               // cel
};

// x-kubernetes-validations of a custom resource.
struct CelRule {
  std::string_view rule;
  std::string_view message;
  std::string_view message_expression;
  std::string_view reason;
  std::string_view field_path;
  int8_t optional_old_self = -1;  // -1 unset, 0 false, 1 true
};

struct Rule {
  RuleKind kind;
  uint32_t size = 0;  // length of text, or number of values, types or cel rules
  union {
    double number;
    int64_t count;
    const char* text_data;
    const value::Value* values_data;
    const Type* const* types_data;
    const CelRule* cel_data;
  };

  constexpr std::string_view text() const { return {text_data, size}; }
  constexpr std::span<const value::Value> values() const { return {values_data, size}; }
  constexpr std::span<const Type* const> types() const { return {types_data, size}; }
  constexpr std::span<const CelRule> cel() const { return {cel_data, size}; }
};

// What a few fields have and most have not.
struct FieldExtra {
  std::string_view description;      // one own sentence, for OpenAPI and explain
  std::string_view feature_gate;     // the field is dropped on write while the gate is off
  std::string_view patch_merge_key;  // strategic merge
  std::string_view union_value;      // discriminator value that selects this member of a union
  const value::Value* default_value = nullptr;  // when not the type's zero value
};

struct Field {
  enum Flag : uint32_t {
    kRequired = 1 << 0,          // listed under `required` in OpenAPI
    kOmitEmpty = 1 << 1,         // left out of JSON when empty; a value struct still appears as {}
    kOmitZero = 1 << 2,          // left out of JSON when zero, value structs too
    kPointer = 1 << 3,           // absent and zero differ; absent is left out of protobuf
    kZeroDefault = 1 << 4,       // OpenAPI default is the type's zero value: "" 0 false {}
    kDefault = 1 << 5,           // extra->default_value holds the default
    kImmutable = 1 << 6,         // may not change once set
    kAtomic = 1 << 7,            // mapType atomic given on the field; beats the type
    kGranular = 1 << 8,          // mapType granular given on the field; beats the type
    kNotInJson = 1 << 9,         // protobuf only (JSON name "-")
    kPatchMerge = 1 << 10,       // patchStrategy merge
    kPatchReplace = 1 << 11,     // patchStrategy replace
    kPatchRetainKeys = 1 << 12,  // patchStrategy retainKeys, may be joined with merge
    kUnionDiscriminator = 1 << 13,
    kUnionMember = 1 << 14,
  };

  const value::Name* name = nullptr;  // JSON name; built-in types share one Name per spelling
  const Type* type = nullptr;
  const FieldExtra* extra = nullptr;
  uint32_t flags = 0;
  uint32_t proto_number = 0;  // 0: not in protobuf by itself (none, or part of an embedded message)

  constexpr std::string_view text() const { return name->text(); }
  constexpr bool Has(Flag flag) const { return (flags & flag) != 0; }
  constexpr bool required() const { return Has(kRequired); }
  constexpr bool pointer() const { return Has(kPointer); }
  constexpr bool omit_empty() const { return Has(kOmitEmpty); }
  constexpr std::string_view merge_key() const {
    return extra ? extra->patch_merge_key : std::string_view();
  }
  constexpr std::string_view description() const {
    return extra ? extra->description : std::string_view();
  }
};

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field of a protobuf message, in ascending order of number.
struct WireField {
  uint32_t number = 0;
  uint16_t field = 0;  // index into the struct's fields; with `embedded`, of the first one covered
  WireType wire = WireType::kBytes;
  bool repeated = false;  // repeated or map; upstream writes scalars unpacked and reads both
  // Set when the number carries a nested message that JSON does not show: it holds the outer
  // fields [field, field + embedded->field_count), numbered as in embedded->wire.
  const Type* embedded = nullptr;
};

// One union of a struct: the member fields carry kUnionMember and their union_value.
struct UnionInfo {
  std::string_view name;           // of the group; empty for a union that OpenAPI publishes
  std::string_view discriminator;  // field that names the member; empty when the set one tells
  const std::string_view* members_data = nullptr;
  uint32_t members_size = 0;
  bool at_most_one = false;  // zero or one of the members; otherwise exactly one

  constexpr std::span<const std::string_view> members() const {
    return {members_data, members_size};
  }
};

// Where an embedded struct's fields stand in the outer one.
struct EmbeddedInfo {
  const Type* type = nullptr;
  uint16_t first_field = 0;
  uint32_t proto_number = 0;
};

// Facts about a named type that no per-object path needs.
struct TypeInfo {
  std::string_view name;     // "PodSpec"
  std::string_view go_name;  // "v1.PodSpec", as decoding errors spell it
  std::string_view model;    // OpenAPI model, "io.k8s.api.core.v1.PodSpec"; empty when unpublished
  std::string_view proto_name;   // "k8s.io.api.core.v1.PodSpec"; empty without protobuf form
  std::string_view description;  // one own sentence
  std::string_view group;        // group and version of the file that declares it
  std::string_view version;
  const UnionInfo* unions_data = nullptr;
  uint32_t unions_size = 0;
  const EmbeddedInfo* embedded_data = nullptr;
  uint32_t embedded_size = 0;

  constexpr std::span<const UnionInfo> unions() const { return {unions_data, unions_size}; }
  constexpr std::span<const EmbeddedInfo> embedded() const {
    return {embedded_data, embedded_size};
  }
};

struct Type {
  enum Flag : uint16_t {
    kAtomic = 1 << 0,            // map or struct: replaced as a whole by apply (mapType atomic)
    kPreserveUnknown = 1 << 1,   // unknown fields stay (x-kubernetes-preserve-unknown-fields)
    kEmbeddedResource = 1 << 2,  // an object of its own: apiVersion, kind and metadata are known
    kNullable = 1 << 3,          // custom resources: null allowed
    kHasTypeMeta = 1 << 4,       // fields kind and apiVersion are present, written first
    kHasDefaults = 1 << 5,  // a kDefault field is reachable from here; else defaulting may skip
    kHasRules = 1 << 6,     // a rule or required field is reachable from here
    kWrapped = 1 << 7,      // list whose protobuf form is a message {1: repeated element}
    kNoProtobuf = 1 << 8,   // struct without a protobuf message
    kOwnJson = 1 << 9,      // its JSON is not the plain object of its fields
    kEnumOpen = 1 << 10,    // the enum is for documentation; other values are accepted
  };

  TypeKind kind = TypeKind::kAny;
  ListType list_type = ListType::kUnset;
  uint16_t flags = 0;
  uint16_t field_count = 0;
  uint16_t wire_count = 0;
  uint16_t slot_mask = 0;  // slots has slot_mask + 1 entries
  uint16_t rule_count = 0;
  uint16_t key_count = 0;
  const Field* fields_data = nullptr;
  const uint32_t* slots = nullptr;  // open addressing over value::HashName, see FillSlots
  const WireField* wire_data = nullptr;
  const Type* element = nullptr;  // list element, map value, either-or schema
  const Rule* rules_data = nullptr;
  const std::string_view* keys_data = nullptr;    // listMapKeys
  const value::Value* element_default = nullptr;  // custom resources: default of each element
  const TypeInfo* info = nullptr;  // null for anonymous types: scalars, lists, maps, CRD structs

  constexpr bool Has(Flag flag) const { return (flags & flag) != 0; }
  constexpr std::span<const Field> fields() const { return {fields_data, field_count}; }
  constexpr std::span<const WireField> wire() const { return {wire_data, wire_count}; }
  constexpr std::span<const Rule> rules() const { return {rules_data, rule_count}; }
  constexpr std::span<const std::string_view> keys() const { return {keys_data, key_count}; }
  constexpr std::string_view name() const { return info ? info->name : std::string_view(); }
  const Rule* FindRule(RuleKind wanted) const {
    for (const Rule& rule : rules())
      if (rule.kind == wanted) return &rule;
    return nullptr;
  }

  // The field with this JSON name, or null. A few nanoseconds: the decoder asks for each key.
  const Field* Find(std::string_view field_name) const {
    return Find(field_name, value::HashName(field_name));
  }
  const Field* Find(const value::Name& field_name) const;
  const Field* Find(std::string_view field_name, uint32_t hash) const;
  // The same, for callers that meet fields mostly in struct order: tries `hint` first and leaves
  // the index after the found field in it.
  const Field* FindNear(std::string_view field_name, uint32_t& hint) const;
  // The protobuf field with this number, or null.
  const WireField* FindWire(uint32_t number) const;
};

// Apply treats a struct or map as one value when the field says so, or else the type.
constexpr bool IsAtomic(const Field& field) {
  if (field.Has(Field::kGranular)) return false;
  return field.Has(Field::kAtomic) || field.type->Has(Type::kAtomic);
}

// The index behind Find, for whoever builds a Type: a power of two at least twice the field count.
// A slot is the upper half of the name's hash above 1 + the field's index; 0 is empty.
constexpr size_t SlotCount(size_t field_count) {
  size_t count = 2;
  while (count < 2 * field_count) count *= 2;
  return count;
}
constexpr void FillSlots(std::span<const Field> fields, std::span<uint32_t> slots) {
  for (uint32_t& slot : slots) slot = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const uint32_t hash = fields[i].name->hash();
    size_t slot = hash & (slots.size() - 1);
    while (slots[slot] != 0) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = (hash & 0xFFFF0000u) | uint32_t(i + 1);
  }
}

inline const Field* Type::Find(std::string_view field_name, uint32_t hash) const {
  if (field_count == 0) return nullptr;
  for (size_t slot = hash;; ++slot) {
    const uint32_t entry = slots[slot & slot_mask];
    if (entry == 0) return nullptr;
    if ((entry ^ hash) >> 16 != 0) continue;
    const Field& field = fields_data[(entry & 0xFFFF) - 1];
    if (field.text() == field_name) return &field;
  }
}

inline const Field* Type::Find(const value::Name& field_name) const {
  if (field_count == 0) return nullptr;
  const uint32_t hash = field_name.hash();
  for (size_t slot = hash;; ++slot) {
    const uint32_t entry = slots[slot & slot_mask];
    if (entry == 0) return nullptr;
    if ((entry ^ hash) >> 16 != 0) continue;
    const Field& field = fields_data[(entry & 0xFFFF) - 1];
    if (*field.name == field_name) return &field;  // mostly the same pointer
  }
}

inline const Field* Type::FindNear(std::string_view field_name, uint32_t& hint) const {
  if (hint < field_count && fields_data[hint].text() == field_name) return &fields_data[hint++];
  const Field* field = Find(field_name);
  if (field) hint = uint32_t(field - fields_data) + 1;
  return field;
}

inline const WireField* Type::FindWire(uint32_t number) const {
  // Numbers are mostly 1, 2, 3, ...; where some are missing the entry is further left.
  size_t high = number < wire_count ? number : wire_count;
  while (high > 0 && wire_data[high - 1].number >= number) {
    if (wire_data[high - 1].number == number) return &wire_data[high - 1];
    --high;
  }
  return nullptr;
}

}  // namespace keelson::schema
