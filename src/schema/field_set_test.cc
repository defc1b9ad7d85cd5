#include "schema/field_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/quote.h"
#include "schema/scalar_text.h"
#include "value/document.h"

namespace keelson::schema {
namespace {

using value::Arena;
using value::Value;

class FieldSets : public testing::Test {
 protected:
  FieldSet Parse(std::string_view fields_v1) {
    JsonScanner scanner(*arena, arena->CopyString(fields_v1));
    auto set = ParseFieldsV1(*arena, *scanner.Any());
    EXPECT_TRUE(set.has_value()) << set.error().message;
    return set ? *set : FieldSet();
  }
  std::string Text(FieldSet set) {
    std::string text;
    // Sorted members would hide the order under test, so spell the tree out here.
    auto append = [&](auto& self, const Value& value) -> void {
      text += '{';
      for (const auto& member : value.members()) {
        if (text.back() != '{') text += ',';
        AppendQuoted(text, member.key());
        text += ':';
        self(self, member.value);
      }
      text += '}';
    };
    append(append, ToFieldsV1(*arena, set));
    return text;
  }

  value::ArenaRef arena = Arena::Make();
};

TEST_F(FieldSets, FieldsV1ComesBackInCanonicalOrder) {
  EXPECT_EQ(Text(Parse(R"({"v:1":{},"k:{\"port\":80,\"name\":\"b\"}":{".":{},"f:x":{}},)"
                       R"("i:3":{},"f:b":{},"f:a":{"f:c":{}}})")),
            R"({"f:a":{"f:c":{}},"f:b":{},"k:{\"name\":\"b\",\"port\":80}":{".":{},"f:x":{}},)"
            R"("v:1":{},"i:3":{}})");
  EXPECT_EQ(Text(Parse("{}")), "{}");
}

TEST_F(FieldSets, EmptyObjectMeansMemberAndUnknownStepsAreSkipped) {
  FieldSet set = Parse(R"({"f:a":{},"f:b":{".":{}},"x:future":{"f:y":{}},"f:c":{"x:z":{}}})");
  EXPECT_EQ(Text(set), R"({"f:a":{},"f:b":{},"f:c":{}})");
  EXPECT_EQ(set.Count(), 3u);
}

TEST_F(FieldSets, MalformedStepsAreErrors) {
  for (std::string_view bad :
       {R"({"a":{}})", R"({"fa":{}})", R"({"k:{":{}})", R"({"k:{\"a\"}":{}})", R"({"v:":{}})",
        R"({"i:x":{}})", R"({"f:a":3})", R"({"v:[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[":{}})"}) {
    JsonScanner scanner(*arena, bad);
    EXPECT_FALSE(ParseFieldsV1(*arena, *scanner.Any()).has_value()) << bad;
  }
}

TEST_F(FieldSets, NumbersAreTheSameHoweverSpelt) {
  FieldSet a = Parse(R"({"k:{\"port\":80}":{}})");
  FieldSet b = Parse(R"({"k:{\"port\":80.0}":{}})");
  EXPECT_EQ(a, b);
  EXPECT_TRUE(Difference(*arena, a, b).empty());
}

TEST_F(FieldSets, DifferenceKeepsChildrenOfARemovedParentUnlessRecursive) {
  FieldSet set = Parse(R"({"f:a":{".":{},"f:b":{}}})");
  FieldSet parent = Parse(R"({"f:a":{}})");
  EXPECT_EQ(Text(Difference(*arena, set, parent)), R"({"f:a":{"f:b":{}}})");
  EXPECT_EQ(Text(RecursiveDifference(*arena, set, parent)), "{}");
  FieldSet child = Parse(R"({"f:a":{"f:b":{}}})");
  EXPECT_EQ(Text(RecursiveDifference(*arena, set, child)), R"({"f:a":{}})");
}

TEST_F(FieldSets, LeavesHaveNothingBelowThem) {
  EXPECT_EQ(Text(Leaves(*arena, Parse(R"({"f:a":{".":{},"f:b":{}},"f:c":{}})"))),
            R"({"f:a":{"f:b":{}},"f:c":{}})");
}

TEST_F(FieldSets, MessagesSpellPathsAsUpstreamDoes) {
  FieldSet set =
      Parse(R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}},)"
            R"("f:finalizers":{"v:\"a\\\"b\"":{}},"f:old":{"i:2":{}}}})");
  std::vector<std::string> paths;
  set.ForEach([&](auto path) { paths.push_back(PathToString(path)); });
  EXPECT_EQ(paths, (std::vector<std::string>{R"(.spec.finalizers[="a\"b"])", ".spec.old[2]",
                                             R"(.spec.ports[port=80,protocol="TCP"].name)"}));
}

