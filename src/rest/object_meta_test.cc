#include "rest/object_meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"

namespace keelson::rest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using value::Document;
using value::Path;

Document Json(std::string_view text) {
  auto document = value::ParseJson(text);
  EXPECT_TRUE(document.has_value()) << text;
  return *document;
}

std::vector<std::string> Texts(const schema::FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const auto& error : errors) texts.push_back(error.ToString());
  return texts;
}

std::vector<std::string> Validate(std::string_view metadata, MetaRules rules = {}) {
  return Texts(ValidateObjectMeta(Json(metadata).root(), rules, Path("metadata")));
}

std::vector<std::string> ValidateUpdate(std::string_view metadata, std::string_view old) {
  return Texts(ValidateObjectMetaUpdate(Json(metadata).root(), Json(old).root(), Path("metadata")));
}

TEST(ObjectMeta, AcceptsAnOrdinaryObject) {
  EXPECT_THAT(Validate(R"({"name":"a","namespace":"b","labels":{"x/y":"z"},"annotations":)"
                       R"({"UPPER.example/A":"anything at all"},"finalizers":["a.b/c"],)"
                       R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",)"
                       R"("name":"r","uid":"u","controller":true}]})"),
              IsEmpty());
}

TEST(ObjectMeta, WantsANameAndANamespaceWhereDue) {
  EXPECT_THAT(Validate("{}"),
              ElementsAre("metadata.name: Required value: name or generateName is required",
                          "metadata.namespace: Required value"));
  EXPECT_THAT(Validate(R"({"name":"a","namespace":"b"})", {.namespaced = false}),
              ElementsAre("metadata.namespace: Forbidden: not allowed on this type"));
}

TEST(ObjectMeta, ChecksTheNameByTheKindsOwnRule) {
  EXPECT_THAT(
      Validate(R"({"name":"a:b%c","namespace":"n"})", {.name_check = names::NameIsPathSegment}),
      ElementsAre("metadata.name: Invalid value: \"a:b%c\": may not contain '%'"));
  EXPECT_THAT(Validate(R"({"generateName":"web-","name":"web-x","namespace":"n"})"), IsEmpty());
}

TEST(ObjectMeta, ChecksOwners) {
  EXPECT_THAT(Validate(R"({"name":"a","namespace":"n","ownerReferences":[{"kind":"X"}]})"),
              ElementsAre("metadata.ownerReferences.apiVersion: Invalid value: \"\": version must "
                          "not be empty",
                          "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
                          "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"));
  EXPECT_THAT(
      Validate(R"({"name":"a","namespace":"n","ownerReferences":[{"apiVersion":"v1",)"
               R"("kind":"Event","name":"a","uid":"u"}]})"),
      ElementsAre(R"(metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event",)"
                  R"("name":"a","uid":"u"}: /v1, Kind=Event is disallowed from being an owner)"));
  EXPECT_THAT(
      Validate(R"({"name":"a","namespace":"n","ownerReferences":[)"
               R"({"apiVersion":"v1","kind":"Pod","name":"a","uid":"u","controller":true},)"
               R"({"apiVersion":"v1","kind":"Pod","name":"b","uid":"v","controller":true}]})"),
      ElementsAre(testing::EndsWith(
          "Only one reference can have Controller set to true. Found \"true\" in references for "
          "Pod/a and Pod/b")));
}

TEST(ObjectMeta, LimitsAnnotations) {
  std::string big(kMaxAnnotationBytes, 'x');
  EXPECT_THAT(Validate(R"({"name":"a","namespace":"n","annotations":{"k":")" + big + R"("}})"),
              ElementsAre("metadata.annotations: Too long: may not be more than 262144 bytes"));
}

TEST(ObjectMeta, TheTwoDeletionFinalizersExcludeEachOther) {
  EXPECT_THAT(
      Validate(R"({"name":"a","namespace":"n","finalizers":["orphan","foregroundDeletion"]})"),
      ElementsAre(
          R"(metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer )"
          R"(orphan and foregroundDeletion cannot be both set)"));
}

