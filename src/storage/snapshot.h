#pragma once

// Snapshots of a resource's objects: published by one writer, read by anybody without locks.
//
// Each snapshot owns what its successor no longer needs (tree nodes, replaced objects) and keeps
// its successor alive. So when the last reader of a snapshot goes, everything that only it and
// older ones could reach is freed, and nothing that a newer one reaches. Readers hold a snapshot
// only while they collect what they answer with: those are references to the objects themselves.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/object_tree.h"

namespace keelson::storage {

class Snapshot {
 public:
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // The revision of the last change in it.
  Revision revision() const { return revision_; }
  // All objects, by key.
  TreeView objects() const { return {roots_[0], TreeOrder{}}; }
  // Index over the `i`th indexed field.
  TreeView index(size_t i) const { return {roots_[i + 1], (*orders_)[i]}; }

 private:
  friend class SnapshotRef;
  friend class SnapshotCell;
  friend class ObjectIndex;

  Snapshot() = default;
  ~Snapshot();
  void Release();

  std::atomic<uint64_t> references_{1};
  Revision revision_ = 0;
  std::vector<const TreeNode*> roots_;  // objects, then indexes
  std::shared_ptr<const std::vector<TreeOrder>> orders_;
  Snapshot* next_ = nullptr;  // holds a reference
  Garbage garbage_;           // what `next_` does without
  bool last_ = false;         // there will be no next: the trees themselves are garbage
};

class SnapshotRef {
 public:
  SnapshotRef() = default;
  SnapshotRef(SnapshotRef&& other) noexcept : snapshot_(std::exchange(other.snapshot_, nullptr)) {}
  SnapshotRef& operator=(SnapshotRef&& other) noexcept {
    std::swap(snapshot_, other.snapshot_);
    return *this;
  }
  ~SnapshotRef() {
    if (snapshot_ != nullptr) snapshot_->Release();
  }
  const Snapshot* operator->() const { return snapshot_; }
  const Snapshot& operator*() const { return *snapshot_; }
  explicit operator bool() const { return snapshot_ != nullptr; }

 private:
  friend class SnapshotCell;
  explicit SnapshotRef(Snapshot* snapshot) : snapshot_(snapshot) {}

  Snapshot* snapshot_ = nullptr;
};

// Where the current snapshot is published. Load is wait-free but for giving back the borrowed
// count: the upper 16 bits of the word count readers that have taken the pointer but not yet a
// reference.
class SnapshotCell {
 public:
  SnapshotCell() = default;
  ~SnapshotCell() { Store(nullptr); }

  // Empty when nothing is published.
  SnapshotRef Load() const;

 private:
  friend class ObjectIndex;
  // Takes over a reference to `snapshot`.
  void Store(Snapshot* snapshot);

  static constexpr int kCountShift = 48;
  static constexpr uint64_t kOne = uint64_t{1} << kCountShift;
  static Snapshot* PointerOf(uint64_t word) {
    return reinterpret_cast<Snapshot*>(word & (kOne - 1));
  }

  mutable std::atomic<uint64_t> word_{0};
};

// The writer's side: a tree of all objects, one more per indexed field. One thread at a time.
class ObjectIndex {
 public:
  // Publishes into `cell`, which outlives it. `indexed_fields` are positions in
  // ObjectFacts::fields.
  ObjectIndex(SnapshotCell* cell, std::span<const int> indexed_fields);
  // Readers keep the snapshots they have; the cell is left empty.
  ~ObjectIndex();
  ObjectIndex(const ObjectIndex&) = delete;
  ObjectIndex& operator=(const ObjectIndex&) = delete;

  // The object replaced, if any. It stays alive at least as long as the returned reference.
  ObjectRef Put(ObjectRef object);
  ObjectRef Erase(std::string_view key);
  // Fills an index that is empty; objects come in key order. Publish after FinishLoad.
  void Load(ObjectRef next);
  void FinishLoad();

  // Makes all changes since the last time visible to readers, at once.
  void Publish(Revision revision);

  TreeView objects() const { return trees_.front()->view(); }

 private:
  static void LoadInto(TreeEditor& tree, std::span<const CachedObject* const> objects);
  void Advance(Revision revision);

  Garbage garbage_;
  std::shared_ptr<const std::vector<TreeOrder>> orders_;
  std::vector<std::unique_ptr<TreeEditor>> trees_;  // by key, then indexes
  Snapshot* current_ = nullptr;                     // holds a reference
  // While loading: all objects, and per index those of each field value, in key order.
  std::vector<const CachedObject*> loaded_;
  using ByValue = std::unordered_map<std::string_view, std::vector<const CachedObject*>>;
  std::vector<ByValue> loaded_by_field_;
  SnapshotCell* const cell_;
};

}  // namespace keelson::storage
