#include "net/timer_wheel.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace keelson::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kStart{std::chrono::hours(5)};

TEST(TimerWheel, NeverFiresEarlyAndAtMostOneTickLate) {
  TimerWheel wheel(kStart);
  TimePoint now = kStart;
  TimePoint fired{};
  Timer timer([&] { fired = now; });
  const TimePoint when = kStart + milliseconds(1005);
  wheel.Arm(timer, when);
  for (int i = 0; i < 2000 && fired == TimePoint{}; ++i) wheel.Advance(now += milliseconds(1));
  EXPECT_GE(fired, when);
  EXPECT_LE(fired, when + TimerWheel::kTick);
  EXPECT_FALSE(timer.armed());
}

TEST(TimerWheel, HoldsTimersBeyondOneLap) {
  TimerWheel wheel(kStart);
  int fired = 0;
  Timer timer([&] { ++fired; });
  wheel.Arm(timer, kStart + seconds(90));
  wheel.Advance(kStart + seconds(89));
  EXPECT_EQ(fired, 0);
  wheel.Advance(kStart + seconds(91));
  EXPECT_EQ(fired, 1);
}

TEST(TimerWheel, CallbackMayRearmItselfAndDestroyOthers) {
  TimerWheel wheel(kStart);
  int fired = 0;
  auto victim = std::make_unique<Timer>([&] { ++fired; });
  std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>([&] {
    victim.reset();
    if (++fired < 3) wheel.Arm(*timer, kStart);  // already past: the next tick
  });
  wheel.Arm(*victim, kStart + milliseconds(10));
  wheel.Arm(*timer, kStart + milliseconds(10));  // linked in front of the victim
  wheel.Advance(kStart + seconds(1));
  EXPECT_EQ(fired, 3);
  EXPECT_EQ(wheel.armed(), 0u);
}

TEST(TimerWheel, NextIsNeverAfterTheEarliestTimersTick) {
  std::mt19937 random(7);
  TimerWheel wheel(kStart);
  TimePoint now = kStart;
  std::vector<std::unique_ptr<Timer>> timers;
  int fired = 0;
  for (int i = 0; i < 500; ++i) {
    timers.push_back(std::make_unique<Timer>([&] { ++fired; }));
    wheel.Arm(*timers.back(), kStart + milliseconds(random() % 100000));
  }
  for (int i = 0; i < 250; ++i) timers.erase(timers.begin() + random() % timers.size());
  int steps = 0;
  while (auto next = wheel.Next()) {
    ASSERT_GT(*next, now);
    for (const auto& timer : timers) {
      if (timer->armed()) {
        ASSERT_LE(*next, timer->when() + TimerWheel::kTick);
      }
    }
    now = *next;
    wheel.Advance(now);
    ASSERT_LT(++steps, 5000);
  }
  EXPECT_EQ(fired, 250);
}

}  // namespace
}  // namespace keelson::net
