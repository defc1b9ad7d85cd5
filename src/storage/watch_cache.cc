#include "storage/watch_cache.h"

#include <limits>

#include "base/log.h"

namespace keelson::storage {

WatchCache::WatchCache(std::shared_ptr<const ResourceOptions> resource, EventLog::Limits limits,
                       Clock* clock, MemoryBudget* budget,
                       std::shared_ptr<const std::atomic<Revision>> progress)
    : resource_(std::move(resource)),
      key_prefix_(resource_->KeyPrefix()),
      clock_(clock),
      budget_(budget),
      hub_(std::make_shared<WatchHub>(resource_, limits, clock, std::move(progress))) {
  Touch();
}

WatchCache::~WatchCache() { budget_->Give(accounted_.load(std::memory_order_relaxed)); }

void WatchCache::Touch() {
  auto now = clock_->Now().time_since_epoch().count();
  // Written about once a second only, so that readers do not fight for the line.
  if (now - last_used_.load(std::memory_order_relaxed) > 1'000'000'000) {
    last_used_.store(now, std::memory_order_relaxed);
  }
}

TimePoint WatchCache::last_used() const {
  return TimePoint(Duration(last_used_.load(std::memory_order_relaxed)));
}

CacheStats WatchCache::stats() const {
  return {.resource = resource_->resource,
          .ready = ready(),
          .objects = objects_.load(std::memory_order_relaxed),
          .object_bytes = object_bytes_.load(std::memory_order_relaxed),
          .log_events = hub_->log().size(),
          .log_bytes = hub_->log().bytes(),
          .watchers = hub_->watchers(),
          .events = events_.load(std::memory_order_relaxed),
          .fills = fills_.load(std::memory_order_relaxed),
          .dropped = hub_->dropped()};
}

Result<ObjectRef> WatchCache::Decode(std::string_view key, const Slice& stored, Revision revision,
                                     bool* stale) const {
  if (resource_->transformer == nullptr) return resource_->codec->Decode(stored, revision);
  TRY(auto read, resource_->transformer->FromStorage(key, stored));
  if (stale != nullptr) *stale = read.stale;
  return resource_->codec->Decode(read.value, revision);
}

bool WatchCache::AddWaiter(std::shared_ptr<Filled> waiter) {
  {
    std::lock_guard lock(waiters_mutex_);
    if (!ready()) {
      waiters_.push_back(std::move(waiter));
      return !std::exchange(wanted_, true);
    }
  }
  waiter->Set(std::nullopt);
  return false;
}

void WatchCache::WakeWaiters(const std::optional<Status>& result) {
  std::vector<std::shared_ptr<Filled>> waiters;
  {
    std::lock_guard lock(waiters_mutex_);
    ready_.store(!result.has_value(), std::memory_order_release);
    wanted_ = false;
    waiters.swap(waiters_);
  }
  for (const auto& waiter : waiters) waiter->Set(result);
}

void WatchCache::BeginFill() {
  filling_ = true;
  aside_.clear();
  index_ = std::make_unique<ObjectIndex>(&cell_, resource_->indexed_fields);
}

void WatchCache::Load(ObjectRef next) {
  const size_t bytes = next->footprint();
  objects_.fetch_add(1, std::memory_order_relaxed);
  object_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  accounted_.fetch_add(bytes, std::memory_order_relaxed);
  budget_->Take(bytes);
  index_->Load(std::move(next));
}

void WatchCache::FinishFill(Revision revision) {
  index_->FinishLoad();
  loaded_at_ = revision;
  hub_->log().Reset(revision);
  index_->Publish(revision);
  filling_ = false;
  ApplyNow(std::exchange(aside_, {}));
  fills_.fetch_add(1, std::memory_order_relaxed);
  Touch();
  WakeWaiters(std::nullopt);
}

void WatchCache::GiveUpFill() {
  filling_ = false;
  aside_ = {};
  Forget();
}

void WatchCache::Forget() {
  index_.reset();
  budget_->Give(accounted_.exchange(0, std::memory_order_relaxed));
  objects_.store(0, std::memory_order_relaxed);
  object_bytes_.store(0, std::memory_order_relaxed);
}

void WatchCache::Drop() {
  {
    std::lock_guard lock(waiters_mutex_);
    ready_.store(false, std::memory_order_release);
  }
  Forget();
  hub_->EndAll();
  hub_->log().Reset(std::numeric_limits<Revision>::max());  // nothing can be resumed from
}

void WatchCache::Apply(std::span<const kv::Event> events) {
  if (filling_) {
    aside_.insert(aside_.end(), events.begin(), events.end());
  } else if (index_ != nullptr) {
    ApplyNow(events);
  }
}

void WatchCache::ApplyNow(std::span<const kv::Event> events) {
  auto batch = std::make_shared<EventBatch>();
  batch->events.reserve(events.size());
  ptrdiff_t grown = 0;
  ptrdiff_t added = 0;
  for (const auto& event : events) {
    const Revision revision = event.kv.mod_revision;
    if (revision <= loaded_at_) continue;
    std::string_view key = event.kv.key.view();
    ObjectRef object;
    if (event.type == kv::Event::Type::kPut) {
      auto decoded = Decode(key, event.kv.value, revision);
      if (decoded) {
        object = *std::move(decoded);
      } else {
        // It cannot be served, so it must not be served stale either.
        log::ErrorS("stored object cannot be read",
                    {{"key", key}, {"err", decoded.error().message}});
      }
    }
    if (object) {
      grown += static_cast<ptrdiff_t>(object->footprint());
      auto previous = index_->Put(object);
      if (previous) {
        grown -= static_cast<ptrdiff_t>(previous->footprint());
      } else {
        ++added;
      }
      batch->bytes += object->footprint();
      batch->events.emplace_back(revision, false, std::move(object), std::move(previous));
    } else {
      auto previous = index_->Erase(key.substr(key_prefix_.size()));
      if (!previous) continue;
      grown -= static_cast<ptrdiff_t>(previous->footprint());
      --added;
      auto last = previous->AtRevision(revision);
      batch->bytes += last->footprint() + previous->footprint();
      batch->events.emplace_back(revision, true, std::move(last), std::move(previous));
    }
    batch->revision = revision;
  }
  if (batch->events.empty()) return;
  batch->recorded = clock_->Now();
  events_.fetch_add(batch->events.size(), std::memory_order_relaxed);
  objects_.fetch_add(static_cast<size_t>(added), std::memory_order_relaxed);
  object_bytes_.fetch_add(static_cast<size_t>(grown), std::memory_order_relaxed);

  // The log first: whoever sees a change in a snapshot can also find it, and what was before, in
  // the log.
  const size_t logged = hub_->log().bytes();
  auto groups = hub_->Append(batch);
  index_->Publish(batch->revision);
  for (const auto& group : groups) group->Offer(batch);
  auto taken = static_cast<size_t>(grown) + hub_->log().bytes() - logged;
  accounted_.fetch_add(taken, std::memory_order_relaxed);
  budget_->Take(taken);
}

}  // namespace keelson::storage
