#include "storage/event_log.h"

#include <algorithm>

namespace keelson::storage {

Event::~Event() { ObjectRef::Adopt(departed_.load(std::memory_order_relaxed)); }

ObjectRef Event::Departed() const {
  const CachedObject* known = departed_.load(std::memory_order_acquire);
  if (known != nullptr) return ObjectRef::Share(known);
  ObjectRef made = deleted ? object : previous->AtRevision(revision);
  const CachedObject* expected = nullptr;
  ObjectRef kept = made;
  if (departed_.compare_exchange_strong(expected, kept.get(), std::memory_order_acq_rel)) {
    kept.Detach();
    return made;
  }
  return ObjectRef::Share(expected);
}

void EventLog::Reset(Revision revision) {
  std::lock_guard lock(mutex_);
  batches_.clear();
  start_ = end_ = revision;
  bytes_ = events_ = 0;
}

void EventLog::Append(EventBatchRef batch) {
  std::lock_guard lock(mutex_);
  bytes_ += batch->bytes;
  events_ += batch->events.size();
  end_ = batch->revision;
  auto now = batch->recorded;
  batches_.push_back(std::move(batch));
  Trim(now);
}

void EventLog::Prepend(EventBatchRef batch, Revision revision) {
  std::lock_guard lock(mutex_);
  start_ = revision;
  if (batch->events.empty()) return;
  bytes_ += batch->bytes;
  events_ += batch->events.size();
  batches_.push_front(std::move(batch));
}

void EventLog::Trim(TimePoint now) {
  while (!batches_.empty()) {
    const auto& oldest = batches_.front();
    bool many = events_ - oldest->events.size() >= limits_.min_events;
    bool old = now - oldest->recorded > limits_.fresh;
    if (bytes_ <= limits_.bytes && !(old && many)) return;
    start_ = oldest->revision;
    bytes_ -= oldest->bytes;
    events_ -= oldest->events.size();
    batches_.pop_front();
  }
}

std::optional<std::vector<EventBatchRef>> EventLog::After(Revision revision, size_t limit) const {
  std::lock_guard lock(mutex_);
  if (revision < start_) return std::nullopt;
  auto first = std::ranges::upper_bound(batches_, revision, {},
                                        [](const EventBatchRef& batch) { return batch->revision; });
  std::vector<EventBatchRef> found;
  while (first != batches_.end() && found.size() < limit) found.push_back(*first++);
  return found;
}

Revision EventLog::start() const {
  std::lock_guard lock(mutex_);
  return start_;
}

Revision EventLog::end() const {
  std::lock_guard lock(mutex_);
  return end_;
}

size_t EventLog::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

size_t EventLog::size() const {
  std::lock_guard lock(mutex_);
  return events_;
}

}  // namespace keelson::storage
