// The patch verb at a resource of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rest/testing_verbs.h"

namespace keelson::rest {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT: the fixtures' language

class PatchVerbTest : public ::testing::Test {
 protected:
  PatchVerbTest() {
    EXPECT_EQ(maps_.Create(R"({"metadata":{"name":"a"},"data":{"k":"v"}})").status, 201);
  }

  // Who owns what, as manager/operation of each entry.
  static std::vector<std::string> Owners(const value::Value& metadata) {
    std::vector<std::string> owners;
    for (const auto& entry : metadata["managedFields"].items()) {
      owners.push_back(std::string(entry["manager"].AsString()) + "/" +
                       std::string(entry["operation"].AsString()));
    }
    return owners;
  }

  Strategy strategy_;
  TestResource resource_{"", "v1", "configmaps", strategy_};
  Verbs maps_{resource_};
};

TEST_F(PatchVerbTest, EachPatchTypeChangesTheObject) {
  EXPECT_EQ(maps_.Patch("a", kMergePatch, R"({"data":{"k":null,"m":"1"}})")["data"]["m"].AsString(),
            "1");
  EXPECT_EQ(maps_.Patch("a", kStrategicPatch, R"({"data":{"s":"2"}})")["data"]["s"].AsString(),
            "2");
  auto patched = maps_.Patch("a", kJsonPatch, R"([{"op":"add","path":"/data/j","value":"3"}])");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(value::ToJson(patched["data"]), R"({"j":"3","m":"1","s":"2"})");
  EXPECT_EQ(patched.metadata()["resourceVersion"].AsString(), "5");
}

TEST_F(PatchVerbTest, WhatIsNotThereIsSaidBeforeWhatIsWrongWithThePatch) {
  EXPECT_EQ(maps_.Patch("b", kMergePatch, "{bad").message(), "configmaps \"b\" not found");
  EXPECT_EQ(maps_.Patch("a", kMergePatch, "{bad").message(),
            "error decoding patch: invalid character 'b' looking for beginning of object key "
            "string");
}

TEST_F(PatchVerbTest, RefusesWhatMakesTheObjectUnfit) {
  auto refused = maps_.Patch("a", kMergePatch, R"({"data":{"k":1}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.message(), HasSubstr("json: cannot unmarshal number into Go struct field "
                                           "ConfigMap.data of type string"));
  EXPECT_EQ(maps_.Patch("a", kStrategicPatch, R"({"data":"x"})").message(),
            " \"\" is invalid: patch: Invalid value: \"map[data:x]\": cannot restore map from "
            "string");
  EXPECT_THAT(maps_.Patch("a", kMergePatch, R"({"kind":"Secret"})").message(),
              HasSubstr("converting (v1.Secret) to (core.ConfigMap): unknown conversion"));
  EXPECT_EQ(maps_.Patch("a", kMergePatch, R"({"metadata":{"name":"b"}})").message(),
            "the name of the object (b) does not match the name on the URL (a)");
  EXPECT_EQ(maps_.Get("a").metadata()["resourceVersion"].AsString(), "2") << "nothing was written";
}

TEST_F(PatchVerbTest, RefusesOtherMediaTypes) {
  EXPECT_EQ(maps_.Patch("a", "application/json", "{}").status, 415);
}

TEST_F(PatchVerbTest, UnknownAndRepeatedFieldsAreWarnedOfOrRefused) {
  EXPECT_EQ(maps_.Patch("a", kMergePatch, R"({"bogus":1})").status, 200);
  EXPECT_THAT(resource_.warnings(), ElementsAre("unknown field \"bogus\""));
  auto refused = maps_.Patch("a", kMergePatch, R"({"bogus":1})", "fieldValidation=Strict");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.message(), HasSubstr("strict decoding error: unknown field \"bogus\""));
  EXPECT_EQ(maps_.Patch("a", kMergePatch, R"({"bogus":1})", "fieldValidation=Ignore").status, 200);
  EXPECT_EQ(resource_.warnings().size(), 1u);
}

