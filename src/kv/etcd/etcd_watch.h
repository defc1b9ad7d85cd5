#pragma once

// A watch on an etcd cluster that outlives its connections.
//
// Each watch has a gRPC stream of its own, read by a coroutine on one io thread. What arrives waits
// in a queue; when that is full the stream is not read, HTTP/2 holds the server back, and etcd
// reads the rest from its own history later. When the stream or its server fails, another one goes
// on from the first revision not yet received; whole revisions are taken at a time, so nothing is
// lost and nothing comes twice.
//
// Up to where everything has been received is known from the events themselves, and from progress
// answers where the server gives them in order. Older servers may answer too early
// (TellsProgressInOrder); on those the watch covers all keys, of which every revision has one, and
// drops what is outside of its range.

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "grpc/channel.h"
#include "kv/call.h"
#include "kv/etcd/endpoints.h"
#include "kv/etcd/messages.h"
#include "kv/store.h"
#include "net/io_thread.h"
#include "net/timer_wheel.h"

namespace keelson::kv::etcd {

// What all parts of a store have learnt of the cluster's revisions. Thread-safe.
struct Revisions {
  std::atomic<Revision> known = 0;
  std::atomic<Revision> compacted = 0;

  static void Raise(std::atomic<Revision>& value, Revision to) {
    Revision seen = value.load(std::memory_order_relaxed);
    while (seen < to && !value.compare_exchange_weak(seen, to, std::memory_order_acq_rel)) {
    }
  }
};

class WatchSession : public std::enable_shared_from_this<WatchSession> {
 public:
  // `endpoints` and `clock` live until Run has ended.
  WatchSession(WatchRequest request, Endpoints& endpoints, Clock& clock,
               std::shared_ptr<Revisions> revisions, std::shared_ptr<Deadlines> deadlines);

  net::IoThread& thread() { return thread_; }
  // Receives until the watch is over. Spawned on thread().
  static Task<void> Run(std::shared_ptr<WatchSession> self);

  // --- from any thread; kv::Watch has the contract
  static Task<Result<WatchBatch>> Next(std::shared_ptr<WatchSession> self, Call call);
  void RequestProgress();
  Revision Delivered() const;
  void End(Error why);
  Revision compacted() const {
    return compacted_ == 0 ? 0 : std::max(compacted_.load(), revisions_->compacted.load());
  }

 private:
  // How a stream ended.
  struct Ended {
    Error error;
    bool compacted = false;
    bool was_live = false;  // it had begun well
  };

  // --- on the io thread
  static Task<Ended> Follow(std::shared_ptr<WatchSession> self);
  std::optional<Ended> Take(WatchResponse response, bool all_keys);
  static Task<void> AwaitRoom(std::shared_ptr<WatchSession> self);
  void AskForProgress();
  bool over() const;

  // --- with mutex_ held
  WatchBatch TakeQueue();
  Revision Reached() const;  // up to where everything has been received
  bool ProgressDue() const { return target_ != 0 && Reached() >= target_; }
  void UpdateDelivered();

  const WatchRequest request_;
  Endpoints& endpoints_;
  Clock& clock_;
  net::IoThread& thread_;
  const std::shared_ptr<Revisions> revisions_;
  const std::shared_ptr<Deadlines> deadlines_;
  std::stop_source stop_;
  std::atomic<Revision> compacted_ = 0;
  std::atomic<Revision> delivered_ = 0;

  // Of the io thread.
  grpc::Stream* stream_ = nullptr;
  bool answers_progress_ = false;
  TimePoint last_heard_;
  std::optional<std::stop_source> attempt_;
  net::Timer progress_timer_;

  mutable std::mutex mutex_;
  Revision through_;  // the last revision received, or not asked for
  std::vector<Event> queue_;
  size_t queue_bytes_ = 0;
  Revision target_ = 0;  // progress up to here is wanted; 0: none
  std::optional<Error> error_;
  std::shared_ptr<Reply<void>> waiter_;
  std::shared_ptr<Reply<void>> room_;  // the io thread waits for the queue to be taken
};

}  // namespace keelson::kv::etcd
