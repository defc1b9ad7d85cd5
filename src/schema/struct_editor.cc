#include "schema/struct_editor.h"

#include <algorithm>

#include "base/result.h"
#include "schema/zero.h"

namespace keelson::schema {

using value::Member;
using value::Name;
using value::Value;

bool StructEditor::IsUnset(const Name& name) const {
  const Value* value = object_.Find(name);
  if (!value || value->is_null()) return true;
  const Field* field = type_.Find(name);
  if (!field || field->pointer()) return false;
  if (field->type->kind == TypeKind::kList || field->type->kind == TypeKind::kMap) {
    return value->size() == 0;
  }
  return IsZeroValue(*field->type, *value);
}

Member* StructEditor::Own() {
  size_t size = object_.members().size();
  if (!members_ || size == capacity_) {
    capacity_ = size + 8;
    auto* copy = arena_.AllocateArray<Member>(capacity_);
    std::copy(object_.members().begin(), object_.members().end(), copy);
    members_ = copy;
  }
  changed_ = true;
  return members_;
}

void StructEditor::Set(const Name& name, Value value) {
  size_t size = object_.members().size();
  for (size_t i = 0; i < size; ++i) {
    if (*object_.members()[i].name == name) {
      const Name* kept = object_.members()[i].name;
      Member* members = Own();
      members[i] = Member(kept, value.Shared());
      object_ = Value::Object({members, size});
      return;
    }
  }
  const Field* field = type_.Find(name);
  KEELSON_CHECK(field != nullptr);
  // Members stand in the order of the fields, so one walk over both finds the place.
  size_t position = 0;
  for (const Field* before = type_.fields_data; before < field && position < size; ++before) {
    if (*object_.members()[position].name == *before->name) ++position;
  }
  Member* members = Own();
  std::copy_backward(members + position, members + size, members + size + 1);
  members[position] = Member(field->name, value.Shared());
  object_ = Value::Object({members, size + 1});
}

bool StructEditor::SetDefault(const Name& name, Value value) {
  if (!IsUnset(name)) return false;
  Set(name, value);
  return true;
}

void StructEditor::Remove(const Name& name) {
  size_t size = object_.members().size();
  for (size_t i = 0; i < size; ++i) {
    if (*object_.members()[i].name != name) continue;
    Member* members = Own();
    std::copy(members + i + 1, members + size, members + i);
    object_ = Value::Object({members, size - 1});
    return;
  }
}

}  // namespace keelson::schema
