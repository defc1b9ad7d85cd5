#include "schema/validate.h"

#include <gtest/gtest.h>

#include "schema/test_types.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using testing::StructOf;
using value::Name;
using value::Value;

constexpr Name kSize = Name::Quoted("\"size\":");
constexpr Name kColor = Name::Quoted("\"color\":");
constexpr Name kWhenField = Name::Quoted("\"when\":");
constexpr Name kTags = Name::Quoted("\"tags\":");
constexpr Name kPorts = Name::Quoted("\"ports\":");
constexpr Name kPortField = Name::Quoted("\"port\":");
constexpr Name kNote = Name::Quoted("\"note\":");
constexpr Name kChoice = Name::Quoted("\"choice\":");
constexpr Name kIos = Name::Quoted("\"ios\":");
constexpr Name kFree = Name::Quoted("\"free\":");

constexpr Rule Count(RuleKind kind, int64_t count) {
  Rule rule{.kind = kind};
  rule.count = count;
  return rule;
}
constexpr Rule Number(RuleKind kind, double number) {
  Rule rule{.kind = kind};
  rule.number = number;
  return rule;
}
constexpr Rule Text(RuleKind kind, std::string_view text) {
  Rule rule{.kind = kind, .size = static_cast<uint32_t>(text.size())};
  rule.text_data = text.data();
  return rule;
}

constexpr Value kColors[] = {Value::String("red"), Value::String("green")};
constexpr Rule kColorRules[] = {[] {
  Rule rule{.kind = RuleKind::kEnum, .size = 2};
  rule.values_data = kColors;
  return rule;
}()};
constexpr Type kColorType{.kind = TypeKind::kString, .rule_count = 1, .rules_data = kColorRules};
constexpr Rule kSizeRules[] = {Number(RuleKind::kMinimum, 0), Number(RuleKind::kMaximum, 100)};
constexpr Type kSizeType{.kind = TypeKind::kInt64, .rule_count = 2, .rules_data = kSizeRules};
constexpr Rule kWhenRules[] = {Text(RuleKind::kFormat, "date-time")};
constexpr Type kWhenType{.kind = TypeKind::kString, .rule_count = 1, .rules_data = kWhenRules};
constexpr Rule kNoteRules[] = {Count(RuleKind::kMaxLength, 5), Count(RuleKind::kMinLength, 2),
                               Text(RuleKind::kPattern, "^[a-z]+$")};
constexpr Type kNoteType{.kind = TypeKind::kString, .rule_count = 3, .rules_data = kNoteRules};
constexpr Rule kTagsRules[] = {Count(RuleKind::kMaxItems, 3), Count(RuleKind::kMinItems, 1)};
constexpr Type kTagsType{.kind = TypeKind::kList,
                         .list_type = ListType::kSet,
                         .rule_count = 2,
                         .element = &testing::kText,
                         .rules_data = kTagsRules};
constexpr std::array kPortFields = {Field{.name = &kPortField, .type = &testing::kLong}};
constexpr StructOf kPortType("", "", kPortFields);
constexpr std::string_view kPortKeys[] = {"port"};
constexpr Type kPortsType{.kind = TypeKind::kList,
                          .list_type = ListType::kMap,
                          .key_count = 1,
                          .element = &kPortType.type,
                          .keys_data = kPortKeys};
constexpr Type kIsText{.kind = TypeKind::kString};
constexpr Type kIsFlag{.kind = TypeKind::kBool};
constexpr const Type* kAlternatives[] = {&kIsText, &kIsFlag};
constexpr Rule kChoiceRules[] = {[] {
  Rule rule{.kind = RuleKind::kAnyOf, .size = 2};
  rule.types_data = kAlternatives;
  return rule;
}()};
constexpr Type kChoiceType{
    .kind = TypeKind::kUnspecified, .rule_count = 1, .rules_data = kChoiceRules};
constexpr Type kFreeType{.kind = TypeKind::kMap, .element = &testing::kLong};
constexpr std::array kSpecFields = {
    Field{.name = &kSize, .type = &kSizeType, .flags = Field::kRequired},
    Field{.name = &kColor, .type = &kColorType},
    Field{.name = &kWhenField, .type = &kWhenType},
    Field{.name = &kTags, .type = &kTagsType},
    Field{.name = &kPorts, .type = &kPortsType},
    Field{.name = &kNote, .type = &kNoteType},
    Field{.name = &kChoice, .type = &kChoiceType},
    Field{.name = &kIos, .type = &testing::kPort},
    Field{.name = &kFree, .type = &kFreeType}};
