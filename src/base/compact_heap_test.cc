#include "base/compact_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/bytes.h"

namespace keelson {
namespace {

Slice Filled(size_t size, char with) {
  return Slice::Make(size, [&](char* out) { std::memset(out, with, size); });
}
bool IsFilled(const Slice& slice, char with) {
  return slice.view().find_first_not_of(with) == std::string_view::npos;
}

TEST(CompactHeap, WastesLittleOfAnySizeItTakes) {
  for (size_t size = 512; size <= size_t{16} << 10; size += 7) {
    EXPECT_GE(CompactHeap::Footprint(size), size);
    EXPECT_LE(CompactHeap::Footprint(size), size + 32 + size * size / (240 << 10)) << size;
  }
}

TEST(CompactHeap, LeavesSmallAndLargeBlocksToTheAllocator) {
  EXPECT_EQ(CompactHeap::Allocate(100), nullptr);
  EXPECT_EQ(CompactHeap::Allocate(20000), nullptr);
}

TEST(CompactHeap, SlicesMadeMeanwhileLiveInIt) {
  std::vector<Slice> slices;
  {
    MakeSlicesCompact compact;
    for (int i = 0; i < 3; ++i) slices.push_back(Filled(1000, static_cast<char>('a' + i)));
    MakeSlicesCompact not_here(false);
    EXPECT_FALSE(MakeSlicesCompact::Wanted());
  }
  EXPECT_FALSE(MakeSlicesCompact::Wanted());
#if !__has_feature(address_sanitizer)
  EXPECT_LT(std::abs(slices[1].data() - slices[0].data()), 1100);
#endif
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(IsFilled(slices[i], static_cast<char>('a' + i)));
}

// Sizes of all kinds come and go, on two threads at once; nobody writes into another's block.
TEST(CompactHeap, KeepsBlocksApartWhileTheyComeAndGo) {
  auto churn = [](unsigned seed) {
    MakeSlicesCompact compact;
    std::mt19937 random(seed);
    std::vector<std::pair<Slice, char>> kept(500);
    for (int i = 0; i < 50000; ++i) {
      auto& [slice, with] = kept[random() % kept.size()];
      ASSERT_TRUE(IsFilled(slice, with)) << "seed " << seed;
      with = static_cast<char>('a' + random() % 26);
      slice = Filled(random() % 5000, with);
    }
  };
  std::thread other(churn, 1);
  churn(2);
  other.join();
}

TEST(CompactHeap, BlocksMayBeFreedOnAnotherThread) {
  std::vector<Slice> slices;
  {
    MakeSlicesCompact compact;
    for (int i = 0; i < 2000; ++i) slices.push_back(Filled(600, 'x'));
  }
  std::thread([&] { slices.clear(); }).join();
  MakeSlicesCompact compact;
  EXPECT_TRUE(IsFilled(Filled(600, 'y'), 'y'));
}

}  // namespace
}  // namespace keelson
