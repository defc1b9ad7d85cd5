#include "selector/field_selector.h"

#include <gtest/gtest.h>

#include <map>

namespace keelson::selector {
namespace {

struct Fields {
  std::map<std::string, std::string, std::less<>> map;
  std::string_view Find(std::string_view field) const {
    auto found = map.find(field);
    return found == map.end() ? std::string_view() : found->second;
  }
};

std::string ErrorOf(std::string_view text) {
  auto selector = FieldSelector::Parse(text);
  return selector ? "parsed as " + selector->ToString() : selector.error().message;
}

constexpr std::string_view kPodFields[] = {"metadata.name", "spec.nodeName"};
constexpr std::pair<std::string_view, std::string_view> kPodAliases[] = {
    {"spec.host", "spec.nodeName"}};
constexpr FieldLabels kPodLabels{
    .supported = kPodFields, .aliases = kPodAliases, .refusal = FieldLabels::kUnsupported};

TEST(FieldSelector, RefusesInUpstreamsWords) {
  EXPECT_EQ(ErrorOf("bad"), "invalid selector: 'bad'; can't understand 'bad'");
  EXPECT_EQ(ErrorOf("a=b=c"), "invalid field selector: unescaped character in value: 61");
  EXPECT_EQ(ErrorOf(R"(a=\x)"), R"(invalid field selector: invalid escape sequence: \x)");
  EXPECT_EQ(ErrorOf(R"(a=b\)"), R"(invalid field selector: invalid escape sequence: \)");
}

TEST(FieldSelector, UnescapesValues) {
  auto selector = *FieldSelector::Parse(R"(metadata.name=a\,b\=c\\d)");
  ASSERT_EQ(selector.terms().size(), 1u);
  EXPECT_EQ(selector.terms()[0].value, "a,b=c\\d");
  EXPECT_EQ(selector.ToString(), R"(metadata.name=a\,b\=c\\d)");
}

TEST(FieldSelector, SelectsOnAllTerms) {
  auto selector = *FieldSelector::Parse("b!=2,a==1,,");
  EXPECT_TRUE(selector.Matches(Fields{{{"a", "1"}}}));
  EXPECT_FALSE(selector.Matches(Fields{{{"a", "1"}, {"b", "2"}}}));
  EXPECT_FALSE(selector.Matches(Fields{}));
  EXPECT_TRUE(FieldSelector().Matches(Fields{}));
  EXPECT_EQ(selector.RequiredValue("a"), "1");
  EXPECT_EQ(selector.RequiredValue("b"), std::nullopt);
}

TEST(FieldSelector, ResolvesAliases) {
  auto resolved = FieldSelector::Parse("spec.host=n1")->Resolve(kPodLabels);
  ASSERT_TRUE(resolved.has_value());
  EXPECT_EQ(resolved->ToString(), "spec.nodeName=n1");
}

TEST(FieldSelector, RefusesUnknownLabelsInTheResourcesWords) {
  auto selector = *FieldSelector::Parse("spec.nope=1");
  EXPECT_EQ(
      selector.Resolve(MetadataFieldLabels()).error().message,
      R"("spec.nope" is not a known field selector: only "metadata.name", "metadata.namespace")");
  EXPECT_EQ(selector.Resolve(kPodLabels).error().message, "field label not supported: spec.nope");
  EXPECT_EQ(selector.Resolve({.refusal = "field label %q not supported for Job"}).error().message,
            R"(field label "spec.nope" not supported for Job)");
}

}  // namespace
}  // namespace keelson::selector
