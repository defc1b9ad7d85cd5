#include "schema/crd.h"

#include <gtest/gtest.h>

#include <string>

#include "api/meta_v1.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

value::Document Parse(std::string_view text) {
  auto document = value::ParseJson(text);
  EXPECT_TRUE(document.has_value()) << text;
  return *document;
}

Result<CrdType> Build(std::string_view schema) {
  const auto document = Parse(schema);
  return BuildCrdType(document.root(), {.object_meta = &api::meta_v1::ObjectMeta::Schema()});
}

// A definition's schema with `count` properties under spec, as controller-gen writes them.
std::string SchemaOf(int count) {
  std::string text =
      R"({"type":"object","required":["spec"],"properties":{"spec":{"type":"object",)"
      R"("required":["field0"],"properties":{)";
  for (int i = 0; i < count; ++i) {
    if (i) text += ",";
    text += fmt::format(R"("field{}":{{"description":"{}",)", i, std::string(80, 'd'));
    switch (i % 5) {
      case 0:
        text += R"("type":"string","minLength":1,"maxLength":63,"pattern":"^[a-z]+$"})";
        break;
      case 1:
        text += R"("type":"integer","format":"int32","minimum":0,"default":1})";
        break;
      case 2:
        text += R"("type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"})";
        break;
      case 3:
        text += R"("type":"boolean"})";
        break;
      default:
        text += R"("type":"object","additionalProperties":{"type":"string"}})";
    }
  }
  return text + R"(}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})";
}

TEST(CrdSchema, RootIsAWholeObjectWithFieldsInOrder) {
  auto crd = Build(SchemaOf(3));
  ASSERT_TRUE(crd.has_value()) << crd.error().message;
  const Type& root = *crd->type;
  EXPECT_TRUE(root.Has(Type::kHasTypeMeta));
  std::string names;
  for (const Field& field : root.fields()) names += fmt::format("{} ", field.text());
  EXPECT_EQ(names, "apiVersion kind metadata spec status ");
  EXPECT_EQ(root.Find("metadata")->type, &api::meta_v1::ObjectMeta::Schema());
  EXPECT_TRUE(root.Find("spec")->required());
  EXPECT_FALSE(root.Find("status")->required());
  EXPECT_TRUE(root.Find("status")->type->Has(Type::kPreserveUnknown));
  EXPECT_TRUE(root.Has(Type::kHasDefaults));
  EXPECT_TRUE(root.Has(Type::kHasRules));
}

TEST(CrdSchema, KeepsKindsRulesAndDefaults) {
  auto crd = Build(SchemaOf(5));
  ASSERT_TRUE(crd.has_value());
  const Type& spec = *crd->type->Find("spec")->type;
  const Type& text = *spec.Find("field0")->type;
  EXPECT_EQ(text.kind, TypeKind::kString);
  EXPECT_EQ(text.FindRule(RuleKind::kMaxLength)->count, 63);
  EXPECT_EQ(text.FindRule(RuleKind::kPattern)->text(), "^[a-z]+$");
  const Field& number = *spec.Find("field1");
  EXPECT_EQ(number.type->kind, TypeKind::kInt64);
  EXPECT_EQ(number.type->FindRule(RuleKind::kMinimum)->number, 0);
  EXPECT_TRUE(number.Has(Field::kDefault));
  EXPECT_EQ(number.extra->default_value->AsInt(), 1);
  const Type& set = *spec.Find("field2")->type;
  EXPECT_EQ(set.kind, TypeKind::kList);
  EXPECT_EQ(set.list_type, ListType::kSet);
  EXPECT_EQ(set.element->kind, TypeKind::kString);
  // Plain scalars are shared.
  EXPECT_EQ(spec.Find("field3")->type->kind, TypeKind::kBool);
  EXPECT_EQ(set.element, spec.Find("field4")->type->element);
}

