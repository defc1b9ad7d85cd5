#pragma once

// WatchCache: all objects of one resource in their wire form, and its recent changes.
//
// Cold until somebody lists or watches, then filled from the store and kept current by CacheFeed.
// One thread (the feed's executor) changes it; anybody reads snapshots without locks. It goes cold
// again when nobody has used it for long, or when the feed has lost the thread of changes.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/completion.h"
#include "base/status.h"
#include "base/task.h"
#include "kv/types.h"
#include "storage/memory_budget.h"
#include "storage/snapshot.h"
#include "storage/watcher.h"

namespace keelson::storage {

struct CacheStats {
  GroupResource resource;
  bool ready = false;
  size_t objects = 0;
  size_t object_bytes = 0;
  size_t log_events = 0;
  size_t log_bytes = 0;
  size_t watchers = 0;
  uint64_t events = 0;   // received since the start
  uint64_t fills = 0;    // how often it was filled
  uint64_t dropped = 0;  // watchers that fell out of the log
};

class WatchCache {
 public:
  WatchCache(std::shared_ptr<const ResourceOptions> resource, EventLog::Limits limits, Clock* clock,
             MemoryBudget* budget, std::shared_ptr<const std::atomic<Revision>> progress);
  ~WatchCache();

  const ResourceOptions& resource() const { return *resource_; }
  const std::string& key_prefix() const { return key_prefix_; }
  WatchHub& hub() { return *hub_; }

  // Any thread. Empty while the cache is not filled.
  SnapshotRef snapshot() const { return cell_.Load(); }
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  // Remembers that somebody has use for it.
  void Touch();
  TimePoint last_used() const;
  CacheStats stats() const;

  // A stored value as an object; the value is decrypted first. `stale` tells that it should be
  // written again.
  Result<ObjectRef> Decode(std::string_view key, const Slice& stored, Revision revision,
                           bool* stale = nullptr) const;

  // Waiters for the end of a fill; nullopt means it is filled.
  using Filled = Completion<std::optional<Status>>;
  // Returns true when the caller has to see to it that the cache is filled.
  bool AddWaiter(std::shared_ptr<Filled> waiter);
  // Tells those who wait that it will not be filled.
  void Refuse(const Status& why) { WakeWaiters(why); }

  // The rest on the feed's executor. Between BeginFill and the end of it changes are kept aside.
  void BeginFill();
  // Stored values in key order, each with a state from since BeginFill.
  void Load(std::span<const kv::KeyValue> items);
  // All changes up to `revision`, that of the last state loaded, have been applied.
  void FinishFill(Revision revision);
  void GiveUpFill();
  bool filling() const { return filling_; }
  void Apply(std::span<const kv::Event> events);
  // Puts changes from before the log's start, told with what was there before them, into the log,
  // which then has all after `revision`.
  void Recall(std::span<const kv::Event> events, Revision revision);
  // Forgets everything and ends all watchers.
  void Drop();

 private:
  void WakeWaiters(const std::optional<Status>& result);
  // What a change did to the cache.
  struct Effect {
    ObjectRef object;    // after it; empty when it is gone or cannot be read
    ObjectRef previous;  // before it
    ptrdiff_t grown = 0;
  };
  Effect Change(const kv::Event& event);
  ObjectRef Read(const kv::KeyValue& kv) const;
  void CatchUp(std::span<const kv::Event> events);
  // False when there was nothing to publish.
  bool ApplyNow(std::span<const kv::Event> events);
  // So many objects that their memory is worth the trouble of packing them.
  static constexpr size_t kMany = 1000;
  bool many() const { return objects_.load(std::memory_order_relaxed) >= kMany; }
  void Account(ptrdiff_t bytes);
  void Forget();

  const std::shared_ptr<const ResourceOptions> resource_;
  const std::string key_prefix_;
  Clock* const clock_;
  MemoryBudget* const budget_;
  const std::shared_ptr<WatchHub> hub_;
  SnapshotCell cell_;
  std::atomic<bool> ready_{false};
  std::atomic<TimePoint::rep> last_used_{0};
  std::atomic<size_t> objects_{0};
  std::atomic<size_t> object_bytes_{0};
  std::atomic<size_t> accounted_{0};  // with the budget
  std::atomic<uint64_t> events_{0};
  std::atomic<uint64_t> fills_{0};

  std::unique_ptr<ObjectIndex> index_;
  bool filling_ = false;
  Revision loaded_at_ = 0;
  std::vector<kv::Event> aside_;

  std::mutex waiters_mutex_;
  std::vector<std::shared_ptr<Filled>> waiters_;
  bool wanted_ = false;
};

}  // namespace keelson::storage
