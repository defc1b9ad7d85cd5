#include "schema/transform.h"

#include <algorithm>

#include "schema/crd.h"
#include "schema/custom_object.h"
#include "schema/zero.h"

namespace keelson::schema {

using value::Arena;
using value::Document;
using value::Member;
using value::Value;

namespace {

// Whether a walk returned what it was given. Containers that did not change keep their storage.
bool Unchanged(const Value& a, const Value& b) {
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  if (a.is_object()) return a.members().data() == b.members().data();
  if (a.is_list()) return a.items().data() == b.items().data();
  if (a.is_string()) return a.AsString().data() == b.AsString().data();
  return a == b;
}

// Applies `change` to every item; copies the list at the first one that differs.
template <typename Change>
Value MapItems(const Value& list, Arena& arena, Change&& change) {
  auto items = list.items();
  Value* copy = nullptr;
  for (size_t i = 0; i < items.size(); ++i) {
    Value changed = change(items[i], i);
    if (!copy && Unchanged(changed, items[i])) continue;
    if (!copy) {
      copy = arena.AllocateArray<Value>(items.size());
      std::copy(items.begin(), items.end(), copy);
    }
    copy[i] = changed.Shared();
  }
  return copy ? Value::List({copy, items.size()}) : list.Shared();
}

// The same for the members of an object; `change` takes the member.
template <typename Change>
Value MapMembers(const Value& object, Arena& arena, Change&& change) {
  auto members = object.members();
  Member* copy = nullptr;
  for (size_t i = 0; i < members.size(); ++i) {
    const Value& before = members[i].value;
    Value changed = change(members[i]);
    if (!copy && Unchanged(changed, before)) continue;
    if (!copy) {
      copy = arena.AllocateArray<Member>(members.size());
      std::copy(members.begin(), members.end(), copy);
    }
    copy[i] = Member(members[i].name, changed.Shared());
  }
  return copy ? Value::Object({copy, members.size()}) : object.Shared();
}

bool HoldsStructs(const Type& type) {
  switch (type.kind) {
    case TypeKind::kStruct:
    case TypeKind::kSchemaOrBool:
    case TypeKind::kSchemaOrArray:
    case TypeKind::kSchemaOrStrings:
      return true;
    case TypeKind::kMap:
    case TypeKind::kList:
      return type.element && HoldsStructs(*type.element);
    default:
      return false;
  }
}

class Defaulter {
 public:
  Defaulter(Arena& arena, const DefaultHooks& hooks) : arena_(arena), hooks_(hooks) {}

  Value Walk(const Type& type, const Value& value) {
    if (hooks_.empty() && !type.Has(Type::kHasDefaults)) return value.Shared();
    switch (type.kind) {
      case TypeKind::kStruct:
        return value.is_object() ? Struct(type, value) : value.Shared();
      case TypeKind::kList:
        if (!Matters(type)) return value.Shared();
        return MapItems(value, arena_,
                        [&](const Value& item, size_t) { return Element(type, item); });
      case TypeKind::kMap:
        if (!Matters(type)) return value.Shared();
        return MapMembers(value, arena_,
                          [&](const Member& member) { return Element(type, member.value); });
      default:
        return value.Shared();
    }
  }

 private:
  static bool Matters(const Type& type) {
    return type.element && (type.element_default || HoldsStructs(*type.element));
  }

  Value Element(const Type& type, const Value& value) {
    if (value.is_null() && type.element_default) return Walk(*type.element, *type.element_default);
    return Walk(*type.element, value);
  }

  Value Struct(const Type& type, const Value& value) {
    StructEditor editor(type, value, arena_);
    hooks_.Apply(editor);
    if (type.Has(Type::kHasDefaults)) {
      for (const Field& field : type.fields()) {
        if (!field.Has(Field::kDefault)) continue;
        const Value* set = editor.value().Find(*field.name);
        // A default that would not be written (name: "" of a reference) changes nothing.
        const Value& value = *field.extra->default_value;
        if (IsMissing(field, set) && !IsOmitted(field, value)) editor.Set(*field.name, value);
      }
    }
    const Value& filled = editor.value();
    return MapMembers(filled, arena_, [&](const Member& member) {
      if (!member.value.is_object() && !member.value.is_list() && !member.value.is_null()) {
        return member.value.Shared();
      }
      const Field* field = type.Find(*member.name);
      return field && HoldsStructs(*field->type) ? Walk(*field->type, member.value)
                                                 : member.value.Shared();
    });
  }

  // In canonical form a value that is zero is not there. Where null is not a value it counts as
  // absent too.
  static bool IsMissing(const Field& field, const Value* set) {
    return !set || (set->is_null() && !field.type->Has(Type::kNullable));
  }

  Arena& arena_;
  const DefaultHooks& hooks_;
};

class Normalizer {
 public:
  Normalizer(Arena& arena, EmptyContainers empty) : arena_(arena), empty_(empty) {}

