#include "http/query.h"

#include <gtest/gtest.h>

namespace keelson::http {
namespace {

TEST(Query, KeepsOrderAndRepeats) {
  Query query("a=1&b=2&a=3");
  EXPECT_EQ(query.Get("a"), "1");
  EXPECT_EQ(query.GetAll("a"), (std::vector<std::string_view>{"1", "3"}));
  EXPECT_FALSE(query.Has("c"));
}

TEST(Query, AbsentAndEmptyDiffer) {
  Query query("watch&x=");
  EXPECT_EQ(query.Get("watch"), "");
  EXPECT_EQ(query.Get("x"), "");
  EXPECT_EQ(query.Get("y"), std::nullopt);
}

TEST(Query, DecodesEscapesAndPlus) {
  Query query("labelSelector=a+in+(b%2Cc)&n%61me=%E2%82%AC&e=a=b");
  EXPECT_EQ(query.Get("labelSelector"), "a in (b,c)");
  EXPECT_EQ(query.Get("name"), "\u20ac");
  EXPECT_EQ(query.Get("e"), "a=b");
}

TEST(Query, DropsBrokenPairsOnly) {
  Query query("a=%zz&b=1&c;d=2&e=%4&&=x&f=%");
  EXPECT_EQ(query.parameters().size(), 2u);
  EXPECT_EQ(query.Get("b"), "1");
  EXPECT_EQ(query.Get(""), "x");
}

TEST(Query, BorrowsWhatNeedsNoDecoding) {
  std::string_view raw = "limit=500";
  EXPECT_EQ(Query(raw).Get("limit")->data(), raw.data() + 6);
}

TEST(DecodePath, LeavesPlusAndRefusesBrokenEscapes) {
  EXPECT_EQ(DecodePath("/a%2Fb+c"), "/a/b+c");
  EXPECT_EQ(DecodePath("/a%2"), std::nullopt);
}

}  // namespace
}  // namespace keelson::http
