// Editing the tree: insertion with splits, removal with merges, loading in bulk.

#include <new>

#include "storage/object_tree.h"
#include "storage/object_tree_nodes.h"

namespace keelson::storage {
namespace {

TreeLeaf* AsLeaf(TreeNode* node) { return static_cast<TreeLeaf*>(node); }
TreeBranch* AsBranch(TreeNode* node) { return static_cast<TreeBranch*>(node); }

// T may be a pointer.
// NOLINTBEGIN(bugprone-sizeof-expression)
template <typename T>
void InsertAt(T* array, uint32_t count, uint32_t at, T value) {
  std::memmove(array + at + 1, array + at, (count - at) * sizeof(T));
  array[at] = value;
}
template <typename T>
void RemoveAt(T* array, uint32_t count, uint32_t at) {
  std::memmove(array + at, array + at + 1, (count - at - 1) * sizeof(T));
}
template <typename T>
void Append(T* to, uint32_t count, const T* from, uint32_t more) {
  std::memcpy(to + count, from, more * sizeof(T));
}
// NOLINTEND(bugprone-sizeof-expression)

// Finds anew what all keys of the leaf begin with, and the bytes behind it.
void Reindex(TreeLeaf* leaf, TreeOrder order) {
  if (leaf->count == 0) return;
  auto last = order.KeyOf(*leaf->object[leaf->count - 1]);
  leaf->shared = KeyPieces(*leaf->object[0], order).SharedWith(last);
  // A single key would be all of the shared bytes, and the next one would undo that.
  if (leaf->count == 1) leaf->shared = 0;
  for (uint32_t i = 0; i < leaf->count; ++i) {
    leaf->prefix[i] = KeyPieces(*leaf->object[i], order).PrefixAt(leaf->shared);
  }
}

// The same for what separates a branch's children.
void Reindex(TreeBranch* branch) {
  if (branch->count < 2) return;
  auto first = SeparatorText(branch->least[1]);
  auto last = SeparatorText(branch->least[branch->count - 1]);
  branch->shared = static_cast<uint32_t>(
      std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first - first.begin());
  for (uint32_t i = 1; i < branch->count; ++i) {
    branch->prefix[i] = KeyPieces::PrefixOf(SeparatorText(branch->least[i]), branch->shared);
  }
}

uint32_t CountUnder(const TreeNode* node) {
  if (node->is_leaf) return node->count;
  uint32_t count = 0;
  const auto* branch = static_cast<const TreeBranch*>(node);
  for (uint32_t i = 0; i < branch->count; ++i) count += branch->size[i];
  return count;
}

TreeLeaf* NewLeaf(uint32_t generation) {
  auto* leaf = new TreeLeaf;
  leaf->generation = generation;
  leaf->is_leaf = true;
  return leaf;
}

TreeBranch* NewBranch(uint32_t generation) {
  auto* branch = new TreeBranch;
  branch->generation = generation;
  return branch;
}

TreeLeaf* Copy(const TreeLeaf& from) {
  auto* to = new TreeLeaf;
  static_cast<TreeNode&>(*to) = from;
  to->shared = from.shared;
  std::memcpy(to->prefix, from.prefix, from.count * sizeof from.prefix[0]);
  std::memcpy(to->object, from.object, from.count * sizeof from.object[0]);
  return to;
}

TreeBranch* Copy(const TreeBranch& from) {
  auto* to = new TreeBranch;
  static_cast<TreeNode&>(*to) = from;
  to->shared = from.shared;
  std::memcpy(to->prefix, from.prefix, from.count * sizeof from.prefix[0]);
  std::memcpy(to->size, from.size, from.count * sizeof from.size[0]);
  std::memcpy(to->child, from.child, from.count * sizeof from.child[0]);
  std::memcpy(to->least, from.least, from.count * sizeof from.least[0]);
  return to;
}

}  // namespace

// The right half of a node that overflowed, and the bound between the halves.
struct TreeEditor::Split {
  TreeNode* right = nullptr;
  char* least = nullptr;
};

TreeEditor::~TreeEditor() {
  FreeNodes(root_);
  FreeNodes(loading_);
  for (auto [leaf, bound] : loaded_) {
    FreeNodes(leaf);
    ::operator delete(bound);
  }
}

template <typename Node>
Node* TreeEditor::Editable(Node* node) {
  if (node->generation == generation_) return node;
  Node* copy = Copy(*node);
  copy->generation = generation_;
  garbage_->nodes.push_back(node);
  return copy;
}

void TreeEditor::Drop(TreeNode* node) { garbage_->nodes.push_back(node); }

// The shortest text that is greater than `left` and not greater than `right`.
char* TreeEditor::NewSeparator(std::string_view left, std::string_view right) {
  size_t shared = static_cast<size_t>(
      std::mismatch(left.begin(), left.end(), right.begin(), right.end()).second - right.begin());
  auto size = static_cast<uint32_t>(std::min(shared + 1, right.size()));
  auto* separator = static_cast<char*>(::operator new(sizeof size + size));
  std::memcpy(separator, &size, sizeof size);
  std::memcpy(separator + sizeof size, right.data(), size);
  return separator;
}

const CachedObject* TreeEditor::Put(const CachedObject* object) {
  object_ = object;
  previous_ = nullptr;
  auto key = order_.KeyOf(*object);
  if (root_ == nullptr) root_ = NewLeaf(generation_);
  if (Replace(key)) return previous_;
  Split split;
  root_ = PutUnder(root_, key, split);
  if (split.right != nullptr) {
    auto* root = NewBranch(generation_);
    root->count = 2;
    root->child[0] = root_;
    root->child[1] = split.right;
    root->size[0] = CountUnder(root_);
    root->size[1] = CountUnder(split.right);
    root->least[1] = split.least;
    Reindex(root);
    root_ = root;
  }
  return previous_;
}

// Puts the object in place of the one with its key, if the way guessed leads to one.
bool TreeEditor::Replace(std::string_view key) {
  std::array<uint32_t, kMaxTreeDepth> way;
  size_t depth = 0;
  TreeNode* node = root_;
  while (!node->is_leaf) {
    KEELSON_CHECK(depth < way.size());
    way[depth] = GuessChild(*AsBranch(node), key);
    node = AsBranch(node)->child[way[depth++]];
  }
  uint32_t at = FindInLeaf(*AsLeaf(node), order_, key);
  if (at == node->count) return false;
  TreeNode** slot = &root_;
  for (size_t i = 0; i < depth; ++i) {
    auto* branch = Editable(AsBranch(*slot));
    *slot = branch;
    slot = &branch->child[way[i]];
  }
  auto* leaf = Editable(AsLeaf(*slot));
  *slot = leaf;
  previous_ = std::exchange(leaf->object[at], object_);
  return true;
}

TreeNode* TreeEditor::PutUnder(TreeNode* node, std::string_view key, Split& split) {
  if (node->is_leaf) return PutInLeaf(AsLeaf(node), key, split);
  auto* branch = Editable(AsBranch(node));
  uint32_t index = ChildFor(*branch, key);
  Split below;
  branch->child[index] = PutUnder(branch->child[index], key, below);
  if (below.right == nullptr) {
    if (previous_ == nullptr) ++branch->size[index];
    return branch;
  }
  branch->size[index] = CountUnder(branch->child[index]);
  auto* target = branch;
  uint32_t at = index + 1;
  if (branch->count == kBranchWidth) {
    // The upper half moves to a new branch; its first bound becomes the one between the two.
    auto* right = NewBranch(generation_);
    const uint32_t half = kBranchWidth / 2;
    Append(right->child, 0, branch->child + half, kBranchWidth - half);
    Append(right->size, 0, branch->size + half, kBranchWidth - half);
    Append(right->least, 0, branch->least + half, kBranchWidth - half);
    right->count = static_cast<uint16_t>(kBranchWidth - half);
    branch->count = static_cast<uint16_t>(half);
    split.right = right;
    split.least = right->least[0];
    if (at > half) {
      target = right;
      at -= half;
    }
  }
  InsertAt(target->child, target->count, at, below.right);
  InsertAt(target->size, target->count, at, CountUnder(below.right));
  InsertAt(target->least, target->count, at, below.least);
  ++target->count;
  Reindex(branch);
  if (split.right != nullptr) Reindex(AsBranch(split.right));
  return branch;
}

TreeNode* TreeEditor::PutInLeaf(TreeLeaf* leaf, std::string_view key, Split& split) {
  bool equal = false;
  uint32_t at = LowerBound(*leaf, order_, key, equal);
  leaf = Editable(leaf);
  if (equal) {
    previous_ = std::exchange(leaf->object[at], object_);
    return leaf;
  }
  if (leaf->count == kLeafWidth) {
    // Keys that come in order fill leaves to the brim: an append starts the next one.
    auto* right = NewLeaf(generation_);
    const uint32_t half = at == kLeafWidth ? kLeafWidth : kLeafWidth / 2;
    Append(right->object, 0, leaf->object + half, kLeafWidth - half);
    right->count = static_cast<uint16_t>(kLeafWidth - half);
    leaf->count = static_cast<uint16_t>(half);
    auto* target = leaf;
    if (at > half || at == kLeafWidth) {
      target = right;
      at -= half;
    }
    InsertAt(target->object, target->count, at, object_);
    ++target->count;
    Reindex(leaf, order_);
    Reindex(right, order_);
    split.right = right;
    split.least =
        NewSeparator(order_.KeyOf(*leaf->object[leaf->count - 1]), order_.KeyOf(*right->object[0]));
    return leaf;
  }
  InsertAt(leaf->object, leaf->count, at, object_);
  InsertAt(leaf->prefix, leaf->count, at, KeyPieces::PrefixOf(key, leaf->shared));
  ++leaf->count;
  // A leaf that has grown since may share more than when it was small.
  if (leaf->count == 8 || leaf->count == 32) {
    Reindex(leaf, order_);
    return leaf;
  }
  // Only a new first or last key can shorten what all begin with.
  bool at_end = at == 0 || at + 1u == leaf->count;
  if (at_end && leaf->count > 1) {
    const auto* other = leaf->object[at == 0 ? 1 : 0];
    if (KeyPieces(*other, order_).SharedWith(key) < leaf->shared) Reindex(leaf, order_);
  }
  return leaf;
}

const CachedObject* TreeEditor::Erase(std::string_view key) {
  if (root_ == nullptr || view().Find(key) == nullptr) return nullptr;
  previous_ = nullptr;
  root_ = EraseUnder(root_, key);
  while (root_ != nullptr && !root_->is_leaf && root_->count == 1) {
    auto* only = AsBranch(root_)->child[0];
    Drop(root_);
    root_ = only;
  }
  return previous_;
}

TreeNode* TreeEditor::EraseUnder(TreeNode* node, std::string_view key) {
  if (node->is_leaf) {
    auto* leaf = AsLeaf(node);
    bool equal = false;
    uint32_t at = LowerBound(*leaf, order_, key, equal);
    leaf = Editable(leaf);
    previous_ = leaf->object[at];
    RemoveAt(leaf->object, leaf->count, at);
    RemoveAt(leaf->prefix, leaf->count, at);
    --leaf->count;
    if (leaf->count != 0) return leaf;
    Drop(leaf);
    return nullptr;
  }
  auto* branch = Editable(AsBranch(node));
  uint32_t index = ChildFor(*branch, key);
  TreeNode* child = EraseUnder(branch->child[index], key);
  if (child == nullptr) {
    if (branch->count == 1) {
      Drop(branch);
      return nullptr;
    }
    // The first child has no bound; its neighbour becomes first and loses its own.
    garbage_->separators.push_back(branch->least[index == 0 ? 1 : index]);
    if (index == 0) branch->least[1] = nullptr;
    RemoveAt(branch->child, branch->count, index);
    RemoveAt(branch->size, branch->count, index);
    RemoveAt(branch->least, branch->count, index);
    --branch->count;
    Reindex(branch);
    return branch;
  }
  branch->child[index] = child;
  --branch->size[index];
  const uint32_t width = child->is_leaf ? kLeafWidth : kBranchWidth;
  if (child->count < MergeBelow(width) && branch->count > 1) {
    MergeChild(branch, index == 0 ? 0 : index - 1);
  }
  return branch;
}

// Joins child `index` and the one after it when both fit well into one node.
void TreeEditor::MergeChild(TreeBranch* branch, uint32_t index) {
  TreeNode* right = branch->child[index + 1];
  const uint32_t width = right->is_leaf ? kLeafWidth : kBranchWidth;
  if (branch->child[index]->count + right->count > MergeUpTo(width)) return;
  char* between = branch->least[index + 1];
  if (right->is_leaf) {
    auto* left = Editable(AsLeaf(branch->child[index]));
    Append(left->object, left->count, AsLeaf(right)->object, right->count);
    left->count = static_cast<uint16_t>(left->count + right->count);
    Reindex(left, order_);
    branch->child[index] = left;
    garbage_->separators.push_back(between);
  } else {
    auto* left = Editable(AsBranch(branch->child[index]));
    Append(left->child, left->count, AsBranch(right)->child, right->count);
    Append(left->size, left->count, AsBranch(right)->size, right->count);
    Append(left->least, left->count, AsBranch(right)->least, right->count);
    left->least[left->count] = between;
    left->count = static_cast<uint16_t>(left->count + right->count);
    Reindex(left);
    branch->child[index] = left;
  }
  branch->size[index] += branch->size[index + 1];
  Drop(right);
  RemoveAt(branch->child, branch->count, index + 1);
  RemoveAt(branch->size, branch->count, index + 1);
  RemoveAt(branch->least, branch->count, index + 1);
  --branch->count;
  Reindex(branch);
}

void TreeEditor::Load(const CachedObject* next) {
  if (loading_ == nullptr) loading_ = NewLeaf(generation_);
  loading_->object[loading_->count++] = next;
  if (loading_->count == LoadFill(kLeafWidth)) FinishLeaf();
}

// Leaves are finished while their objects are still at hand in the processor's caches.
void TreeEditor::FinishLeaf() {
  Reindex(loading_, order_);
  char* bound = nullptr;
  if (!loaded_.empty()) bound = NewSeparator(last_loaded_, order_.KeyOf(*loading_->object[0]));
  last_loaded_ = order_.KeyOf(*loading_->object[loading_->count - 1]);
  loaded_.emplace_back(std::exchange(loading_, nullptr), bound);
}

void TreeEditor::FinishLoad() {
  KEELSON_CHECK(root_ == nullptr);
  if (loading_ != nullptr) FinishLeaf();
  auto level = std::exchange(loaded_, {});
  while (level.size() > 1) {
    std::vector<std::pair<TreeNode*, char*>> above;
    constexpr uint32_t kFill = LoadFill(kBranchWidth);
    for (size_t i = 0; i < level.size(); i += kFill) {
      auto* branch = NewBranch(generation_);
      branch->count = static_cast<uint16_t>(std::min<size_t>(kFill, level.size() - i));
      for (uint32_t c = 0; c < branch->count; ++c) {
        branch->child[c] = level[i + c].first;
        branch->least[c] = level[i + c].second;
        branch->size[c] = CountUnder(branch->child[c]);
      }
      Reindex(branch);
      above.emplace_back(branch, level[i].second);
    }
    level = std::move(above);
  }
  if (!level.empty()) root_ = level.front().first;
}

}  // namespace keelson::storage
