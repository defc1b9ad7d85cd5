#include "kv/history_window.h"

#include <gtest/gtest.h>

namespace keelson::kv {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(HistoryWindow, WithoutLimitsKeepsEverything) {
  FakeClock clock;
  HistoryWindow window(Duration::zero(), 0);
  for (Revision revision = 2; revision < 1000; ++revision) {
    window.Add(revision, 1 << 20, clock.Now());
    clock.Advance(minutes(1));
  }
  EXPECT_EQ(window.TakeExcess(clock.Now()), std::nullopt);
}

TEST(HistoryWindow, WhatIsOlderThanItsAgeGoes) {
  FakeClock clock;
  HistoryWindow window(minutes(5), 0);
  window.Add(2, 10, clock.Now());
  clock.Advance(minutes(1));
  window.Add(3, 10, clock.Now());
  clock.Advance(minutes(4) - seconds(1));
  EXPECT_EQ(window.TakeExcess(clock.Now()), std::nullopt);
  clock.Advance(seconds(1));
  EXPECT_EQ(window.TakeExcess(clock.Now()), 2);
  clock.Advance(minutes(1));
  EXPECT_EQ(window.TakeExcess(clock.Now()), 3);
  EXPECT_TRUE(window.empty());
}

TEST(HistoryWindow, KeepsNearlyAsManyBytesAsItMay) {
  FakeClock clock;
  HistoryWindow window(Duration::zero(), 32000);
  Revision gone = 0;
  for (Revision revision = 2; revision < 2000; ++revision) {
    window.Add(revision, 100, clock.Now());
    gone = window.TakeExcess(clock.Now()).value_or(gone);
    EXPECT_LE(window.bytes(), 32000u);
  }
  EXPECT_GT(window.bytes(), 30000u);
  EXPECT_NEAR(static_cast<double>(1999 - gone) * 100, 31000, 1000);
}

}  // namespace
}  // namespace keelson::kv
