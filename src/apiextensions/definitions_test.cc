#include "apiextensions/definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiextensions/conditions.h"
#include "apiextensions/testing_definitions.h"

namespace keelson::apiextensions {
namespace {

using rest::ResourceHandler;
using testing::Cluster;
using testing::Definition;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kPlain = R"({"type":"object"})";

TEST(Definitions, AreEstablishedAndServed) {
  Cluster cluster;
  ASSERT_EQ(cluster.Define(Definition("gadgets", "Gadget", kPlain)).status, 201);
  const auto definition = cluster.GetDefinition("gadgets.x.io");
  EXPECT_TRUE(IsConditionTrue(definition.json.root(), kNamesAccepted)) << definition.body;
  EXPECT_TRUE(IsConditionTrue(definition.json.root(), kEstablished));
  EXPECT_EQ(definition["status"]["acceptedNames"]["kind"].AsString(), "Gadget");
  EXPECT_EQ(definition["status"]["storedVersions"].size(), 1u);

  const auto groups = cluster.routes().table()->Groups();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].name, "x.io");
  EXPECT_EQ(groups[0].versions[0].resources[0]->plural, "gadgets");
  const auto created = cluster.Create(
      "gadgets", R"({"apiVersion":"x.io/v1","kind":"Gadget","metadata":{"name":"a"}})");
  EXPECT_EQ(created.status, 201) << created.body;
}

TEST(Definitions, AreServedAfterARestart) {
  Cluster cluster;
  cluster.Define(Definition("gadgets", "Gadget", kPlain));
  cluster.Create("gadgets", R"({"apiVersion":"x.io/v1","kind":"Gadget","metadata":{"name":"a"}})");
  cluster.Stop();
  EXPECT_THAT(cluster.routes().table()->kinds(), IsEmpty());
  cluster.Start();
  EXPECT_EQ(cluster.Get("gadgets", "a").status, 200);
}

TEST(Definitions, WaitForNamesThatOthersHave) {
  Cluster cluster;
  cluster.Define(Definition("gadgets", "Gadget", kPlain));
  cluster.Define(Definition("others", "Gadget", kPlain));
  auto second = cluster.GetDefinition("others.x.io");
  const auto condition = FindCondition(second.json.root(), kNamesAccepted);
  EXPECT_EQ(condition["status"].AsString(), "False") << second.body;
  EXPECT_EQ(condition["reason"].AsString(), "ListKindConflict");
  EXPECT_EQ(condition["message"].AsString(), R"("GadgetList" is already in use)");
  EXPECT_EQ(FindCondition(second.json.root(), kEstablished)["reason"].AsString(), "NotAccepted");
  EXPECT_EQ(cluster.routes().table()->Find("x.io", "others"), nullptr);

  cluster.DeleteDefinition("gadgets.x.io");
  cluster.Settle();
  second = cluster.GetDefinition("others.x.io");
  EXPECT_TRUE(IsConditionTrue(second.json.root(), kEstablished)) << second.body;
  EXPECT_NE(cluster.routes().table()->Find("x.io", "others"), nullptr);
}

TEST(Definitions, TakeTheirObjectsWithThem) {
  Cluster cluster;
  cluster.Define(Definition("gadgets", "Gadget", kPlain));
  for (const char* name : {"a", "b"}) {
    cluster.Create("gadgets", fmt::format(R"({{"apiVersion":"x.io/v1","kind":"Gadget",)"
                                          R"("metadata":{{"name":"{}"}}}})",
                                          name));
  }
  const auto deleted = cluster.DeleteDefinition("gadgets.x.io");
  EXPECT_EQ(deleted.metadata()["finalizers"].At(0).AsString(), kCleanupFinalizer) << deleted.body;
  EXPECT_TRUE(IsConditionTrue(deleted.json.root(), kTerminating));
  cluster.Settle();
  EXPECT_EQ(cluster.GetDefinition("gadgets.x.io").status, 404);
  EXPECT_EQ(cluster.Get("gadgets", "a").status, 0);
  cluster.Define(Definition("gadgets", "Gadget", kPlain));
  EXPECT_EQ(cluster.Get("gadgets", "a").status, 404);
}

TEST(Definitions, TakeNoNewObjectsWhileTheyGo) {
  Cluster cluster;
  cluster.Define(Definition("gadgets", "Gadget", kPlain));
  cluster.Create("gadgets", R"({"apiVersion":"x.io/v1","kind":"Gadget","metadata":{"name":"a",)"
                            R"("finalizers":["x.io/hold"]}})");
  cluster.DeleteDefinition("gadgets.x.io");
  const auto refused = cluster.Create(
      "gadgets", R"({"apiVersion":"x.io/v1","kind":"Gadget","metadata":{"name":"b"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.message(), HasSubstr("create not allowed while custom resource definition is "
                                           "terminating"));
  EXPECT_EQ(cluster.Merge("gadgets", "a", R"({"metadata":{"finalizers":null}})").status, 200);
  cluster.definitions().clock().Advance(std::chrono::seconds(2));
  cluster.Settle();
  EXPECT_EQ(cluster.GetDefinition("gadgets.x.io").status, 404);
}

TEST(Definitions, ShowNewDefaultsInOldObjects) {
  Cluster cluster;
  cluster.Define(Definition("gadgets", "Gadget", kPlain));
  cluster.Create("gadgets", R"({"apiVersion":"x.io/v1","kind":"Gadget","metadata":{"name":"a"}})");
  const auto changed = cluster.ChangeDefinition(
      "gadgets.x.io",
      R"({"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":)"
      R"({"openAPIV3Schema":{"type":"object","properties":{"color":{"type":"string",)"
      R"("default":"red"}}}}}]}})");
  ASSERT_EQ(changed.status, 200) << changed.body;
  cluster.Settle();
  EXPECT_EQ(cluster.Get("gadgets", "a")["color"].AsString(), "red");
}

}  // namespace
}  // namespace keelson::apiextensions