  Value Walk(const Type& type, const Value& value) {
    switch (type.kind) {
      case TypeKind::kStruct:
        if (!value.is_object()) return value.Shared();
        return IsCustomObject(type) ? NormalizeCustom(type, value, arena_) : Struct(type, value);
      case TypeKind::kList:
        return MapItems(value, arena_, [&](const Value& item, size_t) {
          return item.is_null() ? ZeroValue(*type.element, arena_) : Walk(*type.element, item);
        });
      case TypeKind::kMap:
        return Map(type, value);
      case TypeKind::kSchemaOrBool:
      case TypeKind::kSchemaOrStrings:
        return value.is_object() ? Walk(*type.element, value) : value.Shared();
      case TypeKind::kSchemaOrArray:
        if (value.is_object()) return Walk(*type.element, value);
        return MapItems(value, arena_,
                        [&](const Value& item, size_t) { return Walk(*type.element, item); });
      default:
        return value.Shared();
    }
  }

 private:
  Value Struct(const Type& type, const Value& value) {
    auto fields = type.fields();
    auto members = value.members();
    auto** sets = arena_.AllocateArray<const Value*>(fields.size());
    const bool known = Place(type, members, sets);
    // Nothing is copied up to the first member that is not as it should be: mostly all are.
    Member* out = nullptr;
    size_t room = 0;
    auto copy = [&] {
      out = arena_.AllocateArray<Member>(fields.size());
      std::copy_n(members.begin(), room, out);
    };
    for (size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      const Value* set = sets[i];
      Value walked;
      if (set && !(set->is_null() && !field.pointer())) {
        walked = Walk(*field.type, *set);
        if (IsOmitted(field, walked)) continue;
        if (empty_ == EmptyContainers::kLost && IsEmptyContainer(field, walked)) walked = Value();
      } else if (AlwaysWritten(field)) {
        walked = ZeroValue(field, arena_);
      } else {
        continue;
      }
      const bool same = !out && set && room < members.size() && &members[room].value == set &&
                        Unchanged(walked, *set);
      if (!same) {
        if (!out) copy();
        new (&out[room]) Member(field.name, walked);
      }
      ++room;
    }
    if (!out && known && room == members.size()) {
      arena_.Return(sets, fields.size() * sizeof(*sets));
      return value.Shared();
    }
    if (room == 0) return Value::EmptyObject();
    if (!out) copy();
    return Value::Object({out, room});
  }

  // Where the value of each field stands, null for those that are not there. False when a member
  // is no field. Names of the schema are the same pointer wherever they come from, and mostly in
  // its order; only edits make others.
  static bool Place(const Type& type, std::span<const Member> members, const Value** sets) {
    std::fill_n(sets, type.field_count, nullptr);
    bool known = true;
    size_t next = 0;
    for (const Member& member : members) {
      if (next >= type.field_count || type.fields_data[next].name != member.name) {
        const Field* field = type.Find(*member.name);
        if (field == nullptr) {
          known = false;
          continue;
        }
        next = static_cast<size_t>(field - type.fields_data);
      }
      sets[next++] = &member.value;
    }
    return known;
  }

  static bool IsEmptyContainer(const Field& field, const Value& value) {
    return value.size() == 0 && (value.is_list() || value.is_object()) && !field.pointer() &&
           (field.type->kind == TypeKind::kList || field.type->kind == TypeKind::kMap);
  }

  Value Map(const Type& type, const Value& value) {
    Value walked = MapMembers(value, arena_, [&](const Member& member) {
      return member.value.is_null() ? ZeroValue(*type.element, arena_)
                                    : Walk(*type.element, member.value);
    });
    auto by_key = [](const Member& a, const Member& b) { return a.key() < b.key(); };
    auto members = walked.members();
    if (std::is_sorted(members.begin(), members.end(), by_key)) return walked;
    auto* sorted = arena_.AllocateArray<Member>(members.size());
    std::copy(members.begin(), members.end(), sorted);
    std::sort(sorted, sorted + members.size(), by_key);
    return Value::Object({sorted, members.size()});
  }

  Arena& arena_;
  const EmptyContainers empty_;
};

}  // namespace

DefaultHooks::DefaultHooks(std::span<const DefaultHook> hooks)
    : hooks_(hooks.begin(), hooks.end()) {
  // Insertion sort: few hooks, once, and equal types keep their order.
  for (size_t i = 1; i < hooks_.size(); ++i) {
    for (size_t j = i; j > 0 && hooks_[j].type < hooks_[j - 1].type; --j) {
      std::swap(hooks_[j], hooks_[j - 1]);
    }
  }
}

void DefaultHooks::Apply(StructEditor& object) const {
  if (hooks_.empty()) return;
  const Type* type = &object.type();
  auto at = std::lower_bound(hooks_.begin(), hooks_.end(), type,
                             [](const DefaultHook& hook, const Type* t) { return hook.type < t; });
  for (; at != hooks_.end() && at->type == type; ++at) at->apply(object);
}

Value ApplyDefaults(const Type& type, const Value& value, Arena& arena, const DefaultHooks& hooks) {
  return Defaulter(arena, hooks).Walk(type, value);
}

void ApplyDefaults(const Type& type, Document& object, const DefaultHooks& hooks) {
  object = object.Part(ApplyDefaults(type, object.root(), *object.arena(), hooks));
}

Value Normalize(const Type& type, const Value& value, Arena& arena, EmptyContainers empty) {
  return Normalizer(arena, empty).Walk(type, value);
}

void Normalize(const Type& type, Document& object, EmptyContainers empty) {
  object = object.Part(Normalize(type, object.root(), *object.arena(), empty));
}

}  // namespace keelson::schema
