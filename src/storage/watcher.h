#pragma once

// Watchers: one per watch request, living on the io thread of its connection.
//
// The cache tells each io thread once per commit batch; the thread's WatchGroup then walks those of
// its own watchers that may be interested and puts references into their queues. Nothing is
// encoded: an event's wire form is a constant prefix, the object's bytes and a constant suffix. A
// watcher whose consumer does not keep up stops queueing after a bound and later reads on from the
// shared log; when the log has moved past it, it ends. So a slow watcher costs its own bounded
// queue and nobody else anything.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/completion.h"
#include "base/executor.h"
#include "base/task.h"
#include "storage/event_log.h"
#include "storage/resource.h"

namespace keelson::storage {

struct WatchEvent {
  enum class Type : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kAdded;
  ObjectRef object;  // none for kBookmark and kError
  Slice text;        // the object of kBookmark and kError
};

// {"type":"ADDED","object":
std::string_view FrameOpening(WatchEvent::Type type);
// The event as a line of a JSON watch stream, without copying the object.
void AppendFrame(const WatchEvent& event, std::vector<Slice>& out);

class WatchGroup;
class WatchHub;

class Watcher {
 public:
  struct Start {
    std::vector<ObjectRef> initial;    // delivered first, as added
    std::optional<Slice> initial_end;  // then this bookmark
    Revision revision = 0;             // then the changes after this revision
  };

  // On `group`'s executor, like everything else about a watcher, its end included.
  Watcher(std::shared_ptr<WatchGroup> group, const ListOptions& options, Start start);
  // A watcher that only says why there is none.
  explicit Watcher(const Status& error);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // What has come since the last call, in order; waits while there is nothing. Nothing at all means
  // that the watch is over: it fell behind, the cache starts anew, or `stop` was requested.
  Task<std::vector<WatchEvent>> Next(std::stop_token stop = {});

  // The same without waiting; empty when there is nothing, or when the watch is over.
  std::vector<WatchEvent> Take();
  bool ended() const { return ended_ && queue_.empty(); }

 private:
  friend class WatchGroup;

  // Up to these the queue grows; then the log keeps what the consumer has not taken.
  static constexpr size_t kMaxQueued = 256;
  static constexpr size_t kMaxQueuedBytes = size_t{1} << 20;
  static constexpr size_t kInitialChunk = 512;

  bool InScope(const CachedObject& object) const;
  void Consider(const Event& event);
  void Push(WatchEvent event);
  void Refill();
  void Replay();
  bool AtRest() const { return !behind_ && initial_.empty() && !initial_end_; }

  std::shared_ptr<WatchGroup> group_;
  std::string ns_;
  std::string name_;
  Predicate predicate_;
  std::vector<WatchEvent> queue_;
  size_t queued_bytes_ = 0;
  std::vector<ObjectRef> initial_;
  size_t initial_sent_ = 0;
  std::optional<Slice> initial_end_;
  Revision cursor_ = 0;     // the last change considered
  Revision live_from_ = 0;  // changes up to here came from the log
  bool behind_ = true;      // changes after the cursor come from the log, not from the group
  bool ended_ = false;
  bool bookmarks_ = false;
  std::optional<TimePoint> deadline_;
  TimePoint next_bookmark_;
  std::shared_ptr<Completion<bool>> waiting_;
  // Where the group keeps it.
  int indexed_field_ = -1;  // position in ResourceOptions::indexed_fields
  std::string index_value_;
};

// The watchers of one resource on one executor.
class WatchGroup : public std::enable_shared_from_this<WatchGroup> {
 public:
  WatchGroup(std::shared_ptr<WatchHub> hub, Executor* executor);
  ~WatchGroup();

  // Any thread: hands over a batch; one post to the executor for all that are waiting.
  void Offer(EventBatchRef batch);
  // Any thread: ends all watchers.
  void End();

  // The rest on the executor.
  void Add(Watcher* watcher);
  void Remove(Watcher* watcher);
  void Drain();
  size_t size() const { return watchers_; }

  WatchHub& hub() { return *hub_; }

 private:
  friend class Watcher;
  using Bucket = std::vector<Watcher*>;

  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using BucketMap = std::unordered_map<std::string, Bucket, TextHash, std::equal_to<>>;

  Bucket& BucketOf(const Watcher& watcher);
  template <typename Visit>
  void ForEach(Visit visit);
  static void ConsiderAll(const Bucket& bucket, const Event& event);
  static void ConsiderAll(const BucketMap& map, std::string_view key, const Event& event);
  void Dispatch(const EventBatch& batch);
  void Wake();
  void ArmTimer(TimePoint when);
  void Tick();
  void ScheduleBookmark(Watcher& watcher, TimePoint now);

  const std::shared_ptr<WatchHub> hub_;
  Executor* const executor_;
  // Interest: every watcher stands in one bucket, the narrowest that its request allows.
  Bucket all_;
  BucketMap by_namespace_;
  BucketMap by_name_;                // in any namespace
  BucketMap by_key_;                 // namespace/name
  std::vector<BucketMap> by_field_;  // per indexed field, by value
  size_t watchers_ = 0;
  // Consumers that have something to take.
  std::vector<std::shared_ptr<Completion<bool>>> woken_;
  std::optional<TimePoint> timer_at_;
  Clock::TimerId timer_ = 0;

  std::mutex mutex_;
  std::vector<EventBatchRef> inbox_;
  bool posted_ = false;
  bool end_ = false;
};

// All groups of one resource, and the log they share.
class WatchHub : public std::enable_shared_from_this<WatchHub> {
 public:
  // `progress` moves on when all changes up to it have been published.
  WatchHub(std::shared_ptr<const ResourceOptions> resource, EventLog::Limits limits, Clock* clock,
           std::shared_ptr<const std::atomic<Revision>> progress);

  // Puts the batch into the log and returns the groups to offer it to. One thread at a time.
  std::vector<std::shared_ptr<WatchGroup>> Append(EventBatchRef batch);
  // Ends all watchers there are; later ones are not affected.
  void EndAll();

  // Counts how often EndAll was called. Whoever joins names the generation whose state it has seen.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  // The group of this executor, made when it has none; nullptr when the generation is over.
  std::shared_ptr<WatchGroup> Join(Executor* executor, uint64_t generation);
  void Forget(const WatchGroup* group);

  EventLog& log() { return log_; }
  const ResourceOptions& resource() const { return *resource_; }
  Clock& clock() { return *clock_; }
  Revision progress() const { return progress_->load(std::memory_order_acquire); }
  size_t watchers() const { return watchers_.load(std::memory_order_relaxed); }
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  // The object of a bookmark at `revision`.
  Slice Bookmark(Revision revision, bool initial_events_end) const;

 private:
  friend class WatchGroup;
  friend class Watcher;

  const std::shared_ptr<const ResourceOptions> resource_;
  Clock* const clock_;
  const std::shared_ptr<const std::atomic<Revision>> progress_;
  EventLog log_;
  std::atomic<size_t> watchers_{0};
  std::atomic<uint64_t> dropped_{0};  // watchers that fell out of the log
  std::atomic<uint64_t> generation_{0};
  std::mutex mutex_;
  std::vector<std::pair<Executor*, std::shared_ptr<WatchGroup>>> groups_;
};

}  // namespace keelson::storage
