#pragma once

// A persistent B+tree of cached objects in key order.
//
// Editing copies the nodes on the way from the root to the changed leaf and leaves the old ones as
// they were, so a root once published is an immutable snapshot that readers walk without locks.
// Nodes hold plain pointers and no reference counts: what an edit replaces is handed to `Garbage`,
// and whoever publishes roots frees it when no older root can be read any more (snapshot.h). Nodes
// made since the last publication belong to the editor alone and are changed in place.
//
// The order is that of a store's keys: namespace, '/', name, or the name alone. A tree may be
// ordered by the value of a selectable field first, which makes it an index. Leaves keep eight
// bytes of each key beside the pointer, branches of each separator, so a search touches one or two
// objects, however many there are.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/cached_object.h"

namespace keelson::storage {

struct TreeNode;
inline constexpr int kMaxTreeDepth = 12;

// Which key a tree is ordered by.
struct TreeOrder {
  static constexpr int kByKey = -1;
  int field = kByKey;  // index into ObjectFacts::fields

  // The object's place in the order, as bytes: [value '\0'] [namespace '/'] name.
  std::string KeyOf(const CachedObject& object) const;
  // Where the objects with this field value begin, from `key` on.
  std::string Bound(std::string_view value, std::string_view key = {}) const;
};

// What edits left behind.
struct Garbage {
  std::vector<TreeNode*> nodes;
  std::vector<char*> separators;
  std::vector<const CachedObject*> objects;  // one reference each

  void Free();
  bool empty() const { return nodes.empty() && separators.empty() && objects.empty(); }
};

// A tree as readers see it. Valid as long as its root.
class TreeView {
 public:
  TreeView() = default;
  TreeView(const TreeNode* root, TreeOrder order) : root_(root), order_(order) {}

  size_t size() const;
  const CachedObject* Find(std::string_view key) const;
  // How many keys are smaller than `bound`.
  size_t Rank(std::string_view bound) const;
  // How many lie in [from, to); an empty `to` is the end.
  size_t Count(std::string_view from, std::string_view to) const;

  // Walks in order.
  class Cursor {
   public:
    bool valid() const { return leaf_ != nullptr; }
    const CachedObject* object() const { return object_; }
    void Next();

   private:
    friend class TreeView;
    void Enter(const TreeNode* node);
    void Settle();

    struct Step {
      const TreeNode* node;
      uint32_t index;
    };
    std::array<Step, kMaxTreeDepth> path_;
    int depth_ = 0;
    const TreeNode* leaf_ = nullptr;
    uint32_t index_ = 0;
    const CachedObject* object_ = nullptr;
  };
  // At the first object whose key is not smaller than `bound`.
  Cursor Seek(std::string_view bound) const;

 private:
  const TreeNode* root_ = nullptr;
  TreeOrder order_;
};

// A tree as its one writer sees it. Not thread-safe.
class TreeEditor {
 public:
  // `garbage` outlives the editor. Objects are not owned by the tree: several trees may hold them.
  TreeEditor(TreeOrder order, Garbage* garbage) : order_(order), garbage_(garbage) {}
  ~TreeEditor();
  TreeEditor(const TreeEditor&) = delete;
  TreeEditor& operator=(const TreeEditor&) = delete;

  // Puts `object` in place of the one with its key, which is returned, or of nothing.
  const CachedObject* Put(const CachedObject* object);
  // Takes out the object with this key; nullptr when there is none.
  const CachedObject* Erase(std::string_view key);
  // Fills an empty tree with objects that come in order; FinishLoad makes it a tree.
  void Load(const CachedObject* next);
  void FinishLoad();

  // The root to publish; from now on its nodes are copied before they are changed.
  const TreeNode* Publish() {
    ++generation_;
    return root_;
  }
  TreeView view() const { return {root_, order_}; }
  const TreeOrder& order() const { return order_; }

  // Frees all nodes of a tree.
  static void FreeNodes(const TreeNode* root);
  // Gives up the tree to whoever will FreeNodes it.
  const TreeNode* Release() { return std::exchange(root_, nullptr); }

 private:
  struct Split;

  void FinishLeaf();
  bool Replace(std::string_view key);
  template <typename Node>
  Node* Editable(Node* node);
  void Drop(TreeNode* node);
  char* NewSeparator(std::string_view left, std::string_view right);

  TreeNode* PutUnder(TreeNode* node, std::string_view key, Split& split);
  TreeNode* PutInLeaf(struct TreeLeaf* leaf, std::string_view key, Split& split);
  TreeNode* EraseUnder(TreeNode* node, std::string_view key);
  void MergeChild(struct TreeBranch* branch, uint32_t index);

  TreeOrder order_;
  Garbage* garbage_;
  TreeNode* root_ = nullptr;
  uint32_t generation_ = 1;
  const CachedObject* object_ = nullptr;    // being put
  const CachedObject* previous_ = nullptr;  // found in its place
  // While loading: finished leaves, each with the bound before it, and the one being filled.
  std::vector<std::pair<TreeNode*, char*>> loaded_;
  struct TreeLeaf* loading_ = nullptr;
  std::string last_loaded_;
};

}  // namespace keelson::storage
