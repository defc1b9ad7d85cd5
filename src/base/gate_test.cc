#include "base/gate.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/clock.h"

namespace keelson {
namespace {

using std::chrono::seconds;

Task<void> Nap(Clock& clock, Duration duration, int& naps) {
  if (co_await SleepFor(clock, duration)) ++naps;
}

Task<void> CloseThenMark(Gate& gate, bool& closed) {
  co_await gate.Close();
  closed = true;
}

Task<void> Throw() {
  throw std::runtime_error("broken");
  co_return;
}

TEST(Gate, CloseWaitsForEveryTask) {
  FakeClock clock;
  ManualExecutor executor;
  Gate gate;
  Gate outer;
  int naps = 0;
  bool closed = false;
  gate.Spawn(&executor, Nap(clock, seconds(1), naps));
  gate.Spawn(&executor, Nap(clock, seconds(2), naps));
  executor.RunUntilIdle();
  outer.Spawn(&executor, CloseThenMark(gate, closed));
  auto settle = [&] { executor.RunUntilIdle(); };
  clock.Advance(seconds(1), settle);
  EXPECT_EQ(naps, 1);
  EXPECT_FALSE(closed);
  EXPECT_EQ(gate.active(), 1);
  clock.Advance(seconds(1), settle);
  EXPECT_EQ(naps, 2);
  EXPECT_TRUE(closed);
  outer.CloseAndWait();
}

TEST(Gate, RefusesWorkOnceClosed) {
  FakeClock clock;
  Gate gate;
  int naps = 0;
  gate.CloseAndWait();
  EXPECT_TRUE(gate.closed());
  EXPECT_FALSE(gate.Spawn(nullptr, Nap(clock, seconds(0), naps)));
  EXPECT_EQ(clock.pending(), 0);
}

TEST(Gate, CloseAndWaitBlocksUntilAnotherThreadFinishes) {
  SystemClock clock;
  Gate gate;
  int naps = 0;
  ThreadExecutor executor("gate-test");
  gate.Spawn(&executor, Nap(clock, std::chrono::milliseconds(5), naps));
  gate.CloseAndWait();
  EXPECT_EQ(naps, 1);
}

TEST(GateDeathTest, EscapedExceptionAbortsWithItsText) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Gate gate;
        gate.Spawn(nullptr, Throw());
      },
      "background task ended by exception: broken");
}

}  // namespace
}  // namespace keelson
