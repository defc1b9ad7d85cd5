#pragma once

// How apply sees one place of a type: as a leaf, field by field, or item by item.

#include <span>
#include <string_view>

#include "schema/type.h"
#include "value/value.h"

namespace keelson::patch {

enum class Shape : uint8_t {
  kScalar,
  kMap,         // owned field by field
  kAtomicMap,   // one value
  kList,        // owned item by item: a keyed list or a set
  kAtomicList,  // one value
};
constexpr bool IsLeaf(Shape shape) { return shape != Shape::kMap && shape != Shape::kList; }

class TypeView {
 public:
  constexpr TypeView() = default;
  constexpr explicit TypeView(const schema::Type& type) : type_(&type) {}
  constexpr explicit TypeView(const schema::Field& field) : type_(field.type), field_(&field) {}
  constexpr explicit TypeView(const schema::Type* type) : type_(type) {}

  // Nothing is declared here: the value decides.
  bool deduced() const {
    using schema::TypeKind;
    if (!type_) return true;
    switch (type_->kind) {
      case TypeKind::kJson:
      case TypeKind::kAny:
      case TypeKind::kSchemaOrBool:
      case TypeKind::kSchemaOrArray:
      case TypeKind::kSchemaOrStrings:
      case TypeKind::kUnspecified:
        return true;
      default:
        return false;
    }
  }

  // A deduced place, and one that holds any object as one value, take the shape of what is there.
  // `value` may be null for a place without one.
  Shape ShapeOf(const value::Value* value) const {
    using schema::TypeKind;
    bool any_atomic = type_ && type_->kind == TypeKind::kRawExtension;
    if (any_atomic || deduced()) {
      if (!value || value->is_object() || value->is_null()) {
        return any_atomic ? Shape::kAtomicMap : Shape::kMap;
      }
      return value->is_list() ? Shape::kAtomicList : Shape::kScalar;
    }
    switch (type_->kind) {
      case TypeKind::kStruct:
      case TypeKind::kMap:
      case TypeKind::kFieldsV1:
        return atomic() ? Shape::kAtomicMap : Shape::kMap;
      case TypeKind::kList:
        return associative() ? Shape::kList : Shape::kAtomicList;
      default:
        return Shape::kScalar;
    }
  }
  // True when values of different kinds may stand here.
  bool varies() const { return deduced() || type_->kind == schema::TypeKind::kRawExtension; }

  const schema::Field* FindField(const value::Name& name) const {
    return is_struct() ? type_->Find(name) : nullptr;
  }
  const schema::Field* FindField(std::string_view name) const {
    return is_struct() ? type_->Find(name) : nullptr;
  }
  // The place of a map entry that is not a declared field.
  TypeView MapElement() const {
    return type_ && type_->kind == schema::TypeKind::kMap ? TypeView(type_->element) : TypeView();
  }
  TypeView ListElement() const {
    return type_ && type_->kind == schema::TypeKind::kList ? TypeView(type_->element) : TypeView();
  }
  // The place below a map, for a declared field or any other entry.
  template <typename Key>
  TypeView Child(const Key& name) const {
    const schema::Field* field = FindField(name);
    return field ? TypeView(*field) : MapElement();
  }
  bool allows_unknown_fields() const {
    return !is_struct() || type_->Has(schema::Type::kPreserveUnknown) || type_->field_count == 0;
  }

  // The key fields of a keyed list; none for a set.
  std::span<const std::string_view> keys() const {
    if (type_->list_type == schema::ListType::kMap) return type_->keys();
    if (type_->list_type == schema::ListType::kUnset && field_ && field_->extra &&
        !field_->extra->patch_merge_key.empty()) {
      return {&field_->extra->patch_merge_key, 1};
    }
    return {};
  }
  const schema::Type* type() const { return type_; }
  bool is_struct() const { return type_ && type_->kind == schema::TypeKind::kStruct; }

 private:
  bool atomic() const {
    return field_ ? schema::IsAtomic(*field_) : type_->Has(schema::Type::kAtomic);
  }
  bool associative() const {
    switch (type_->list_type) {
      case schema::ListType::kSet:
      case schema::ListType::kMap:
        return true;
      case schema::ListType::kAtomic:
        return false;
      case schema::ListType::kUnset:
        // A list that only says how strategic merge treats it is treated alike.
        return field_ && field_->Has(schema::Field::kPatchMerge);
    }
    return false;
  }

  const schema::Type* type_ = nullptr;
  const schema::Field* field_ = nullptr;
};

}  // namespace keelson::patch
