#include "base/quote.h"

#include <gtest/gtest.h>

namespace keelson {
namespace {

TEST(Quote, EscapesAsGoDoes) {
  EXPECT_EQ(Quote("plain"), "\"plain\"");
  EXPECT_EQ(Quote("a\"b\\\n\x01\x7f"), R"("a\"b\\\n\x01\x7f")");
  EXPECT_EQ(Quote("\a\b\f\r\t\v"), R"("\a\b\f\r\t\v")");
  EXPECT_EQ(Quote("\u00e9\xff"), "\"\u00e9\\xff\"");
  EXPECT_EQ(Quote("\u00a0\u2028\U000F0000"), R"("\u00a0\u2028\U000f0000")");
}

}  // namespace
}  // namespace keelson
