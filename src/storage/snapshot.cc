#include "storage/snapshot.h"

#include <algorithm>
#include <string>
#include <utility>

namespace keelson::storage {

Snapshot::~Snapshot() {
  if (last_) {
    for (auto cursor = objects().Seek({}); cursor.valid(); cursor.Next()) {
      garbage_.objects.push_back(cursor.object());
    }
    for (const auto* root : roots_) TreeEditor::FreeNodes(root);
  }
  garbage_.Free();
}

// A chain of snapshots that nobody else holds goes one by one, not by recursion.
void Snapshot::Release() {
  Snapshot* snapshot = this;
  while (snapshot != nullptr &&
         snapshot->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Snapshot* next = snapshot->next_;
    delete snapshot;
    snapshot = next;
  }
}

SnapshotRef SnapshotCell::Load() const {
  uint64_t word = word_.fetch_add(kOne, std::memory_order_acq_rel);
  Snapshot* snapshot = PointerOf(word);
  if (snapshot == nullptr) {
    // Nothing is published. The borrowed count means nothing; the first Store drops it.
    return {};
  }
  snapshot->references_.fetch_add(1, std::memory_order_relaxed);
  // Give the borrowed count back. When the cell has moved on, Store has added it to the snapshot's
  // references, so one of those is given back instead; ours keeps it above zero.
  word = word_.load(std::memory_order_relaxed);
  while (PointerOf(word) == snapshot) {
    if (word_.compare_exchange_weak(word, word - kOne, std::memory_order_acq_rel)) {
      return SnapshotRef(snapshot);
    }
  }
  snapshot->references_.fetch_sub(1, std::memory_order_acq_rel);
  return SnapshotRef(snapshot);
}

void SnapshotCell::Store(Snapshot* snapshot) {
  uint64_t word = word_.exchange(reinterpret_cast<uint64_t>(snapshot), std::memory_order_acq_rel);
  Snapshot* old = PointerOf(word);
  if (old == nullptr) return;
  old->references_.fetch_add(word >> kCountShift, std::memory_order_acq_rel);
  old->Release();
}

ObjectIndex::ObjectIndex(SnapshotCell* cell, std::span<const int> indexed_fields) : cell_(cell) {
  std::vector<TreeOrder> orders;
  trees_.push_back(std::make_unique<TreeEditor>(TreeOrder{}, &garbage_));
  for (int field : indexed_fields) {
    orders.push_back({field});
    trees_.push_back(std::make_unique<TreeEditor>(orders.back(), &garbage_));
  }
  orders_ = std::make_shared<const std::vector<TreeOrder>>(std::move(orders));
}

ObjectIndex::~ObjectIndex() {
  Publish(current_ == nullptr ? 0 : current_->revision());
  current_->last_ = true;
  for (auto& tree : trees_) tree->Release();
  cell_->Store(nullptr);
  current_->Release();
}

ObjectRef ObjectIndex::Put(ObjectRef object) {
  const CachedObject* added = object.Detach();
  const CachedObject* replaced = trees_.front()->Put(added);
  for (size_t i = 1; i < trees_.size(); ++i) {
    const auto& order = trees_[i]->order();
    if (replaced != nullptr && order.KeyOf(*replaced) != order.KeyOf(*added)) {
      trees_[i]->Erase(order.KeyOf(*replaced));
    }
    trees_[i]->Put(added);
  }
  if (replaced != nullptr) garbage_.objects.push_back(replaced);
  return ObjectRef::Share(replaced);
}

ObjectRef ObjectIndex::Erase(std::string_view key) {
  const CachedObject* erased = trees_.front()->Erase(key);
  if (erased == nullptr) return {};
  for (size_t i = 1; i < trees_.size(); ++i) {
    trees_[i]->Erase(trees_[i]->order().KeyOf(*erased));
  }
  garbage_.objects.push_back(erased);
  return ObjectRef::Share(erased);
}

void ObjectIndex::Load(std::vector<ObjectRef> ascending) {
  std::vector<const CachedObject*> objects;
  objects.reserve(ascending.size());
  for (auto& object : ascending) objects.push_back(object.Detach());
  for (size_t i = 1; i < trees_.size(); ++i) {
    std::vector<std::pair<std::string, const CachedObject*>> keyed;
    keyed.reserve(objects.size());
    for (const auto* object : objects)
      keyed.emplace_back(trees_[i]->order().KeyOf(*object), object);
    std::ranges::sort(keyed);
    std::vector<const CachedObject*> sorted;
    sorted.reserve(keyed.size());
    for (const auto& [key, object] : keyed) sorted.push_back(object);
    trees_[i]->Load(std::move(sorted));
  }
  trees_.front()->Load(std::move(objects));
}

void ObjectIndex::Publish(Revision revision) {
  auto* snapshot = new Snapshot;
  snapshot->revision_ = revision;
  for (auto& tree : trees_) snapshot->roots_.push_back(tree->Publish());
  snapshot->orders_owner_ = orders_;
  snapshot->orders_ = *orders_;
  snapshot->references_.store(current_ == nullptr ? 2 : 3, std::memory_order_relaxed);
  if (current_ != nullptr) {
    current_->garbage_ = std::exchange(garbage_, {});
    current_->next_ = snapshot;
  }
  Snapshot* old = std::exchange(current_, snapshot);
  cell_->Store(snapshot);
  if (old != nullptr) old->Release();
}

}  // namespace keelson::storage
