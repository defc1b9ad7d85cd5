#pragma once

// The nodes of ObjectTree, and keys compared without being put together.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "storage/object_tree.h"

namespace keelson::storage {

// Every edit copies a leaf and the branches above it: both kinds stay below a kilobyte.
inline constexpr uint32_t kLeafWidth = 62;
inline constexpr uint32_t kBranchWidth = 32;

struct TreeNode {
  uint32_t generation = 0;
  uint16_t count = 0;
  bool is_leaf = false;
};

struct TreeLeaf : TreeNode {
  static constexpr uint32_t kWidth = kLeafWidth;
  uint32_t shared = 0;      // bytes that all keys of this leaf begin with
  uint64_t prefix[kWidth];  // the eight bytes behind them, big endian, padded with zeros
  const CachedObject* object[kWidth];
};

// least[i] is not greater than any key under child[i] and greater than any under child[i - 1];
// least[0] is unused. A separator is a length followed by so many bytes. `shared` and `prefix` are
// to the separators what they are to a leaf's keys: far separators are not touched by a search.
struct TreeBranch : TreeNode {
  static constexpr uint32_t kWidth = kBranchWidth;
  uint32_t shared = 0;
  uint32_t size[kWidth];  // objects under the child
  uint64_t prefix[kWidth];
  TreeNode* child[kWidth];
  char* least[kWidth];
};
static_assert(sizeof(TreeLeaf) <= 1024 && sizeof(TreeBranch) <= 1024);

// Bulk loading leaves room for a few before the first split; erasing joins sparse neighbours.
constexpr uint32_t LoadFill(uint32_t width) { return width - width / 16; }
constexpr uint32_t MergeBelow(uint32_t width) { return width / 4; }
constexpr uint32_t MergeUpTo(uint32_t width) { return width / 4 * 3; }

inline std::string_view SeparatorText(const char* separator) {
  uint32_t size;
  std::memcpy(&size, separator, sizeof size);
  return {separator + sizeof size, size};
}

// An object's key in pieces.
class KeyPieces {
 public:
  KeyPieces(const CachedObject& object, TreeOrder order) {
    if (order.field != TreeOrder::kByKey) {
      // A NUL would end the value early for the order: what follows it does not count.
      auto value = object.field(static_cast<size_t>(order.field));
      Add(value.substr(0, value.find('\0')));
      Add(std::string_view("\0", 1));
    }
    if (auto ns = object.ns(); !ns.empty()) {
      Add(ns);
      Add("/");
    }
    Add(object.name());
  }

  // <0, 0, >0 as the key is smaller than, equal to or greater than `bytes`.
  int Compare(std::string_view bytes) const {
    for (int i = 0; i < count_; ++i) {
      auto piece = pieces_[i];
      size_t size = std::min(piece.size(), bytes.size());
      if (int order = piece.substr(0, size).compare(bytes.substr(0, size)); order != 0)
        return order;
      if (size < piece.size()) return 1;
      bytes.remove_prefix(size);
    }
    return bytes.empty() ? 0 : -1;
  }

  // How many bytes the key and `bytes` have in common at their start.
  uint32_t SharedWith(std::string_view bytes) const {
    size_t shared = 0;
    for (int i = 0; i < count_; ++i) {
      auto piece = pieces_[i];
      size_t size = std::min(piece.size(), bytes.size());
      size_t same = static_cast<size_t>(
          std::mismatch(piece.begin(), piece.begin() + static_cast<ptrdiff_t>(size), bytes.begin())
              .first -
          piece.begin());
      shared += same;
      if (same < piece.size()) break;
      bytes.remove_prefix(size);
    }
    return static_cast<uint32_t>(shared);
  }

  uint64_t PrefixAt(size_t from) const {
    unsigned char text[8] = {};
    size_t filled = 0;
    for (int i = 0; i < count_ && filled < sizeof text; ++i) {
      auto piece = pieces_[i];
      if (from >= piece.size()) {
        from -= piece.size();
        continue;
      }
      size_t size = std::min(piece.size() - from, sizeof text - filled);
      std::memcpy(text + filled, piece.data() + from, size);
      filled += size;
      from = 0;
    }
    return BigEndian(text);
  }

  static uint64_t PrefixOf(std::string_view bytes, size_t from) {
    unsigned char text[8] = {};
    if (from < bytes.size()) {
      std::memcpy(text, bytes.data() + from, std::min(bytes.size() - from, sizeof text));
    }
    return BigEndian(text);
  }

  void AppendTo(std::string& out) const {
    for (int i = 0; i < count_; ++i) out += pieces_[i];
  }

 private:
  void Add(std::string_view piece) { pieces_[count_++] = piece; }
  static uint64_t BigEndian(const unsigned char (&text)[8]) {
    uint64_t value;
    std::memcpy(&value, text, sizeof value);
    return __builtin_bswap64(value);
  }

  std::string_view pieces_[5];
  int count_ = 0;
};

// The first place in the leaf whose key is not smaller than `key`; sets `equal` when it is the key.
uint32_t LowerBound(const TreeLeaf& leaf, TreeOrder order, std::string_view key, bool& equal);

// The child under which `key` belongs.
uint32_t ChildFor(const TreeBranch& branch, std::string_view key);
// The same, provided that the key begins as the separators do, and hardly touching them.
uint32_t GuessChild(const TreeBranch& branch, std::string_view key);
// The place of `key` in the leaf, or its count when it is not there.
uint32_t FindInLeaf(const TreeLeaf& leaf, TreeOrder order, std::string_view key);

}  // namespace keelson::storage
