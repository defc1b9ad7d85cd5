#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/gate.h"
#include "profile/profile.h"
#include "profile/testing/pprof_reader.h"

namespace keelson::profile {

__attribute__((noinline)) uint64_t BurnInner(uint64_t x) {
  for (int i = 0; i < 1000; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  asm volatile("" : "+r"(x));
  return x;
}
__attribute__((noinline)) void BurnOuter(const std::atomic<bool>& done) {
  uint64_t x = 1;
  while (!done) {
    x = BurnInner(x);
    asm volatile("" : "+r"(x));
  }
}

namespace {

using std::chrono::milliseconds;

TEST(CpuProfile, ShowsWhoSpentTheTime) {
  std::atomic<bool> done{false};
  std::jthread burner([&] { BurnOuter(done); });
  auto bytes = Await(CpuProfile(milliseconds(500)));
  done = true;
  ASSERT_TRUE(bytes) << bytes.error().message;
  auto profile = ReadPprof(*bytes);
  EXPECT_EQ(profile.sample_types, (std::vector<std::string>{"samples/count", "cpu/nanoseconds"}));
  EXPECT_EQ(profile.period_type, "cpu/nanoseconds");
  EXPECT_EQ(profile.period, 10'000'000);
  EXPECT_GE(profile.duration_nanos, 500'000'000);
  ASSERT_GT(profile.Total(0), 0);
  EXPECT_EQ(profile.Total(1), profile.Total(0) * 10'000'000);
  // On a busy machine the thread gets less than a whole CPU; of what it got, nearly all is there.
  EXPECT_GT(profile.Total(0, "profile::BurnInner"), profile.Total(0) / 2);
  EXPECT_GT(profile.Total(0, "profile::BurnOuter"), profile.Total(0) / 2);
  ASSERT_FALSE(profile.mappings.empty());
  EXPECT_TRUE(profile.mappings[0].file.ends_with("profile_test"));
}

TEST(CpuProfile, CatchesThreadsThatStartLater) {
  std::atomic<bool> done{false};
  std::jthread late;
  std::jthread starter([&] {
    std::this_thread::sleep_for(milliseconds(50));  // into the running profile, not a rendezvous
    late = std::jthread([&] { BurnOuter(done); });
  });
  auto bytes = Await(CpuProfile(milliseconds(800)));
  done = true;
  EXPECT_GT(ReadPprof(*bytes).Total(0, "profile::BurnOuter"), 0);
}

TEST(CpuProfile, StopsEarlyWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  auto start = std::chrono::steady_clock::now();
  auto bytes = Await(CpuProfile(std::chrono::hours(1), stop.get_token()));
  EXPECT_TRUE(bytes);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

Task<void> Hold(std::stop_token stop, Result<std::string>& out) {
  out = co_await CpuProfile(std::chrono::hours(1), stop);
}

TEST(CpuProfile, RunsOneAtATime) {
  std::stop_source stop;
  Gate gate;
  Result<std::string> first = Fail(ErrorCode::kInternal, "not run");
  gate.Spawn(nullptr, Hold(stop.get_token(), first));
  auto second = Await(CpuProfile(milliseconds(1)));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), (Error{ErrorCode::kConflict, "cpu profiling already in use"}));
  stop.request_stop();
  gate.CloseAndWait();
  EXPECT_TRUE(first);
  EXPECT_TRUE(Await(CpuProfile(milliseconds(1))));
}

}  // namespace
}  // namespace keelson::profile
