#include "base/clock.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "base/executor.h"
#include "base/gate.h"

namespace keelson {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Task<void> Sleep(Clock& clock, Duration duration, std::stop_token stop, int& result) {
  result = co_await SleepFor(clock, duration, stop) ? 1 : 2;
}

TEST(FakeClock, RunsTimersInOrderOfTimeThenRegistration) {
  FakeClock clock;
  std::vector<int> ran;
  auto start = clock.Now();
  clock.Schedule(start + seconds(2), [&] { ran.push_back(3); });
  clock.Schedule(start + seconds(1), [&] { ran.push_back(1); });
  clock.Schedule(start + seconds(1), [&] { ran.push_back(2); });
  clock.Advance(seconds(5));
  EXPECT_EQ(ran, (std::vector{1, 2, 3}));
}

TEST(FakeClock, ShowsEachTimerItsOwnTime) {
  FakeClock clock;
  auto start = clock.Now();
  TimePoint seen;
  clock.Schedule(start + seconds(1), [&] { seen = clock.Now(); });
  clock.Advance(seconds(10));
  EXPECT_EQ(seen - start, seconds(1));
  EXPECT_EQ(clock.Now() - start, seconds(10));
}

TEST(FakeClock, RunsTimersThatTimersAdd) {
  FakeClock clock;
  int ran = 0;
  clock.Schedule(clock.Now() + seconds(1),
                 [&] { clock.Schedule(clock.Now() + seconds(1), [&] { ++ran; }); });
  clock.Advance(seconds(2));
  EXPECT_EQ(ran, 1);
}

TEST(FakeClock, CancelledTimersNeverRun) {
  FakeClock clock;
  int ran = 0;
  auto id = clock.Schedule(clock.Now() + seconds(1), [&] { ++ran; });
  EXPECT_EQ(clock.pending(), 1);
  EXPECT_TRUE(clock.Cancel(id));
  EXPECT_FALSE(clock.Cancel(id));
  clock.Advance(seconds(2));
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(clock.pending(), 0);
}

TEST(FakeClock, WallTimeMovesWithIt) {
  FakeClock clock;
  auto before = clock.WallNow();
  clock.Advance(seconds(3));
  EXPECT_EQ(clock.WallNow() - before, seconds(3));
}

TEST(SleepFor, EndsEarlyOnStopAndLeavesNoTimer) {
  FakeClock clock;
  ManualExecutor executor;
  Gate gate;
  std::stop_source stop;
  int result = 0;
  gate.Spawn(&executor, Sleep(clock, seconds(9), stop.get_token(), result));
  executor.RunUntilIdle();
  EXPECT_EQ(result, 0);
  stop.request_stop();
  executor.RunUntilIdle();
  EXPECT_EQ(result, 2);
  EXPECT_EQ(clock.pending(), 0);
  gate.CloseAndWait();
}

TEST(SystemClock, RunsCallbacksNoEarlierThanAsked) {
  SystemClock clock;
  std::promise<TimePoint> ran;
  auto due = clock.Now() + milliseconds(2);
  clock.Schedule(due + seconds(60), [] {});
  clock.Schedule(due, [&] { ran.set_value(clock.Now()); });
  EXPECT_GE(ran.get_future().get(), due);
}

}  // namespace
}  // namespace keelson
