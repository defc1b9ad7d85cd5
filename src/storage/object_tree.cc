#include "storage/object_tree.h"

#include <algorithm>
#include <new>

#include "storage/object_tree_nodes.h"

namespace keelson::storage {
namespace {

const TreeLeaf& AsLeaf(const TreeNode* node) { return *static_cast<const TreeLeaf*>(node); }
const TreeBranch& AsBranch(const TreeNode* node) { return *static_cast<const TreeBranch*>(node); }

size_t SizeOf(const TreeNode* node) {
  if (node == nullptr) return 0;
  if (node->is_leaf) return node->count;
  size_t size = 0;
  for (uint32_t i = 0; i < node->count; ++i) size += AsBranch(node).size[i];
  return size;
}

void FreeNode(const TreeNode* node) {
  if (node->is_leaf) {
    delete static_cast<const TreeLeaf*>(node);
  } else {
    delete static_cast<const TreeBranch*>(node);
  }
}

}  // namespace

std::string TreeOrder::KeyOf(const CachedObject& object) const {
  std::string key;
  KeyPieces(object, *this).AppendTo(key);
  return key;
}

std::string TreeOrder::Bound(std::string_view value, std::string_view key) const {
  std::string bound;
  if (field != kByKey) bound.append(value.substr(0, value.find('\0'))).push_back('\0');
  bound += key;
  return bound;
}

void Garbage::Free() {
  for (auto* node : nodes) FreeNode(node);
  for (auto* separator : separators) ::operator delete(separator);
  for (const auto* object : objects) ObjectRef::Adopt(object);
  nodes.clear();
  separators.clear();
  objects.clear();
}

namespace {

// The place of a key that begins as all keys of the leaf do; `equal` is right for any key.
uint32_t SearchByPrefix(const TreeLeaf& leaf, TreeOrder order, std::string_view key, bool& equal) {
  const uint64_t prefix = KeyPieces::PrefixOf(key, leaf.shared);
  auto [from, to] = std::equal_range(leaf.prefix, leaf.prefix + leaf.count, prefix);
  auto low = static_cast<uint32_t>(from - leaf.prefix);
  auto high = static_cast<uint32_t>(to - leaf.prefix);
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    int compared = KeyPieces(*leaf.object[middle], order).Compare(key);
    if (compared == 0) {
      equal = true;
      return middle;
    }
    if (compared < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

uint32_t FindInLeaf(const TreeLeaf& leaf, TreeOrder order, std::string_view key) {
  bool equal = false;
  uint32_t at = SearchByPrefix(leaf, order, key, equal);
  return equal ? at : leaf.count;
}

uint32_t LowerBound(const TreeLeaf& leaf, TreeOrder order, std::string_view key, bool& equal) {
  equal = false;
  if (leaf.count == 0) return 0;
  // A key that is here is found without asking whether it begins as all of them do.
  uint32_t at = SearchByPrefix(leaf, order, key, equal);
  if (equal || leaf.shared == 0) return at;
  // Where the key leaves what all keys here begin with decides for all of them.
  KeyPieces first(*leaf.object[0], order);
  if (first.SharedWith(key) < leaf.shared) return first.Compare(key) > 0 ? 0 : leaf.count;
  return at;
}

uint32_t ChildFor(const TreeBranch& branch, std::string_view key) {
  if (branch.count < 2) return 0;
  auto least = SeparatorText(branch.least[1]);
  if (auto order = key.substr(0, branch.shared).compare(least.substr(0, branch.shared));
      order != 0) {
    return order < 0 ? 0 : branch.count - 1;
  }
  return GuessChild(branch, key);
}

uint32_t GuessChild(const TreeBranch& branch, std::string_view key) {
  if (branch.count < 2) return 0;
  const uint64_t prefix = KeyPieces::PrefixOf(key, branch.shared);
  auto [from, to] = std::equal_range(branch.prefix + 1, branch.prefix + branch.count, prefix);
  auto low = static_cast<uint32_t>(from - branch.prefix);
  auto high = static_cast<uint32_t>(to - branch.prefix);
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (SeparatorText(branch.least[middle]) <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}

size_t TreeView::size() const { return SizeOf(root_); }

const CachedObject* TreeView::Find(std::string_view key) const {
  if (root_ == nullptr) return nullptr;
  // A guess that finds the key was right; only one that does not has to be checked.
  for (auto* choose : {GuessChild, ChildFor}) {
    const TreeNode* node = root_;
    while (!node->is_leaf) node = AsBranch(node).child[choose(AsBranch(node), key)];
    uint32_t index = FindInLeaf(AsLeaf(node), order_, key);
    if (index < node->count) return AsLeaf(node).object[index];
  }
  return nullptr;
}

size_t TreeView::Rank(std::string_view bound) const {
  const TreeNode* node = root_;
  if (node == nullptr) return 0;
  size_t rank = 0;
  while (!node->is_leaf) {
    const auto& branch = AsBranch(node);
    uint32_t child = ChildFor(branch, bound);
    for (uint32_t i = 0; i < child; ++i) rank += branch.size[i];
    node = branch.child[child];
  }
  bool equal = false;
  return rank + LowerBound(AsLeaf(node), order_, bound, equal);
}

size_t TreeView::Count(std::string_view from, std::string_view to) const {
  size_t end = to.empty() ? size() : Rank(to);
  size_t begin = Rank(from);
  return end > begin ? end - begin : 0;
}

TreeView::Cursor TreeView::Seek(std::string_view bound) const {
  Cursor cursor;
  const TreeNode* node = root_;
  if (node == nullptr) return cursor;
  while (!node->is_leaf) {
    uint32_t child = ChildFor(AsBranch(node), bound);
    KEELSON_CHECK(cursor.depth_ < kMaxTreeDepth);
    cursor.path_[static_cast<size_t>(cursor.depth_++)] = {node, child};
    node = AsBranch(node).child[child];
  }
  bool equal = false;
  cursor.leaf_ = node;
  cursor.index_ = LowerBound(AsLeaf(node), order_, bound, equal);
  cursor.Settle();
  return cursor;
}

void TreeView::Cursor::Next() {
  ++index_;
  Settle();
}

// Moves to the next leaf when this one is exhausted.
void TreeView::Cursor::Settle() {
  while (index_ >= leaf_->count) {
    while (depth_ > 0 && path_[static_cast<size_t>(depth_ - 1)].index + 1 >=
                             path_[static_cast<size_t>(depth_ - 1)].node->count) {
      --depth_;
    }
    if (depth_ == 0) {
      leaf_ = nullptr;
      object_ = nullptr;
      return;
    }
    auto& step = path_[static_cast<size_t>(depth_ - 1)];
    Enter(AsBranch(step.node).child[++step.index]);
  }
  object_ = AsLeaf(leaf_).object[index_];
  // Headers of objects read soon are fetched while this one is dealt with.
  if (index_ + 4 < leaf_->count) __builtin_prefetch(AsLeaf(leaf_).object[index_ + 4]);
}

void TreeView::Cursor::Enter(const TreeNode* node) {
  while (!node->is_leaf) {
    KEELSON_CHECK(depth_ < kMaxTreeDepth);
    path_[static_cast<size_t>(depth_++)] = {node, 0};
    node = AsBranch(node).child[0];
  }
  leaf_ = node;
  index_ = 0;
}

void TreeEditor::FreeNodes(const TreeNode* root) {
  if (root == nullptr) return;
  if (!root->is_leaf) {
    for (uint32_t i = 0; i < root->count; ++i) {
      FreeNodes(AsBranch(root).child[i]);
      if (i > 0) ::operator delete(AsBranch(root).least[i]);
    }
  }
  FreeNode(root);
}

}  // namespace keelson::storage
