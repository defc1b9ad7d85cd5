// Comparison of two objects of one type, as upstream's structured-merge-diff does it.
//
// The walk goes down both objects at once. A leaf that only the second has is added, one that only
// the first has is removed, one that differs is modified. A map, struct or item that only one side
// has is itself added or removed, besides what is in it. Two empty containers are compared like
// leaves, which tells {} from null. Subtrees that share their storage are equal without a look: a
// patched object shares all that the patch left alone. What only the second object has is all
// added, and only gathered.

#include <array>

#include "patch/list_items.h"
#include "patch/member_index.h"
#include "patch/typed.h"

namespace keelson::patch {
namespace {

using schema::FieldSetLevels;
using schema::PathElement;
using value::Member;

constexpr size_t kFewItems = 32;
// Entries of all open levels together, as a rule.
constexpr size_t kUsualDepth = 64;

enum Outcome : size_t { kRemoved, kModified, kAdded, kOutcomes };

// What the walk found at one place: outcomes of the place itself and of all below.
struct Difference {
  std::array<FieldSet, kOutcomes> below;
  std::array<bool, kOutcomes> self = {};
};

bool SameStorage(const Value& a, const Value& b) {
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  if (a.is_object()) return a.members().data() == b.members().data();
  if (a.is_list()) return a.items().data() == b.items().data();
  return false;
}

// 1 and 1.0 are the same number here.
bool SameLeaf(const Value& a, const Value& b) { return a == b || value::Compare(a, b) == 0; }

std::span<const Member> MembersOf(const Value* value) {
  return value ? value->members() : std::span<const Member>();
}

class Comparer {
 public:
  explicit Comparer(Arena& arena) : arena_(arena) {}

  Result<Difference> At(const TypeView& type, const Value* before, const Value* after) {
    Difference out;
    if (before && after && SameStorage(*before, *after)) return out;
    if (!before && Gather(type, *after, out.below[kAdded])) {
      out.self[kAdded] = true;
      return out;
    }
    bool leaf = false;
    if (!before || !after || !type.varies()) {
      TRY(leaf, Walk(type, type.ShapeOf(after ? after : before), before, after, out));
    } else {
      // Kinds may differ; each is walked in its own shape.
      Shape old_shape = type.ShapeOf(before);
      Shape new_shape = type.ShapeOf(after);
      if (old_shape != new_shape) {
        Difference first;
        TRY_VOID(Walk(type, old_shape, before, after, first));
        TRY(leaf, Walk(type, new_shape, before, after, out));
        Join(out, first);
      } else {
        TRY(leaf, Walk(type, new_shape, before, after, out));
      }
    }
    if (!leaf) {
      if (!before) out.self[kAdded] = true;
      if (!after) out.self[kRemoved] = true;
    }
    return out;
  }

 private:
  // The fields of a value that was not there. False when it does not fit its type, which the
  // ordinary walk words.
  bool Gather(const TypeView& type, const Value& value, FieldSet& out) {
    const Shape shape = type.ShapeOf(&value);
    if (shape == Shape::kMap) return GatherMap(type, value, out);
    return shape != Shape::kList || GatherList(type, value, out);
  }

  bool GatherMap(const TypeView& type, const Value& map, FieldSet& out) {
    auto& level = levels_[kAdded];
    const size_t mark = level.Open();
    for (const Member& member : map.members()) {
      FieldSet below;
      if (!Gather(type.Child(*member.name), member.value, below)) {
        level.Drop(mark);
        return false;
      }
      level.Add({PathElement::Field(*member.name), true, below});
    }
    out = level.Close(arena_, mark);
    return true;
  }

  bool GatherList(const TypeView& type, const Value& list, FieldSet& out) {
    auto& level = levels_[kAdded];
    const size_t mark = level.Open();
    const TypeView item_type = type.ListElement();
    bool fits = list.items().size() <= kFewItems;  // many are sorted to find repeated ones
    for (size_t i = 0; fits && i < list.items().size(); ++i) {
      const Value& item = list.items()[i];
      auto element = ItemElement(arena_, type, item);
      FieldSet below;
      fits = element && !level.Has(mark, *element) && Gather(item_type, item, below);
      if (fits) level.Add({*element, true, below});
    }
    if (fits) {
      out = level.Close(arena_, mark);
    } else {
      level.Drop(mark);
    }
    return fits;
  }

  // Returns whether the place was taken as a leaf.
  Result<bool> Walk(const TypeView& type, Shape shape, const Value* before, const Value* after,
                    Difference& out) {
    if (IsLeaf(shape)) return Leaf(before, after, out);
    if (shape == Shape::kMap) {
      auto old_members = MembersOf(before);
      auto new_members = MembersOf(after);
      if (old_members.empty() && new_members.empty()) return Leaf(before, after, out);
      TRY_VOID(Maps(type, old_members, new_members, out));
      return false;
    }
    if ((!before || before->items().empty()) && (!after || after->items().empty())) {
      return Leaf(before, after, out);
    }
    TRY_VOID(Lists(type, before, after, out));
    return false;
  }

