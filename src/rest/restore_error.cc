#include "rest/restore_error.h"

#include <fmt/format.h>

#include "schema/decode_json.h"

namespace keelson::rest {
namespace {

using schema::Type;
using schema::TypeKind;
using value::Value;

// As Go names the kind of what stands in an untyped tree.
std::string_view KindText(const Value& value) {
  switch (value.kind()) {
    case value::Kind::kBool:
      return "bool";
    case value::Kind::kInt:
      return "int64";
    case value::Kind::kDouble:
      return "float64";
    case value::Kind::kString:
      return "string";
    case value::Kind::kList:
      return "slice";
    case value::Kind::kObject:
      return "map";
    case value::Kind::kNull:
      break;
  }
  return "invalid";
}

std::optional<std::string> ScalarError(const Type& type, const Value& value) {
  const bool number = type.kind == TypeKind::kInt32 || type.kind == TypeKind::kInt64;
  switch (type.kind) {
    case TypeKind::kString:
      if (value.is_string()) return std::nullopt;
      if (value.is_int())
        return fmt::format("cannot convert int64 to {}", schema::GoTypeName(type));
      break;
    case TypeKind::kBool:
      if (value.is_bool()) return std::nullopt;
      break;
    default:
      if (value.is_int()) return std::nullopt;
      if (value.is_double()) {
        if (!number ||
            value.AsDouble() == static_cast<double>(static_cast<int64_t>(value.AsDouble()))) {
          return std::nullopt;
        }
        return fmt::format("cannot convert float64 to {}", schema::GoTypeName(type));
      }
  }
  const std::string_view kind = type.kind == TypeKind::kString  ? "string"
                                : type.kind == TypeKind::kBool  ? "bool"
                                : type.kind == TypeKind::kInt32 ? "int32"
                                : type.kind == TypeKind::kInt64 ? "int64"
                                                                : "float64";
  return fmt::format("unrecognized type: {}", kind);
}

}  // namespace

std::optional<std::string> RestoreError(const Type& type, const Value& value) {
  if (value.is_null()) return std::nullopt;
  switch (type.kind) {
    case TypeKind::kStruct:
      if (!value.is_object()) {
        return fmt::format("cannot restore struct from: {}", KindText(value));
      }
      for (const auto& field : type.fields()) {
        const Value* member = value.Find(*field.name);
        if (member == nullptr) continue;
        if (auto error = RestoreError(*field.type, *member)) return error;
      }
      return std::nullopt;
    case TypeKind::kMap:
      if (!value.is_object()) return fmt::format("cannot restore map from {}", KindText(value));
      for (const auto& member : value.members()) {
        if (auto error = RestoreError(*type.element, member.value)) return error;
      }
      return std::nullopt;
    case TypeKind::kList:
      if (!value.is_list()) return fmt::format("cannot restore slice from {}", KindText(value));
      for (const auto& item : value.items()) {
        if (auto error = RestoreError(*type.element, item)) return error;
      }
      return std::nullopt;
    case TypeKind::kString:
    case TypeKind::kBool:
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kDouble:
      return ScalarError(type, value);
    case TypeKind::kBytes:
      if (value.is_string()) return std::nullopt;
      return fmt::format("cannot restore slice from {}", KindText(value));
    default:
      return std::nullopt;  // read by code of their own, whose words the decoder has
  }
}

}  // namespace keelson::rest
