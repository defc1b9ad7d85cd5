#include "kv/call.h"

#include <algorithm>
#include <vector>

namespace keelson::kv {

Deadlines::Id Deadlines::Add(TimePoint when, Clock::Callback expire) {
  std::lock_guard lock(mutex_);
  Id id{when, ++next_id_};
  waiting_.emplace(id, std::move(expire));
  Arm();
  return id;
}

void Deadlines::Remove(const Id& id) {
  std::lock_guard lock(mutex_);
  waiting_.erase(id);
}

void Deadlines::Arm() {
  if (stopped_ || waiting_.empty()) return;
  // Never sooner than a grain from now: a stream of short calls must not turn into a stream of
  // timers. An armed timer that is early enough serves; one left over from a finished call is
  // harmless.
  TimePoint at = std::max(waiting_.begin()->first.first, clock_.Now() + kGrain);
  if (timer_ && timer_at_ <= at) return;
  if (timer_) clock_.Cancel(*timer_);
  timer_at_ = at;
  timer_ = clock_.Schedule(at, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Sweep();
  });
}

void Deadlines::Sweep() {
  std::vector<Clock::Callback> expired;
  {
    std::lock_guard lock(mutex_);
    timer_.reset();
    TimePoint now = clock_.Now();
    while (!waiting_.empty() && waiting_.begin()->first.first <= now) {
      expired.push_back(std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
    }
    Arm();
  }
  for (auto& expire : expired) expire();
}

void Deadlines::Stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  if (timer_) clock_.Cancel(*timer_);
  timer_.reset();
}

}  // namespace keelson::kv
