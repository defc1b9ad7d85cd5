#include "value/json_path.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace keelson::value {
namespace {

constexpr std::string_view kObject =
    R"({"spec":{"n":3,"a.b":"dotted","list":[1,2,3],"map":{"x":1,"y":2}},)"
    R"("status":{"conditions":[{"type":"Ready","status":"True","n":1},)"
    R"({"type":"Live","status":"False","n":2}]}})";

// The results as a JSON list, or what is wrong with the path.
std::string Find(std::string_view path) {
  const auto object = ParseJson(kObject);
  auto parsed = JsonPath::Parse(path);
  if (!parsed) return parsed.error().message;
  return ToJson(Value::List(parsed->Find(object->root())));
}

TEST(JsonPath, FollowsMembers) {
  EXPECT_EQ(Find(".spec.n"), "[3]");
  EXPECT_EQ(Find(".spec['a.b']"), R"(["dotted"])");
  EXPECT_EQ(Find(R"(.spec.a\.b)"), R"(["dotted"])");
  EXPECT_EQ(Find(".spec['n','a.b']"), R"([3,"dotted"])");
  EXPECT_EQ(Find(".spec.none.deeper"), "[]");
}

TEST(JsonPath, FollowsItems) {
  EXPECT_EQ(Find(".spec.list[0]"), "[1]");
  EXPECT_EQ(Find(".spec.list[-1]"), "[3]");
  EXPECT_EQ(Find(".spec.list[-2]"), "[2]");
  EXPECT_EQ(Find(".spec.list[1:]"), "[2,3]");
  EXPECT_EQ(Find(".spec.list[7]"), "[]");
  EXPECT_EQ(Find(".spec.list[*]"), "[1,2,3]");
  EXPECT_EQ(Find(".spec.map.*"), "[1,2]");
}

TEST(JsonPath, TestsItems) {
  EXPECT_EQ(Find(R"(.status.conditions[?(@.type=="Ready")].status)"), R"(["True"])");
  EXPECT_EQ(Find(R"(.status.conditions[?(@.type != 'Ready')].status)"), R"(["False"])");
  EXPECT_EQ(Find(".status.conditions[?(@.n > 1)].type"), R"(["Live"])");
  EXPECT_EQ(Find(".status.conditions[?(@.none)].type"), "[]");
  EXPECT_EQ(Find(".status.conditions[?(@.n)].type"), R"(["Ready","Live"])");
}

TEST(JsonPath, Descends) { EXPECT_EQ(Find("..type"), R"(["Ready","Live"])"); }

TEST(JsonPath, NamesWhatItNeeds) {
  EXPECT_EQ(JsonPath::Parse(".spec.n")->Prefix(), "spec.n");
  EXPECT_EQ(JsonPath::Parse(R"(.status.conditions[?(@.type=="Ready")].status)")->Prefix(),
            "status.conditions");
  EXPECT_EQ(JsonPath::Parse("..type")->Prefix(), "");
}

TEST(JsonPath, RefusesWhatItDoesNotUnderstand) {
  for (std::string_view path : {"spec", ".spec[", ".spec[x]", ".a[?(b)]", ".a[?(@.b==)]", ". ",
                                ".a['b", ".a[?(@.b==\"c\"]", ".a b"}) {
    EXPECT_FALSE(JsonPath::Parse(path).has_value()) << path;
  }
}

}  // namespace
}  // namespace keelson::value
