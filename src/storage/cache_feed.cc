#include "storage/cache_feed.h"

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "storage/resource_keys.h"

namespace keelson::storage {
namespace {

constexpr Duration kRetryWatch = std::chrono::seconds(1);
constexpr Duration kSweepEvery = std::chrono::minutes(1);
constexpr int kRetrySeconds = 1;

// Lets other work of the executor run.
Task<void> Yield(Executor* executor) {
  auto turn = Completion<bool>::Create();
  executor->Post([turn] { turn->Set(true); });
  co_await Completion<bool>::Wait(turn);
}

Status FillFailure(const GroupResource& resource, const Error& error) {
  return TooManyRequestsStatus(
      fmt::format("storage is (re)initializing: {}: {}", resource.ToString(), error.message),
      kRetrySeconds);
}

// The first page tells how large the objects are; the others are about as large as this.
constexpr int64_t kFirstPage = 200;
constexpr size_t kPageBytes = size_t{4} << 20;

int64_t NextLimit(const std::vector<kv::KeyValue>& items, int64_t most) {
  size_t bytes = 1;
  for (const auto& item : items) bytes += item.value.size();
  return std::clamp<int64_t>(static_cast<int64_t>(kPageBytes * items.size() / bytes), 1, most);
}

void RegisterMetrics(metrics::Registry& registry, CacheFeed& feed) {
  registry.CallbackGauge({.name = "keelson_watch_cache_memory_bytes",
                          .help = "Bytes of objects and events held by all watch caches."},
                         [&feed] { return static_cast<double>(feed.budget().used()); });
  registry.CallbackGauge({.name = "keelson_watch_cache_memory_limit_bytes",
                          .help = "Bytes that watch caches may hold before requests are refused."},
                         [&feed] { return static_cast<double>(feed.budget().limit()); });
  registry.CallbackGauge({.name = "keelson_watch_cache_resource_version",
                          .help = "Revision that all filled watch caches have reached."},
                         [&feed] { return static_cast<double>(feed.position()); });

  struct PerResource {
    const char* name;
    const char* help;
    bool counter;
    uint64_t (*value)(const CacheStats& stats);
  };
  static constexpr PerResource kPerResource[] = {
      {"keelson_watch_cache_objects", "Objects in a resource's watch cache.", false,
       [](const CacheStats& stats) -> uint64_t { return stats.objects; }},
      {"keelson_watch_cache_object_bytes", "Bytes of the objects in a resource's watch cache.",
       false, [](const CacheStats& stats) -> uint64_t { return stats.object_bytes; }},
      {"keelson_watch_cache_log_events", "Recent changes that watches can resume from.", false,
       [](const CacheStats& stats) -> uint64_t { return stats.log_events; }},
      {"keelson_watch_cache_log_bytes", "Bytes of those changes.", false,
       [](const CacheStats& stats) -> uint64_t { return stats.log_bytes; }},
      {"keelson_watch_cache_watchers", "Watches that are open on the resource.", false,
       [](const CacheStats& stats) -> uint64_t { return stats.watchers; }},
      {"keelson_watch_cache_events_total", "Changes that a watch cache has taken in.", true,
       [](const CacheStats& stats) { return stats.events; }},
      {"keelson_watch_cache_fills_total", "How often a watch cache was read from the store.", true,
       [](const CacheStats& stats) { return stats.fills; }},
      {"keelson_watch_cache_dropped_watchers_total", "Watches ended because they fell behind.",
       true, [](const CacheStats& stats) { return stats.dropped; }},
  };
  for (const auto& metric : kPerResource) {
    // Resources that nobody has used say nothing.
    auto samples = [&feed, &metric] {
      std::vector<metrics::Registry::Sample> samples;
      for (const auto& stats : feed.Stats()) {
        if (stats.fills == 0) continue;
        samples.push_back({.labels = {stats.resource.group, stats.resource.resource},
                           .value = static_cast<double>(metric.value(stats))});
      }
      return samples;
    };
    metrics::Description description{
        .name = metric.name, .help = metric.help, .labels = {"group", "resource"}};
    if (metric.counter) {
      registry.CallbackCounters(std::move(description), samples);
    } else {
      registry.CallbackGauges(std::move(description), samples);
    }
  }
}

}  // namespace

CacheFeed::CacheFeed(kv::Store* store, Executor* executor, Clock* clock, FeedOptions options,
                     metrics::Registry* registry)
    : store_(store),
      executor_(executor),
      clock_(clock),
      options_(options),
      budget_(options.memory_budget),
      position_(std::make_shared<std::atomic<Revision>>(0)) {
  if (registry != nullptr) RegisterMetrics(*registry, *this);
}

CacheFeed::~CacheFeed() = default;

void CacheFeed::Start() {
  gate_.Spawn(executor_, Run());
  gate_.Spawn(executor_, Sweep());
}

Task<void> CacheFeed::Stop() {
  stop_.request_stop();
  co_await gate_.Close();
  for (const auto& cache : Caches()) {
    cache->Drop();
    cache->Refuse(ServiceUnavailableStatus("apiserver cacher is stopped"));
  }
  WakeFresh(std::numeric_limits<Revision>::max());
}

std::shared_ptr<WatchCache> CacheFeed::Add(std::shared_ptr<const ResourceOptions> resource) {
  auto cache =
      std::make_shared<WatchCache>(std::move(resource), options_.log, clock_, &budget_, position_);
  std::lock_guard lock(caches_mutex_);
  caches_.emplace(cache->key_prefix(), cache);
  return cache;
}

void CacheFeed::Remove(const std::shared_ptr<WatchCache>& cache) {
  {
    std::lock_guard lock(caches_mutex_);
    const auto [first, last] = caches_.equal_range(cache->key_prefix());
    const auto found = std::find_if(first, last, [&](const auto& e) { return e.second == cache; });
    if (found != last) caches_.erase(found);
  }
  gate_.Spawn(executor_, DropCache(cache));
}

Task<void> CacheFeed::DropCache(std::shared_ptr<WatchCache> cache) {
  cache->Drop();
  co_return;
}

std::vector<std::shared_ptr<WatchCache>> CacheFeed::Caches() const {
  std::lock_guard lock(caches_mutex_);
  std::vector<std::shared_ptr<WatchCache>> all;
  for (const auto& [prefix, cache] : caches_) all.push_back(cache);
  return all;
}

std::vector<CacheStats> CacheFeed::Stats() const {
  std::vector<CacheStats> stats;
  for (const auto& cache : Caches()) stats.push_back(cache->stats());
  return stats;
}

Task<void> CacheFeed::Run() {
  while (!stop_.stop_requested()) {
    if (watch_ == nullptr) {
      auto started = co_await StartWatch();
      if (!started) {
        log::WarningS("watching the store failed", {{"err", started.error().message}});
        co_await SleepFor(*clock_, kRetryWatch, stop_.get_token());
        continue;
      }
    }
    auto batch = co_await watch_->Next({.stop = stop_.get_token(), .deadline = std::nullopt});
    if (batch) {
      Deliver(*batch);
      continue;
    }
    if (stop_.stop_requested()) break;
    // Changes may be missing from here on: everything is read again when it is next asked for.
    log::WarningS("lost track of the store's changes", {{"err", batch.error().message}});
    LoseTrack();
    if (batch.error().code != ErrorCode::kExpired) {
      co_await SleepFor(*clock_, kRetryWatch, stop_.get_token());
    }
  }
  watch_.reset();
}

Task<Result<void>> CacheFeed::StartWatch() {
  CO_TRY(auto revision, co_await store_->CurrentRevision());
  CO_TRY(watch_, store_->StartWatch({.range = kv::KeyRange::Prefix(kRegistryRoot),
                                     .start = revision + 1,
                                     .want_previous = false}));
  ++watch_number_;
  position_->store(revision, std::memory_order_seq_cst);
  WakeFresh(revision);
  for (auto& cache : std::exchange(waiting_fills_, {}))
    gate_.Spawn(executor_, Fill(std::move(cache)));
  co_return Result<void>();
}

void CacheFeed::LoseTrack() {
  watch_.reset();
  for (const auto& cache : Caches()) {
    if (!cache->filling()) cache->Drop();
  }
}

void CacheFeed::Deliver(const kv::WatchBatch& batch) {
  std::vector<std::pair<std::shared_ptr<WatchCache>, std::vector<kv::Event>>> touched;
  {
    std::lock_guard lock(caches_mutex_);
    for (const auto& event : batch.events) {
      auto key = event.kv.key.view();
      auto after = caches_.upper_bound(key);
      if (after == caches_.begin()) continue;
      const auto& prefix = std::prev(after)->first;
      if (!key.starts_with(prefix)) continue;
      for (auto at = caches_.lower_bound(prefix); at != after; ++at) {
        const auto& cache = at->second;
        if (!cache->ready() && !cache->filling()) continue;
        auto entry = std::ranges::find(touched, cache, [](const auto& pair) { return pair.first; });
        if (entry == touched.end()) entry = touched.insert(entry, {cache, {}});
        entry->second.push_back(event);
      }
    }
  }
  for (const auto& [cache, events] : touched) cache->Apply(events);
  // Sequentially consistent, like the count of waiters: one side always sees the other.
  position_->store(batch.revision, std::memory_order_seq_cst);
  WakeFresh(batch.revision);
}

Task<ApiResult<void>> CacheFeed::EnsureFilled(std::shared_ptr<WatchCache> cache) {
  cache->Touch();
  if (cache->ready()) co_return ApiResult<void>();
  auto waiter = WatchCache::Filled::Create();
  if (cache->AddWaiter(waiter) && !gate_.Spawn(executor_, Fill(cache))) {
    cache->Refuse(ServiceUnavailableStatus("apiserver cacher is stopped"));
  }
  auto failed = co_await WatchCache::Filled::Wait(waiter);
  if (failed) co_return std::unexpected(*std::move(failed));
  co_return ApiResult<void>();
}

Task<void> CacheFeed::Fill(std::shared_ptr<WatchCache> cache) {
  for (;;) {
    // Without a watch changes would be missed between reading the state and following it.
    if (watch_ == nullptr && !stop_.stop_requested()) {
      waiting_fills_.push_back(std::move(cache));
      co_return;
    }
    cache->BeginFill();
    auto filled = co_await TryFill(cache);
    if (filled) co_return;
    // The watch broke while the state was read: once more.
    bool again = filled.error().code == 410 && !stop_.stop_requested();
    cache->GiveUpFill();
    if (!again) {
      cache->Refuse(filled.error());
      co_return;
    }
  }
}

Task<void> CacheFeed::ReadPage(kv::RangeRequest request, std::shared_ptr<Page> page) {
  auto read =
      co_await store_->Range(std::move(request), {.stop = stop_.get_token(), .deadline = {}});
  page->Set(std::move(read));
}

std::shared_ptr<CacheFeed::Page> CacheFeed::StartReading(const kv::RangeRequest& request) {
  auto page = Page::Create();
  if (!gate_.Spawn(executor_, ReadPage(request, page))) page->Set(Fail(ErrorCode::kCancelled, ""));
  return page;
}

// Every page is the state of its own instant: looking back at one revision would cost each page
// all changes since, and fail once they are compacted away. The changes made meanwhile come by the
// watch and bring the pages to the revision of the last one. While a page is dealt with, the next
// one is being read.
Task<ApiResult<void>> CacheFeed::TryFill(std::shared_ptr<WatchCache> cache) {
  const auto& resource = cache->resource().resource;
  const uint64_t watch_number = watch_number_;
  kv::RangeRequest request{.range = kv::KeyRange::Prefix(cache->key_prefix()),
                           .limit = std::min(options_.fill_page, kFirstPage)};
  auto reading = StartReading(request);
  Revision revision = 0;
  for (bool more = true; more;) {
    auto page = co_await Page::Wait(std::exchange(reading, nullptr));
    if (!page) co_return std::unexpected(FillFailure(resource, page.error()));
    more = page->more;
    revision = page->revision;
    if (more) {
      request.range.start = std::string(page->items.back().key.view()) + '\0';
      request.limit = NextLimit(page->items, options_.fill_page);
      reading = StartReading(request);
    }
    cache->Load(page->items);
    if (budget_.exceeded() && !MakeRoom(*cache)) {
      co_return std::unexpected(TooManyRequestsStatus(
          fmt::format("the watch cache of {} does not fit into the memory budget of {} bytes",
                      resource.ToString(), budget_.limit()),
          kRetrySeconds));
    }
    co_await Yield(executor_);
  }
  auto reached = co_await WaitUntilFresh(revision);
  // Changes kept aside are whole only if one watch brought all of them.
  if (watch_ == nullptr || watch_number != watch_number_) {
    co_return std::unexpected(ExpiredStatus(""));
  }
  if (!reached) {
    Error late{ErrorCode::kTimeout, "the store is late to tell of its changes"};
    co_return std::unexpected(FillFailure(resource, late));
  }
  cache->FinishFill(revision);
  co_return ApiResult<void>();
}

Task<Result<void>> CacheFeed::ReachBack(std::shared_ptr<WatchCache> cache, Revision revision) {
  auto reached = Reached::Create();
  if (!gate_.Spawn(executor_, ExtendLog(std::move(cache), revision, reached))) {
    co_return Fail(ErrorCode::kUnavailable, "the feed is stopped");
  }
  co_return co_await Reached::Wait(reached);
}

Task<void> CacheFeed::ExtendLog(std::shared_ptr<WatchCache> cache, Revision revision,
                                std::shared_ptr<Reached> reached) {
  // One at a time: when a server comes up again all its watchers ask for about the same.
  auto [place, first] = extending_.try_emplace(cache.get());
  if (!first) {
    auto turn = Turn::Create();
    place->second.push_back(turn);
    co_await Turn::Wait(turn);
  }
  reached->Set(co_await TryExtendLog(*cache, revision));
  auto waiting = extending_.find(cache.get());
  if (waiting->second.empty()) {
    extending_.erase(waiting);
    co_return;
  }
  auto next = std::move(waiting->second.front());
  waiting->second.erase(waiting->second.begin());
  next->Set(true);
}

// What comes between `revision` and the start of the log, from a watch of its own. While that is
// read the log may be trimmed, then more is read; or somebody else extends it, then less is needed.
Task<Result<void>> CacheFeed::TryExtendLog(WatchCache& cache, Revision revision) {
  auto& log = cache.hub().log();
  const auto generation = cache.hub().generation();
  if (log.start() <= revision) co_return Result<void>();
  CO_TRY(auto watch, store_->StartWatch({.range = kv::KeyRange::Prefix(cache.key_prefix()),
                                         .start = revision + 1,
                                         .want_previous = true}));
  watch->RequestProgress();
  std::vector<kv::Event> events;
  size_t bytes = 0;
  for (Revision read = revision; cache.ready() && read < log.start();) {
    CO_TRY(auto batch, co_await watch->Next({.stop = stop_.get_token(), .deadline = std::nullopt}));
    read = batch.revision;
    for (auto& event : batch.events) {
      bytes += event.kv.value.size() + event.previous.value.size();
      events.push_back(std::move(event));
    }
    if (bytes + log.bytes() > options_.log.bytes) {
      co_return Fail(ErrorCode::kTooLarge, "too much has changed since revision {}", revision);
    }
  }
  if (!cache.ready() || generation != cache.hub().generation()) {
    co_return Fail(ErrorCode::kUnavailable, "the cache starts anew");
  }
  const Revision start = log.start();
  if (start <= revision) co_return Result<void>();
  std::erase_if(events, [&](const kv::Event& event) { return event.kv.mod_revision > start; });
  cache.Recall(events, revision);
  co_return Result<void>();
}

// Drops the cache that has been idle longest, if any is.
bool CacheFeed::MakeRoom(const WatchCache& need) {
  std::shared_ptr<WatchCache> coldest;
  for (const auto& cache : Caches()) {
    bool idle = cache.get() != &need && cache->ready() && cache->hub().watchers() == 0 &&
                clock_->Now() - cache->last_used() > kSweepEvery;
    if (idle && (coldest == nullptr || cache->last_used() < coldest->last_used())) coldest = cache;
  }
  if (coldest == nullptr) return false;
  coldest->Drop();
  return !budget_.exceeded();
}

Task<void> CacheFeed::Sweep() {
  while (co_await SleepFor(*clock_, kSweepEvery, stop_.get_token())) {
    for (const auto& cache : Caches()) {
      bool cold = cache->ready() && cache->hub().watchers() == 0 &&
                  clock_->Now() - cache->last_used() > options_.cold_after;
      if (cold) cache->Drop();
    }
  }
}

Task<ApiResult<void>> CacheFeed::WaitUntilFresh(Revision revision) {
  if (position() >= revision) co_return ApiResult<void>();
  auto reached = Completion<bool>::Create();
  {
    std::lock_guard lock(fresh_mutex_);
    fresh_waiters_.push_back({revision, reached});
    fresh_waiting_.fetch_add(1, std::memory_order_seq_cst);
  }
  if (position_->load(std::memory_order_seq_cst) >= revision) WakeFresh(position());
  gate_.Spawn(executor_, AskForProgress());
  auto timer =
      clock_->Schedule(clock_->Now() + options_.fresh_timeout, [reached] { reached->Set(false); });
  co_await Completion<bool>::Wait(reached);
  clock_->Cancel(timer);
  if (position() >= revision) co_return ApiResult<void>();
  {
    std::lock_guard lock(fresh_mutex_);
    auto gone = std::erase_if(fresh_waiters_,
                              [&](const FreshWaiter& waiter) { return waiter.reached == reached; });
    fresh_waiting_.fetch_sub(gone, std::memory_order_relaxed);
  }
  co_return std::unexpected(TooLargeResourceVersion(revision, position(), kRetrySeconds));
}

Task<void> CacheFeed::AskForProgress() {
  if (watch_ != nullptr) watch_->RequestProgress();
  co_return;
}

void CacheFeed::WakeFresh(Revision revision) {
  if (fresh_waiting_.load(std::memory_order_seq_cst) == 0) return;
  std::vector<std::shared_ptr<Completion<bool>>> woken;
  {
    std::lock_guard lock(fresh_mutex_);
    std::erase_if(fresh_waiters_, [&](FreshWaiter& waiter) {
      if (waiter.revision > revision) return false;
      woken.push_back(std::move(waiter.reached));
      return true;
    });
    fresh_waiting_.fetch_sub(woken.size(), std::memory_order_relaxed);
  }
  for (const auto& reached : woken) reached->Set(true);
}

}  // namespace keelson::storage
