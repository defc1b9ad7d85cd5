#include "profile/heap.h"

#include <gtest/gtest.h>

namespace keelson::profile {
namespace {

TEST(HeapScale, StandsForWhatWasNotSampled) {
  EXPECT_EQ(Scale(0, 0).objects, 0);
  // Small blocks: one sample in 512 KiB stands for 512 KiB.
  auto small = Scale(10, 10 * 64);
  EXPECT_NEAR(static_cast<double>(small.bytes), 10.0 * kSamplePeriod, 10.0 * 64);
  EXPECT_NEAR(static_cast<double>(small.objects), 10.0 * kSamplePeriod / 64, 10.0);
  // Huge blocks are always sampled and stand for themselves.
  EXPECT_EQ(Scale(3, 3 * (int64_t{64} << 20)).objects, 3);
}

}  // namespace
}  // namespace keelson::profile
