// OpenAPI documents in protobuf, as the gnostic models define them (openapi.v2, openapi.v3).
//
// Both formats are the JSON document with every object turned into a message: fixed keys become
// numbered fields, objects with free keys become repeated {1: name, 2: value}, x-... keys become
// repeated {1: name, 2: Any}, and where JSON allows one of two things a message with one of two
// fields stands around it. So the conversion is a table per message and one walk over the tree.
// An Any holds its value as YAML text; JSON is YAML, so that is what is written.

#include <cstring>
#include <span>

#include "schema/openapi.h"
#include "value/json.h"

namespace keelson::schema {

namespace {

using value::Value;

enum class Form : uint8_t {
  kString,
  kBool,
  kInt,
  kDouble,
  kStrings,
  kTypes,  // v2 `type`: a message {1: repeated string}
  kMessage,
  kMessages,     // list of messages
  kNamed,        // object with free keys: repeated {1: name, 2: message}
  kNamedInside,  // the same inside a message of its own, as its field 1
  kPaths,        // the same as its field `inner`
  kAny,
  kAnys,
  kDefault,       // v3: {1: number, 2: boolean, 3: string}
  kNamedStrings,  // security requirement: {1: repeated {1: name, 2: {1: repeated string}}}
};

struct Message;

struct Entry {
  std::string_view key;
  uint8_t number;
  Form form;
  const Message* message = nullptr;
  uint8_t inner = 1;  // kPaths
};

// What stands around a message where JSON allows a choice.
enum class Wrap : uint8_t {
  kNone,
  kFirst,             // {1: message}
  kReference,         // {1: message | 2: {1: $ref}}
  kReferenceInside,   // {1: the above}, or {2: boolean}
  kParameterV2,       // {1: below | 2: {1: $ref}}
  kNamedParameterV2,  // {1: body | 2: {3: query | 4: path}}
  kSecurityV2,
};

struct Message {
  std::span<const Entry> entries;
  uint8_t extensions;  // field of the x-... keys; 0 for none
  Wrap wrap = Wrap::kNone;
};

void Varint(std::string& out, uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}
void Bytes(std::string& out, uint32_t number, std::string_view bytes) {
  Varint(out, number << 3 | 2);
  Varint(out, bytes.size());
  out += bytes;
}
void Number(std::string& out, uint32_t number, uint64_t value) {
  Varint(out, number << 3);
  Varint(out, value);
}
void Fixed(std::string& out, uint32_t number, double value) {
  Varint(out, number << 3 | 1);
  uint64_t bits = 0;
  static_assert(sizeof(bits) == sizeof(value));
  std::memcpy(&bits, &value, sizeof(bits));
  for (int i = 0; i < 8; ++i) out += static_cast<char>(bits >> (8 * i));
}

std::string Any(const Value& value) {
  std::string out;
  Bytes(out, 2, value::ToJson(value) + "\n");
  return out;
}

std::string Encode(const Value& value, const Message& message);

std::string NamedEntry(std::string_view name, std::string_view value) {
  std::string out;
  Bytes(out, 1, name);
  Bytes(out, 2, value);
  return out;
}

void Write(std::string& out, const Entry& entry, const Value& value) {
  switch (entry.form) {
    case Form::kString:
      if (!value.AsString().empty()) Bytes(out, entry.number, value.AsString());
      return;
    case Form::kBool:
      if (value.AsBool()) Number(out, entry.number, 1);
      return;
    case Form::kInt:
      if (value.AsDouble() != 0)
        Number(out, entry.number, static_cast<uint64_t>(static_cast<int64_t>(value.AsDouble())));
      return;
    case Form::kDouble:
      if (value.AsDouble() != 0) Fixed(out, entry.number, value.AsDouble());
      return;
    case Form::kStrings:
      for (const Value& item : value.items()) Bytes(out, entry.number, item.AsString());
      return;
    case Form::kTypes: {
      std::string inner;
      Bytes(inner, 1, value.AsString());
      Bytes(out, entry.number, inner);
      return;
    }
    case Form::kMessage:
      Bytes(out, entry.number, Encode(value, *entry.message));
      return;
    case Form::kMessages:
      for (const Value& item : value.items())
        Bytes(out, entry.number, Encode(item, *entry.message));
      return;
    case Form::kNamed:
      for (const value::Member& member : value.members())
        Bytes(out, entry.number, NamedEntry(member.key(), Encode(member.value, *entry.message)));
      return;
    case Form::kNamedInside:
    case Form::kPaths: {
      std::string inner;
      for (const value::Member& member : value.members())
        Bytes(inner, entry.inner, NamedEntry(member.key(), Encode(member.value, *entry.message)));
      Bytes(out, entry.number, inner);
      return;
    }
    case Form::kAny:
      Bytes(out, entry.number, Any(value));
      return;
    case Form::kAnys:
      for (const Value& item : value.items()) Bytes(out, entry.number, Any(item));
      return;
    case Form::kDefault: {
      std::string inner;
      if (value.is_bool()) Number(inner, 2, value.AsBool());
      if (value.is_string()) Bytes(inner, 3, value.AsString());
      if (value.is_number()) Fixed(inner, 1, value.AsDouble());
      Bytes(out, entry.number, inner);
      return;
    }
    case Form::kNamedStrings:
      for (const Value& item : value.items()) {
        std::string inner;
        for (const value::Member& member : item.members()) {
          std::string strings;
          for (const Value& text : member.value.items()) Bytes(strings, 1, text.AsString());
          Bytes(inner, 1, NamedEntry(member.key(), strings));
        }
        Bytes(out, entry.number, inner);
      }
      return;
  }
}

std::string Plain(const Value& value, const Message& message) {
  std::string out;
  for (const Entry& entry : message.entries)
    if (const Value* found = value.Find(entry.key)) Write(out, entry, *found);
  if (message.extensions == 0) return out;
  for (const value::Member& member : value.members())
    if (member.key().starts_with("x-"))
      Bytes(out, message.extensions, NamedEntry(member.key(), Any(member.value)));
  return out;
}

extern const Message kBodyParameterV2;
extern const Message kPathParameterV2;

std::string Around(uint32_t number, std::string_view inner) {
  std::string out;
  Bytes(out, number, inner);
  return out;
}

// additionalProperties: true or false.
std::string Flag(bool value) {
  std::string out;
  Number(out, 2, value);
  return out;
}

// Parameter{1: body | 2: NonBody{3: query | 4: path}}
std::string ParameterV2(const Value& value, const Message& query) {
  const std::string_view in = value["in"].AsString();
  if (in == "body") return Around(1, Plain(value, kBodyParameterV2));
  if (in == "path") return Around(2, Around(4, Plain(value, kPathParameterV2)));
  return Around(2, Around(3, Plain(value, query)));
}

std::string Encode(const Value& value, const Message& message) {
  switch (message.wrap) {
    case Wrap::kNone:
      return Plain(value, message);
    case Wrap::kFirst:
      if (value.is_bool()) return Flag(value.AsBool());
      return Around(1, Plain(value, message));
    case Wrap::kReference:
    case Wrap::kReferenceInside: {
      if (value.is_bool()) return Flag(value.AsBool());
      std::string one = value.Find("$ref") ? Around(2, Around(1, value["$ref"].AsString()))
                                           : Around(1, Plain(value, message));
      return message.wrap == Wrap::kReference ? one : Around(1, one);
    }
    case Wrap::kSecurityV2:
      return Around(2, Plain(value, message));
    case Wrap::kParameterV2:
      if (value.Find("$ref")) return Around(2, Around(1, value["$ref"].AsString()));
      return Around(1, ParameterV2(value, message));
    case Wrap::kNamedParameterV2:
      return ParameterV2(value, message);
  }
  return {};
}

// openapi.v2

extern const Message kSchemaV2;
extern const Message kItemsV2;
extern const Message kAdditionalV2;

constexpr Entry kSchemaEntriesV2[] = {
    {"$ref", 1, Form::kString},
    {"format", 2, Form::kString},
    {"title", 3, Form::kString},
    {"description", 4, Form::kString},
    {"default", 5, Form::kAny},
    {"multipleOf", 6, Form::kDouble},
    {"maximum", 7, Form::kDouble},
    {"exclusiveMaximum", 8, Form::kBool},
    {"minimum", 9, Form::kDouble},
    {"exclusiveMinimum", 10, Form::kBool},
    {"maxLength", 11, Form::kInt},
    {"minLength", 12, Form::kInt},
    {"pattern", 13, Form::kString},
    {"maxItems", 14, Form::kInt},
    {"minItems", 15, Form::kInt},
    {"uniqueItems", 16, Form::kBool},
    {"maxProperties", 17, Form::kInt},
    {"minProperties", 18, Form::kInt},
    {"required", 19, Form::kStrings},
    {"enum", 20, Form::kAnys},
    {"additionalProperties", 21, Form::kMessage, &kAdditionalV2},
    {"type", 22, Form::kTypes},
    {"items", 23, Form::kMessage, &kItemsV2},
    {"allOf", 24, Form::kMessages, &kSchemaV2},
    {"properties", 25, Form::kNamedInside, &kSchemaV2},
    {"example", 30, Form::kAny},
};
const Message kSchemaV2{kSchemaEntriesV2, 31};
const Message kItemsV2{kSchemaEntriesV2, 31, Wrap::kFirst};
const Message kAdditionalV2{kSchemaEntriesV2, 31, Wrap::kFirst};
const Message kSchemaItemV2{kSchemaEntriesV2, 31, Wrap::kFirst};

constexpr Entry kBodyParameterEntriesV2[] = {
    {"description", 1, Form::kString},
    {"name", 2, Form::kString},
    {"in", 3, Form::kString},
    {"required", 4, Form::kBool},
    {"schema", 5, Form::kMessage, &kSchemaV2},
};
const Message kBodyParameterV2{kBodyParameterEntriesV2, 6};
constexpr Entry kQueryParameterEntriesV2[] = {
    {"required", 1, Form::kBool},     {"in", 2, Form::kString},   {"description", 3, Form::kString},
    {"name", 4, Form::kString},       {"type", 6, Form::kString}, {"format", 7, Form::kString},
    {"uniqueItems", 20, Form::kBool},
};
const Message kParameterV2{kQueryParameterEntriesV2, 23, Wrap::kParameterV2};
const Message kNamedParameterV2{kQueryParameterEntriesV2, 23, Wrap::kNamedParameterV2};
constexpr Entry kPathParameterEntriesV2[] = {
    {"required", 1, Form::kBool},     {"in", 2, Form::kString},   {"description", 3, Form::kString},
    {"name", 4, Form::kString},       {"type", 5, Form::kString}, {"format", 6, Form::kString},
    {"uniqueItems", 19, Form::kBool},
};
const Message kPathParameterV2{kPathParameterEntriesV2, 22};

constexpr Entry kResponseEntriesV2[] = {
    {"description", 1, Form::kString},
    {"schema", 2, Form::kMessage, &kSchemaItemV2},
};
const Message kResponseV2{kResponseEntriesV2, 5, Wrap::kFirst};
constexpr Entry kOperationEntriesV2[] = {
    {"tags", 1, Form::kStrings},
    {"summary", 2, Form::kString},
    {"description", 3, Form::kString},
    {"operationId", 5, Form::kString},
    {"produces", 6, Form::kStrings},
    {"consumes", 7, Form::kStrings},
    {"parameters", 8, Form::kMessages, &kParameterV2},
    {"responses", 9, Form::kNamedInside, &kResponseV2},
    {"schemes", 10, Form::kStrings},
    {"deprecated", 11, Form::kBool},
};
const Message kOperationV2{kOperationEntriesV2, 13};
constexpr Entry kPathItemEntriesV2[] = {
    {"get", 2, Form::kMessage, &kOperationV2},
    {"put", 3, Form::kMessage, &kOperationV2},
    {"post", 4, Form::kMessage, &kOperationV2},
    {"delete", 5, Form::kMessage, &kOperationV2},
    {"options", 6, Form::kMessage, &kOperationV2},
    {"head", 7, Form::kMessage, &kOperationV2},
    {"patch", 8, Form::kMessage, &kOperationV2},
    {"parameters", 9, Form::kMessages, &kParameterV2},
};
const Message kPathItemV2{kPathItemEntriesV2, 10};
constexpr Entry kInfoEntriesV2[] = {
    {"title", 1, Form::kString}, {"version", 2, Form::kString}, {"description", 3, Form::kString}};
const Message kInfoV2{kInfoEntriesV2, 7};
constexpr Entry kApiKeyEntriesV2[] = {{"type", 1, Form::kString},
                                      {"name", 2, Form::kString},
                                      {"in", 3, Form::kString},
                                      {"description", 4, Form::kString}};
const Message kApiKeyV2{kApiKeyEntriesV2, 5, Wrap::kSecurityV2};
constexpr Entry kDocumentEntriesV2[] = {
    {"swagger", 1, Form::kString},
    {"info", 2, Form::kMessage, &kInfoV2},
    {"paths", 8, Form::kPaths, &kPathItemV2, 2},
    {"definitions", 9, Form::kNamedInside, &kSchemaV2},
    {"parameters", 10, Form::kNamedInside, &kNamedParameterV2},
    {"security", 12, Form::kNamedStrings},
    {"securityDefinitions", 13, Form::kNamedInside, &kApiKeyV2},
};
const Message kDocumentV2{kDocumentEntriesV2, 16};

// openapi.v3

extern const Message kSchemaV3;
extern const Message kItemsV3;
extern const Message kAdditionalV3;
extern const Message kBareSchemaV3;

constexpr Entry kSchemaEntriesV3[] = {
    {"nullable", 1, Form::kBool},
    {"example", 7, Form::kAny},
    {"title", 9, Form::kString},
    {"multipleOf", 10, Form::kDouble},
    {"maximum", 11, Form::kDouble},
    {"exclusiveMaximum", 12, Form::kBool},
    {"minimum", 13, Form::kDouble},
    {"exclusiveMinimum", 14, Form::kBool},
    {"maxLength", 15, Form::kInt},
    {"minLength", 16, Form::kInt},
    {"pattern", 17, Form::kString},
    {"maxItems", 18, Form::kInt},
    {"minItems", 19, Form::kInt},
    {"uniqueItems", 20, Form::kBool},
    {"maxProperties", 21, Form::kInt},
    {"minProperties", 22, Form::kInt},
    {"required", 23, Form::kStrings},
    {"enum", 24, Form::kAnys},
    {"type", 25, Form::kString},
    {"allOf", 26, Form::kMessages, &kSchemaV3},
    {"oneOf", 27, Form::kMessages, &kSchemaV3},
    {"anyOf", 28, Form::kMessages, &kSchemaV3},
    {"not", 29, Form::kMessage, &kBareSchemaV3},
    {"items", 30, Form::kMessage, &kItemsV3},
    {"properties", 31, Form::kNamedInside, &kSchemaV3},
    {"additionalProperties", 32, Form::kMessage, &kAdditionalV3},
    {"default", 33, Form::kDefault},
    {"description", 34, Form::kString},
    {"format", 35, Form::kString},
};
const Message kSchemaV3{kSchemaEntriesV3, 36, Wrap::kReference};
const Message kBareSchemaV3{kSchemaEntriesV3, 36};
const Message kItemsV3{kSchemaEntriesV3, 36, Wrap::kReferenceInside};
const Message kAdditionalV3{kSchemaEntriesV3, 36, Wrap::kReferenceInside};

constexpr Entry kMediaTypeEntriesV3[] = {{"schema", 1, Form::kMessage, &kSchemaV3}};
const Message kMediaTypeV3{kMediaTypeEntriesV3, 5};
constexpr Entry kParameterEntriesV3[] = {
    {"name", 1, Form::kString},
    {"in", 2, Form::kString},
    {"description", 3, Form::kString},
    {"required", 4, Form::kBool},
    {"schema", 10, Form::kMessage, &kSchemaV3},
};
const Message kParameterV3{kParameterEntriesV3, 14, Wrap::kReference};
constexpr Entry kRequestBodyEntriesV3[] = {
    {"description", 1, Form::kString},
    {"content", 2, Form::kNamedInside, &kMediaTypeV3},
    {"required", 3, Form::kBool},
};
const Message kRequestBodyV3{kRequestBodyEntriesV3, 4, Wrap::kReference};
constexpr Entry kResponseEntriesV3[] = {
    {"description", 1, Form::kString},
    {"content", 3, Form::kNamedInside, &kMediaTypeV3},
};
const Message kResponseV3{kResponseEntriesV3, 5, Wrap::kReference};
constexpr Entry kOperationEntriesV3[] = {
    {"tags", 1, Form::kStrings},
    {"summary", 2, Form::kString},
    {"description", 3, Form::kString},
    {"operationId", 5, Form::kString},
    {"parameters", 6, Form::kMessages, &kParameterV3},
    {"requestBody", 7, Form::kMessage, &kRequestBodyV3},
    {"responses", 8, Form::kPaths, &kResponseV3, 2},
    {"deprecated", 10, Form::kBool},
};
const Message kOperationV3{kOperationEntriesV3, 13};
constexpr Entry kPathItemEntriesV3[] = {
    {"get", 4, Form::kMessage, &kOperationV3},
    {"put", 5, Form::kMessage, &kOperationV3},
    {"post", 6, Form::kMessage, &kOperationV3},
    {"delete", 7, Form::kMessage, &kOperationV3},
    {"options", 8, Form::kMessage, &kOperationV3},
    {"head", 9, Form::kMessage, &kOperationV3},
    {"patch", 10, Form::kMessage, &kOperationV3},
    {"parameters", 13, Form::kMessages, &kParameterV3},
};
const Message kPathItemV3{kPathItemEntriesV3, 14};
constexpr Entry kInfoEntriesV3[] = {
    {"title", 1, Form::kString}, {"description", 2, Form::kString}, {"version", 6, Form::kString}};
const Message kInfoV3{kInfoEntriesV3, 7};
constexpr Entry kSecuritySchemeEntriesV3[] = {{"type", 1, Form::kString},
                                              {"description", 2, Form::kString},
                                              {"name", 3, Form::kString},
                                              {"in", 4, Form::kString}};
const Message kSecuritySchemeV3{kSecuritySchemeEntriesV3, 9, Wrap::kReference};
constexpr Entry kComponentsEntriesV3[] = {
    {"schemas", 1, Form::kNamedInside, &kSchemaV3},
    {"securitySchemes", 7, Form::kNamedInside, &kSecuritySchemeV3},
};
const Message kComponentsV3{kComponentsEntriesV3, 10};
constexpr Entry kDocumentEntriesV3[] = {
    {"openapi", 1, Form::kString},
    {"info", 2, Form::kMessage, &kInfoV3},
    {"paths", 4, Form::kPaths, &kPathItemV3, 1},
    {"components", 5, Form::kMessage, &kComponentsV3},
    {"security", 6, Form::kNamedStrings},
};
const Message kDocumentV3{kDocumentEntriesV3, 9};

}  // namespace

Result<std::string> OpenApiV2ToProtobuf(std::string_view json) {
  TRY(value::Document document, value::ParseJson(json));
  return Encode(document.root(), kDocumentV2);
}

Result<std::string> OpenApiV3ToProtobuf(std::string_view json) {
  TRY(value::Document document, value::ParseJson(json));
  return Encode(document.root(), kDocumentV3);
}

}  // namespace keelson::schema