  static bool Leaf(const Value* before, const Value* after, Difference& out) {
    if (!before) {
      out.self[kAdded] = true;
    } else if (!after) {
      out.self[kRemoved] = true;
    } else if (!SameLeaf(*before, *after)) {
      out.self[kModified] = true;
    }
    return true;
  }

  Result<void> Maps(const TypeView& type, std::span<const Member> old_members,
                    std::span<const Member> new_members, Difference& out) {
    auto marks = Open();
    MemberIndex old_index(old_members);
    size_t matched = 0;
    for (const Member& member : new_members) {
      const Value* before = old_members.empty() ? nullptr : old_index.FindValue(*member.name);
      matched += before != nullptr;
      TRY_VOID(
          Child(PathElement::Field(*member.name), type.Child(*member.name), before, &member.value));
    }
    if (matched < old_members.size()) {
      MemberIndex new_index(new_members);
      for (const Member& member : old_members) {
        if (new_index.Find(*member.name) != MemberIndex::kNone) continue;
        TRY_VOID(Child(PathElement::Field(*member.name), type.Child(*member.name), &member.value,
                       nullptr));
      }
    }
    Close(marks, out);
    return {};
  }

  Result<void> Lists(const TypeView& type, const Value* before, const Value* after,
                     Difference& out) {
    auto marks = Open();
    TRY(auto old_items, ListItems::Make(arena_, type, before));
    TRY(auto new_items, ListItems::Make(arena_, type, after));
    size_t at = 0;
    for (auto order = old_items.sorted(); at < order.size();) {
      const PathElement& element = old_items.element(order[at]);
      auto old_positions = old_items.Find(element);
      TRY_VOID(Items(type, element, old_items, old_positions, new_items, new_items.Find(element)));
      at += old_positions.size();
    }
    at = 0;
    for (auto order = new_items.sorted(); at < order.size();) {
      const PathElement& element = new_items.element(order[at]);
      auto new_positions = new_items.Find(element);
      at += new_positions.size();
      if (old_items.Has(element)) continue;
      TRY_VOID(Items(type, element, old_items, {}, new_items, new_positions));
    }
    Close(marks, out);
    return {};
  }

  // The items with one element on both sides. Where an item is repeated, the repetition as such is
  // what is owned, and it is compared whole.
  Result<void> Items(const TypeView& type, const PathElement& element, const ListItems& old_items,
                     std::span<const uint32_t> old_at, const ListItems& new_items,
                     std::span<const uint32_t> new_at) {
    const Value* before = old_at.empty() ? nullptr : &old_items.item(old_at[0]);
    const Value* after = new_at.empty() ? nullptr : &new_items.item(new_at[0]);
    TypeView item_type = type.ListElement();
    if (old_at.size() <= 1 && new_at.size() <= 1) return Child(element, item_type, before, after);
    if (old_at.size() >= 2 && new_at.size() >= 2) {
      bool same = old_at.size() == new_at.size();
      for (size_t i = 0; same && i < old_at.size(); ++i) {
        same = SameLeaf(old_items.item(old_at[i]), new_items.item(new_at[i]));
      }
      if (!same) levels_[kModified].Add({element, true});
      return {};
    }
    if (old_at.size() >= 2) {
      if (after) TRY_VOID(Child(element, item_type, nullptr, after));
      levels_[kRemoved].Add({element, true});
    } else {
      if (before) TRY_VOID(Child(element, item_type, before, nullptr));
      levels_[kAdded].Add({element, true});
    }
    return {};
  }

  Result<void> Child(const PathElement& element, const TypeView& type, const Value* before,
                     const Value* after) {
    auto difference = At(type, before, after);
    if (!difference) {
      std::string path;
      element.AppendTo(path);
      return Fail(difference.error().code, "{}{}", path, difference.error().message);
    }
    for (size_t outcome = 0; outcome < kOutcomes; ++outcome) {
      if (difference->self[outcome] || !difference->below[outcome].empty()) {
        levels_[outcome].Add({element, difference->self[outcome], difference->below[outcome]});
      }
    }
    return {};
  }

  std::array<size_t, kOutcomes> Open() const {
    return {levels_[kRemoved].Open(), levels_[kModified].Open(), levels_[kAdded].Open()};
  }
  void Close(const std::array<size_t, kOutcomes>& marks, Difference& out) {
    for (size_t outcome = 0; outcome < kOutcomes; ++outcome) {
      out.below[outcome] = levels_[outcome].Close(arena_, marks[outcome]);
    }
  }
  void Join(Difference& into, const Difference& other) {
    for (size_t outcome = 0; outcome < kOutcomes; ++outcome) {
      into.self[outcome] |= other.self[outcome];
      into.below[outcome] = Union(arena_, into.below[outcome], other.below[outcome]);
    }
  }

  Arena& arena_;
  std::array<FieldSetLevels, kOutcomes> levels_{FieldSetLevels(), FieldSetLevels(),
                                                FieldSetLevels(kUsualDepth)};
};

}  // namespace

Result<Comparison> Compare(Arena& arena, const schema::Type& type, const Value& before,
                           const Value& after) {
  TRY(auto difference, Comparer(arena).At(TypeView(type), &before, &after));
  return Comparison{difference.below[kRemoved], difference.below[kModified],
                    difference.below[kAdded]};
}

}  // namespace keelson::patch
