#include "profile/sampler.h"

#include <gtest/gtest.h>

#include <thread>

namespace keelson::profile {
namespace {

TEST(SampleRing, KeepsOrderAndCountsWhatDoesNotFit) {
  SampleRing ring(4);
  for (uint32_t i = 0; i < 6; ++i) ring.Push([i](StackSample& sample) { sample.weight = i; });
  std::vector<uint32_t> seen;
  auto note = [&](const StackSample& sample) { seen.push_back(sample.weight); };
  EXPECT_EQ(ring.Drain(note), 4u);
  EXPECT_EQ(seen, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(ring.dropped(), 2u);
  EXPECT_TRUE(ring.Push([](StackSample& sample) { sample.weight = 9; }));
  EXPECT_EQ(ring.Drain(note), 1u);
  EXPECT_EQ(seen.back(), 9u);
}

TEST(SampleRing, LosesNothingBetweenThreads) {
  SampleRing ring(64);
  constexpr uint32_t kEach = 20'000;
  std::atomic<int> running{3};
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&] {
      for (uint32_t i = 0; i < kEach; ++i) {
        while (!ring.Push([i](StackSample& sample) { sample.weight = i; }))
          std::this_thread::yield();
      }
      --running;
    });
  }
  uint64_t count = 0, sum = 0;
  auto note = [&](const StackSample& sample) { sum += sample.weight; };
  while (running > 0) {
    count += ring.Drain(note);
    std::this_thread::yield();
  }
  count += ring.Drain(note);
  EXPECT_EQ(count, 3u * kEach);
  EXPECT_EQ(sum, 3ull * kEach * (kEach - 1) / 2);
}

TEST(SignalSampler, BelongsToOneAtATime) {
  auto first = SignalSampler::Acquire();
  ASSERT_TRUE(first);
  EXPECT_FALSE(SignalSampler::Acquire());
  first.reset();
  EXPECT_TRUE(SignalSampler::Acquire());
}

TEST(Unwind, SurvivesGarbageFramePointers) {
  uintptr_t out[8];
  uintptr_t here = reinterpret_cast<uintptr_t>(&out);
  EXPECT_EQ(Unwind(0, here, out), 0u);
  EXPECT_EQ(Unwind(here + 3, here, out), 0u);
  EXPECT_EQ(Unwind(~uintptr_t{7}, ~uintptr_t{4095}, out), 0u);  // not mapped
  EXPECT_EQ(Unwind(8, 8, out), 0u);                             // not mapped either
  EXPECT_EQ(Unwind(here + (2 << 20), here, out), 0u);           // too far up
  EXPECT_GT(UnwindHere(out), 0u);
}

}  // namespace
}  // namespace keelson::profile
