#include "base/ids.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <vector>

namespace keelson {
namespace {

TEST(Ids, UuidIsVersion4) {
  EXPECT_TRUE(std::regex_match(
      NewUuid(),
      std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")));
}

TEST(Ids, UuidsDoNotRepeatAcrossRefills) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(NewUuid()).second);
}

TEST(Ids, NameSuffixUsesUpstreamsAlphabetOnly) {
  auto suffix = RandomNameSuffix(500);
  EXPECT_EQ(suffix.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
}

TEST(Ids, RandomBelowReachesEveryValueAndNoOther) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(RandomBelow(5));
  EXPECT_EQ(seen, (std::set<uint64_t>{0, 1, 2, 3, 4}));
}

TEST(Ids, LargeRequestsBypassTheBuffer) {
  std::vector<unsigned char> bytes(5000);
  RandomBytes(bytes);
  EXPECT_GT(std::set(bytes.begin(), bytes.end()).size(), 200u);
}

}  // namespace
}  // namespace keelson
