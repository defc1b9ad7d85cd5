#include "value/timestamp.h"

#include <gtest/gtest.h>

#include "value/int_or_string.h"

namespace keelson::value {
namespace {

struct TimeCase {
  std::string_view text;
  std::string_view time;  // the spelling, or the error when it does not look like a time
  std::string_view micro;
};
constexpr TimeCase kTimes[] = {
    {"2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z",
     "parsing time \"2024-01-02T03:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
     "\"Z\" as \".000000\""},
    {"2024-01-02T03:04:05.999Z", "2024-01-02T03:04:05Z",
     "parsing time \"2024-01-02T03:04:05.999Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot "
     "parse \".999Z\" as \".000000\""},
    {"2024-01-02T03:04:05+02:00", "2024-01-02T01:04:05Z",
     "parsing time \"2024-01-02T03:04:05+02:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot "
     "parse \"+02:00\" as \".000000\""},
    {"2024-01-02T03:04:05.123456Z", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05.123456Z"},
    {"2024-01-02t03:04:05z",
     "parsing time \"2024-01-02t03:04:05z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
     "\"t03:04:05z\" as \"T\"",
     "parsing time \"2024-01-02t03:04:05z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
     "\"t03:04:05z\" as \"T\""},
    {"", "parsing time \"\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"2006\"",
     "parsing time \"\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as \"2006\""},
    {"2024-01-02",
     "parsing time \"2024-01-02\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"T\"",
     "parsing time \"2024-01-02\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as "
     "\"T\""},
    {"0001-01-01T00:00:00Z", "zero",
     "parsing time \"0001-01-01T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
     "\"Z\" as \".000000\""},
    {"2024-13-02T03:04:05Z", "parsing time \"2024-13-02T03:04:05Z\": month out of range",
     "parsing time \"2024-13-02T03:04:05Z\": month out of range"},
    {"2023-02-29T03:04:05Z", "parsing time \"2023-02-29T03:04:05Z\": day out of range",
     "parsing time \"2023-02-29T03:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
     "\"Z\" as \".000000\""},
    {"2024-02-29T3:04:05Z", "2024-02-29T03:04:05Z",
     "parsing time \"2024-02-29T3:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
     "\"Z\" as \".000000\""},
    {"2024-02-29T03:04:05Zx", "parsing time \"2024-02-29T03:04:05Zx\": extra text: \"x\"",
     "parsing time \"2024-02-29T03:04:05Zx\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
     "\"Zx\" as \".000000\""},
};

std::string Spell(const Result<Timestamp>& time, bool micro) {
  if (!time) return time.error().message;
  if (time->IsZero()) return "zero";
  return micro ? FormatMicroTime(*time) : FormatTime(*time);
}

TEST(Timestamp, ParsesAndSpellsAsUpstream) {
  for (const TimeCase& c : kTimes) {
    EXPECT_EQ(Spell(ParseTime(c.text), false), c.time);
    EXPECT_EQ(Spell(ParseMicroTime(c.text), true), c.micro);
  }
}

TEST(Timestamp, SpellsYearsOfAnyLength) {
  EXPECT_EQ(FormatTime({-62167219200, 0}), "0000-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime({-62167219201, 0}), "-001-12-31T23:59:59Z");
  EXPECT_EQ(FormatTime({253402300799, 0}), "9999-12-31T23:59:59Z");
  EXPECT_EQ(FormatMicroTime({253402300800, 7000}), "10000-01-01T00:00:00.000007Z");
}

TEST(Timestamp, CanonicalTextsAreRecognised) {
  EXPECT_TRUE(IsCanonicalTime("2024-02-29T23:59:59Z"));
  EXPECT_FALSE(IsCanonicalTime("2023-02-29T23:59:59Z"));
  EXPECT_FALSE(IsCanonicalTime("2024-02-29T24:00:00Z"));
  EXPECT_FALSE(IsCanonicalTime("0001-01-01T00:00:00Z"));
  EXPECT_FALSE(IsCanonicalTime("2024-02-29T23:59:59+00:00"));
}

TEST(Timestamp, EveryDayOfFourCenturiesRoundTrips) {
  for (int64_t day = -200000; day < 200000; day += 37) {
    Timestamp time{day * 86400 + 86399, 0};
    EXPECT_EQ(ParseTime(FormatTime(time)).value(), time);
  }
}

struct DurationCase {
  std::string_view text;
  int64_t nanos;
  std::string_view out;  // or the error
};
constexpr DurationCase kDurations[] = {
    {"1s", 1000000000, "1s"},
    {"1m30s", 90000000000, "1m30s"},
    {"90s", 90000000000, "1m30s"},
    {"1h", 3600000000000, "1h0m0s"},
    {"0", 0, "0s"},
    {"0s", 0, "0s"},
    {"1.5s", 1500000000, "1.5s"},
    {"100ms", 100000000, "100ms"},
    {"-1s", -1000000000, "-1s"},
    {"abc", 0, "time: invalid duration \"abc\""},
    {"", 0, "time: invalid duration \"\""},
    {"1d", 0, "time: unknown unit \"d\" in duration \"1d\""},
    {"1", 0, "time: missing unit in duration \"1\""},
    {"9223372036854775807ns", INT64_MAX, "2562047h47m16.854775807s"},
    {"9223372036854775808ns", 0, "time: invalid duration \"9223372036854775808ns\""},
    {"-9223372036854775808ns", INT64_MIN, "-2562047h47m16.854775808s"},
    {"1500us", 1500000, "1.5ms"},
    {"1us", 1000, "1\xc2\xb5s"},
    {".5m", 30000000000, "30s"},
};

TEST(Duration, ParsesAndSpellsAsUpstream) {
  for (const DurationCase& c : kDurations) {
    auto nanos = ParseDuration(c.text);
    if (!nanos) {
      EXPECT_EQ(nanos.error().message, c.out);
      continue;
    }
    EXPECT_EQ(*nanos, c.nanos) << c.text;
    EXPECT_EQ(FormatDuration(*nanos), c.out) << c.text;
  }
}

TEST(IntOrString, ScalesPercentages) {
  EXPECT_EQ(ScaledIntOrPercent(Value::Int(5), 10, true).value(), 5);
  EXPECT_EQ(ScaledIntOrPercent(Value::Int(5), 10, false).value(), 5);
  EXPECT_EQ(ScaledIntOrPercent(Value::String("5"), 10, true).error().message,
            "invalid value for IntOrString: invalid type: string is not a percentage");
  EXPECT_EQ(ScaledIntOrPercent(Value::String("50%"), 10, true).value(), 5);
  EXPECT_EQ(ScaledIntOrPercent(Value::String("50%"), 10, false).value(), 5);
  EXPECT_EQ(ScaledIntOrPercent(Value::String("abc"), 10, true).error().message,
            "invalid value for IntOrString: invalid type: string is not a percentage");
  EXPECT_EQ(ScaledIntOrPercent(Value::Int(-1), 10, true).value(), -1);
  EXPECT_EQ(ScaledIntOrPercent(Value::Int(-1), 10, false).value(), -1);
  EXPECT_EQ(ScaledIntOrPercent(Value(), 10, true).value(), 0);
  EXPECT_EQ(ScaledIntOrPercent(Value(), 10, false).value(), 0);
  EXPECT_EQ(ScaledIntOrPercent(Value::String(""), 10, true).error().message,
            "invalid value for IntOrString: invalid type: string is not a percentage");
  EXPECT_EQ(ScaledIntOrPercent(Value::String("25%"), 10, true).value(), 3);
  EXPECT_EQ(ScaledIntOrPercent(Value::String("25%"), 10, false).value(), 2);
}

}  // namespace
}  // namespace keelson::value
