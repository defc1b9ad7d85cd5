// Parsing and spelling of quantities, case by case as the real server answers.

#include "value/quantity.h"

#include <gtest/gtest.h>

namespace keelson::value {
namespace {

using Format = Quantity::Format;

struct Case {
  std::string_view text;
  std::string_view out;
  Format format;
  int64_t value;
  int64_t milli;
};
constexpr Case kCases[] = {
    {"0", "0", Format::kDecimalSI, 0, 0},
    {"1", "1", Format::kDecimalSI, 1, 1000},
    {"100", "100", Format::kDecimalSI, 100, 100000},
    {"1000", "1k", Format::kDecimalSI, 1000, 1000000},
    {"1024", "1024", Format::kDecimalSI, 1024, 1024000},
    {"1500", "1500", Format::kDecimalSI, 1500, 1500000},
    {"1000000", "1M", Format::kDecimalSI, 1000000, 1000000000},
    {"0.5", "500m", Format::kDecimalSI, 1, 500},
    {".5", "500m", Format::kDecimalSI, 1, 500},
    {"5.", "5.", Format::kDecimalSI, 5, 5000},
    {"0.001", "1m", Format::kDecimalSI, 1, 1},
    {"0.0001", "100u", Format::kDecimalSI, 1, 1},
    {"1m", "1m", Format::kDecimalSI, 1, 1},
    {"100m", "100m", Format::kDecimalSI, 1, 100},
    {"1000m", "1", Format::kDecimalSI, 1, 1000},
    {"1500m", "1500m", Format::kDecimalSI, 2, 1500},
    {"0.1m", "100u", Format::kDecimalSI, 1, 1},
    {"1n", "1n", Format::kDecimalSI, 1, 1},
    {"1u", "1u", Format::kDecimalSI, 1, 1},
    {"1000u", "1m", Format::kDecimalSI, 1, 1},
    {"1000000n", "1m", Format::kDecimalSI, 1, 1},
    {"1k", "1k", Format::kDecimalSI, 1000, 1000000},
    {"1M", "1M", Format::kDecimalSI, 1000000, 1000000000},
    {"1G", "1G", Format::kDecimalSI, 1000000000, 1000000000000},
    {"1T", "1T", Format::kDecimalSI, 1000000000000, 1000000000000000},
    {"1P", "1P", Format::kDecimalSI, 1000000000000000, 1000000000000000000},
    {"1E", "1E", Format::kDecimalSI, 1000000000000000000, 0},
    {"1.5k", "1500", Format::kDecimalSI, 1500, 1500000},
    {"1500k", "1500k", Format::kDecimalSI, 1500000, 1500000000},
    {"1Ki", "1Ki", Format::kBinarySI, 1024, 1024000},
    {"1Mi", "1Mi", Format::kBinarySI, 1048576, 1048576000},
    {"1Gi", "1Gi", Format::kBinarySI, 1073741824, 1073741824000},
    {"1Ti", "1Ti", Format::kBinarySI, 1099511627776, 1099511627776000},
    {"1Pi", "1Pi", Format::kBinarySI, 1125899906842624, 1125899906842624000},
    {"1Ei", "1Ei", Format::kBinarySI, 1152921504606846976, INT64_MIN},
    {"1024Ki", "1Mi", Format::kBinarySI, 1048576, 1048576000},
    {"1024Mi", "1Gi", Format::kBinarySI, 1073741824, 1073741824000},
    {"1.5Gi", "1536Mi", Format::kBinarySI, 1610612736, 1610612736000},
    {"0.5Gi", "512Mi", Format::kBinarySI, 536870912, 536870912000},
    {"1536Mi", "1536Mi", Format::kBinarySI, 1610612736, 1610612736000},
    {"0.1Gi", "107374182400m", Format::kBinarySI, 107374183, 107374182400},
    {"1.1Ki", "1126400m", Format::kBinarySI, 1127, 1126400},
    {"1e3", "1e3", Format::kDecimalExponent, 1000, 1000000},
    {"1E3", "1E3", Format::kDecimalExponent, 1000, 1000000},
    {"1e9", "1e9", Format::kDecimalExponent, 1000000000, 1000000000000},
    {"1.5e3", "1500", Format::kDecimalExponent, 1500, 1500000},
    {"1e-3", "1e-3", Format::kDecimalExponent, 1, 1},
    {"1e-9", "1e-9", Format::kDecimalExponent, 1, 1},
    {"1e-10", "1e-9", Format::kDecimalExponent, 1, 1},
    {"12e6", "12e6", Format::kDecimalExponent, 12000000, 12000000000},
    {"100e3", "100e3", Format::kDecimalExponent, 100000, 100000000},
    {"-1", "-1", Format::kDecimalSI, -1, -1000},
    {"-1.5Gi", "-1536Mi", Format::kBinarySI, -1610612736, -1610612736000},
    {"+5", "+5", Format::kDecimalSI, 5, 5000},
    {"1.0", "1", Format::kDecimalSI, 1, 1000},
    {"01", "01", Format::kDecimalSI, 1, 1000},
    {"1.50", "1500m", Format::kDecimalSI, 2, 1500},
    {"9223372036854775807", "9223372036854775807", Format::kDecimalSI, 9223372036854775807, -1000},
    {"9223372036854775808", "9223372036854775808", Format::kDecimalSI, INT64_MIN, 0},
    {"100Ei", "9223372036854775807", Format::kBinarySI, 9223372036854775807, -1000},
    {"1e30", "1e30", Format::kDecimalExponent, 0, 0},
    {"8Ei", "9223372036854775807", Format::kBinarySI, 9223372036854775807, -1000},
    {"0Ki", "0", Format::kBinarySI, 0, 0},
    {"0m", "0", Format::kDecimalSI, 0, 0},
    {"-0", "0", Format::kDecimalSI, 0, 0},
    {"123456789", "123456789", Format::kDecimalSI, 123456789, 123456789000},
    {"12345678.9", "12345678900m", Format::kDecimalSI, 12345679, 12345678900},
    {"e3", "0", Format::kDecimalExponent, 0, 0},
};

TEST(Quantity, ParsesAndSpellsAsUpstream) {
  for (const Case& c : kCases) {
    auto quantity = Quantity::Parse(c.text);
    ASSERT_TRUE(quantity.has_value()) << c.text << ": " << quantity.error().message;
    EXPECT_EQ(quantity->ToString(), c.out) << c.text;
    EXPECT_EQ(quantity->format(), c.format) << c.text;
    EXPECT_EQ(quantity->Value(), c.value) << c.text;
    EXPECT_EQ(quantity->MilliValue(), c.milli) << c.text;
    std::string buffer;
    EXPECT_EQ(CanonicalQuantity(c.text, buffer).value(), c.out) << c.text;
  }
}

struct BadCase {
  std::string_view text;
  std::string_view error;
};
constexpr std::string_view kFormat =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffix = "unable to parse quantity's suffix";
constexpr BadCase kBadCases[] = {
    {"1K", kSuffix},   {"5e", kSuffix},   {"1ki", kSuffix},   {"1kb", kFormat},   {"abc", kFormat},
    {"", kFormat},     {" 1", kFormat},   {"1 ", kFormat},    {"1.2.3", kFormat}, {"--1", kSuffix},
    {"1Mi1", kSuffix}, {"0x10", kFormat}, {"1_000", kFormat}, {"1,5", kFormat},
};

TEST(Quantity, RefusesInUpstreamsWords) {
  for (const BadCase& c : kBadCases) {
    auto quantity = Quantity::Parse(c.text);
    ASSERT_FALSE(quantity.has_value()) << c.text;
    EXPECT_EQ(quantity.error().message, c.error) << c.text;
    std::string buffer;
    EXPECT_FALSE(CanonicalQuantity(c.text, buffer).has_value()) << c.text;
  }
}

Quantity Q(std::string_view text) { return Quantity::Parse(text).value(); }

TEST(Quantity, ComparesAcrossFormats) {
  EXPECT_EQ(Q("1024").Compare(Q("1Ki")), 0);
  EXPECT_EQ(Q("1").Compare(Q("1000m")), 0);
  EXPECT_EQ(Q("1").Compare(Q("999m")), 1);
  EXPECT_EQ(Q("-1").Compare(Q("1n")), -1);
  EXPECT_EQ(Q("1e1000000000").Compare(Q("1e999999999")), 1);
  EXPECT_EQ(Q("9223372036854775808").Compare(Q("9223372036854775807")), 1);
}

TEST(Quantity, AddsAndSubtractsExactly) {
  Quantity sum = Q("1500m");
  sum.Add(Q("500m"));
  EXPECT_EQ(sum.ToString(), "2");
  sum.Sub(Q("2"));
  EXPECT_TRUE(sum.IsZero());
  sum.Add(Q("1Gi"));
  EXPECT_EQ(sum.ToString(), "1Gi");
  Quantity large = Q("9223372036854775807");
  large.Add(Q("1"));
  EXPECT_EQ(large.ToString(), "9223372036854775808");
  large.Sub(Q("9223372036854775809"));
  EXPECT_EQ(large.ToString(), "-1");
}

TEST(Quantity, LongInputsCostLittle) {
  std::string digits(200000, '9');
  EXPECT_EQ(Q(digits).ToString(), digits);
  EXPECT_EQ(Q("1e-2000000000").ToString(), "1e-9");
  EXPECT_EQ(Q(digits + "e-2000000000").Value(), 1);
}

}  // namespace
}  // namespace keelson::value
