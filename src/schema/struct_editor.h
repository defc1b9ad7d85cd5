#pragma once

// StructEditor: changes to one typed object, made without touching the old one.
//
// Nothing is copied until the first change; a field that is added takes its place in struct order,
// so the result stays in canonical form. The new members live in the given arena.

#include <cstddef>
#include <vector>

#include "schema/type.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

class StructEditor {
 public:
  // `object` may be null: it counts as an object without members.
  StructEditor(const Type& type, const value::Value& object, value::Arena& arena)
      : type_(type), arena_(arena), object_(object.Shared()) {}

  const Type& type() const { return type_; }
  value::Arena& arena() { return arena_; }

  // Null when absent.
  value::Value Get(const value::Name& name) const { return object_[name]; }
  bool Has(const value::Name& name) const { return object_.Find(name) != nullptr; }
  // True when the field is absent, null or the zero of its type.
  bool IsUnset(const value::Name& name) const;

  // The name must be a field of the type.
  void Set(const value::Name& name, value::Value value);
  // Sets it when IsUnset. Returns whether it did.
  bool SetDefault(const value::Name& name, value::Value value);
  void Remove(const value::Name& name);

  // A string in the arena.
  value::Value String(std::string_view text) {
    return value::Value::String(arena_.CopyString(text));
  }

  bool changed() const { return changed_; }
  // The object as it now is; the old one when nothing changed.
  const value::Value& value() const { return object_; }

 private:
  friend class FieldWalk;
  // A copy of the members with room for one more.
  value::Member* Own();

  const Type& type_;
  value::Arena& arena_;
  value::Value object_;
  value::Member* members_ = nullptr;  // ours, once changed
  size_t capacity_ = 0;
  bool changed_ = false;
};

}  // namespace keelson::schema
