#include "patch/merge_patch.h"

#include <gtest/gtest.h>

#include "patch/test_types.h"

namespace keelson::patch {
namespace {

std::string Merge(std::string_view object, std::string_view patch) {
  auto merged = ApplyMergePatch(Parse(object), Parse(patch));
  return merged ? Text(*merged) : merged.error().message;
}

TEST(MergePatch, ExamplesOfTheRfc) {
  EXPECT_EQ(Merge(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(Merge(R"({"a":"b"})", R"({"b":"c"})"), R"({"a":"b","b":"c"})");
  EXPECT_EQ(Merge(R"({"a":"b"})", R"({"a":null})"), R"({})");
  EXPECT_EQ(Merge(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})");
  EXPECT_EQ(Merge(R"({"a":["b"]})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(Merge(R"({"a":"c"})", R"({"a":["b"]})"), R"({"a":["b"]})");
  EXPECT_EQ(Merge(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})"), R"({"a":{"b":"d"}})");
  EXPECT_EQ(Merge(R"({"a":[{"b":"c"}]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(Merge(R"({"e":null})", R"({"a":1})"), R"({"a":1,"e":null})");
  EXPECT_EQ(Merge(R"({})", R"({"a":{"bb":{"ccc":null}}})"), R"({"a":{"bb":{}}})");
}

TEST(MergePatch, NewValuesLoseTheirNullsAtEveryDepthButListsKeepTheirs) {
  EXPECT_EQ(Merge(R"({})", R"({"a":[{"b":null,"c":[null]},null]})"),
            R"({"a":[{"c":[null]},null]})");
  EXPECT_EQ(Merge(R"({"a":null})", R"({"a":{"b":null}})"), R"({"a":{}})");
  EXPECT_EQ(Merge(R"({"a":[1]})", R"({"a":[{"b":null}]})"), R"({"a":[{}]})");
  // Upstream does not prune a list that takes the place of an object.
  EXPECT_EQ(Merge(R"({"a":{"x":1}})", R"({"a":[{"b":null}]})"), R"({"a":[{"b":null}]})");
}

TEST(MergePatch, MembersKeepTheirOrderAndNewOnesFollow) {
  auto merged = ApplyMergePatch(Parse(R"({"c":1,"a":2,"b":3})"), Parse(R"({"z":0,"a":9,"d":1})"));
  std::string order;
  for (const auto& member : merged->root().members()) order += member.key();
  EXPECT_EQ(order, "cabzd");
}

TEST(MergePatch, SharesWhatThePatchLeavesAlone) {
  auto object = Parse(R"({"spec":{"big":[1,2,3]},"data":{"a":"1"}})");
  auto merged = ApplyMergePatch(object, Parse(R"({"data":{"a":"2"}})"));
  EXPECT_EQ(merged->root()["spec"].members().data(), object.root()["spec"].members().data());
}

TEST(MergePatch, WhatIsNoObjectIsRefusedInUpstreamsWords) {
  EXPECT_EQ(Merge("{}", "null"), "Invalid JSON Patch");
  for (auto [patch, kind] :
       {std::pair("[]", "array"), {"\"x\"", "string"}, {"1", "number"}, {"true", "bool"}}) {
    EXPECT_EQ(Merge("{}", patch), fmt::format("error decoding patch: json: cannot unmarshal {} "
                                              "into Go value of type map[string]interface {{}}",
                                              kind));
  }
  EXPECT_EQ(ApplyMergePatch(Parse("{}"), Parse("[]")).error().code, 400);
}

TEST(MergePatch, LargeUnorderedPatchesCostTheirSize) {
  std::string object = "{";
  std::string patch = "{";
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    object += fmt::format("{}\"k{}\":1", i ? "," : "", i);
    patch += fmt::format("{}\"k{}\":{}", i ? "," : "", (i * 7919) % kCount, i % 2 ? "2" : "null");
  }
  auto merged = ApplyMergePatch(Parse(object + "}"), Parse(patch + "}"));
  EXPECT_EQ(merged->root().size(), kCount / 2u);
}

}  // namespace
}  // namespace keelson::patch