constexpr StructOf kSpec("", "", kSpecFields, {}, Type::kHasRules);
constexpr std::array kGadgetFields = {
    Field{.name = &testing::kSpecName, .type = &kSpec.type, .flags = Field::kRequired}};
constexpr StructOf kGadget("", "", kGadgetFields, {}, Type::kHasRules);

std::string Check(std::string_view json) {
  auto object = value::ParseJson(json);
  std::string all;
  for (const auto& error : ValidateStructure(kGadget.type, object->root())) {
    all += error.ToString() + "\n";
  }
  for (const auto& error : ValidateListTypes(kGadget.type, object->root())) {
    all += error.ToString() + "\n";
  }
  return all;
}

TEST(ValidateStructure, SpeaksAsUpstream) {
  EXPECT_EQ(Check(R"({"spec":{"size":1,"tags":["a"],"ports":[{"port":1}],"ios":"x"}})"), "");
  EXPECT_EQ(Check("{}"), "spec: Required value\n");
  EXPECT_EQ(Check(R"({"spec":{}})"), "spec.size: Required value\n");
  EXPECT_EQ(Check(R"({"spec":{"size":"x"}})"),
            "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: "
            "\"string\"\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"ios":true}})"),
            "spec.ios: Invalid value: \"boolean\": spec.ios in body must be of type "
            "integer,string: \"boolean\"\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"color":"pink"}})"),
            "spec.color: Unsupported value: \"pink\": supported values: \"red\", \"green\"\n");
  EXPECT_EQ(Check(R"({"spec":{"size":-1}})"),
            "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to "
            "0\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"when":"notadate"}})"),
            "spec.when: Invalid value: \"notadate\": spec.when in body must be of type date-time: "
            "\"notadate\"\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"note":"x"}})"),
            "spec.note: Invalid value: \"x\": spec.note in body should be at least 2 chars long\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"note":"AB"}})"),
            "spec.note: Invalid value: \"AB\": spec.note in body should match '^[a-z]+$'\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"note":"abcdef"}})"),
            "spec.note: Too long: may not be more than 5 bytes\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"tags":["a","b","c","d"]}})"),
            "spec.tags: Too many: 4: must have at most 3 items\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"free":{"a":1,"b":"x"}}})"),
            "spec.free.b: Invalid value: \"string\": spec.free.b in body must be of type integer: "
            "\"string\"\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"choice":5}})"),
            "<nil>: Invalid value: \"\": \"spec.choice\" must validate at least one schema "
            "(anyOf)\nspec.choice: Invalid value: \"integer\": spec.choice in body must be of type "
            "string: \"integer\"\n");
}

TEST(ValidateListTypes, NamesTheSecondOfAKind) {
  EXPECT_EQ(Check(R"({"spec":{"size":1,"tags":["a","a","a"]}})"),
            "spec.tags[1]: Duplicate value: \"a\"\n");
  EXPECT_EQ(Check(R"({"spec":{"size":1,"ports":[{"port":1},{"port":1}]}})"),
            "spec.ports[1]: Duplicate value: {\"port\":1}\n");
}

TEST(FitsFormat, KnowsTheCommonOnes) {
  struct Case {
    std::string_view format, good, bad;
  };
  constexpr Case kCases[] = {
      {"date-time", "2024-01-02t03:04:05.123Z", "2024-01-02"},
      {"date", "2024-02-29", "2023-02-29"},
      {"uuid", "5a3c1f0e8b1d4c579d0f3b1a2c4d5e6f", "5a3c1f0e"},
      {"uuid4", "5a3c1f0e-8b1d-4c57-9d0f-3b1a2c4d5e6f", "5a3c1f0e-8b1d-3c57-9d0f-3b1a2c4d5e6f"},
      {"ipv4", "10.0.0.1", "10.0.0"},
      {"ipv6", "fe80::1", "10.0.0.1"},
      {"cidr", "10.0.0.0/8", "10.0.0.0/33"},
      {"hostname", "a.example.com", "-a.example.com"},
      {"mac", "00:1B:44:11:3a:B7", "00:1B:44:11:3a"},
      {"email", "a@example.com", "a.example.com"},
      {"uri", "https://example.com/x", "example"},
      {"byte", "aGk=", "!"},
      {"duration", "1h", "1 fortnight"},
      {"k8s-short-name", "abc-1", "a.b"},
      {"k8s-long-name", "a.b-c", "A"},
  };
  for (const Case& c : kCases) {
    EXPECT_TRUE(FitsFormat(c.format, c.good)) << c.format;
    EXPECT_FALSE(FitsFormat(c.format, c.bad)) << c.format;
  }
  EXPECT_TRUE(FitsFormat("made-up", "anything"));
}

}  // namespace
}  // namespace keelson::schema