// The operations against sets of printed paths, over random small trees.
TEST_F(FieldSets, OperationsAgreeWithPlainSets) {
  std::mt19937 random(20260101);
  static const char* kNames[] = {"a", "b", "c"};
  using Paths = std::set<std::string>;
  auto paths_of = [](FieldSet set) {
    Paths paths;
    set.ForEach([&](auto path) { paths.insert(PathToString(path)); });
    return paths;
  };
  auto make = [&] {
    FieldSet set;
    for (unsigned i = random() % 8; i > 0; --i) {
      std::vector<PathElement> path;
      for (unsigned depth = 1 + random() % 3; depth > 0; --depth) {
        path.push_back(PathElement::Field(kNames[random() % 3]));
      }
      set = Union(*arena, set, SinglePath(*arena, path));
    }
    return set;
  };
  for (int round = 0; round < 2000; ++round) {
    FieldSet a = make();
    FieldSet b = make();
    Paths pa = paths_of(a), pb = paths_of(b), both, either = pa, minus, recursive;
    either.insert(pb.begin(), pb.end());
    for (const auto& path : pa) {
      (pb.contains(path) ? both : minus).insert(path);
      bool covered = false;
      for (const auto& other : pb) covered |= path == other || path.starts_with(other + ".");
      if (!covered) recursive.insert(path);
    }
    ASSERT_EQ(paths_of(Union(*arena, a, b)), either) << "round " << round;
    ASSERT_EQ(paths_of(Intersection(*arena, a, b)), both) << "round " << round;
    ASSERT_EQ(paths_of(Difference(*arena, a, b)), minus) << "round " << round;
    ASSERT_EQ(paths_of(RecursiveDifference(*arena, a, b)), recursive) << "round " << round;
    ASSERT_EQ(Parse(Text(a)), a) << "round " << round;
    ASSERT_EQ(a == b, pa == pb) << "round " << round;
  }
}

TEST_F(FieldSets, LevelsSortAndJoin) {
  FieldSetLevels levels;
  size_t mark = levels.Open();
  levels.Add(FieldSet::Entry(PathElement::Field("b"), true));
  levels.Add(FieldSet::Entry(PathElement::Field("a"), false, Parse(R"({"f:x":{}})")));
  levels.Add(FieldSet::Entry(PathElement::Field("b"), false, Parse(R"({"f:y":{}})")));
  EXPECT_EQ(Text(levels.Close(*arena, mark)), R"({"f:a":{"f:x":{}},"f:b":{".":{},"f:y":{}}})");
}

TEST(ScalarText, NumbersAndStringsAsGoWritesThem) {
  auto json = [](Value value) {
    std::string out;
    AppendScalarJson(out, value);
    return out;
  };
  EXPECT_EQ(json(Value::Double(80)), "80");
  EXPECT_EQ(json(Value::Double(1.5)), "1.5");
  EXPECT_EQ(json(Value::Double(1e-9)), "1e-9");
  EXPECT_EQ(json(Value::Double(1e21)), "1e+21");
  EXPECT_EQ(json(Value::String("a<b")), R"("a\u003cb")");
  std::string quoted;
  AppendQuoted(quoted, "a\n\x01\"");
  EXPECT_EQ(quoted, R"("a\n\x01\"")");
}

TEST(JsonScanner, ReadsEscapesAndNesting) {
  auto arena = Arena::Make();
  JsonScanner scanner(*arena, R"( {"a\u0041\ud83d\ude00" : [1, -2.5, "x\n", null, true]} )");
  auto value = scanner.Any();
  ASSERT_TRUE(value.has_value());
  EXPECT_TRUE(scanner.AtEnd());
  const auto& member = value->members()[0];
  EXPECT_EQ(member.key(), "aA\xF0\x9F\x98\x80");
  EXPECT_EQ(member.value.items()[1].AsDouble(), -2.5);
  EXPECT_EQ(member.value.items()[2].AsString(), "x\n");
}

}  // namespace
}  // namespace keelson::schema
