#include "rest/field_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"

namespace keelson::rest {
namespace {

using schema::FieldErrors;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using value::Document;
using value::Path;

Document Json(std::string_view text) {
  auto document = value::ParseJson(text);
  EXPECT_TRUE(document.has_value()) << text;
  return *document;
}

std::vector<std::string> Texts(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const auto& error : errors) texts.push_back(error.ToString());
  return texts;
}

std::vector<std::string> Selector(std::string_view selector, SelectorLeniency leniency = {}) {
  FieldErrors errors;
  CheckLabelSelector(Json(selector).root(), Path("selector"), errors, leniency);
  return Texts(errors);
}

bool Matches(std::string_view selector, std::string_view labels) {
  return SelectorMatches(Json(selector).root(), Json(labels).root());
}

TEST(FieldChecks, RefusesSelectorsThatCannotBeMeant) {
  EXPECT_THAT(Selector(R"({"matchLabels":{"a":"b"},"matchExpressions":[)"
                       R"({"key":"c","operator":"In","values":["d"]},)"
                       R"({"key":"e","operator":"Exists"}]})"),
              IsEmpty());
  EXPECT_THAT(
      Selector(R"({"matchExpressions":[{"key":"a","operator":"In"},)"
               R"({"key":"a","operator":"Exists","values":["b"]},{"key":"a","operator":"Is"}]})"),
      ElementsAre("selector.matchExpressions[0].values: Required value: must be specified when "
                  "`operator` is 'In' or 'NotIn'",
                  "selector.matchExpressions[1].values: Forbidden: may not be specified when "
                  "`operator` is 'Exists' or 'DoesNotExist'",
                  "selector.matchExpressions[2].operator: Invalid value: \"Is\": not a valid "
                  "selector operator"));
}

TEST(FieldChecks, LetsAnOldSelectorKeepItsBadValues) {
  constexpr std::string_view kSelector =
      R"({"matchExpressions":[{"key":"a","operator":"In","values":["-b"]}]})";
  EXPECT_THAT(Selector(kSelector),
              ElementsAre(StartsWith("selector.matchExpressions[0].values[0]: Invalid value: ")));
  EXPECT_THAT(Selector(kSelector, {.bad_values = true}), IsEmpty());
  EXPECT_TRUE(HasBadValues(Json(kSelector).root()));
  EXPECT_FALSE(IsUsableSelector(Json(kSelector).root()));
}

TEST(FieldChecks, MatchesLabelsByAllRequirements) {
  EXPECT_TRUE(Matches("{}", "{}"));
  EXPECT_FALSE(Matches("null", "{}"));
  EXPECT_TRUE(Matches(R"({"matchLabels":{"a":"b"}})", R"({"a":"b","c":"d"})"));
  EXPECT_FALSE(Matches(R"({"matchLabels":{"a":"b","x":"y"}})", R"({"a":"b","c":"d"})"));
  constexpr std::string_view kNotIn =
      R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]})";
  EXPECT_TRUE(Matches(kNotIn, "{}"));
  EXPECT_FALSE(Matches(kNotIn, R"({"a":"b"})"));
  EXPECT_FALSE(
      Matches(R"({"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]})", R"({"a":"b"})"));
}

TEST(FieldChecks, TellsCountsFromPercentages) {
  FieldErrors errors;
  for (std::string_view text : {"-1", R"("x")", R"("25%")", R"("150%")", "7"}) {
    const auto amount = Json(text);
    CheckCountOrPercent(amount.root(), Path("a"), errors);
    CheckAtMostAllPercent(amount.root(), Path("a"), errors);
  }
  EXPECT_THAT(Texts(errors),
              ElementsAre("a: Invalid value: -1: must be greater than or equal to 0",
                          StartsWith("a: Invalid value: \"x\": a valid percent string must be"),
                          "a: Invalid value: \"150%\": must not be greater than 100%"));
  EXPECT_EQ(CountOrPercent(Json(R"("25%")").root()), 25);
  EXPECT_EQ(CountOrPercent(Json(R"("12")").root()), 12);
  EXPECT_EQ(CountOrPercent(Json(R"("x")").root()), 0);
  EXPECT_EQ(CountOrPercent(Json("3").root()), 3);
}

TEST(FieldChecks, RefusesConditionsThatSayNothing) {
  FieldErrors errors;
  CheckConditions(Json(R"([{"type":"A","status":"True","reason":"Why","lastTransitionTime":)"
                       R"("2024-01-01T00:00:00Z"},{"type":"A","status":"Maybe","reason":"1"}])")
                      .root(),
                  Path("c"), errors);
  EXPECT_THAT(Texts(errors),
              ElementsAre("c[1].type: Duplicate value: \"A\"",
                          "c[1].status: Unsupported value: \"Maybe\": supported values: "
                          "\"False\", \"True\", \"Unknown\"",
                          "c[1].lastTransitionTime: Required value",
                          StartsWith("c[1].reason: Invalid value: \"1\": a condition reason")));
}

}  // namespace
}  // namespace keelson::rest
