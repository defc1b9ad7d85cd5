#include "schema/equality.h"

#include "schema/zero.h"
#include "value/quantity.h"
#include "value/timestamp.h"

namespace keelson::schema {

using value::Member;
using value::Value;

namespace {

// The zero of a type, where a list or map without entries counts as none.
bool IsNone(const Type& type, const Value& value) {
  if (value.is_null()) return true;
  if (type.kind == TypeKind::kList || type.kind == TypeKind::kMap ||
      type.kind == TypeKind::kBytes) {
    return value.size() == 0;
  }
  if (type.kind == TypeKind::kStruct) {
    for (const Member& member : value.members()) {
      const Field* field = type.Find(*member.name);
      if (!field) return false;
      if (field->pointer() ? !member.value.is_null() : !IsNone(*field->type, member.value)) {
        return false;
      }
    }
    return true;
  }
  return IsZeroValue(type, value);
}

bool EqualQuantities(const Value& a, const Value& b) {
  if (a.AsString() == b.AsString()) return true;
  auto left = value::Quantity::Parse(a.AsString());
  auto right = value::Quantity::Parse(b.AsString());
  return left && right && left->Compare(*right) == 0;
}

bool EqualTimes(const Value& a, const Value& b, bool micro) {
  if (a.AsString() == b.AsString()) return true;
  auto parse = [&](const Value& v) {
    return micro ? value::ParseMicroTime(v.AsString()) : value::ParseTime(v.AsString());
  };
  auto left = parse(a);
  auto right = parse(b);
  return left && right && *left == *right;
}

bool EqualStructs(const Type& type, const Value& a, const Value& b) {
  if (a.members().data() == b.members().data() && a.size() == b.size()) return true;
  for (const Field& field : type.fields()) {
    const Value* left = a.Find(*field.name);
    const Value* right = b.Find(*field.name);
    if (!left && !right) continue;
    Value x = left ? *left : Value();
    Value y = right ? *right : Value();
    if (field.pointer() && x.is_null() != y.is_null()) return false;
    if (!EqualByMeaning(*field.type, x, y)) return false;
  }
  // What the type does not know (a custom resource's preserved fields) must be the same.
  for (const Member& member : a.members()) {
    if (type.Find(*member.name)) continue;
    const Value* other = b.Find(*member.name);
    if (!other || !(*other == member.value)) return false;
  }
  for (const Member& member : b.members()) {
    if (!type.Find(*member.name) && !a.Find(*member.name)) return false;
  }
  return true;
}

bool EqualMaps(const Type& type, const Value& a, const Value& b) {
  if (a.members().size() != b.members().size()) return false;
  for (const Member& member : a.members()) {
    const Value* other = b.Find(*member.name);
    if (!other || !EqualByMeaning(*type.element, member.value, *other)) return false;
  }
  return true;
}

bool EqualLists(const Type& type, const Value& a, const Value& b) {
  auto left = a.items();
  auto right = b.items();
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!EqualByMeaning(*type.element, left[i], right[i])) return false;
  }
  return true;
}

}  // namespace

bool EqualByMeaning(const Type& type, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) return IsNone(type, a) && IsNone(type, b);
  switch (type.kind) {
    case TypeKind::kStruct:
      return EqualStructs(type, a, b);
    case TypeKind::kMap:
      return EqualMaps(type, a, b);
    case TypeKind::kList:
      return EqualLists(type, a, b);
    case TypeKind::kQuantity:
      return EqualQuantities(a, b);
    case TypeKind::kTime:
    case TypeKind::kMicroTime:
      return EqualTimes(a, b, type.kind == TypeKind::kMicroTime);
    default:
      return a == b;
  }
}

}  // namespace keelson::schema
