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
  for (const auto* object : loaded_) ObjectRef::Adopt(object);  // of a load that was given up
  cell_->Store(nullptr);
  Advance(0);
  current_->last_ = true;
  for (auto& tree : trees_) tree->Release();
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

void ObjectIndex::Load(ObjectRef next) {
  const CachedObject* object = next.Detach();
  trees_.front()->Load(object);
  loaded_.push_back(object);
  loaded_by_field_.resize(orders_->size());
  for (size_t i = 0; i < orders_->size(); ++i) {
    auto value = object->field(static_cast<size_t>((*orders_)[i].field));
    loaded_by_field_[i][value.substr(0, value.find('\0'))].push_back(object);
  }
}

void ObjectIndex::FinishLoad() {
  for (size_t i = 0; i < loaded_by_field_.size(); ++i) {
    std::vector<std::string_view> values;
    for (const auto& [value, objects] : loaded_by_field_[i]) values.push_back(value);
    std::ranges::sort(values);
    for (auto value : values) LoadInto(*trees_[i + 1], loaded_by_field_[i][value]);
  }
  for (auto& tree : trees_) tree->FinishLoad();
  loaded_ = {};
  loaded_by_field_ = {};
}

// Objects of one field value are strewn over memory: those read soon are fetched meanwhile.
void ObjectIndex::LoadInto(TreeEditor& tree, std::span<const CachedObject* const> objects) {
  constexpr size_t kAhead = 8, kLine = 64, kLines = 4;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (i + kAhead < objects.size()) {
      const auto* soon = reinterpret_cast<const char*>(objects[i + kAhead]);
      for (size_t line = 0; line < kLines; ++line) __builtin_prefetch(soon + line * kLine);
    }
    tree.Load(objects[i]);
  }
}

void ObjectIndex::Publish(Revision revision) {
  Advance(revision);
  current_->references_.fetch_add(1, std::memory_order_relaxed);
  cell_->Store(current_);
}

// Puts a new snapshot at the end of the chain, not yet for readers to see.
void ObjectIndex::Advance(Revision revision) {
  auto* snapshot = new Snapshot;
  snapshot->revision_ = revision;
  snapshot->roots_.reserve(trees_.size());
  for (auto& tree : trees_) snapshot->roots_.push_back(tree->Publish());
  snapshot->orders_ = orders_;
  Snapshot* old = std::exchange(current_, snapshot);
  if (old == nullptr) return;
  snapshot->references_.store(2, std::memory_order_relaxed);
  old->garbage_ = std::exchange(garbage_, {});
  old->next_ = snapshot;
  old->Release();
}

}  // namespace keelson::storage
