#pragma once

// The named, one-shot events in the life of a server, and the order between them as data.
//
// A Signal is raised once and stays raised; waiting for a raised one does not wait. Thread-safe.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/task.h"

namespace keelson::server {

enum class LifecycleEvent : uint8_t {
  kShutdownInitiated,           // asked to stop; readyz fails from here on
  kAfterShutdownDelayDuration,  // balancers have had their time to look away
  kPreShutdownHooksStopped,     // every pre-shutdown hook has returned
  kNotAcceptingNewRequest,      // new requests are turned away
  kInFlightRequestsDrained,     // none is being served any more (long-running ones aside)
  kHTTPServerStoppedListening,  // the listening sockets are closed
  kMuxAndDiscoveryComplete,     // every path is installed, so an unknown one is really unknown
  kHasBeenReady,                // readyz has answered 200 once
};
inline constexpr size_t kLifecycleEvents = 8;

std::string_view LifecycleEventName(LifecycleEvent event);

class Signal {
 public:
  // The first call returns true, notes the time and tells everybody who waits.
  bool Raise(const Clock& clock);
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  std::optional<WallTime> raised_at() const;

  // Runs `function` when raised, at once when it was already. It runs on the raising thread.
  void OnRaised(std::function<void()> function);
  // Resumes on the awaiter's executor.
  Task<void> Wait();

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> raised_{false};
  WallTime time_{};
  std::vector<std::function<void()>> waiting_;
};

class Signals {
 public:
  explicit Signals(const Clock& clock) : clock_(clock), created_(clock.WallNow()) {}

  Signal& operator[](LifecycleEvent event) { return signals_[static_cast<size_t>(event)]; }
  const Signal& operator[](LifecycleEvent event) const {
    return signals_[static_cast<size_t>(event)];
  }
  bool Raise(LifecycleEvent event) { return (*this)[event].Raise(clock_); }
  WallTime created() const { return created_; }

 private:
  const Clock& clock_;
  const WallTime created_;
  std::array<Signal, kLifecycleEvents> signals_;
};

// One "never before" of the shutdown graph: `to` is raised only after `from` was, and after what
// stands in `through` has happened. No `from` means the request to stop itself.
struct LifecycleEdge {
  enum class Mode : uint8_t { kAlways, kWithoutRetryAfter, kWithRetryAfter };
  std::optional<LifecycleEvent> from;
  LifecycleEvent to;
  std::string_view through;
  Mode mode = Mode::kAlways;
};

std::span<const LifecycleEdge> ShutdownGraph();

}  // namespace keelson::server
