// The fields an object sets, as upstream's structured-merge-diff names them: leaves, items of keyed
// lists and sets, entries of maps, and empty or null fields; a struct field with content is named
// only by what is in it.

#include "patch/list_items.h"
#include "patch/typed.h"

namespace keelson::patch {
namespace {

using schema::FieldSetLevels;
using schema::PathElement;
using value::Member;

struct Fields {
  FieldSet below;
  bool self = false;
};

class Collector {
 public:
  explicit Collector(Arena& arena) : arena_(arena) {}

  Fields At(const TypeView& type, const Value& value) {
    switch (type.ShapeOf(&value)) {
      case Shape::kMap:
        return Map(type, value);
      case Shape::kList:
        return List(type, value);
      default:
        return Fields{{}, true};
    }
  }

 private:
  Fields Map(const TypeView& type, const Value& map) {
    size_t mark = levels_.Open();
    for (const Member& member : map.members()) {
      const schema::Field* field = type.FindField(*member.name);
      Fields child = At(field ? TypeView(*field) : type.MapElement(), member.value);
      bool bare = member.value.is_null() || (member.value.is_object() && member.value.size() == 0);
      Add(PathElement::Field(*member.name), child, bare || !field);
    }
    return Fields{levels_.Close(arena_, mark), false};
  }

  Fields List(const TypeView& type, const Value& list) {
    // What lost its key to a removal has no name, and nobody can own it.
    auto items = ListItems::MakeFromProper(arena_, type, list);
    size_t mark = levels_.Open();
    for (size_t i = 0; i < items.size(); ++i) {
      // A repeated item is owned as a whole, not field by field.
      bool repeated = items.Find(items.element(i)).size() > 1;
      Fields child;
      if (!repeated) child = At(type.ListElement(), items.item(i));
      Add(items.element(i), child, true);
    }
    return Fields{levels_.Close(arena_, mark), false};
  }

  void Add(const PathElement& element, const Fields& child, bool member) {
    if (member || child.self || !child.below.empty()) {
      levels_.Add({element, member || child.self, child.below});
    }
  }

  Arena& arena_;
  FieldSetLevels levels_;
};

}  // namespace

FieldSet ToFieldSet(Arena& arena, const schema::Type& type, const Value& object) {
  return Collector(arena).At(TypeView(type), object).below;
}

}  // namespace keelson::patch
