#include "value/value.h"

#include <gtest/gtest.h>

#include "value/document.h"

namespace keelson::value {
namespace {

constexpr Name kSpec = Name::Quoted("\"spec\":");
constexpr Name kReplicas = Name::Quoted("\"replicas\":");
constexpr Member kSpecMembers[] = {Member(&kReplicas, Value::Int(3))};
constexpr Member kRootMembers[] = {Member(&kSpec, Value::Object(kSpecMembers))};

TEST(Value, ConstantTreesNeedNoMemory) {
  constexpr Value root = Value::Object(kRootMembers);
  EXPECT_EQ(root[kSpec][kReplicas].AsInt(), 3);
  EXPECT_EQ(root["spec"]["replicas"].AsInt(), 3);
}

TEST(Value, ReadingAnotherKindGivesZero) {
  Value text = Value::String("x");
  EXPECT_EQ(text.AsInt(), 0);
  EXPECT_FALSE(text.AsBool());
  EXPECT_TRUE(text.items().empty());
  EXPECT_TRUE(text.members().empty());
  EXPECT_TRUE(text["a"].is_null());
  EXPECT_EQ(Value::Int(2).AsDouble(), 2.0);
}

TEST(Value, NamesAreEqualByTextWhereverTheyLive) {
  Builder builder;
  const Name* other = builder.Intern("replicas");
  EXPECT_EQ(*other, kReplicas);
  EXPECT_EQ(other->quoted(), "\"replicas\":");
  EXPECT_EQ(Value::Object(kSpecMembers)[*other].AsInt(), 3);
  EXPECT_FALSE(builder.Intern("a<b")->has_quoted());
}

TEST(Value, EqualityIgnoresMemberOrderButNotKind) {
  Builder b;
  Member forward[] = {{b.Intern("a"), Value::Int(1)}, {b.Intern("b"), Value::Int(2)}};
  Member backward[] = {{b.Intern("b"), Value::Int(2)}, {b.Intern("a"), Value::Int(1)}};
  EXPECT_EQ(Value::Object(forward), Value::Object(backward));
  EXPECT_FALSE(Value::Int(1) == Value::Double(1));
  EXPECT_FALSE(Value::Object(forward) == Value::Object(std::span(forward).first(1)));
}

TEST(Value, CompareOrdersKindsThenContent) {
  Value one[] = {Value::Int(1)};
  Value ordered[] = {Value::Int(-1),       Value::Double(0.5),          Value::Int(1),
                     Value::String("a"),   Value::String("b"),          Value::Bool(false),
                     Value::Bool(true),    Value::EmptyList(),          Value::List(one),
                     Value::EmptyObject(), Value::Object(kRootMembers), Value::Null()};
  for (size_t i = 0; i < std::size(ordered); ++i) {
    for (size_t j = 0; j < std::size(ordered); ++j) {
      EXPECT_EQ(Compare(ordered[i], ordered[j]), i < j ? -1 : i > j ? 1 : 0) << i << " " << j;
    }
  }
  EXPECT_EQ(Compare(Value::Int(1), Value::Double(1)), 0);
}

TEST(Value, HashIsTheSameAtCompileTimeAndRunTime) {
  for (std::string_view text : {"", "a", "seven77", "eight888", "metadata.annotations"}) {
    volatile size_t size = text.size();
    std::string copy(text.data(), size);
    EXPECT_EQ(Name::Plain(text).hash(), HashName(copy));
  }
  static_assert(HashName("containers") != HashName("container"));
  constexpr uint32_t constant = HashName("annotations");
  std::string text = "annotations";
  EXPECT_EQ(constant, HashName(text));
}

}  // namespace
}  // namespace keelson::value
