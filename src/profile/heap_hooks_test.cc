#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>

#include "profile/heap.h"
#include "profile/profile.h"
#include "profile/testing/pprof_reader.h"

namespace keelson::profile {

constexpr size_t kBlock = 1024;

// Some 256 samples are expected of 128 MiB, with a deviation of 6 %; the bounds below are wide
// enough for one failure in a million runs.
constexpr int64_t kTotal = 128 << 20;
constexpr double kSlack = kTotal * 0.32;

__attribute__((noinline)) std::unique_ptr<char[]> KeepABlock() {
  return std::unique_ptr<char[]>(new char[kBlock]);
}
__attribute__((noinline)) void DropABlock() {
  auto* block = new char[kBlock];
  asm volatile("" : "+r"(block));
  delete[] block;
}

namespace {

ReadProfile Heap(HeapView view = HeapView::kInUse) { return ReadPprof(*Await(HeapProfile(view))); }

TEST(HeapHooks, AreLinked) { ASSERT_TRUE(HeapSamplingLinked()); }

TEST(HeapHooks, EstimateWhatIsInUseAndWhatWasAllocated) {
  std::vector<std::unique_ptr<char[]>> kept;
  kept.reserve(kTotal / kBlock);
  for (int64_t i = 0; i < kTotal; i += kBlock) kept.push_back(KeepABlock());
  auto profile = Heap();
  EXPECT_EQ(profile.sample_types,
            (std::vector<std::string>{"alloc_objects/count", "alloc_space/bytes",
                                      "inuse_objects/count", "inuse_space/bytes"}));
  EXPECT_EQ(profile.period_type, "space/bytes");
  EXPECT_EQ(profile.period, kSamplePeriod);
  EXPECT_EQ(profile.default_sample_type, "inuse_space");
  EXPECT_NEAR(static_cast<double>(profile.Total(3, "KeepABlock")), kTotal, kSlack);
  EXPECT_NEAR(static_cast<double>(profile.Total(2, "KeepABlock")), kTotal / kBlock,
              kSlack / kBlock);
  // The stack begins at the code that asked, not inside the allocator.
  for (const auto& sample : profile.samples) {
    ASSERT_FALSE(sample.stack.empty());
    EXPECT_EQ(sample.stack[0].find("operator new"), std::string::npos);
    EXPECT_EQ(sample.stack[0].find("NewSlow"), std::string::npos);
  }
  kept.clear();
  auto after = Heap(HeapView::kAllocated);
  EXPECT_EQ(after.default_sample_type, "alloc_space");
  EXPECT_EQ(after.Total(3, "KeepABlock"), 0);
  EXPECT_NEAR(static_cast<double>(after.Total(1, "KeepABlock")), kTotal, kSlack);
}

TEST(HeapHooks, ForgetBlocksFreedByOtherThreads) {
  std::vector<std::unique_ptr<char[]>> kept;
  std::jthread([&] {
    for (int i = 0; i < 20'000; ++i) kept.push_back(KeepABlock());
  }).join();
  std::jthread([&] { kept.clear(); }).join();
  for (int i = 0; i < 20'000; ++i) DropABlock();
  EXPECT_EQ(Heap().Total(3, "KeepABlock"), 0);
  EXPECT_EQ(Heap().Total(3, "DropABlock"), 0);
}

TEST(HeapHooks, SampleLargeBlocksAlways) {
  auto large = std::make_unique<char[]>(64 << 20);
  char* seen = large.get();
  asm volatile("" : "+r"(seen));  // or the compiler does without the block
  EXPECT_GE(Heap().Total(3, "SampleLargeBlocksAlways"), 64 << 20);
}

struct alignas(256) Wide {
  char bytes[256];
};

TEST(HeapHooks, HonourAlignmentAndZeroSizes) {
  for (int i = 0; i < 10'000; ++i) {
    auto wide = std::make_unique<Wide>();
    ASSERT_EQ(reinterpret_cast<uintptr_t>(wide.get()) % alignof(Wide), 0u);
  }
  void* empty = ::operator new(0);
  EXPECT_NE(empty, nullptr);
  ::operator delete(empty);
}

TEST(HeapHooks, ReportExhaustionAsTheStandardAsks) {
  volatile size_t huge = size_t{1} << 60;
  EXPECT_THROW(::operator delete(::operator new(huge)), std::bad_alloc);
  EXPECT_EQ(::operator new(huge, std::nothrow), nullptr);
  EXPECT_THROW(::operator delete(::operator new(huge, std::align_val_t(64)), std::align_val_t(64)),
               std::bad_alloc);
}

}  // namespace
}  // namespace keelson::profile
