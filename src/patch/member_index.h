#pragma once

// MemberIndex: finds the members of one object by the names of another.
//
// Objects of the same type mostly have their members in the same order, so the member after the
// last one found is tried first. A large object that does not keep to it gets a hash index at the
// first miss, so that a patch with a hundred thousand members costs no more than its size.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "value/name.h"
#include "value/value.h"

namespace keelson::patch {

class MemberIndex {
 public:
  static constexpr size_t kSmall = 32;
  static constexpr size_t kNone = ~size_t{0};

  explicit MemberIndex(std::span<const value::Member> members) : members_(members) {}

  // Where the member stands, or kNone.
  size_t Find(const value::Name& name) {
    if (next_ < members_.size() && *members_[next_].name == name) return next_++;
    size_t found = members_.size() <= kSmall ? Scan(name) : Search(name);
    if (found != kNone) next_ = found + 1;
    return found;
  }
  const value::Value* FindValue(const value::Name& name) {
    size_t at = Find(name);
    return at == kNone ? nullptr : &members_[at].value;
  }

 private:
  size_t Scan(const value::Name& name) const {
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].tag() == name.tag() && *members_[i].name == name) return i;
    }
    return kNone;
  }
  size_t Search(const value::Name& name) {
    if (sorted_.empty()) {
      sorted_.reserve(members_.size());
      for (size_t i = 0; i < members_.size(); ++i) {
        sorted_.push_back({members_[i].name->hash(), static_cast<uint32_t>(i)});
      }
      std::sort(sorted_.begin(), sorted_.end());
    }
    auto at = std::lower_bound(sorted_.begin(), sorted_.end(), Slot{name.hash(), 0});
    for (; at != sorted_.end() && at->hash == name.hash(); ++at) {
      if (*members_[at->position].name == name) return at->position;
    }
    return kNone;
  }

  struct Slot {
    uint32_t hash;
    uint32_t position;
    auto operator<=>(const Slot&) const = default;
  };

  std::span<const value::Member> members_;
  size_t next_ = 0;
  std::vector<Slot> sorted_;
};

}  // namespace keelson::patch
