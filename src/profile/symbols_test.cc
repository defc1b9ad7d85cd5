#include "profile/symbols.h"

#include <gtest/gtest.h>

namespace keelson::profile {

__attribute__((noinline)) int AFunctionToBeFound(int n) {
  asm volatile("" : "+r"(n));
  return n + 1;
}

namespace {

TEST(AddressSpace, NamesFunctionsOfTheProgram) {
  auto space = AddressSpace::Read();
  ASSERT_TRUE(space);
  auto own = space->FunctionAt(reinterpret_cast<uint64_t>(&AFunctionToBeFound) + 1);
  EXPECT_EQ(own.readable, "keelson::profile::AFunctionToBeFound");
  EXPECT_EQ(own.mangled, "_ZN7keelson7profile18AFunctionToBeFoundEi");
}

TEST(AddressSpace, KnowsWhichFileAnAddressCameFrom) {
  auto space = AddressSpace::Read();
  auto mapping = space->MappingOf(reinterpret_cast<uint64_t>(&AFunctionToBeFound));
  ASSERT_TRUE(mapping);
  EXPECT_TRUE(space->mappings()[*mapping].file.ends_with("profile_test"));
  EXPECT_EQ(space->mappings()[*mapping].build_id.size() % 2, 0u);
}

TEST(AddressSpace, ReadsTheMapsFormat) {
  auto space = AddressSpace::Parse(
      "55e0-55f0 r--p 00000000 fd:00 12 /no/such/program\n"
      "55f0-5600 r-xp 00001000 fd:00 12                  /no/such/with space (deleted)\n"
      "7000-7100 r-xp 00000000 00:00 0 \n"
      "ff00-ffff r-xp 00000000 00:00 0                   [vdso]\n"
      "garbage\n");
  ASSERT_EQ(space.mappings().size(), 3u);
  EXPECT_EQ(space.mappings()[0].start, 0x55f0u);
  EXPECT_EQ(space.mappings()[0].limit, 0x5600u);
  EXPECT_EQ(space.mappings()[0].offset, 0x1000u);
  EXPECT_EQ(space.mappings()[0].file, "/no/such/with space (deleted)");
  EXPECT_EQ(space.MappingOf(0x55ff), 0u);
  EXPECT_FALSE(space.MappingOf(0x5600));
  EXPECT_FALSE(space.MappingOf(0));
  EXPECT_EQ(space.FunctionAt(0x7001).readable, "0x7001");
  EXPECT_EQ(space.FunctionAt(0xff01).readable, "[vdso]");
}

TEST(StripParameters, KeepsTheName) {
  EXPECT_EQ(StripParameters("a::b(int, char)"), "a::b");
  EXPECT_EQ(StripParameters("a::b() const"), "a::b");
  EXPECT_EQ(StripParameters("a::F::operator()(int) const"), "a::F::operator()");
  EXPECT_EQ(StripParameters("(anonymous namespace)::f(void (*)(int))"), "(anonymous namespace)::f");
  EXPECT_EQ(StripParameters("main"), "main");
  EXPECT_EQ(StripParameters("std::function<void ()>::swap(std::function<void ()>&)"),
            "std::function<void ()>::swap");
}

}  // namespace
}  // namespace keelson::profile
