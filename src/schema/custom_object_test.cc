#include "schema/custom_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/meta_v1.h"
#include "schema/crd.h"
#include "schema/transform.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CustomObject : public ::testing::Test {
 protected:
  static CrdType Build() {
    const auto schema = value::ParseJson(
        R"({"type":"object","properties":{"spec":{"type":"object","properties":{)"
        R"("size":{"type":"integer"},"note":{"type":"string","nullable":true},)"
        R"("any":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}})");
    return *BuildCrdType(schema->root(), {.object_meta = &api::meta_v1::ObjectMeta::Schema()});
  }
  std::string Decode(std::string_view text) {
    auto decoded = DecodeJson(*crd_.type, text, {.strict = true});
    if (!decoded) return decoded.error().message;
    strict_errors_ = decoded->strict_errors;
    return value::ToJson(decoded->object.root());
  }

  const CrdType crd_ = Build();
  std::vector<std::string> strict_errors_;
};

TEST_F(CustomObject, KeepsValuesThatDoNotFitTheirSchema) {
  EXPECT_EQ(Decode(R"({"spec":{"size":"large"},"kind":"A","apiVersion":"g/v1"})"),
            R"({"apiVersion":"g/v1","kind":"A","spec":{"size":"large"}})");
  EXPECT_THAT(strict_errors_, IsEmpty());
}

TEST_F(CustomObject, LosesUnknownFieldsAndNamesThem) {
  EXPECT_EQ(Decode(R"({"spec":{"size":1,"nope":2,"any":{"b":1,"a":2}},)"
                   R"("metadata":{"name":"a","zz":1}})"),
            R"({"metadata":{"name":"a"},"spec":{"any":{"a":2,"b":1},"size":1}})");
  EXPECT_THAT(strict_errors_,
              ElementsAre(R"(unknown field "metadata.zz")", R"(unknown field "spec.nope")"));
}

TEST_F(CustomObject, LosesNullsThatAreNoValues) {
  EXPECT_EQ(Decode(R"({"spec":{"size":null,"note":null}})"), R"({"spec":{"note":null}})");
}

TEST_F(CustomObject, HasTypedMetadata) {
  EXPECT_EQ(Decode(R"({"metadata":{"labels":{},"name":"a"}})"), R"({"metadata":{"name":"a"}})");
  EXPECT_THAT(Decode(R"({"metadata":{"name":1}})"),
              ::testing::HasSubstr("cannot unmarshal number"));
}

TEST_F(CustomObject, IsCanonicalWhenItsMembersAreSorted) {
  const auto object = value::ParseJson(
      R"({"spec":{"any":{"b":[{"y":1,"x":2}],"a":null}},"metadata":{"uid":"u","name":"a"},)"
      R"("apiVersion":"g/v1","extra":1})");
  const auto arena = value::Arena::Make();
  EXPECT_EQ(value::ToJson(Normalize(*crd_.type, object->root(), *arena)),
            R"({"apiVersion":"g/v1","extra":1,"metadata":{"name":"a","uid":"u"},)"
            R"("spec":{"any":{"a":null,"b":[{"x":2,"y":1}]}}})");
}

}  // namespace
}  // namespace keelson::schema
