// Two walks over the schema, as upstream makes them: first whether it is structural, then what each
// part may say. Expressions (x-kubernetes-validations) and defaults are not looked at.

#include "apiextensions/definition_schema.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "rest/field_checks.h"
#include "rest/seen_texts.h"

namespace keelson::apiextensions {
namespace {

using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr std::string_view kTypes[] = {"array", "boolean", "integer", "number", "object", "string"};

enum class Level { kRoot, kItem, kField };

const char* MissingType(Level level) {
  switch (level) {
    case Level::kRoot:
      return "must not be empty at the root";
    case Level::kItem:
      return "must not be empty for specified array items";
    case Level::kField:
      return "must not be empty for specified object fields";
  }
  return "";
}

// --- structure -----------------------------------------------------------------------------------

void CheckType(const Value& part, Level level, const Path& path, FieldErrors& errors) {
  const auto type = part["type"].AsString();
  const bool embedded = part["x-kubernetes-embedded-resource"].AsBool();
  const Path at = path.Child("type");
  if (embedded && type != "object") {
    constexpr const char* kObject = "must be object if x-kubernetes-embedded-resource is true";
    errors.push_back(type.empty() ? Required(at, kObject) : Invalid(at, type, kObject));
  } else if (type.empty() && !part["x-kubernetes-int-or-string"].AsBool() &&
             !part["x-kubernetes-preserve-unknown-fields"].AsBool()) {
    errors.push_back(Required(at, MissingType(level)));
  }
  if (embedded && !part["additionalProperties"].is_null()) {
    errors.push_back(Forbidden(path.Child("additionalProperties"),
                               "must not be used if x-kubernetes-embedded-resource is set"));
  }
  if (level == Level::kRoot && !type.empty() && type != "object") {
    errors.push_back(Invalid(at, type, "must be object at the root"));
  }
}

void CheckTypeMeta(const Value& part, Level level, const Path& path, FieldErrors& errors) {
  if (level != Level::kRoot && !part["x-kubernetes-embedded-resource"].AsBool()) return;
  const Value properties = part["properties"];
  for (std::string_view field : {"kind", "apiVersion"}) {
    const Value* found = properties.Find(field);
    if (found == nullptr || (*found)["type"].AsString() == "string") continue;
    errors.push_back(Invalid(path.Child("properties").Key(field).Child("type"),
                             (*found)["type"].AsString(), "must be string"));
  }
  const Value* metadata = properties.Find("metadata");
  if (metadata != nullptr && (*metadata)["type"].AsString() != "object") {
    errors.push_back(Invalid(path.Child("properties").Key("metadata").Child("type"),
                             (*metadata)["type"].AsString(), "must be object"));
  }
}

void CheckStructure(const Value& part, Level level, const Path& path, FieldErrors& errors) {
  const Value items = part["items"];
  if (part["type"].AsString() == "array" && items.is_null()) {
    errors.push_back(Required(path.Child("items"), "must be specified"));
  }
  if (items.is_object()) CheckStructure(items, Level::kItem, path.Child("items"), errors);
  const Path properties = path.Child("properties");
  for (const auto& [name, property] : part["properties"].members()) {
    CheckStructure(property, Level::kField, properties.Key(name->text()), errors);
  }
  const Value additional = part["additionalProperties"];
  if (!additional.is_null() && level == Level::kRoot) {
    errors.push_back(Forbidden(path.Child("additionalProperties"), "must not be used at the root"));
  }
  if (additional.is_object()) {
    CheckStructure(additional, Level::kField, path.Child("additionalProperties"), errors);
  }
  CheckType(part, level, path, errors);
  CheckTypeMeta(part, level, path, errors);
  if (part["x-kubernetes-embedded-resource"].AsBool() &&
      !part["x-kubernetes-preserve-unknown-fields"].AsBool() && part["properties"].size() == 0) {
    errors.push_back(Required(path.Child("properties"),
                              "must not be empty if x-kubernetes-embedded-resource is true without "
                              "x-kubernetes-preserve-unknown-fields"));
  }
}

// --- what each part may say ----------------------------------------------------------------------

// Go's words for what RE2 found.
std::string_view PatternComplaint(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorBadCharRange:
    case RE2::ErrorBadCharClass:
      return "invalid character class range";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "expression nests too deeply";
  }
}

void CheckPattern(std::string_view pattern, const Path& path, FieldErrors& errors) {
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 expression(pattern, options);
  if (expression.ok()) return;
  errors.push_back(
      Invalid(path, pattern,
              fmt::format("must be a valid regular expression, but isn't: error parsing regexp: "
                          "{}: `{}`",
                          PatternComplaint(expression.error_code()), expression.error_arg())));
}

void CheckUnsupported(const Value& part, const Path& path, FieldErrors& errors) {
  const auto type = part["type"].AsString();
  if (!type.empty()) rest::CheckSupported(type, kTypes, path.Child("type"), errors);
  for (std::string_view field :
       {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
    if (part[field].is_null()) continue;
    errors.push_back(Forbidden(path.Child(field), fmt::format("{} is not supported", field)));
  }
  if (type == "null") {
    errors.push_back(Forbidden(path.Child("type"),
                               "type cannot be set to null, use nullable as an alternative"));
  }
  if (part["items"].is_list()) {
    errors.push_back(
        Forbidden(path.Child("items"), "items must be a schema object and not an array"));
  }
  if (part["uniqueItems"].AsBool()) {
    errors.push_back(Forbidden(path.Child("uniqueItems"),
                               "uniqueItems cannot be set to true since the runtime complexity "
                               "becomes quadratic"));
  }
}

void CheckKindOfList(const Value& part, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kListTypes[] = {"atomic", "set", "map"};
  const Value list_type = part["x-kubernetes-list-type"];
  const auto type = part["type"].AsString();
  const Value items = part["items"];
  if (!list_type.is_null() && type != "array") {
    constexpr const char* kArray = "must be array if x-kubernetes-list-type is specified";
    errors.push_back(type.empty() ? Required(path.Child("type"), kArray)
                                  : Invalid(path.Child("type"), type, kArray));
  } else if (list_type.AsString() == "set" && items.is_object()) {
    constexpr const char* kAtomic =
        "must be atomic as item of a list with x-kubernetes-list-type=set";
    const auto item_type = items["type"].AsString();
    const Value item_list = items["x-kubernetes-list-type"];
    if (item_type == "array" && !item_list.is_null() && item_list.AsString() != "atomic") {
      errors.push_back(
          Invalid(path.Child("items").Child("x-kubernetes-list-type"), item_list, kAtomic));
    } else if (item_type == "object" && items["x-kubernetes-map-type"].AsString() != "atomic") {
      errors.push_back(
          Invalid(path.Child("items").Child("x-kubernetes-map-type"), item_list, kAtomic));
    }
  }
  if (!list_type.is_null()) {
    rest::CheckSupported(list_type.AsString(), kListTypes, path.Child("x-kubernetes-list-type"),
                         errors);
  }
}

void CheckMapKeys(const Value& part, const Path& path, FieldErrors& errors) {
  const Value keys = part["x-kubernetes-list-map-keys"];
  const Path at = path.Child("x-kubernetes-list-map-keys");
  const Value properties = part["items"]["properties"];
  rest::SeenTexts seen;
  for (const Value& key : keys.items()) {
    const Value* property = properties.Find(key.AsString());
    if (property == nullptr) {
      errors.push_back(Invalid(at, keys, "entries must all be names of item properties"));
    } else if (auto type = (*property)["type"].AsString(); type == "array" || type == "object") {
      errors.push_back(
          Invalid(path.Child("items").Child("properties").Key(key.AsString()).Child("type"),
                  part["items"]["type"].AsString(),
                  "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if (!seen.Insert(key.AsString())) {
      errors.push_back(Invalid(at, keys, "must not contain duplicate entries"));
    }
  }
}

void CheckMapList(const Value& part, const Path& path, FieldErrors& errors) {
  const Value list_type = part["x-kubernetes-list-type"];
  const Value keys = part["x-kubernetes-list-map-keys"];
  const bool is_map = list_type.AsString() == "map";
  if (keys.size() > 0 && !is_map) {
    constexpr const char* kMap = "must be map if x-kubernetes-list-map-keys is non-empty";
    const Path at = path.Child("x-kubernetes-list-type");
    errors.push_back(list_type.is_null() ? Required(at, kMap)
                                         : Invalid(at, list_type.AsString(), kMap));
  }
  if (!is_map) return;
  if (keys.size() == 0) {
    errors.push_back(Required(path.Child("x-kubernetes-list-map-keys"),
                              "must not be empty if x-kubernetes-list-type is map"));
  }
  const Value items = part["items"];
  if (items.is_null()) {
    errors.push_back(
        Required(path.Child("items"), "must have a schema if x-kubernetes-list-type is map"));
  } else if (items.is_object() && items["type"].AsString() != "object") {
    errors.push_back(Invalid(path.Child("items").Child("type"), items["type"].AsString(),
                             "must be object if parent array's x-kubernetes-list-type is map"));
  } else if (items.is_object()) {
    CheckMapKeys(part, path, errors);
  }
}

// A key that may be missing could not tell entries apart.
void CheckKeysArePresent(const Value& part, const Path& path, FieldErrors& errors) {
  const auto list_type = part["x-kubernetes-list-type"].AsString();
  const Value items = part["items"];
  if (!items.is_object() || (list_type != "set" && list_type != "map")) return;
  if (items["nullable"].AsBool()) {
    errors.push_back(
        Forbidden(path.Child("items").Child("nullable"),
                  fmt::format("cannot be nullable when x-kubernetes-list-type is {}", list_type)));
  }
  if (list_type != "map") return;
  const auto required = items["required"].items();
  for (const Value& key : part["x-kubernetes-list-map-keys"].items()) {
    const Value* property = items["properties"].Find(key.AsString());
    if (property == nullptr) continue;
    const Path at = path.Child("items").Child("properties").Key(key.AsString());
    if (std::ranges::find(required, key) == required.end() && (*property)["default"].is_null()) {
      errors.push_back(Required(at.Child("default"),
                                "this property is in x-kubernetes-list-map-keys, so it must have a "
                                "default or be a required property"));
    }
    if ((*property)["nullable"].AsBool()) {
      errors.push_back(Forbidden(at.Child("nullable"),
                                 "this property is in x-kubernetes-list-map-keys, so it cannot be "
                                 "nullable"));
    }
  }
}

void CheckExtensions(const Value& part, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kMapTypes[] = {"atomic", "granular"};
  const Value preserve = part["x-kubernetes-preserve-unknown-fields"];
  if (preserve.is_bool() && !preserve.AsBool()) {
    errors.push_back(Invalid(path.Child("x-kubernetes-preserve-unknown-fields"), false,
                             "must be true or undefined"));
  }
  const Value map_type = part["x-kubernetes-map-type"];
  if (!map_type.is_null()) {
    const auto type = part["type"].AsString();
    if (type != "object") {
      constexpr const char* kObject = "must be object if x-kubernetes-map-type is specified";
      errors.push_back(type.empty() ? Required(path.Child("type"), kObject)
                                    : Invalid(path.Child("type"), type, kObject));
    }
    rest::CheckSupported(map_type.AsString(), kMapTypes, path.Child("x-kubernetes-map-type"),
                         errors);
  }
  CheckKindOfList(part, path, errors);
  CheckMapList(part, path, errors);
  CheckKeysArePresent(part, path, errors);
}

void CheckPart(const Value& part, const Path& path, FieldErrors& errors) {
  CheckUnsupported(part, path, errors);
  const Value additional = part["additionalProperties"];
  if (!additional.is_null()) {
    const bool any = additional.is_bool() && additional.AsBool();
    if (part["properties"].size() > 0 && !any) {
      errors.push_back(Forbidden(path.Child("additionalProperties"),
                                 "additionalProperties and properties are mutual exclusive"));
    }
    if (additional.is_object()) CheckPart(additional, path.Child("additionalProperties"), errors);
  }
  const Path properties = path.Child("properties");
  for (const auto& [name, property] : part["properties"].members()) {
    CheckPart(property, properties.Key(name->text()), errors);
  }
  if (part["not"].is_object()) CheckPart(part["not"], path.Child("not"), errors);
  for (std::string_view logic : {"allOf", "oneOf", "anyOf"}) {
    const Value parts = part[logic];
    for (size_t i = 0; i < parts.items().size(); ++i) {
      CheckPart(parts.items()[i], path.Child(logic).Index(i), errors);
    }
  }
  if (part["items"].is_object()) CheckPart(part["items"], path.Child("items"), errors);
  if (auto pattern = part["pattern"].AsString(); !pattern.empty()) {
    CheckPattern(pattern, path.Child("pattern"), errors);
  }
  CheckExtensions(part, path, errors);
}

}  // namespace

void CheckDefinitionSchema(const Value& schema, const Path& path, FieldErrors& errors) {
  if (!schema.is_object()) return;
  if (schema["nullable"].AsBool()) {
    errors.push_back(Forbidden(path.Child("nullable"), "nullable cannot be true at the root"));
  }
  CheckStructure(schema, Level::kRoot, path, errors);
  CheckPart(schema, path, errors);
}

}  // namespace keelson::apiextensions
