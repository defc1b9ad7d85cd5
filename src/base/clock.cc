#include "base/clock.h"

#include <pthread.h>

#include <memory>
#include <utility>

#include "base/completion.h"

namespace keelson {

Task<bool> SleepUntil(Clock& clock, TimePoint when, std::stop_token stop) {
  auto done = Completion<bool>::Create();
  auto timer = clock.Schedule(when, [done] { done->Set(true); });
  bool reached = false;
  {
    std::stop_callback on_stop(stop, [done] { done->Set(false); });
    reached = co_await Completion<bool>::Wait(done);
  }
  if (!reached) clock.Cancel(timer);
  co_return reached;
}

Task<bool> SleepFor(Clock& clock, Duration duration, std::stop_token stop) {
  return SleepUntil(clock, clock.Now() + duration, std::move(stop));
}

Clock::TimerId TimerQueue::Add(TimePoint when, Clock::Callback callback) {
  auto id = next_id_++;
  timers_.emplace(std::pair(when, id), std::move(callback));
  by_id_.emplace(id, when);
  return id;
}

bool TimerQueue::Remove(Clock::TimerId id) {
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  timers_.erase({found->second, id});
  by_id_.erase(found);
  return true;
}

Clock::Callback TimerQueue::TakeDue(TimePoint now) {
  if (timers_.empty() || timers_.begin()->first.first > now) return nullptr;
  auto node = timers_.extract(timers_.begin());
  by_id_.erase(node.key().second);
  return std::move(node.mapped());
}

SystemClock::~SystemClock() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

TimePoint SystemClock::Now() const { return std::chrono::steady_clock::now(); }
WallTime SystemClock::WallNow() const { return std::chrono::system_clock::now(); }

Clock::TimerId SystemClock::Schedule(TimePoint when, Callback callback) {
  std::lock_guard lock(mutex_);
  bool first = timers_.empty() || when < timers_.next();
  auto id = timers_.Add(when, std::move(callback));
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { Run(); });
    pthread_setname_np(thread_.native_handle(), "clock");
  } else if (first) {
    wake_.notify_one();
  }
  return id;
}

bool SystemClock::Cancel(TimerId id) {
  std::lock_guard lock(mutex_);
  return timers_.Remove(id);
}

void SystemClock::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (Callback due = timers_.TakeDue(Now())) {
      lock.unlock();
      due();
      due = nullptr;
      lock.lock();
    } else if (timers_.empty()) {
      wake_.wait(lock);
    } else {
      wake_.wait_until(lock, timers_.next());
    }
  }
}

FakeClock::FakeClock(WallTime wall_start) : wall_offset_(wall_start - now_.time_since_epoch()) {}

TimePoint FakeClock::Now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

WallTime FakeClock::WallNow() const {
  std::lock_guard lock(mutex_);
  return wall_offset_ + now_.time_since_epoch();
}

Clock::TimerId FakeClock::Schedule(TimePoint when, Callback callback) {
  std::lock_guard lock(mutex_);
  ++pending_;
  return timers_.Add(when, std::move(callback));
}

bool FakeClock::Cancel(TimerId id) {
  std::lock_guard lock(mutex_);
  bool removed = timers_.Remove(id);
  if (removed) --pending_;
  return removed;
}

void FakeClock::Advance(Duration by, const std::function<void()>& settle) {
  if (settle) settle();
  std::unique_lock lock(mutex_);
  const TimePoint target = now_ + by;
  while (!timers_.empty() && timers_.next() <= target) {
    now_ = std::max(now_, timers_.next());
    Callback due = timers_.TakeDue(now_);
    --pending_;
    lock.unlock();
    due();
    if (settle) settle();
    lock.lock();
  }
  now_ = target;
}

int FakeClock::pending() const {
  std::lock_guard lock(mutex_);
  return pending_;
}

}  // namespace keelson
