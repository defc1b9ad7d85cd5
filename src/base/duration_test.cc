#include "base/duration.h"

#include <gtest/gtest.h>

namespace keelson {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Duration, ParsesWhatGoParses) {
  EXPECT_EQ(ParseDuration("0"), Duration::zero());
  EXPECT_EQ(ParseDuration("+5s"), seconds(5));
  EXPECT_EQ(ParseDuration("-5.6s"), milliseconds(-5600));
  EXPECT_EQ(ParseDuration("1h15m30.918s"),
            Duration(hours(1) + minutes(15) + seconds(30) + milliseconds(918)));
  EXPECT_EQ(ParseDuration("12\u00b5s"), microseconds(12));
  EXPECT_EQ(ParseDuration(".5s"), milliseconds(500));
  EXPECT_EQ(ParseDuration("1.s"), seconds(1));
  EXPECT_EQ(ParseDuration("-9223372036854775808ns"), Duration::min());
}

TEST(Duration, RefusesInGosWords) {
  auto error = [](std::string_view text) { return ParseDuration(text).error().message; };
  EXPECT_EQ(error("x"), R"(time: invalid duration "x")");
  EXPECT_EQ(error(""), R"(time: invalid duration "")");
  EXPECT_EQ(error("5"), R"(time: missing unit in duration "5")");
  EXPECT_EQ(error("5d"), R"(time: unknown unit "d" in duration "5d")");
  EXPECT_EQ(error("-"), R"(time: invalid duration "-")");
  EXPECT_EQ(error(".s"), R"(time: invalid duration ".s")");
  EXPECT_EQ(error("9223372036854775808ns"), R"(time: invalid duration "9223372036854775808ns")");
  EXPECT_EQ(error("3000000h"), R"(time: invalid duration "3000000h")");
  EXPECT_EQ(error("1\n"), "time: unknown unit \"\\x0a\" in duration \"1\\x0a\"");
}

TEST(Duration, PrintsAsGoPrints) {
  EXPECT_EQ(FormatDuration(Duration::zero()), "0s");
  EXPECT_EQ(FormatDuration(minutes(1)), "1m0s");
  EXPECT_EQ(FormatDuration(hours(1)), "1h0m0s");
  EXPECT_EQ(FormatDuration(milliseconds(1500)), "1.5s");
  EXPECT_EQ(FormatDuration(microseconds(1100)), "1.1ms");
  EXPECT_EQ(FormatDuration(Duration(2200)), "2.2\u00b5s");
  EXPECT_EQ(FormatDuration(Duration(1)), "1ns");
  EXPECT_EQ(FormatDuration(-seconds(61)), "-1m1s");
  EXPECT_EQ(FormatDuration(Duration::min()), "-2562047h47m16.854775808s");
}

}  // namespace
}  // namespace keelson
