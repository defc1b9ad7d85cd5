#pragma once

// CacheFeed: keeps all watch caches of a store current.
//
// One watch over the whole registry tells of every commit, in order; its events go to the caches
// they concern. So one position serves all resources: when it has passed a revision, every filled
// cache shows the state at it, whether the resource changed or not, and a consistent read is a
// comparison of two numbers. Cold resources cost nothing but the lookup of their events' prefix.
//
// Start before use. Stop ends all watchers and fails what waits; it comes after the io threads have
// stopped serving, before the store is closed. Caches do not outlive their feed. `executor` does
// the feeding and filling.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/completion.h"
#include "base/executor.h"
#include "base/gate.h"
#include "base/metrics.h"
#include "base/status.h"
#include "base/task.h"
#include "kv/store.h"
#include "storage/watch_cache.h"

namespace keelson::storage {

struct FeedOptions {
  size_t memory_budget = size_t{4} << 30;
  EventLog::Limits log;
  Duration cold_after = std::chrono::minutes(30);  // unused and unwatched for so long: dropped
  Duration fresh_timeout = std::chrono::seconds(3);
  int64_t fill_page = 2000;  // objects read at once, at most
};

class CacheFeed {
 public:
  // All must outlive the feed; `registry` may be nullptr.
  CacheFeed(kv::Store* store, Executor* executor, Clock* clock, FeedOptions options = {},
            metrics::Registry* registry = nullptr);
  ~CacheFeed();

  void Start();
  Task<void> Stop();

  // A cache for the resource, cold. Resources come and go while the feed runs; prefixes do not
  // nest. The same objects may have several caches, seen in different ways, while one takes the
  // other's place.
  std::shared_ptr<WatchCache> Add(std::shared_ptr<const ResourceOptions> resource);
  void Remove(const std::shared_ptr<WatchCache>& cache);

  // Waits until the cache is filled, which this starts when nobody has.
  Task<ApiResult<void>> EnsureFilled(std::shared_ptr<WatchCache> cache);

  // Makes the log of a filled cache begin at `revision` or before, out of the store's history.
  // Fails with kExpired when that does not reach back so far, kTooLarge when it is more than a log
  // holds, kUnavailable when the cache has gone cold meanwhile.
  Task<Result<void>> ReachBack(std::shared_ptr<WatchCache> cache, Revision revision);

  // All filled caches show at least the state at this revision.
  Revision position() const { return position_->load(std::memory_order_acquire); }
  // Waits until position() has reached `revision`; 504 after a while.
  Task<ApiResult<void>> WaitUntilFresh(Revision revision);

  MemoryBudget& budget() { return budget_; }
  std::vector<CacheStats> Stats() const;

 private:
  Task<void> Run();
  Task<void> Sweep();
  Task<Result<void>> StartWatch();
  void Deliver(const kv::WatchBatch& batch);
  void LoseTrack();
  Task<void> Fill(std::shared_ptr<WatchCache> cache);
  using Page = Completion<Result<kv::RangeResult>>;
  Task<void> ReadPage(kv::RangeRequest request, std::shared_ptr<Page> page);
  std::shared_ptr<Page> StartReading(const kv::RangeRequest& request);
  Task<ApiResult<void>> TryFill(std::shared_ptr<WatchCache> cache);
  using Reached = Completion<Result<void>>;
  Task<void> ExtendLog(std::shared_ptr<WatchCache> cache, Revision revision,
                       std::shared_ptr<Reached> reached);
  Task<Result<void>> TryExtendLog(WatchCache& cache, Revision revision);
  bool MakeRoom(const WatchCache& need);
  Task<void> DropCache(std::shared_ptr<WatchCache> cache);
  Task<void> AskForProgress();
  std::vector<std::shared_ptr<WatchCache>> Caches() const;
  void WakeFresh(Revision revision);

  kv::Store* const store_;
  Executor* const executor_;
  Clock* const clock_;
  const FeedOptions options_;
  MemoryBudget budget_;
  const std::shared_ptr<std::atomic<Revision>> position_;
  std::stop_source stop_;
  Gate gate_;

  mutable std::mutex caches_mutex_;
  std::multimap<std::string, std::shared_ptr<WatchCache>, std::less<>> caches_;  // by key prefix

  // On the executor.
  std::unique_ptr<kv::Watch> watch_;
  uint64_t watch_number_ = 0;  // counts watches started
  std::vector<std::shared_ptr<WatchCache>> waiting_fills_;
  // Caches whose logs are being extended, with those who wait for their turn to extend them.
  using Turn = Completion<bool>;
  std::map<const WatchCache*, std::vector<std::shared_ptr<Turn>>> extending_;

  struct FreshWaiter {
    Revision revision;
    std::shared_ptr<Completion<bool>> reached;
  };
  std::mutex fresh_mutex_;
  std::vector<FreshWaiter> fresh_waiters_;
  std::atomic<size_t> fresh_waiting_{0};
};

}  // namespace keelson::storage
