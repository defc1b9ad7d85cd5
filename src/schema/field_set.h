#pragma once

// FieldSet: a set of field paths, what managed fields say a writer owns.
//
// A tree of sorted levels. An entry of a level is a member (its path is in the set), or has members
// below it, or both; there is no entry that is neither, so two sets are equal when their trees are.
// A FieldSet is a view of 16 bytes: immutable, copied freely, borrowing its levels from an arena.
// Operations put new levels into the arena they are given and share all others with their
// arguments, so a result lives as long as that arena and its arguments do.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/path_element.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

class FieldSet {
 public:
  struct Entry {
    PathElement element;
    const Entry* children_data = nullptr;
    uint32_t children_size = 0;
    bool member = false;

    constexpr Entry() = default;
    constexpr Entry(PathElement e, bool is_member) : element(e), member(is_member) {}
    constexpr Entry(PathElement e, bool is_member, FieldSet children)
        : element(e),
          children_data(children.data_),
          children_size(children.size_),
          member(is_member) {}
    constexpr FieldSet children() const { return FieldSet({children_data, children_size}); }
  };

  constexpr FieldSet() : data_(nullptr), size_(0) {}
  // The entries must be sorted, distinct and each in the set or above something in it.
  constexpr explicit FieldSet(std::span<const Entry> entries)
      : data_(entries.data()), size_(static_cast<uint32_t>(entries.size())) {}

  constexpr bool empty() const { return size_ == 0; }
  constexpr std::span<const Entry> entries() const { return {data_, size_}; }
  const Entry* Find(const PathElement& element) const;
  bool Has(std::span<const PathElement> path) const;
  // How many paths are in the set.
  size_t Count() const;
  bool operator==(const FieldSet& other) const;

  // Calls visit(path) for each path: the members of a level first, then what is below it.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    std::vector<PathElement> path;
    ForEachBelow(path, visit);
  }

 private:
  template <typename Visit>
  void ForEachBelow(std::vector<PathElement>& path, Visit& visit) const {
    for (const Entry& entry : entries()) {
      if (!entry.member) continue;
      path.push_back(entry.element);
      visit(std::span<const PathElement>(path));
      path.pop_back();
    }
    for (const Entry& entry : entries()) {
      if (entry.children_size == 0) continue;
      path.push_back(entry.element);
      entry.children().ForEachBelow(path, visit);
      path.pop_back();
    }
  }

  const Entry* data_;
  uint32_t size_;
};

FieldSet Union(value::Arena& arena, FieldSet a, FieldSet b);
FieldSet Intersection(value::Arena& arena, FieldSet a, FieldSet b);
// What is in `a` and not in `b`; a path in `b` does not take what is below it.
FieldSet Difference(value::Arena& arena, FieldSet a, FieldSet b);
// The same, but a path in `b` takes everything below it too.
FieldSet RecursiveDifference(value::Arena& arena, FieldSet a, FieldSet b);
// The paths of `set` with nothing below them.
FieldSet Leaves(value::Arena& arena, FieldSet set);
// The set of just this path; empty for the empty path, which nobody can own.
FieldSet SinglePath(value::Arena& arena, std::span<const PathElement> path);

// Reads and writes the fieldsV1 of a managed-fields entry. Steps of unknown kind are skipped when
// reading; a malformed step is an error. Reading borrows names from the document.
Result<FieldSet> ParseFieldsV1(value::Arena& arena, const value::Value& fields);
value::Value ToFieldsV1(value::Arena& arena, FieldSet set);

// Gathers the entries of nested levels while a tree is walked. Levels are finished innermost first:
//
//   size_t mark = levels.Open();
//   ... levels.Add(entry) ...
//   FieldSet level = levels.Close(arena, mark);
class FieldSetLevels {
 public:
  explicit FieldSetLevels(size_t room = 0) { stack_.reserve(room); }
  size_t Open() const { return stack_.size(); }
  void Add(const FieldSet::Entry& entry) { stack_.push_back(entry); }
  // Whether the open level has an entry for the element; linear.
  bool Has(size_t mark, const PathElement& element) const;
  // Forgets the open level.
  void Drop(size_t mark) { stack_.resize(mark); }
  // Sorts the level and joins equal elements.
  FieldSet Close(value::Arena& arena, size_t mark);

 private:
  std::vector<FieldSet::Entry> stack_;
};

}  // namespace keelson::schema
