#include "value/json.h"

#include <gtest/gtest.h>

namespace keelson::value {
namespace {

std::string RoundTrip(std::string_view text) {
  auto doc = ParseJson(text);
  return doc ? ToJson(doc->root()) : "error: " + doc.error().message;
}

TEST(Json, WritesAsGoDoes) {
  struct Case {
    std::string_view in;
    std::string_view out;
  };
  constexpr Case kCases[] = {
      {" { \"a\" : [ 1 , -2.50 , true,null ] , \"b\":{}} ", "{\"a\":[1,-2.5,true,null],\"b\":{}}"},
      {R"("<a> & \u2028 \u2029 \/ \" \\ \b\f\n\r\t \u0001 \u007f é 😀")",
       "\"\\u003ca\\u003e \\u0026 \\u2028 \\u2029 / \\\" \\\\ \\b\\f\\n\\r\\t \\u0001 \x7f é 😀\""},
      {R"("\ud83d\ude00 \ud83d \ude00x")", "\"😀 \xEF\xBF\xBD \xEF\xBF\xBDx\""},
      {"\"a\xff\xc0\xafz\"", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\""},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775808", "9223372036854776000"},
      {"18446744073709551616", "18446744073709552000"},
      {"1e3", "1000"},
      {"1E21", "1e+21"},
      {"1e20", "100000000000000000000"},
      {"0.000001", "0.000001"},
      {"0.0000001", "1e-7"},
      {"1.5e-10", "1.5e-10"},
      {"-1234.5678e2", "-123456.78"},
      {"1e100", "1e+100"},
      {"-0", "0"},
      {"-0.0", "-0"},
      {"5e-400", "0"},
      {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}"},
      {"{\"a<b\":1}", "{\"a\\u003cb\":1}"},
      {"{\"a\" : 1}", "{\"a\":1}"},
      {"\"a string of more than sixteen bytes with an \\u00e9scape\"",
       "\"a string of more than sixteen bytes with an éscape\""},
  };
  for (const Case& c : kCases) EXPECT_EQ(RoundTrip(c.in), c.out) << c.in;
}

TEST(Json, PlainMeansThatNoByteNeedsCare) {
  EXPECT_TRUE(IsPlainJson({}));
  for (size_t size = 1; size <= 50; ++size) {
    std::string text(size, 'a');
    EXPECT_TRUE(IsPlainJson(text)) << size;
    for (size_t at = 0; at < size; ++at) {
      for (char c : std::string_view("\0\x1f\"\\<>&\x80\xff", 9)) {
        text[at] = c;
        EXPECT_FALSE(IsPlainJson(text)) << size << ' ' << at << ' ' << int{c};
      }
      text[at] = 'a';
    }
    for (char c : std::string_view(" !#%'=;[]\x7f")) {
      EXPECT_TRUE(IsPlainJson(std::string(size, c))) << size << ' ' << int{c};
    }
  }
}

TEST(Json, WritesAnEmptyStringWithoutAnAddress) {
  EXPECT_EQ(ToJson(Value::String({}, true)), "\"\"");
  EXPECT_EQ(ToJson(Value::String({}, false)), "\"\"");
}

TEST(Json, NamesSyntaxErrorsAsUpstream) {
  struct Case {
    std::string_view in;
    std::string_view error;
  };
  constexpr Case kCases[] = {
      {"", "unexpected end of JSON input"},
      {"  ", "unexpected end of JSON input"},
      {"{bad json", "invalid character 'b' looking for beginning of object key string"},
      {"{\"a\":1}{", "invalid character '{' after top-level value"},
      {"{\"a\":1} garbage", "invalid character 'g' after top-level value"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 2}", "invalid character '2' after object key:value pair"},
      {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
      {"[1 2]", "invalid character '2' after array element"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"[", "unexpected end of JSON input"},
      {"{\"a\":", "unexpected end of JSON input"},
      {"nul", "unexpected end of JSON input"},
      {"nulx", "invalid character 'x' in literal null (expecting 'l')"},
      {"tru3", "invalid character '3' in literal true (expecting 'e')"},
      {"falsy", "invalid character 'y' in literal false (expecting 'e')"},
      {"01", "invalid character '1' after top-level value"},
      {"-", "unexpected end of JSON input"},
      {"-x", "invalid character 'x' in numeric literal"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"1e+x", "invalid character 'x' in exponent of numeric literal"},
      {"\"a\nb\"", "invalid character '\\n' in string literal"},
      {"\"\\x\"", "invalid character 'x' in string escape code"},
      {"\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"},
      {"\"abc", "unexpected end of JSON input"},
      {"'a'", "invalid character '\\'' looking for beginning of value"},
      {"\xe4", "invalid character 'ä' looking for beginning of value"},
      {"1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"},
  };
  for (const Case& c : kCases) {
    auto doc = ParseJson(c.in);
    ASSERT_FALSE(doc.has_value()) << c.in;
    EXPECT_EQ(doc.error().message, c.error) << c.in;
  }
  std::string with_nul("[1]\0", 4);
  EXPECT_EQ(ParseJson(with_nul).error().message, "invalid character '\\x00' after top-level value");
}

TEST(Json, RefusesWhatIsNestedTooDeep) {
  std::string deep(10000, '[');
  deep.append(10000, ']');
  EXPECT_TRUE(ParseJson(deep).has_value());
  EXPECT_EQ(ParseJson("[" + deep + "]").error().message,
            "invalid character '[' exceeded max depth");
}

TEST(Json, ReportsDuplicateFieldsWithTheirPath) {
  std::vector<std::string> strict;
  auto doc = ParseJson(R"({"a":{"b":[{"x":1,"x":2,"x":3}]},"c":1,"c":{"d":1}})",
                       {.sort_members = true, .strict_errors = &strict});
  ASSERT_TRUE(doc.has_value());
  EXPECT_EQ(ToJson(doc->root()), R"({"a":{"b":[{"x":3}]},"c":{"d":1}})");
  EXPECT_EQ(strict,
            (std::vector<std::string>{"duplicate field \"a.b[0].x\"", "duplicate field \"c\""}));
}

TEST(Json, StopsCollectingAtAHundred) {
  std::string text = "{";
  for (int i = 0; i < 150; ++i) {
    text += fmt::format("\"k{0}\":1,\"k{0}\":2,", i);
  }
  text.back() = '}';
  std::vector<std::string> strict;
  auto doc = ParseJson(text, {.strict_errors = &strict});
  ASSERT_TRUE(doc.has_value());
  EXPECT_EQ(doc->root().size(), 150u);
  EXPECT_EQ(strict.size(), 100u);
  EXPECT_EQ(strict[99], "duplicate field \"k99\"");
}

TEST(Json, SortsMembersWhenAsked) {
  auto doc = ParseJson(R"({"b":{"z":1,"y":2},"a":1})", {.sort_members = true});
  EXPECT_EQ(ToJson(doc->root()), R"({"a":1,"b":{"y":2,"z":1}})");
}

TEST(Json, TheTreeOutlivesTheText) {
  Document doc;
  {
    std::string text = R"({"key":"value"})";
    doc = *ParseJson(text);
    text.assign(text.size(), 'x');
  }
  EXPECT_EQ(doc.root()["key"].AsString(), "value");
}

}  // namespace
}  // namespace keelson::value
