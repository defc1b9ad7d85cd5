#include "profile/encode.h"

#include <gtest/gtest.h>

#include "profile/testing/pprof_reader.h"

namespace keelson::profile {
namespace {

TEST(Encoder, WritesWhatAReaderExpects) {
  auto space = AddressSpace::Parse("1000-2000 r-xp 00000000 00:00 0 [vdso]\n");
  Encoder encoder({{"samples", "count"}, {"cpu", "nanoseconds"}});
  const uintptr_t stack[] = {0x1000, 0x9001};
  const int64_t values[] = {3, 30'000'000};
  encoder.AddSample(stack, true, values, 48);
  encoder.SetPeriod({"cpu", "nanoseconds"}, 10'000'000);
  encoder.SetTimes(1'767'225'600'000'000'000, 5);
  encoder.SetDefaultSampleType("cpu");
  auto profile = ReadPprof(encoder.Finish(space));
  EXPECT_EQ(profile.sample_types, (std::vector<std::string>{"samples/count", "cpu/nanoseconds"}));
  ASSERT_EQ(profile.samples.size(), 1u);
  // The leaf stands where it is, the caller one before its return address.
  EXPECT_EQ(profile.samples[0].stack, (std::vector<std::string>{"[vdso]", "0x9000"}));
  EXPECT_EQ(profile.samples[0].values, (std::vector<int64_t>{3, 30'000'000}));
  EXPECT_EQ(profile.samples[0].bytes_label, 48);
  EXPECT_EQ(profile.period_type, "cpu/nanoseconds");
  EXPECT_EQ(profile.period, 10'000'000);
  EXPECT_EQ(profile.time_nanos, 1'767'225'600'000'000'000);
  EXPECT_EQ(profile.duration_nanos, 5);
  EXPECT_EQ(profile.default_sample_type, "cpu");
}

TEST(Encoder, MovesALeafThatIsAReturnAddress) {
  Encoder encoder({{"alloc_space", "bytes"}});
  const uintptr_t stack[] = {0x1001};
  const int64_t values[] = {1};
  encoder.AddSample(stack, false, values);
  EXPECT_EQ(ReadPprof(encoder.Finish(AddressSpace::Parse(""))).samples[0].stack[0], "0x1000");
}

}  // namespace
}  // namespace keelson::profile
