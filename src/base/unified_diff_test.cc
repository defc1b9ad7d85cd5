#include "base/unified_diff.h"

#include <gtest/gtest.h>

namespace keelson {
namespace {

std::string Numbers(int from, int to, std::string_view end = "") {
  std::string text;
  for (int i = from; i <= to; ++i) text += std::to_string(i) + "\n";
  return text + std::string(end);
}

TEST(UnifiedDiff, SaysNothingAboutEqualTexts) { EXPECT_EQ(UnifiedDiff("a\nb", "a\nb"), ""); }

TEST(UnifiedDiff, ShowsAChangeWithItsContext) {
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nfive\n6\n7\n8\n9"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, KeepsNearChangesTogetherAndFarOnesApart) {
  EXPECT_EQ(UnifiedDiff("a\n" + Numbers(1, 3) + "b\nc", "A\n" + Numbers(1, 3) + "B\nc"),
            "@@ -1,6 +1,6 @@\n-a\n+A\n 1\n 2\n 3\n-b\n+B\n c\n");
  EXPECT_EQ(UnifiedDiff("a\n" + Numbers(1, 8) + "b\nc", "A\n" + Numbers(1, 8) + "B\nc"),
            "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -7,5 +7,5 @@\n 6\n 7\n 8\n-b\n+B\n c\n");
}

TEST(UnifiedDiff, CountsRangesAsDiffDoes) {
  EXPECT_EQ(UnifiedDiff("a", "b"), "@@ -1 +1 @@\n-a\n+b\n");
  EXPECT_EQ(UnifiedDiff("a\nb", "a\nx\nb"), "@@ -1,2 +1,3 @@\n a\n+x\n b\n");
}

TEST(UnifiedDiff, PrefersTheLongestRun) {
  EXPECT_EQ(UnifiedDiff("x\na\nb\nc", "a\ny\na\nb\nc"),
            "@@ -1,4 +1,5 @@\n-x\n+a\n+y\n a\n b\n c\n");
}

TEST(UnifiedDiff, LeavesCommonLinesOfLongTextsOutOfTheSearch) {
  std::string before;
  for (int i = 0; i < 250; ++i) before += i % 2 == 0 ? "same\n" : std::to_string(i) + "\n";
  const std::string after = before + "same\nlast";
  EXPECT_EQ(UnifiedDiff(before + "end", after),
            "@@ -248,4 +248,5 @@\n 247\n same\n 249\n-end\n+same\n+last\n");
}

}  // namespace
}  // namespace keelson
