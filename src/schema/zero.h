#pragma once

// Which fields a typed object writes, and what a field holds when nobody set it.
//
// Typed trees hold exactly what upstream's JSON shows (the canonical form): absent pointers and
// empty omitempty values are not there; a struct that is a value is there even when nothing in it
// is set; a required field that nobody set is there with the zero of its type. Decoders produce
// that form and Normalize (normalize.h) restores it after edits.

#include "schema/type.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

// True for kinds that are structs in upstream's memory: omitempty never drops their values.
constexpr bool IsStructLike(TypeKind kind) {
  switch (kind) {
    case TypeKind::kStruct:
    case TypeKind::kQuantity:
    case TypeKind::kIntOrString:
    case TypeKind::kTime:
    case TypeKind::kMicroTime:
    case TypeKind::kDuration:
    case TypeKind::kRawExtension:
    case TypeKind::kFieldsV1:
    case TypeKind::kJson:
    case TypeKind::kSchemaOrBool:
    case TypeKind::kSchemaOrArray:
    case TypeKind::kSchemaOrStrings:
      return true;
    default:
      return false;
  }
}

// True when the field appears even though nobody set it.
constexpr bool AlwaysWritten(const Field& field) {
  if (field.Has(Field::kNotInJson)) return false;
  if (field.Has(Field::kOmitZero)) return false;
  if (!field.omit_empty()) return true;
  return !field.pointer() && IsStructLike(field.type->kind);
}

// True when a field with this value does not appear.
bool IsOmitted(const Field& field, const value::Value& value);

// What the zero of the type looks like: "", 0, {}, "0" for a quantity, null for a list or a time.
value::Value ZeroValue(const Type& type, value::Arena& arena);
// The same for a field, where a pointer's zero is null.
inline value::Value ZeroValue(const Field& field, value::Arena& arena) {
  return field.pointer() ? value::Value() : ZeroValue(*field.type, arena);
}
// True when the value is the zero of the type or null.
bool IsZeroValue(const Type& type, const value::Value& value);

}  // namespace keelson::schema
