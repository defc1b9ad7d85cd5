#include "selector/label_selector.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/names.h"
#include "base/quote.h"

namespace keelson::selector {
namespace {

struct Labels {
  std::map<std::string, std::string, std::less<>> map;
  std::optional<std::string_view> Find(std::string_view key) const {
    auto found = map.find(key);
    if (found == map.end()) return std::nullopt;
    return found->second;
  }
};

std::string ErrorOf(std::string_view text) {
  auto selector = LabelSelector::Parse(text);
  return selector ? "parsed as " + selector->ToString() : selector.error().message;
}

bool Selects(std::string_view text, std::map<std::string, std::string, std::less<>> labels) {
  auto selector = LabelSelector::Parse(text);
  EXPECT_TRUE(selector.has_value()) << text;
  return selector && selector->Matches(Labels{std::move(labels)});
}

TEST(LabelSelector, RefusesInUpstreamsWords) {
  EXPECT_EQ(ErrorOf("a b c"),
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  EXPECT_EQ(ErrorOf("!!a"), "unable to parse requirement: found '!', expected: identifier");
  EXPECT_EQ(
      ErrorOf("-bad=1"),
      "unable to parse requirement: <nil>: Invalid value: \"-bad\": name part must consist of "
      "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
  EXPECT_EQ(ErrorOf("a=-b-"),
            "unable to parse requirement: values[0][a]: Invalid value: \"-b-\": a valid label must "
            "be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
            "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
            "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  EXPECT_EQ(ErrorOf("a>b"),
            "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' "
            "operators, the value must be an integer");
  EXPECT_EQ(ErrorOf("a,b,"), "found '', expected: identifier after ','");
  EXPECT_EQ(ErrorOf("a=b=c"), "found '=', expected: ',' or 'end of string'");
  EXPECT_EQ(ErrorOf(",a"), "found ',', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(ErrorOf("a in b"), "unable to parse requirement: found 'b' expected: '('");
  EXPECT_EQ(ErrorOf("a in (b"), "unable to parse requirement: found '', expected: ',' or ')'");
  EXPECT_EQ(ErrorOf("a in (="),
            "unable to parse requirement: found '=', expected: ',', ')' or identifier");
  EXPECT_EQ(ErrorOf("a in (b,="),
            "unable to parse requirement: found '=', expected: ',', or identifier");
  EXPECT_EQ(ErrorOf("a=("), "unable to parse requirement: found '(', expected: identifier");
  EXPECT_EQ(ErrorOf("!a=b"), "found '=', expected: ',' or 'end of string'");
}

TEST(LabelSelector, ListsSeveralFaultsInBrackets) {
  auto message = ErrorOf("a in (-b,-c)");
  EXPECT_TRUE(
      message.starts_with("unable to parse requirement: [values[0][a]: Invalid value: \"-b\""))
      << message;
  EXPECT_NE(message.find("), values[1][a]: Invalid value: \"-c\""), std::string::npos) << message;
}

TEST(LabelSelector, RefusesOverlongTextUnseen) {
  auto selector = LabelSelector::Parse(std::string(kMaxSelectorBytes + 1, 'a'));
  ASSERT_FALSE(selector.has_value());
  EXPECT_EQ(selector.error().code, ErrorCode::kTooLarge);
}

TEST(LabelSelector, PrintsSortedByKey) {
  EXPECT_EQ(LabelSelector::Parse(" z , b in ( y,x ,x),a==1, !c,d!=2 ,e > 3")->ToString(),
            "a==1,b in (x,y),!c,d!=2,e>3,z");
}

TEST(LabelSelector, Selects) {
  EXPECT_TRUE(Selects("", {}));
  EXPECT_TRUE(Selects("a=b", {{"a", "b"}}));
  EXPECT_FALSE(Selects("a=b", {}));
  EXPECT_TRUE(Selects("a!=b", {}));
  EXPECT_TRUE(Selects("a==", {{"a", ""}}));
  EXPECT_TRUE(Selects("a in ()", {{"a", ""}}));
  EXPECT_TRUE(Selects("a in (,x)", {{"a", ""}}));
  EXPECT_FALSE(Selects("a notin (x,y)", {{"a", "x"}}));
  EXPECT_TRUE(Selects("a notin (x,y)", {{"b", "x"}}));
  EXPECT_TRUE(Selects("in in (in,notin),!b", {{"in", "notin"}}));
  EXPECT_TRUE(Selects("n>9,n<11", {{"n", "10"}}));
  EXPECT_FALSE(Selects("n>9", {{"n", "x"}}));
}

TEST(LabelSelector, TellsTheOneValueItRequires) {
  auto selector = *LabelSelector::Parse("a=1,b in (2),c in (3,4),d!=5");
  EXPECT_EQ(selector.RequiredValue("a"), "1");
  EXPECT_EQ(selector.RequiredValue("b"), "2");
  EXPECT_EQ(selector.RequiredValue("c"), std::nullopt);
  EXPECT_EQ(selector.RequiredValue("d"), std::nullopt);
}

// A selector made by hand, printed, parsed and matched must agree with the definition of each
// operator applied by the book.
TEST(LabelSelector, AgreesWithTheDefinitionOnRandomSelectors) {
  std::mt19937 random(20261115);
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto key = [&] { return std::string(1, static_cast<char>('a' + pick(3))); };
  auto value = [&] { return pick(4) == 0 ? std::string() : std::to_string(pick(4)); };
  for (int round = 0; round < 20000; ++round) {
    Labels labels;
    for (int i = pick(4); i > 0; --i) labels.map[key()] = value();
    std::string text;
    bool expected = true;
    for (int i = pick(4); i > 0; --i) {
      std::string k = key();
      bool present = labels.map.contains(k);
      std::string actual = present ? labels.map[k] : "";
      if (!text.empty()) text += pick(2) ? "," : " , ";
      switch (pick(6)) {
        case 0:
          text += k;
          expected &= present;
          break;
        case 1:
          text += "!" + k;
          expected &= !present;
          break;
        case 2: {
          auto v = value();
          text += k + (pick(2) ? "=" : "==") + v;
          expected &= present && actual == v;
          break;
        }
        case 3: {
          auto v = value();
          text += k + "!=" + v;
          expected &= !present || actual != v;
          break;
        }
        case 4: {
          auto v = value(), w = value();
          text += k + " in (" + v + "," + w + ")";
          expected &= present && (actual == v || actual == w);
          break;
        }
        default: {
          int n = pick(4);
          text += k + "<" + std::to_string(n);
          expected &= present && !actual.empty() && std::stoi(actual) < n;
        }
      }
    }
    auto selector = LabelSelector::Parse(text);
    ASSERT_TRUE(selector.has_value()) << text << ": " << selector.error().message;
    ASSERT_EQ(selector->Matches(labels), expected) << text;
    ASSERT_EQ(*LabelSelector::Parse(selector->ToString()), *selector) << text;
  }
}

TEST(LabelSyntax, NamesEveryFaultOfAKey) {
  EXPECT_TRUE(names::CheckQualifiedName("example.com/My.Name").empty());
  EXPECT_EQ(names::CheckQualifiedName("/a")[0], "prefix part must be non-empty");
  EXPECT_EQ(names::CheckQualifiedName("a.b/")[0], "name part must be non-empty");
  EXPECT_EQ(names::CheckQualifiedName(std::string(64, 'a'))[0],
            "name part must be no more than 63 bytes");
  EXPECT_TRUE(names::CheckQualifiedName("A.b/c")[0].starts_with(
      "prefix part a lowercase RFC 1123 subdomain"));
  EXPECT_TRUE(names::CheckQualifiedName("a/b/c")[0].ends_with("'/' (e.g. 'example.com/MyName')"));
}

}  // namespace
}  // namespace keelson::selector
