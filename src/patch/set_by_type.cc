// Field sets looked at through a type.

#include <vector>

#include "patch/type_view.h"
#include "patch/typed.h"

namespace keelson::patch {
namespace {

using schema::PathElement;
using Entry = FieldSet::Entry;

// The place below an element; a set may name what the type does not know.
TypeView Below(const TypeView& type, const PathElement& element) {
  if (element.is_field()) return type.Child(element.field());
  return element.is_key() ? type.ListElement() : TypeView();
}

FieldSet CopyOf(Arena& arena, FieldSet set) {
  auto* copy = arena.AllocateArray<Entry>(set.entries().size());
  std::uninitialized_copy(set.entries().begin(), set.entries().end(), copy);
  return FieldSet({copy, set.entries().size()});
}

FieldSet Named(Arena& arena, const TypeView& type, FieldSet set) {
  if (set.empty()) return set;
  FieldSet out = CopyOf(arena, set);
  for (const Entry& entry : out.entries()) {
    if (entry.children_size == 0) continue;
    bool declared = entry.element.is_field() && type.FindField(entry.element.field()) != nullptr;
    const_cast<Entry&>(entry) = Entry(entry.element, entry.member || declared,
                                      Named(arena, Below(type, entry.element), entry.children()));
  }
  return out;
}

bool Atomic(const TypeView& type) {
  Shape shape = type.ShapeOf(nullptr);
  return shape == Shape::kAtomicMap || shape == Shape::kAtomicList;
}

// Shares everything that stays as it is; most sets do.
FieldSet Reconciled(Arena& arena, const TypeView& type, FieldSet set) {
  FieldSet out = set;
  bool copied = false;
  for (size_t i = 0; i < set.entries().size(); ++i) {
    const Entry& entry = set.entries()[i];
    if (entry.children_size == 0) continue;
    TypeView below = entry.element.is_field() || entry.element.is_key() ? Below(type, entry.element)
                                                                        : type.ListElement();
    if (below.deduced()) continue;
    Entry changed = Atomic(below) ? Entry(entry.element, true)
                                  : Entry(entry.element, entry.member,
                                          Reconciled(arena, below, entry.children()));
    if (changed.children_data == entry.children_data && changed.member == entry.member) continue;
    if (!std::exchange(copied, true)) out = CopyOf(arena, set);
    const_cast<Entry&>(out.entries()[i]) = changed;
  }
  return out;
}

}  // namespace

FieldSet WithNamedFields(Arena& arena, const schema::Type& type, FieldSet set) {
  return Named(arena, TypeView(type), set);
}

FieldSet ReconcileWithType(Arena& arena, const schema::Type& type, FieldSet set) {
  return Reconciled(arena, TypeView(type), set);
}

}  // namespace keelson::patch
