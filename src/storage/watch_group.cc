// WatchGroup: the walk of one io thread over its own watchers.

#include <algorithm>

#include "storage/resource_keys.h"
#include "storage/watcher.h"

namespace keelson::storage {
namespace {

constexpr Duration kBookmarkEvery = std::chrono::minutes(1);
constexpr Duration kBookmarkBeforeDeadline = std::chrono::seconds(2);
constexpr Duration kBookmarkRetry = std::chrono::seconds(1);

}  // namespace

WatchGroup::WatchGroup(std::shared_ptr<WatchHub> hub, Executor* executor)
    : hub_(std::move(hub)),
      executor_(executor),
      by_field_(hub_->resource().indexed_fields.size()) {}

WatchGroup::~WatchGroup() {
  if (timer_at_) hub_->clock().Cancel(timer_);
}

void WatchGroup::Offer(EventBatchRef batch) {
  {
    std::lock_guard lock(mutex_);
    inbox_.push_back(std::move(batch));
    if (std::exchange(posted_, true)) return;
  }
  executor_->Post([self = shared_from_this()] { self->Drain(); });
}

void WatchGroup::End() {
  {
    std::lock_guard lock(mutex_);
    end_ = true;
    if (std::exchange(posted_, true)) return;
  }
  executor_->Post([self = shared_from_this()] { self->Drain(); });
}

WatchGroup::Bucket& WatchGroup::BucketOf(const Watcher& watcher) {
  if (watcher.indexed_field_ >= 0) {
    return by_field_[static_cast<size_t>(watcher.indexed_field_)][watcher.index_value_];
  }
  if (watcher.name_.empty()) {
    return watcher.ns_.empty() ? all_ : by_namespace_[watcher.ns_];
  }
  if (watcher.ns_.empty() && hub_->resource().namespaced) return by_name_[watcher.name_];
  return by_key_[RelativeKey(watcher.ns_, watcher.name_)];
}

void WatchGroup::Add(Watcher* watcher) {
  BucketOf(*watcher).push_back(watcher);
  ++watchers_;
  hub_->watchers_.fetch_add(1, std::memory_order_relaxed);
  if (watcher->bookmarks_) ScheduleBookmark(*watcher, hub_->clock().Now());
}

void WatchGroup::Remove(Watcher* watcher) {
  auto& bucket = BucketOf(*watcher);
  std::erase(bucket, watcher);
  if (bucket.empty() && &bucket != &all_) {
    if (watcher->indexed_field_ >= 0) {
      by_field_[static_cast<size_t>(watcher->indexed_field_)].erase(watcher->index_value_);
    } else if (watcher->name_.empty()) {
      by_namespace_.erase(watcher->ns_);
    } else if (watcher->ns_.empty() && hub_->resource().namespaced) {
      by_name_.erase(watcher->name_);
    } else {
      by_key_.erase(RelativeKey(watcher->ns_, watcher->name_));
    }
  }
  hub_->watchers_.fetch_sub(1, std::memory_order_relaxed);
  if (--watchers_ == 0) hub_->Forget(this);
}

template <typename Visit>
void WatchGroup::ForEach(Visit visit) {
  auto each = [&](const Bucket& bucket) {
    for (auto* watcher : bucket) visit(*watcher);
  };
  each(all_);
  for (const auto& [key, bucket] : by_namespace_) each(bucket);
  for (const auto& [key, bucket] : by_name_) each(bucket);
  for (const auto& [key, bucket] : by_key_) each(bucket);
  for (const auto& map : by_field_) {
    for (const auto& [key, bucket] : map) each(bucket);
  }
}

void WatchGroup::Drain() {
  std::vector<EventBatchRef> batches;
  bool end = false;
  {
    std::lock_guard lock(mutex_);
    batches.swap(inbox_);
    posted_ = false;
    end = end_;
  }
  for (const auto& batch : batches) Dispatch(*batch);
  if (end) {
    ForEach([&](Watcher& watcher) {
      watcher.ended_ = true;
      if (watcher.waiting_ != nullptr) woken_.push_back(std::move(watcher.waiting_));
    });
  }
  Wake();
}

void WatchGroup::ConsiderAll(const Bucket& bucket, const Event& event) {
  for (auto* watcher : bucket) {
    bool live = !watcher->behind_ && !watcher->ended_ && event.revision > watcher->live_from_;
    if (live && watcher->InScope(*event.object)) watcher->Consider(event);
  }
}

void WatchGroup::ConsiderAll(const BucketMap& map, std::string_view key, const Event& event) {
  auto found = map.find(key);
  if (found != map.end()) ConsiderAll(found->second, event);
}

void WatchGroup::Dispatch(const EventBatch& batch) {
  for (const auto& event : batch.events) {
    ConsiderAll(all_, event);
    const auto& object = *event.object;
    if (!by_namespace_.empty()) ConsiderAll(by_namespace_, object.ns(), event);
    if (!by_name_.empty()) ConsiderAll(by_name_, object.name(), event);
    if (!by_key_.empty()) ConsiderAll(by_key_, RelativeKey(object.ns(), object.name()), event);
    for (size_t i = 0; i < by_field_.size(); ++i) {
      if (by_field_[i].empty()) continue;
      auto field = static_cast<size_t>(hub_->resource().indexed_fields[i]);
      ConsiderAll(by_field_[i], object.field(field), event);
      if (event.previous && event.previous->field(field) != object.field(field)) {
        ConsiderAll(by_field_[i], event.previous->field(field), event);
      }
    }
  }
}

// Resumes consumers. They may end watchers, their own or others, so nothing is walked meanwhile.
void WatchGroup::Wake() {
  auto woken = std::exchange(woken_, {});
  for (const auto& waiting : woken) waiting->Set(true);
}

// About every minute, and shortly before the deadline: a client that comes back after it then
// resumes from there instead of listing anew.
void WatchGroup::ScheduleBookmark(Watcher& watcher, TimePoint now) {
  watcher.next_bookmark_ = now + kBookmarkEvery;
  if (watcher.deadline_) {
    TimePoint before_end = *watcher.deadline_ - kBookmarkBeforeDeadline;
    if (before_end < now) {
      watcher.next_bookmark_ = TimePoint::max();
      return;
    }
    watcher.next_bookmark_ = std::min(watcher.next_bookmark_, std::max(before_end, now));
  }
  ArmTimer(watcher.next_bookmark_);
}

void WatchGroup::ArmTimer(TimePoint when) {
  if (timer_at_ && *timer_at_ <= when) return;
  if (timer_at_) hub_->clock().Cancel(timer_);
  timer_at_ = when;
  timer_ = hub_->clock().Schedule(when, [weak = weak_from_this()] {
    if (auto self = weak.lock()) {
      Executor* executor = self->executor_;
      executor->Post([self = std::move(self)] { self->Tick(); });
    }
  });
}

void WatchGroup::Tick() {
  timer_at_.reset();
  // What has been published up to here stands in the queues before the bookmark that covers it.
  const Revision revision = hub_->progress();
  Drain();
  const TimePoint now = hub_->clock().Now();
  std::optional<Slice> text;
  std::optional<TimePoint> next;
  ForEach([&](Watcher& watcher) {
    if (!watcher.bookmarks_ || watcher.ended_) return;
    if (watcher.next_bookmark_ <= now) {
      if (watcher.AtRest() && revision >= watcher.live_from_) {
        if (!text) text = hub_->Bookmark(revision, false);
        watcher.Push({WatchEvent::Type::kBookmark, {}, *text});
        watcher.next_bookmark_ = now + kBookmarkEvery;
        if (watcher.deadline_) {
          TimePoint before_end = *watcher.deadline_ - kBookmarkBeforeDeadline;
          watcher.next_bookmark_ =
              before_end <= now ? TimePoint::max() : std::min(watcher.next_bookmark_, before_end);
        }
      } else {
        watcher.next_bookmark_ = now + kBookmarkRetry;
      }
    }
    if (!next || watcher.next_bookmark_ < *next) next = watcher.next_bookmark_;
  });
  if (next && *next != TimePoint::max()) ArmTimer(std::max(*next, now + kBookmarkRetry));
  Wake();
}

}  // namespace keelson::storage
