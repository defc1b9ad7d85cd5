#include "net/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace keelson::net {

Timer::~Timer() {
  if (wheel_ != nullptr) wheel_->Disarm(*this);
}

TimerWheel::~TimerWheel() {
  for (Timer* timer : slots_) {
    while (timer != nullptr) {
      Timer* next = timer->next_;
      timer->wheel_ = nullptr;
      timer = next;
    }
  }
}

void TimerWheel::Link(Timer& timer) {
  // Rounded up, so that the slot's tick is not before the time; a past time goes to the next tick.
  int64_t tick = std::max(TickOf(timer.when_ + kTick - Duration(1)), tick_ + 1);
  size_t slot = static_cast<size_t>(tick) % kSlots;
  timer.next_ = slots_[slot];
  timer.link_ = &slots_[slot];
  if (timer.next_ != nullptr) timer.next_->link_ = &timer.next_;
  slots_[slot] = &timer;
  occupied_[slot / 64] |= uint64_t{1} << (slot % 64);
}

void TimerWheel::Arm(Timer& timer, TimePoint when) {
  if (timer.wheel_ != nullptr) timer.wheel_->Disarm(timer);
  timer.wheel_ = this;
  timer.when_ = when;
  ++armed_;
  Link(timer);
}

void TimerWheel::Disarm(Timer& timer) {
  if (timer.wheel_ == nullptr) return;
  *timer.link_ = timer.next_;
  if (timer.next_ != nullptr) timer.next_->link_ = timer.link_;
  timer.wheel_ = nullptr;
  --armed_;
}

void TimerWheel::FireSlot(int64_t tick, TimePoint now) {
  size_t slot = static_cast<size_t>(tick) % kSlots;
  // Take the list first: callbacks may arm into this very slot, a lap later.
  Timer* due = slots_[slot];
  slots_[slot] = nullptr;
  occupied_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
  if (due != nullptr) due->link_ = &due;
  while (due != nullptr) {
    Timer& timer = *due;
    Disarm(timer);  // unlinks it from `due`
    if (timer.when_ > now) {
      Arm(timer, timer.when_);  // another lap
    } else {
      timer.callback_();
    }
  }
}

void TimerWheel::Advance(TimePoint now) {
  const int64_t target = TickOf(now);
  if (armed_ == 0) {
    tick_ = std::max(tick_, target);
    return;
  }
  // After a long pause one lap visits every slot.
  tick_ = std::max(tick_, target - static_cast<int64_t>(kSlots));
  while (tick_ < target) {
    ++tick_;
    FireSlot(tick_, now);
  }
}

std::optional<TimePoint> TimerWheel::Next() const {
  if (armed_ == 0) return std::nullopt;
  for (size_t ahead = 1; ahead <= kSlots;) {
    size_t slot = static_cast<size_t>(tick_ + static_cast<int64_t>(ahead)) % kSlots;
    uint64_t bits = occupied_[slot / 64] >> (slot % 64);
    size_t skip = bits == 0 ? 64 - slot % 64 : static_cast<size_t>(std::countr_zero(bits));
    if (bits != 0) return TimePoint(kTick * (tick_ + static_cast<int64_t>(ahead + skip)));
    ahead += skip;
  }
  return TimePoint(kTick * (tick_ + static_cast<int64_t>(kSlots)));
}

}  // namespace keelson::net
