#include "schema/type.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace keelson::schema {
namespace {

constexpr Type kText{.kind = TypeKind::kString};

// A struct whose index is filled the way the generator and the CRD builder fill it.
struct Built {
  std::vector<std::string> texts;
  std::vector<value::Name> names;
  std::vector<Field> fields;
  std::vector<uint32_t> slots;
  Type type;

  explicit Built(std::vector<std::string> from) : texts(std::move(from)) {
    for (const auto& text : texts) names.push_back(value::Name::Plain(text));
    for (const auto& name : names) fields.push_back({.name = &name, .type = &kText});
    slots.resize(SlotCount(fields.size()));
    FillSlots(fields, slots);
    type.kind = TypeKind::kStruct;
    type.fields_data = fields.data();
    type.field_count = uint16_t(fields.size());
    type.slots = slots.data();
    type.slot_mask = uint16_t(slots.size() - 1);
  }
};

std::vector<std::string> Names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(std::string(i % 40, 'x') + std::to_string(i));
  return names;
}

TEST(Type, FindsEveryFieldByName) {
  for (size_t count : {1, 2, 3, 7, 50, 1000}) {
    const auto names = Names(count);
    const Built built(names);
    for (size_t i = 0; i < count; ++i)
      EXPECT_EQ(built.type.Find(names[i]), &built.fields[i]) << names[i];
  }
}

TEST(Type, AnswersNullForUnknownNames) {
  const auto names = Names(50);
  const Built built(names);
  for (std::string name : {"", "X", "x", "xx0", "containers", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"})
    EXPECT_EQ(built.type.Find(name), nullptr) << name;
  EXPECT_EQ(Built({}).type.Find("name"), nullptr);
}

TEST(Type, NamesThatHashAlikeAreToldApart) {
  // value::HashName sees both ends and the length only.
  const std::vector<std::string> names = {"aaaaaaaa-one-bbbbbbbb", "aaaaaaaa-two-bbbbbbbb"};
  ASSERT_EQ(value::HashName(names[0]), value::HashName(names[1]));
  const Built built(names);
  EXPECT_EQ(built.type.Find(names[0]), &built.fields[0]);
  EXPECT_EQ(built.type.Find(names[1]), &built.fields[1]);
  EXPECT_EQ(built.type.Find("aaaaaaaa-six-bbbbbbbb"), nullptr);
}

TEST(Type, FindNearFollowsStructOrderAndRecovers) {
  const Built built({"kind", "apiVersion", "metadata", "spec", "status"});
  uint32_t hint = 0;
  EXPECT_EQ(built.type.FindNear("kind", hint), &built.fields[0]);
  EXPECT_EQ(hint, 1u);
  EXPECT_EQ(built.type.FindNear("spec", hint), &built.fields[3]);
  EXPECT_EQ(hint, 4u);
  EXPECT_EQ(built.type.FindNear("nothing", hint), nullptr);
  EXPECT_EQ(hint, 4u);
  EXPECT_EQ(built.type.FindNear("status", hint), &built.fields[4]);
  EXPECT_EQ(built.type.FindNear("kind", hint), &built.fields[0]);
}

TEST(Type, FindsWireFieldsAcrossGaps) {
  constexpr WireField kWire[] = {{.number = 1}, {.number = 2}, {.number = 5}, {.number = 40}};
  const Type type{.kind = TypeKind::kStruct, .wire_count = 4, .wire_data = kWire};
  for (const WireField& field : kWire) EXPECT_EQ(type.FindWire(field.number), &field);
  for (uint32_t number : {0u, 3u, 4u, 6u, 39u, 41u, 0xFFFFFFFFu})
    EXPECT_EQ(type.FindWire(number), nullptr) << number;
}

TEST(Type, FieldDecidesAtomicityBeforeItsType) {
  const Type atomic{.kind = TypeKind::kStruct, .flags = Type::kAtomic};
  EXPECT_TRUE(IsAtomic({.type = &atomic}));
  EXPECT_FALSE(IsAtomic({.type = &atomic, .flags = Field::kGranular}));
  EXPECT_TRUE(IsAtomic({.type = &kText, .flags = Field::kAtomic}));
  EXPECT_FALSE(IsAtomic({.type = &kText}));
}

}  // namespace
}  // namespace keelson::schema
