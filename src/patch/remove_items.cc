// Taking fields out of an object, or keeping only some, guided by a field set.
//
// An atomic list or map is never taken apart: with something below it in the set, removing takes
// all of it and extracting keeps all of it.

#include <vector>

#include "patch/list_items.h"
#include "patch/typed.h"

namespace keelson::patch {
namespace {

using schema::PathElement;
using value::Member;

enum class Mode { kRemove, kExtract };

class Taker {
 public:
  Taker(Arena& arena, Mode mode) : arena_(arena), mode_(mode) {}

  Value At(const TypeView& type, const Value& value, FieldSet items) {
    switch (type.ShapeOf(&value)) {
      case Shape::kScalar:
        return value.Shared();
      case Shape::kMap:
        return value.members().empty() ? Whole(value) : Map(type, value, items);
      case Shape::kList:
        return value.items().empty() ? Whole(value) : List(type, value, items);
      case Shape::kAtomicMap:
      case Shape::kAtomicList:
        return Whole(value);
    }
    return Value();
  }

 private:
  Value Whole(const Value& value) const {
    return mode_ == Mode::kExtract ? value.Shared() : Value();
  }

  Value Map(const TypeView& type, const Value& map, FieldSet items) {
    auto* out = arena_.AllocateArray<Member>(map.size());
    size_t count = 0;
    for (const Member& member : map.members()) {
      const FieldSet::Entry* entry = items.Find(PathElement::Field(member.key()));
      if (entry && entry->member && mode_ == Mode::kRemove) continue;
      if (!entry && mode_ == Mode::kExtract) continue;
      Value kept = member.value.Shared();
      if (entry && entry->children_size > 0) {
        kept = At(type.Child(*member.name), member.value, entry->children());
      }
      new (&out[count++]) Member(member.name, kept);
    }
    return count == 0 ? Value() : Value::Object({out, count});
  }

  Value List(const TypeView& type, const Value& list, FieldSet items) {
    auto* out = arena_.AllocateArray<Value>(list.size());
    size_t count = 0;
    for (const Value& item : list.items()) {
      auto element = ItemElement(arena_, type, item);
      const FieldSet::Entry* entry = element ? items.Find(*element) : nullptr;
      if (entry && entry->member && mode_ == Mode::kRemove) continue;
      if (!entry && mode_ == Mode::kExtract) continue;
      Value kept = item.Shared();
      if (entry && entry->children_size > 0) {
        kept = At(type.ListElement(), item, entry->children());
      }
      new (&out[count++]) Value(kept);
    }
    return count == 0 ? Value() : Value::List({out, count});
  }

  Arena& arena_;
  Mode mode_;
};

}  // namespace

Value RemoveItems(Arena& arena, const schema::Type& type, const Value& object, FieldSet items) {
  return Taker(arena, Mode::kRemove).At(TypeView(type), object, items);
}

Value ExtractItems(Arena& arena, const schema::Type& type, const Value& object, FieldSet items) {
  return Taker(arena, Mode::kExtract).At(TypeView(type), object, items);
}

}  // namespace keelson::patch
