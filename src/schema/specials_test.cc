// Every recorded case of the types with a spelling of their own: quantities, times, durations and
// numbers that may be text. The cases worth reading stand in the tests of value/; this replays a
// record in full, when KEELSON_FACTS names a folder that has one.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "schema/decode_json.h"
#include "schema/test_types.h"
#include "value/int_or_string.h"
#include "value/json.h"
#include "value/quantity.h"

namespace keelson::schema {
namespace {

using value::Value;

constexpr value::Name kHeld = value::Name::Quoted("\"held\":");
constexpr Type kMicroTime{.kind = TypeKind::kMicroTime};

// The record was made of bare values; in a struct the same refusal names the field.
std::string WithoutField(std::string message) {
  constexpr std::string_view kField = "Go struct field Holder.held";
  if (auto at = message.find(kField); at != std::string::npos) {
    message.replace(at, kField.size(), "Go value");
  }
  return message;
}

// How a field of `scalar` reads and writes `text`: JSON, or what was wrong.
template <const Type& kScalar>
std::string RoundTrip(std::string_view text) {
  static constexpr std::array kFields = {Field{.name = &kHeld, .type = &kScalar}};
  static constexpr testing::StructOf kHolder("Holder", "v1.Holder", kFields);
  auto decoded = DecodeJson(kHolder.type, fmt::format(R"({{"held":{}}})", text));
  if (!decoded) return WithoutField(decoded.error().message);
  return value::ToJson(decoded->object.root()["held"]);
}

class Specials : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("KEELSON_FACTS");
    if (!folder) GTEST_SKIP() << "KEELSON_FACTS is not set";
    std::ifstream in(fmt::format("{}/types/specials.json", folder));
    std::ostringstream text;
    text << in.rdbuf();
    auto facts = value::ParseJson(text.str());
    ASSERT_TRUE(facts.has_value()) << facts.error().message;
    facts_ = *facts;
  }

  // `actual` is the recorded output, or carries the recorded refusal.
  static void Expect(const Value& fact, std::string_view output, std::string_view refusal,
                     const std::string& actual) {
    const auto input = fact["inJSON"].AsString();
    if (!fact[refusal].is_null()) {
      EXPECT_NE(actual.find(fact[refusal].AsString()), std::string::npos)
          << input << ": " << actual << "\n  recorded " << fact[refusal].AsString();
    } else {
      EXPECT_EQ(actual, fact[output].AsString()) << input;
    }
  }

  value::Document facts_;
};

TEST_F(Specials, Quantities) {
  size_t seen = 0;
  for (const auto& fact : facts_.root()["quantity"].items()) {
    ++seen;
    const auto input = fact["in"].AsString();
    auto quantity = value::Quantity::Parse(input);
    if (!fact["err"].is_null()) {
      ASSERT_FALSE(quantity) << input;
      EXPECT_EQ(quantity.error().message, fact["err"].AsString()) << input;
      continue;
    }
    ASSERT_TRUE(quantity) << input << ": " << quantity.error().message;
    constexpr std::string_view kFormats[] = {"DecimalExponent", "BinarySI", "DecimalSI"};
    EXPECT_EQ(kFormats[static_cast<int>(quantity->format())], fact["format"].AsString()) << input;
    EXPECT_EQ(quantity->ToString(), fact["out"].AsString()) << input;
    EXPECT_EQ(quantity->Value(), fact["value"].AsInt()) << input;
    EXPECT_EQ(quantity->MilliValue(), fact["milli"].AsInt()) << input;
  }
  for (const auto& fact : facts_.root()["quantityJSON"].items()) {
    ++seen;
    Expect(fact, "outJSON", "err",
           RoundTrip<testing::kAmount>(std::string(fact["inJSON"].AsString())));
  }
  EXPECT_EQ(seen, 91u);
}

TEST_F(Specials, TimesAndDurations) {
  for (const auto& fact : facts_.root()["time"].items()) {
    const std::string input(fact["inJSON"].AsString());
    Expect(fact, "time", "timeErr", RoundTrip<testing::kWhen>(input));
    Expect(fact, "microTime", "microTimeErr", RoundTrip<kMicroTime>(input));
  }
  EXPECT_EQ(facts_.root()["time"].items().size(), 10u);
  for (const auto& fact : facts_.root()["duration"].items()) {
    Expect(fact, "outJSON", "err",
           RoundTrip<testing::kSpan>(std::string(fact["inJSON"].AsString())));
  }
  EXPECT_EQ(facts_.root()["duration"].items().size(), 13u);
}

TEST_F(Specials, IntOrString) {
  for (const auto& fact : facts_.root()["intOrString"].items()) {
    const std::string input(fact["inJSON"].AsString());
    Expect(fact, "outJSON", "err", RoundTrip<testing::kPort>(input));
    if (!fact["err"].is_null() || input == "null") continue;
    auto value = value::ParseJson(input);
    ASSERT_TRUE(value) << input;
    for (const bool up : {true, false}) {
      auto scaled = value::ScaledIntOrPercent(value->root(), 10, up);
      if (!fact["scaledErr"].is_null()) {
        ASSERT_FALSE(scaled) << input;
        EXPECT_EQ(scaled.error().message, fact["scaledErr"].AsString()) << input;
      } else {
        ASSERT_TRUE(scaled) << input;
        EXPECT_EQ(*scaled, fact[up ? "scaled10up" : "scaled10down"].AsInt()) << input;
      }
    }
  }
  EXPECT_EQ(facts_.root()["intOrString"].items().size(), 10u);
}

}  // namespace
}  // namespace keelson::schema