TEST(ObjectMeta, ChecksManagedFields) {
  EXPECT_THAT(Validate(R"({"name":"a","namespace":"n","managedFields":[{"manager":"m",)"
                       R"("operation":"Bad","fieldsType":"V2"}]})"),
              ElementsAre("metadata.managedFields[0].operation: Invalid value: \"Bad\": must be "
                          "`Apply` or `Update`",
                          "metadata.managedFields[0].fieldsType: Invalid value: \"V2\": must be "
                          "`FieldsV1`"));
}

TEST(ObjectMetaUpdate, KeepsIdentity) {
  EXPECT_THAT(ValidateUpdate(R"({"name":"a","uid":"2","resourceVersion":"7"})",
                             R"({"name":"a","uid":"1","resourceVersion":"6"})"),
              ElementsAre("metadata.uid: Invalid value: \"2\": field is immutable"));
  EXPECT_THAT(ValidateUpdate(R"({"name":"a","generation":1})", R"({"name":"a","generation":2})"),
              ElementsAre("metadata.resourceVersion: Invalid value: \"\": must be specified for an "
                          "update",
                          "metadata.generation: Invalid value: 1: must not be decremented"));
}

TEST(ObjectMetaUpdate, NoNewFinalizersOnADyingObject) {
  EXPECT_THAT(
      ValidateUpdate(
          R"({"resourceVersion":"7","deletionTimestamp":"t","finalizers":["b/x","a/x","c/x"]})",
          R"({"resourceVersion":"6","deletionTimestamp":"t","finalizers":["a/x"]})"),
      ElementsAre("metadata.finalizers: Forbidden: no new finalizers can be added if the object is "
                  "being deleted, found new finalizers []string{\"b/x\", \"c/x\"}"));
}

TEST(SystemFields, AreTheServersToSet) {
  value::Builder builder(Json(R"({"name":"a","uid":"mine","selfLink":"/x"})"));
  WipeSystemFields(builder.root());
  EXPECT_EQ(value::ToJson(builder.root().Get()), R"({"name":"a"})");
  FillSystemFields(builder.root(), WallTime(std::chrono::seconds(1767225600)));
  auto filled = builder.root().Get();
  EXPECT_EQ(filled["uid"].size(), 36u);
  EXPECT_EQ(filled["creationTimestamp"].AsString(), "2026-01-01T00:00:00Z");
}

TEST(GenerateName, CutsLongPrefixes) {
  EXPECT_EQ(GenerateName("web-").size(), 9u);
  EXPECT_EQ(GenerateName(std::string(100, 'x')).size(), 63u);
}

TEST(EnsureNamespace, FillsMatchesOrRefuses) {
  value::Builder builder(Json("{}"));
  EXPECT_TRUE(EnsureNamespace("a", builder.root()).has_value());
  EXPECT_EQ(builder.root().Get()["namespace"].AsString(), "a");
  auto refused = EnsureNamespace("b", builder.root());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(
      refused.error().message,
      "the namespace of the provided object does not match the namespace sent on the request");
  EXPECT_TRUE(EnsureNamespace("", builder.root()).has_value());
  EXPECT_EQ(builder.root().Get().Find("namespace"), nullptr);
}

TEST(OwnerReferences, RepeatsAreDropped) {
  value::Builder builder(Json(R"({"ownerReferences":[{"uid":"1","name":"a"},)"
                              R"({"uid":"1","name":"b"},{"name":"a","uid":"1"}]})"));
  EXPECT_THAT(DeduplicateOwnerReferences(builder.root()), ElementsAre("1"));
  EXPECT_EQ(builder.root().Get()["ownerReferences"].items().size(), 2u);
  EXPECT_THAT(DeduplicateOwnerReferences(builder.root()), IsEmpty());
}

}  // namespace
}  // namespace keelson::rest
