#pragma once

// Counting what is being served, so that a stopping server can wait for it.

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>

#include "base/clock.h"
#include "base/task.h"

namespace keelson::server {

// Requests that end by themselves (everything that is not long-running). Enter and Leave are one
// atomic addition each. Thread-safe.
class RequestGroup {
 public:
  // False once Close was called: the request must be turned away.
  bool Enter();
  void Leave();
  int64_t active() const { return state_.load(std::memory_order_acquire) >> 1; }

  // Turns new requests away from here on.
  void Close();
  // Calls `function` once, as soon as none is active: at once, or on the thread of the last to
  // leave. One waiter at a time.
  void OnEmpty(std::function<void()> function);

 private:
  void Notify();

  static constexpr int64_t kClosed = 1;  // the count is in the other bits
  std::atomic<int64_t> state_{0};
  std::atomic<bool> waiting_{false};
  std::mutex mutex_;
  std::function<void()> on_empty_;
};

// Watches, which end only when told to. Ending ten thousand at once would make ten thousand clients
// reconnect at once, so they are told one after another. Thread-safe.
class WatchGroup {
  struct Running {
    std::stop_source stop;
    bool told = false;  // which of the two lists holds it
  };

 public:
  // One running watch. `stop` is requested when it is this watch's turn to end; the watch leaves
  // the group by destroying its ticket.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept;
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket();
    std::stop_token stop() const;
    explicit operator bool() const { return group_ != nullptr; }

   private:
    friend class WatchGroup;
    WatchGroup* group_ = nullptr;
    std::list<Running>::iterator position_;
  };

  struct Outcome {
    int64_t before = 0;  // active when draining began
    int64_t after = 0;   // still active at its end
  };

  // An empty ticket once draining has begun.
  Ticket Enter();
  int64_t active() const;

  // Ends the watches at max(kSlowest, count / grace) per second, the first at once, and completes
  // when all have left or `grace` has passed.
  Task<Outcome> Drain(Clock& clock, Duration grace);

  static constexpr double kSlowest = 200;  // watches per second

 private:
  bool StopNext();
  void Leave(std::list<Running>::iterator position);

  mutable std::mutex mutex_;
  bool draining_ = false;
  std::list<Running> waiting_;  // not yet told to end
  std::list<Running> told_;
  std::function<void()> on_empty_;
};

}  // namespace keelson::server
