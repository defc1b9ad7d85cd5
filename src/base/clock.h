#pragma once

// Time, so that tests can own it.
//
// A Clock tells monotonic and wall time and runs callbacks at a time. Callbacks run on a thread of
// the clock (SystemClock) or inside Advance (FakeClock); they must be short and usually just fill
// a Completion or post to an executor. Thread-safe.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/task.h"

namespace keelson {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

class Clock {
 public:
  using Callback = std::move_only_function<void()>;
  using TimerId = uint64_t;

  virtual ~Clock() = default;

  virtual TimePoint Now() const = 0;
  virtual WallTime WallNow() const = 0;

  // Runs `callback` at or after `when`.
  virtual TimerId Schedule(TimePoint when, Callback callback) = 0;
  // Returns true when the callback will now never run; false when it ran or is running.
  virtual bool Cancel(TimerId id) = 0;
};

// Completes at `when`, or as soon as `stop` is requested. Returns true when the time was reached.
Task<bool> SleepUntil(Clock& clock, TimePoint when, std::stop_token stop = {});
Task<bool> SleepFor(Clock& clock, Duration duration, std::stop_token stop = {});

// Timers kept in order of time, then of registration. Not thread-safe; both clocks build on it.
class TimerQueue {
 public:
  Clock::TimerId Add(TimePoint when, Clock::Callback callback);
  bool Remove(Clock::TimerId id);
  bool empty() const { return timers_.empty(); }
  TimePoint next() const { return timers_.begin()->first.first; }
  // Takes the first timer due at `now`; a null callback when none is.
  Clock::Callback TakeDue(TimePoint now);

 private:
  std::map<std::pair<TimePoint, Clock::TimerId>, Clock::Callback> timers_;
  std::map<Clock::TimerId, TimePoint> by_id_;
  Clock::TimerId next_id_ = 1;
};

// The machine's clock; one thread runs the callbacks. It is started by the first Schedule.
class SystemClock final : public Clock {
 public:
  SystemClock() = default;
  ~SystemClock() override;

  TimePoint Now() const override;
  WallTime WallNow() const override;
  TimerId Schedule(TimePoint when, Callback callback) override;
  bool Cancel(TimerId id) override;

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  TimerQueue timers_;
  bool stopping_ = false;
  std::thread thread_;
};

// Time that stands still until a test advances it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime wall_start = WallTime(std::chrono::seconds(1767225600)));

  TimePoint Now() const override;
  WallTime WallNow() const override;
  TimerId Schedule(TimePoint when, Callback callback) override;
  bool Cancel(TimerId id) override;

  // Moves time forward, running each due callback with the clock at its own time. `settle` runs
  // after every step (a test passes its executor's RunUntilIdle).
  void Advance(Duration by, const std::function<void()>& settle = {});

  // How many timers are waiting.
  int pending() const;

 private:
  mutable std::mutex mutex_;
  TimerQueue timers_;
  int pending_ = 0;
  TimePoint now_{std::chrono::hours(1)};
  WallTime wall_offset_;
};

}  // namespace keelson