TEST_F(PatchVerbTest, ComparesTheVersionThatThePatchNames) {
  auto lost = maps_.Patch("a", kMergePatch, R"({"metadata":{"resourceVersion":"1"},"data":{}})");
  EXPECT_EQ(lost.status, 409);
  EXPECT_THAT(lost.message(), HasSubstr("the object has been modified"));
}

TEST_F(PatchVerbTest, DryRunsLeaveTheObject) {
  auto dry = maps_.Patch("a", kMergePatch, R"({"data":{"k":"w"}})", "dryRun=All");
  EXPECT_EQ(dry["data"]["k"].AsString(), "w");
  EXPECT_EQ(maps_.Get("a")["data"]["k"].AsString(), "v");
}

TEST_F(PatchVerbTest, WritersOwnWhatTheyChange) {
  maps_.Patch("a", kMergePatch, R"({"data":{"m":"1"}})", "fieldManager=other");
  auto object = maps_.Get("a");
  EXPECT_THAT(Owners(object.metadata()), ElementsAre("other/Update", "tool/Update"));
  EXPECT_EQ(value::ToJson(object.metadata()["managedFields"].At(0)["fieldsV1"]),
            R"({"f:data":{"f:m":{}}})");
}

TEST_F(PatchVerbTest, AWriteWithoutEffectIsNone) {
  resource_.clock().Advance(std::chrono::hours(1));
  auto same = maps_.Patch("a", kMergePatch, R"({"data":{"k":"v"}})");
  EXPECT_EQ(same.metadata()["resourceVersion"].AsString(), "2");
}

TEST_F(PatchVerbTest, AnEmptyListOfOwnersForgetsThemAll) {
  EXPECT_FALSE(Owners(maps_.Get("a").metadata()).empty());
  maps_.Patch("a", kMergePatch, R"({"metadata":{"managedFields":[]}})");
  EXPECT_TRUE(Owners(maps_.Get("a").metadata()).empty());
  maps_.Patch("a", kMergePatch, R"({"data":{"m":"1"}})");
  maps_.Update("a", R"({"metadata":{"name":"a","managedFields":[]},"data":{"k":"v"}})");
  EXPECT_TRUE(Owners(maps_.Get("a").metadata()).empty());
}

TEST_F(PatchVerbTest, ApplyCreatesWhatIsNotThere) {
  auto created =
      maps_.Apply("b", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: z}}",
                  "fieldManager=m");
  EXPECT_EQ(created.status, 201) << created.body;
  EXPECT_THAT(Owners(created.metadata()), ElementsAre("m/Apply"));
  EXPECT_EQ(created.metadata()["uid"].size(), 36u);
  auto again =
      maps_.Apply("b", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: z}}",
                  "fieldManager=m");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.metadata()["resourceVersion"], created.metadata()["resourceVersion"]);
}

TEST_F(PatchVerbTest, ApplyRefusesConflictsUnlessForced) {
  const std::string_view config =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: mine}}";
  auto refused = maps_.Apply("a", config, "fieldManager=m");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.message(),
            "Apply failed with 1 conflict: conflict with \"tool\" using v1: .data.k");
  auto forced = maps_.Apply("a", config, "fieldManager=m&force=true");
  EXPECT_EQ(forced.status, 200) << forced.body;
  EXPECT_EQ(forced["data"]["k"].AsString(), "mine");
  EXPECT_THAT(Owners(forced.metadata()), Contains("m/Apply"));
}

TEST_F(PatchVerbTest, ApplyRefusesWhatIsNoConfiguration) {
  EXPECT_THAT(maps_.Apply("a", "[", "fieldManager=m").message(),
              HasSubstr("error decoding YAML: error converting YAML to JSON: yaml: "));
  EXPECT_EQ(maps_.Apply("a", "\"x\"", "fieldManager=m").message(),
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot "
            "unmarshal string into Go value of type map[string]interface {}");
  EXPECT_EQ(maps_.Apply("a", "{}", "").status, 422) << "an applier must name itself";
  auto uid = maps_.Apply("b", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, uid: u}}",
                         "fieldManager=m");
  EXPECT_EQ(uid.status, 409);
  EXPECT_THAT(uid.message(), HasSubstr("uid mismatch: the provided object specified uid u"));
}

}  // namespace
}  // namespace keelson::rest
