#pragma once

// SeenTexts: the texts met so far in a list that may name none twice.
//
// Small sets, which nearly all are, live on the stack; large ones hash, so that no list a client
// can send makes checking it quadratic. Borrows the texts.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_set>

namespace keelson::rest {

class SeenTexts {
 public:
  // False when it was there already.
  bool Insert(std::string_view text) {
    if (Contains(text)) return false;
    if (count_ < kInline) {
      inline_[count_++] = text;
    } else {
      if (many_.empty()) many_.insert(inline_.begin(), inline_.end());
      many_.insert(text);
    }
    return true;
  }
  bool Contains(std::string_view text) const {
    if (!many_.empty()) return many_.contains(text);
    return std::find(inline_.begin(), inline_.begin() + count_, text) != inline_.begin() + count_;
  }

 private:
  static constexpr size_t kInline = 16;
  std::array<std::string_view, kInline> inline_;
  size_t count_ = 0;
  std::unordered_set<std::string_view> many_;
};

}  // namespace keelson::rest
