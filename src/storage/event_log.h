#pragma once

// The recent changes of one resource, shared by all its watchers.
//
// The cache appends; watchers that start, or fell behind, read. It is bounded by bytes and by age:
// what is dropped cannot be resumed from, and a watcher that has not got so far by then is dropped
// alone.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "storage/cached_object.h"

namespace keelson::storage {

struct Event {
  Revision revision = 0;
  bool deleted = false;
  ObjectRef object;    // after the change; of a deleted object its last state, at the deletion
  ObjectRef previous;  // before the change; none for a created object

  Event(Revision at, bool is_deleted, ObjectRef after, ObjectRef before)
      : revision(at), deleted(is_deleted), object(std::move(after)), previous(std::move(before)) {}
  Event(Event&& other) noexcept
      : revision(other.revision),
        deleted(other.deleted),
        object(std::move(other.object)),
        previous(std::move(other.previous)) {}
  ~Event();

  // The previous state at this event's revision: what watchers see deleted whose selector the
  // object left. Made once, by whoever needs it first.
  ObjectRef Departed() const;

 private:
  mutable std::atomic<const CachedObject*> departed_{nullptr};
};

// The events of one or more commits, in order.
struct EventBatch {
  std::vector<Event> events;
  Revision revision = 0;  // of the last event
  TimePoint recorded;
  size_t bytes = 0;
};
using EventBatchRef = std::shared_ptr<const EventBatch>;

class EventLog {
 public:
  struct Limits {
    size_t bytes = size_t{32} << 20;
    // Younger events are kept as long as `bytes` allows; older ones only while there are few.
    Duration fresh = std::chrono::seconds(75);
    size_t min_events = 100;
  };

  explicit EventLog(Limits limits) : limits_(limits) {}

  // Forgets everything: events after `revision` come next.
  void Reset(Revision revision);
  void Append(EventBatchRef batch);
  // Puts older events in front: those after `revision` that the log begins too late for. They go
  // again when it is trimmed next, unless they count as fresh.
  void Prepend(EventBatchRef batch, Revision revision);

  // The batches with events after `revision`, oldest first, at most `limit` of them; nullopt when
  // some of those events are gone.
  std::optional<std::vector<EventBatchRef>> After(Revision revision, size_t limit) const;

  // All changes after this revision are in the log.
  Revision start() const;
  // The revision of the last change.
  Revision end() const;
  size_t bytes() const;
  size_t size() const;

 private:
  void Trim(TimePoint now);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::deque<EventBatchRef> batches_;
  Revision start_ = 0;
  Revision end_ = 0;
  size_t bytes_ = 0;
  size_t events_ = 0;
};

}  // namespace keelson::storage
