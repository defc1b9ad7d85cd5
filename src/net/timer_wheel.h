#pragma once

// Coarse timers for deadlines of connections and requests.
//
// Most such timers are moved or disarmed long before they fire, so arming and disarming are a few
// pointer writes: a hashed wheel of 1024 slots of 32 ms, each a doubly linked list threaded through
// the timers themselves. A timer fires in the first tick at or after its time, never early, and
// timers due in the same tick fire in no particular order. Not thread-safe; no clock of its own.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"

namespace keelson::net {

class TimerWheel;

// Owned by whoever waits; leaves its wheel when destroyed. The callback may rearm or destroy it.
class Timer {
 public:
  using Callback = std::move_only_function<void()>;

  explicit Timer(Callback callback) : callback_(std::move(callback)) {}
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool armed() const { return wheel_ != nullptr; }
  TimePoint when() const { return when_; }  // meaningful while armed

 private:
  friend class TimerWheel;

  Callback callback_;
  TimerWheel* wheel_ = nullptr;
  Timer* next_ = nullptr;
  Timer** link_ = nullptr;  // whatever points at this timer
  TimePoint when_;
};

class TimerWheel {
 public:
  static constexpr Duration kTick = std::chrono::milliseconds(32);
  static constexpr size_t kSlots = 1024;

  explicit TimerWheel(TimePoint now) : tick_(TickOf(now)) {}
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Arms, or moves an armed timer.
  void Arm(Timer& timer, TimePoint when);
  void Disarm(Timer& timer);

  // Fires everything due at `now`, including what callbacks arm for a time already past.
  void Advance(TimePoint now);

  // When Advance should next be called; nothing when no timer is armed. May be early for timers
  // more than one lap away.
  std::optional<TimePoint> Next() const;

  size_t armed() const { return armed_; }

 private:
  static int64_t TickOf(TimePoint time) { return time.time_since_epoch() / kTick; }
  void Link(Timer& timer);
  void FireSlot(int64_t tick, TimePoint now);

  std::array<Timer*, kSlots> slots_{};
  std::array<uint64_t, kSlots / 64> occupied_{};  // a bit per slot; may be set for an empty one
  int64_t tick_;                                  // every slot up to this tick has been fired
  size_t armed_ = 0;
};

}  // namespace keelson::net