TEST(CrdSchema, ReadsExtensions) {
  auto crd = Build(R"({"type":"object","properties":{
    "port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
    "any":{"x-kubernetes-preserve-unknown-fields":true},
    "object":{"type":"object","x-kubernetes-embedded-resource":true,
              "x-kubernetes-preserve-unknown-fields":true},
    "list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],
            "items":{"type":"object","x-kubernetes-map-type":"atomic","default":{"a":1},
                     "properties":{"a":{"type":"integer","nullable":true}}}},
    "choice":{"type":"string","enum":["x",null],"not":{"minLength":9},
              "oneOf":[{"maxLength":1},{"pattern":"b"}],
              "x-kubernetes-validations":[{"rule":"self != ''","message":"m","optionalOldSelf":true}]}
    }})");
  ASSERT_TRUE(crd.has_value()) << crd.error().message;
  const Type& root = *crd->type;
  EXPECT_EQ(root.Find("port")->type->kind, TypeKind::kIntOrString);
  EXPECT_EQ(root.Find("port")->type->rule_count, 0);
  EXPECT_EQ(root.Find("any")->type->kind, TypeKind::kAny);
  const Type& object = *root.Find("object")->type;
  EXPECT_TRUE(object.Has(Type::kEmbeddedResource) && object.Has(Type::kPreserveUnknown));
  EXPECT_NE(object.Find("metadata"), nullptr);
  const Type& list = *root.Find("list")->type;
  EXPECT_EQ(list.list_type, ListType::kMap);
  ASSERT_EQ(list.keys().size(), 2u);
  EXPECT_EQ(list.keys()[1], "b");
  EXPECT_EQ(value::ToJson(*list.element_default), R"({"a":1})");
  EXPECT_TRUE(list.element->Has(Type::kAtomic));
  EXPECT_TRUE(list.element->Find("a")->type->Has(Type::kNullable));
  const Type& choice = *root.Find("choice")->type;
  EXPECT_EQ(choice.FindRule(RuleKind::kEnum)->values().size(), 2u);
  EXPECT_EQ(choice.FindRule(RuleKind::kOneOf)->types()[1]->FindRule(RuleKind::kPattern)->text(),
            "b");
  EXPECT_EQ(choice.FindRule(RuleKind::kNot)->types()[0]->kind, TypeKind::kUnspecified);
  const CelRule& cel = choice.FindRule(RuleKind::kCel)->cel()[0];
  EXPECT_EQ(cel.rule, "self != ''");
  EXPECT_EQ(cel.optional_old_self, 1);
}

TEST(CrdSchema, OutlivesTheDefinition) {
  CrdType kept;
  {
    auto crd = Build(SchemaOf(50));
    ASSERT_TRUE(crd.has_value());
    kept = *crd;
  }
  EXPECT_EQ(
      kept.type->Find("spec")->type->Find("field45")->type->FindRule(RuleKind::kPattern)->text(),
      "^[a-z]+$");
}

TEST(CrdSchema, SmallDefinitionsStaySmall) {
  auto crd = Build(SchemaOf(50));
  ASSERT_TRUE(crd.has_value());
  EXPECT_LE(crd->bytes(), 20u * 1024);
}

TEST(CrdSchema, ErrorsNameThePlace) {
  EXPECT_EQ(Build(R"({"type":"object","properties":{"a":{"type":"array"}}})").error().message,
            "a: items is missing");
  EXPECT_EQ(Build(R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}}})")
                .error()
                .message,
            "a.b: type is missing");
  EXPECT_EQ(Build(R"({"type":"set"})").error().message, "schema: unknown type");
  std::string deep = R"({"type":"string"})";
  for (size_t i = 0; i < kMaxCrdDepth + 2; ++i) deep = R"({"type":"array","items":)" + deep + "}";
  EXPECT_EQ(Build(R"({"type":"object","properties":{"a":)" + deep + "}}").error().code,
            ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace keelson::schema
