#include "kv/types.h"

#include <gtest/gtest.h>

#include "kv/store.h"

namespace keelson::kv {
namespace {

TEST(KeyRange, PrefixCoversExactlyTheKeysThatBeginWithIt) {
  auto range = KeyRange::Prefix("/pods/");
  EXPECT_TRUE(range.Contains("/pods/"));
  EXPECT_TRUE(range.Contains("/pods/\xff\xff"));
  EXPECT_FALSE(range.Contains("/pods"));
  EXPECT_FALSE(range.Contains("/pods0"));
}

TEST(KeyRange, PrefixOfHighBytesReachesToTheNextKeyOrTheEnd) {
  EXPECT_EQ(KeyRange::Prefix("a\xff\xff").end, "b");
  EXPECT_EQ(KeyRange::Prefix("\xff"), (KeyRange{"\xff", ""}));
  EXPECT_TRUE(KeyRange::Prefix("\xff").Contains("\xff\xff"));
  EXPECT_EQ(KeyRange::Prefix(""), KeyRange::All());
}

TEST(KeyRange, KeyCoversOneKey) {
  auto range = KeyRange::Key("a");
  EXPECT_TRUE(range.Contains("a"));
  EXPECT_FALSE(range.Contains(std::string_view("a\0", 2)));
  EXPECT_FALSE(range.Contains("b"));
}

TEST(Compare, AnAbsentKeyHasRevisionZero) {
  KeyValue absent;
  KeyValue present{.create_revision = 3, .mod_revision = 5, .version = 2, .lease = 7};
  EXPECT_TRUE(Compare::Absent("k").Holds(absent));
  EXPECT_FALSE(Compare::Absent("k").Holds(present));
  EXPECT_TRUE(Compare::Exists("k").Holds(present));
  EXPECT_FALSE(Compare::Exists("k").Holds(absent));
  EXPECT_TRUE(Compare::ModRevision("k", 5).Holds(present));
  EXPECT_FALSE(Compare::ModRevision("k", 3).Holds(present));
}

}  // namespace
}  // namespace keelson::kv
