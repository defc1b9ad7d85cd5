#include "schema/zero.h"

#include <vector>

namespace keelson::schema {

using value::Arena;
using value::Member;
using value::Value;

bool IsZeroValue(const Type& type, const Value& value) {
  switch (type.kind) {
    case TypeKind::kString:
      return value.size() == 0;
    case TypeKind::kInt32:
    case TypeKind::kInt64:
      return value.AsInt() == 0;
    case TypeKind::kBool:
      return !value.AsBool();
    case TypeKind::kDouble:
      return value.AsDouble() == 0;
    case TypeKind::kQuantity:
      return value.is_null() || value.AsString() == "0";
    case TypeKind::kIntOrString:
      return value.is_null() || (value.is_int() && value.AsInt() == 0);
    case TypeKind::kDuration:
      return value.is_null() || value.AsString() == "0s";
    case TypeKind::kSchemaOrBool:
      return value.is_null() || (value.is_bool() && !value.AsBool());
    case TypeKind::kStruct:
      for (const Member& member : value.members()) {
        const Field* field = type.Find(*member.name);
        if (!field) return false;
        if (field->pointer() ? !member.value.is_null() : !IsZeroValue(*field->type, member.value)) {
          return false;
        }
      }
      return true;
    default:
      return value.is_null();
  }
}

bool IsOmitted(const Field& field, const Value& value) {
  if (field.Has(Field::kOmitZero)) return IsZeroValue(*field.type, value);
  if (!field.omit_empty()) return false;
  if (field.pointer()) return value.is_null();
  switch (field.type->kind) {
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kList:
    case TypeKind::kMap:
      return value.size() == 0;
    case TypeKind::kInt32:
    case TypeKind::kInt64:
      return value.AsInt() == 0;
    case TypeKind::kBool:
      return !value.AsBool();
    case TypeKind::kDouble:
      return value.AsDouble() == 0;
    case TypeKind::kAny:
      return value.is_null();
    default:
      return false;
  }
}

Value ZeroValue(const Type& type, Arena& arena) {
  switch (type.kind) {
    case TypeKind::kString:
      return Value::String("", true);
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kIntOrString:
      return Value::Int(0);
    case TypeKind::kBool:
    case TypeKind::kSchemaOrBool:
      return Value::Bool(false);
    case TypeKind::kDouble:
      return Value::Double(0);
    case TypeKind::kQuantity:
      return Value::String("0", true);
    case TypeKind::kDuration:
      return Value::String("0s", true);
    case TypeKind::kStruct:
      break;
    default:
      return Value();
  }
  size_t count = 0;
  for (const Field& field : type.fields()) count += AlwaysWritten(field);
  if (count == 0) return Value::EmptyObject();
  auto* members = arena.AllocateArray<Member>(count);
  count = 0;
  for (const Field& field : type.fields()) {
    if (AlwaysWritten(field)) new (&members[count++]) Member(field.name, ZeroValue(field, arena));
  }
  return Value::Object({members, count});
}

}  // namespace keelson::schema
