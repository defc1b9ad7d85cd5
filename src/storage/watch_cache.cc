#include "storage/watch_cache.h"

#include <algorithm>
#include <limits>

#include "base/compact_heap.h"
#include "base/log.h"

namespace keelson::storage {
namespace {

// Starts fetching bytes that are read soon; the processor sees a long run coming by itself.
void Prefetch(std::string_view bytes) {
  constexpr size_t kLine = 64, kMost = 1024;
  for (size_t at = 0; at < std::min(bytes.size(), kMost); at += kLine) {
    __builtin_prefetch(bytes.data() + at);
  }
}

Lineage LineageOf(const kv::KeyValue& kv) {
  return {.created = kv.create_revision, .version = kv.version, .leased = kv.lease != 0};
}

// What a change looks like to watchers.
void AddEvent(EventBatch& batch, Revision revision, ObjectRef object, ObjectRef previous) {
  if (object) {
    batch.bytes += object->footprint();
    batch.events.emplace_back(revision, false, std::move(object), std::move(previous));
  } else {
    if (!previous) return;
    auto last = previous->AtRevision(revision);
    batch.bytes += last->footprint() + previous->footprint();
    batch.events.emplace_back(revision, true, std::move(last), std::move(previous));
  }
  batch.revision = revision;
}

}  // namespace

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

void WatchCache::Load(std::span<const kv::KeyValue> items) {
  constexpr size_t kAhead = 4;  // values fetched while earlier ones are decoded
  MakeSlicesCompact compact(many() || items.size() >= kMany);
  size_t objects = 0;
  size_t bytes = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i + kAhead < items.size()) Prefetch(items[i + kAhead].value.view());
    auto object = Read(items[i]);
    if (!object) continue;
    ++objects;
    bytes += object->footprint();
    index_->Load(std::move(object));
  }
  objects_.fetch_add(objects, std::memory_order_relaxed);
  object_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  Account(static_cast<ptrdiff_t>(bytes));
}

void WatchCache::FinishFill(Revision revision) {
  index_->FinishLoad();
  loaded_at_ = revision;
  CatchUp(aside_);
  hub_->log().Reset(revision);
  filling_ = false;
  // The first state that anybody sees has all changes told so far: writers take it for the state at
  // the feed's position.
  if (!ApplyNow(std::exchange(aside_, {}))) index_->Publish(revision);
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

void WatchCache::Account(ptrdiff_t bytes) {
  accounted_.fetch_add(static_cast<size_t>(bytes), std::memory_order_relaxed);
  budget_->Take(static_cast<size_t>(bytes));
}

// An object that cannot be read is none: it must not be served stale either.
ObjectRef WatchCache::Read(const kv::KeyValue& kv) const {
  auto object = Decode(kv.key.view(), kv.value, kv.mod_revision);
  if (!object) {
    log::ErrorS("stored object cannot be read",
                {{"key", kv.key.view()}, {"err", object.error().message}});
    return {};
  }
  (*object)->SetLineage(LineageOf(kv));
  return *std::move(object);
}

WatchCache::Effect WatchCache::Change(const kv::Event& event) {
  Effect effect;
  std::string_view key = event.kv.key.view();
  if (event.type == kv::Event::Type::kPut) {
    MakeSlicesCompact compact(many());
    effect.object = Read(event.kv);
  }
  effect.previous =
      effect.object ? index_->Put(effect.object) : index_->Erase(key.substr(key_prefix_.size()));
  if (effect.object) effect.grown += static_cast<ptrdiff_t>(effect.object->footprint());
  if (effect.previous) effect.grown -= static_cast<ptrdiff_t>(effect.previous->footprint());
  if (effect.object && !effect.previous) objects_.fetch_add(1, std::memory_order_relaxed);
  if (!effect.object && effect.previous) objects_.fetch_sub(1, std::memory_order_relaxed);
  object_bytes_.fetch_add(static_cast<size_t>(effect.grown), std::memory_order_relaxed);
  return effect;
}

// Brings what was loaded at different times to the state at `loaded_at_`. Nobody has seen anything
// yet, so nobody is told. A state loaded after a change has that change in it, or what came later.
void WatchCache::CatchUp(std::span<const kv::Event> events) {
  ptrdiff_t grown = 0;
  for (const auto& event : events) {
    if (event.kv.mod_revision > loaded_at_) break;
    const auto* loaded = index_->objects().Find(event.kv.key.view().substr(key_prefix_.size()));
    if (loaded != nullptr && loaded->revision() >= event.kv.mod_revision) continue;
    grown += Change(event).grown;
  }
  Account(grown);
}

bool WatchCache::ApplyNow(std::span<const kv::Event> events) {
  auto batch = std::make_shared<EventBatch>();
  batch->events.reserve(events.size());
  ptrdiff_t grown = 0;
  for (const auto& event : events) {
    const Revision revision = event.kv.mod_revision;
    if (revision <= loaded_at_) continue;
    auto [object, previous, more] = Change(event);
    grown += more;
    AddEvent(*batch, revision, std::move(object), std::move(previous));
  }
  if (batch->events.empty()) return false;
  batch->recorded = clock_->Now();
  events_.fetch_add(batch->events.size(), std::memory_order_relaxed);

  // The log first: whoever sees a change in a snapshot can also find it, and what was before, in
  // the log.
  const size_t logged = hub_->log().bytes();
  auto groups = hub_->Append(batch);
  index_->Publish(batch->revision);
  for (const auto& group : groups) group->Offer(batch);
  Account(grown + static_cast<ptrdiff_t>(hub_->log().bytes() - logged));
  return true;
}

void WatchCache::Recall(std::span<const kv::Event> events, Revision revision) {
  auto batch = std::make_shared<EventBatch>();
  batch->recorded = clock_->Now();
  for (const auto& event : events) {
    ObjectRef object, previous;
    if (event.type == kv::Event::Type::kPut) object = Read(event.kv);
    if (event.previous.exists()) previous = Read(event.previous);
    if (object && previous) batch->bytes += previous->footprint();  // shared with nobody
    AddEvent(*batch, event.kv.mod_revision, std::move(object), std::move(previous));
  }
  Account(static_cast<ptrdiff_t>(batch->bytes));
  hub_->log().Prepend(std::move(batch), revision);
}

}  // namespace keelson::storage
