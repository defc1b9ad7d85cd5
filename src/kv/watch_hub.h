#pragma once

// WatchHub: hands committed events to the watches of an embedded store.
//
// A watch is either live, then commits put the events of its range into its queue, or behind, then
// its Next reads them from the store's log, chunk by chunk, until it has caught up with what was
// published and turns live. A queue that passes its bound is dropped and the watch falls behind:
// the events are in the log anyway. So a commit never waits for a watch, and memory stays bounded.
//
// One mutex guards all of it; it is held for queue operations only, never while reading the log and
// never while a waiting coroutine runs.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/executor.h"
#include "kv/call.h"
#include "kv/store.h"

namespace keelson::kv {

// Where a watch that is behind finds what it missed. Called on the hub's reader.
class EventLog {
 public:
  struct Chunk {
    std::vector<Event> events;
    Revision through = 0;  // no event of the range up to here is missing
  };

  virtual ~EventLog() = default;

  // The events of `range` from revision `from` on, whole commits, stopping soon after `bytes`;
  // `from` is at most one past the newest revision. kExpired when `from` is compacted.
  virtual Result<Chunk> ReadLog(const KeyRange& range, Revision from, size_t bytes) = 0;
  virtual Revision CompactedRevision() const = 0;
};

// Coroutines to wake once no lock is held.
class Wakes {
 public:
  Wakes() = default;
  Wakes(Wakes&&) = default;
  Wakes& operator=(Wakes&&) = default;
  ~Wakes() { Run(); }
  void Add(std::shared_ptr<Reply<void>> waiter) { waiters_.push_back(std::move(waiter)); }
  void Run();

 private:
  std::vector<std::shared_ptr<Reply<void>>> waiters_;
};

class WatchHub : public std::enable_shared_from_this<WatchHub> {
 public:
  // `log` and `reader` (nullptr: read on the caller's thread) must live until Close has returned.
  WatchHub(Revision published, EventLog* log, Executor* reader,
           std::shared_ptr<Deadlines> deadlines);
  ~WatchHub();

  Result<std::unique_ptr<Watch>> Start(WatchRequest request);

  // Tells of the events of all commits after the last call, up to and including `through`, in
  // order. One thread at a time.
  [[nodiscard]] Wakes Publish(std::span<const Event> events, Revision through);

  Revision published() const { return published_.load(std::memory_order_acquire); }

  // Ends all watches and waits until nobody reads the log any more.
  void Close();

 private:
  struct State;
  class Handle;
  // Finds the live watches whose range contains a key.
  class Index {
   public:
    void Insert(State* watch);
    void Erase(State* watch);
    template <typename Visit>
    void ForEach(std::string_view key, Visit&& visit) const;

   private:
    void Rebuild(size_t from);
    struct Entry {
      State* watch;
      // The greatest end among this entry and those before it; nullptr is the end of all keys.
      const std::string* furthest;
    };
    std::vector<Entry> entries_;  // by start
  };

  static Task<Result<WatchBatch>> Next(std::shared_ptr<WatchHub> hub, std::shared_ptr<State> watch,
                                       Call call);
  static Task<Result<void>> CatchUp(std::shared_ptr<WatchHub> hub, std::shared_ptr<State> watch,
                                    std::optional<WatchBatch>* batch);
  static Task<Result<EventLog::Chunk>> ReadOnReader(std::shared_ptr<WatchHub> hub,
                                                    std::shared_ptr<State> watch, Revision from);
  Result<EventLog::Chunk> ReadLog(const State& watch, Revision from);
  WatchBatch TakeQueue(State& watch);  // with mutex_ held
  void Deliver(State& watch, const Event& event);
  void FallBehind(State& watch, Revision next);
  void End(const std::shared_ptr<State>& watch, Error error, Wakes& wakes);
  bool BeginRead();
  void EndRead();

  EventLog* const log_;
  Executor* const reader_;
  const std::shared_ptr<Deadlines> deadlines_;

  std::mutex mutex_;
  std::condition_variable reads_done_;
  int reads_ = 0;
  bool closed_ = false;
  std::atomic<Revision> published_;
  std::vector<std::shared_ptr<State>> watches_;
  Index live_;
  std::vector<State*> touched_;  // by the publication under way
};

}  // namespace keelson::kv
