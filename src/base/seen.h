#pragma once

// Seen: the keys met so far, for finding repeats. A few, which is nearly always all, live on the
// stack; many hash, so that no list a client can send makes looking quadratic.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <unordered_set>

namespace keelson {

template <typename Key, typename Hash = std::hash<Key>>
class Seen {
 public:
  // False when it was there already.
  bool Insert(const Key& key) {
    if (count_ < kInline) {
      const auto end = few_.begin() + count_;
      if (std::find(few_.begin(), end, key) != end) return false;
      few_[count_++] = key;
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(key).second;
  }

 private:
  static constexpr size_t kInline = 16;
  std::array<Key, kInline> few_{};
  size_t count_ = 0;
  std::unordered_set<Key, Hash> many_;
};

}  // namespace keelson
