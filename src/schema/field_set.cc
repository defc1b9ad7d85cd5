#include "schema/field_set.h"

#include <algorithm>

namespace keelson::schema {
namespace {

using Entry = FieldSet::Entry;

// Collects one level; the room needed is known beforehand.
class Level {
 public:
  Level(value::Arena& arena, size_t capacity) : data_(arena.AllocateArray<Entry>(capacity)) {}
  void Add(const Entry& entry) { new (&data_[size_++]) Entry(entry); }
  void Add(PathElement element, bool member, FieldSet children) {
    if (member || !children.empty()) Add(Entry(element, member, children));
  }
  FieldSet Take() const { return FieldSet({data_, size_}); }

 private:
  Entry* data_;
  size_t size_ = 0;
};

// Walks two levels side by side: left(entry), right(entry) for what only one has, both(a, b).
template <typename OnlyLeft, typename OnlyRight, typename Both>
void Zip(FieldSet a, FieldSet b, OnlyLeft&& left, OnlyRight&& right, Both&& both) {
  auto l = a.entries();
  auto r = b.entries();
  size_t i = 0;
  size_t j = 0;
  while (i < l.size() && j < r.size()) {
    int c = l[i].element.Compare(r[j].element);
    if (c < 0) {
      left(l[i++]);
    } else if (c > 0) {
      right(r[j++]);
    } else {
      both(l[i++], r[j++]);
    }
  }
  while (i < l.size()) left(l[i++]);
  while (j < r.size()) right(r[j++]);
}

bool SameStorage(FieldSet a, FieldSet b) {
  return a.entries().data() == b.entries().data() && a.entries().size() == b.entries().size();
}

constexpr auto kIgnore = [](const Entry&) {};

}  // namespace

const Entry* FieldSet::Find(const PathElement& element) const {
  auto all = entries();
  auto at = std::lower_bound(all.begin(), all.end(), element,
                             [](const Entry& entry, const PathElement& wanted) {
                               return entry.element.Compare(wanted) < 0;
                             });
  return at != all.end() && at->element.Compare(element) == 0 ? &*at : nullptr;
}

bool FieldSet::Has(std::span<const PathElement> path) const {
  FieldSet level = *this;
  for (size_t i = 0; i < path.size(); ++i) {
    const Entry* entry = level.Find(path[i]);
    if (!entry) return false;
    if (i + 1 == path.size()) return entry->member;
    level = entry->children();
  }
  return false;
}

size_t FieldSet::Count() const {
  size_t count = 0;
  for (const Entry& entry : entries()) count += entry.member + entry.children().Count();
  return count;
}

bool FieldSet::operator==(const FieldSet& other) const {
  if (size_ != other.size_) return false;
  if (data_ == other.data_) return true;
  for (size_t i = 0; i < size_; ++i) {
    if (data_[i].member != other.data_[i].member || !(data_[i].element == other.data_[i].element) ||
        !(data_[i].children() == other.data_[i].children())) {
      return false;
    }
  }
  return true;
}

FieldSet Union(value::Arena& arena, FieldSet a, FieldSet b) {
  if (a.empty() || SameStorage(a, b)) return b;
  if (b.empty()) return a;
  Level out(arena, a.entries().size() + b.entries().size());
  auto keep = [&](const Entry& entry) { out.Add(entry); };
  Zip(a, b, keep, keep, [&](const Entry& l, const Entry& r) {
    out.Add(l.element, l.member || r.member, Union(arena, l.children(), r.children()));
  });
  return out.Take();
}

FieldSet Intersection(value::Arena& arena, FieldSet a, FieldSet b) {
  if (a.empty() || b.empty()) return {};
  if (SameStorage(a, b)) return a;
  Level out(arena, std::min(a.entries().size(), b.entries().size()));
  Zip(a, b, kIgnore, kIgnore, [&](const Entry& l, const Entry& r) {
    out.Add(l.element, l.member && r.member, Intersection(arena, l.children(), r.children()));
  });
  return out.Take();
}

FieldSet Difference(value::Arena& arena, FieldSet a, FieldSet b) {
  if (a.empty() || b.empty()) return a;
  if (SameStorage(a, b)) return {};
  Level out(arena, a.entries().size());
  Zip(
      a, b, [&](const Entry& entry) { out.Add(entry); }, kIgnore,
      [&](const Entry& l, const Entry& r) {
        out.Add(l.element, l.member && !r.member, Difference(arena, l.children(), r.children()));
      });
  return out.Take();
}

FieldSet RecursiveDifference(value::Arena& arena, FieldSet a, FieldSet b) {
  if (a.empty() || b.empty()) return a;
  Level out(arena, a.entries().size());
  Zip(
      a, b, [&](const Entry& entry) { out.Add(entry); }, kIgnore,
      [&](const Entry& l, const Entry& r) {
        if (r.member) return;
        out.Add(l.element, l.member, RecursiveDifference(arena, l.children(), r.children()));
      });
  return out.Take();
}

FieldSet Leaves(value::Arena& arena, FieldSet set) {
  Level out(arena, set.entries().size());
  for (const Entry& entry : set.entries()) {
    out.Add(entry.element, entry.children_size == 0, Leaves(arena, entry.children()));
  }
  return out.Take();
}

FieldSet SinglePath(value::Arena& arena, std::span<const PathElement> path) {
  FieldSet set;
  bool member = true;
  for (size_t i = path.size(); i-- > 0; member = false) {
    Level level(arena, 1);
    level.Add(path[i], member, set);
    set = level.Take();
  }
  return set;
}

bool FieldSetLevels::Has(size_t mark, const PathElement& element) const {
  return std::any_of(stack_.begin() + static_cast<ptrdiff_t>(mark), stack_.end(),
                     [&](const Entry& entry) { return entry.element == element; });
}

FieldSet FieldSetLevels::Close(value::Arena& arena, size_t mark) {
  size_t count = stack_.size() - mark;
  if (count == 0) return {};
  Entry* begin = stack_.data() + mark;
  Entry* end = begin + count;
  auto before = [](const Entry& a, const Entry& b) { return a.element.Compare(b.element) < 0; };
  if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
  Level out(arena, count);
  for (Entry* entry = begin; entry < end;) {
    Entry joined = *entry++;
    for (; entry < end && entry->element == joined.element; ++entry) {
      joined = Entry(joined.element, joined.member || entry->member,
                     Union(arena, joined.children(), entry->children()));
    }
    out.Add(joined);
  }
  stack_.resize(mark);
  return out.Take();
}

}  // namespace keelson::schema
