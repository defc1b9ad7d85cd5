#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiextensions/testing_definitions.h"

namespace keelson::apiextensions {
namespace {

using rest::ResourceHandler;
using testing::Answer;
using testing::Cluster;
using testing::Definition;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kSchema =
    R"({"type":"object","required":["spec"],"properties":{"spec":{"type":"object","required":)"
    R"(["size"],"properties":{"size":{"type":"integer"},"replicas":{"type":"integer","default":1,)"
    R"("minimum":0},"color":{"type":"string","default":"red","enum":["red","blue"]},"tags":)"
    R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}},)"
    R"("x-kubernetes-validations":[{"rule":"self.size < 100"}]},"status":{"type":"object",)"
    R"("properties":{"phase":{"type":"string"},"replicas":{"type":"integer"}}}}})";
constexpr std::string_view kMore =
    R"(,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas",)"
    R"("statusReplicasPath":".status.replicas"}},"selectableFields":[{"jsonPath":".spec.color"}],)"
    R"("additionalPrinterColumns":[{"name":"Color","type":"string","jsonPath":".spec.color"},)"
    R"({"name":"Phase","type":"string","jsonPath":".status.phase"}])";

std::string Gadget(std::string_view name, std::string_view spec) {
  return fmt::format(
      R"({{"apiVersion":"x.io/v1","kind":"Gadget","metadata":{{"name":"{}"}},"spec":{}}})", name,
      spec);
}

class CustomResource : public ::testing::Test {
 protected:
  CustomResource() { cluster_.Define(Definition("gadgets", "Gadget", kSchema, kMore)); }
  Answer Create(std::string_view name, std::string_view spec) {
    return cluster_.Create("gadgets", Gadget(name, spec));
  }
  Answer List(std::string_view query, std::string_view accept = "") {
    return cluster_.Send("gadgets", "v1", "", &ResourceHandler::List, "", "", "", query, accept);
  }
  std::vector<std::string> Names(const Answer& list) {
    std::vector<std::string> names;
    const auto items = list["items"];
    for (const auto& item : items.items()) {
      names.emplace_back(item["metadata"]["name"].AsString());
    }
    return names;
  }

  Cluster cluster_;
};

TEST_F(CustomResource, IsPrunedAndDefaulted) {
  const auto created = Create("a", R"({"size":1,"unknown":2})");
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(value::ToJson(created["spec"]), R"({"color":"red","replicas":1,"size":1})");
  EXPECT_EQ(created.metadata()["generation"].AsInt(), 1);
  EXPECT_EQ(cluster_.Get("gadgets", "a").body, created.body);
}

TEST_F(CustomResource, MustFitItsSchema) {
  constexpr std::string_view kUnchecked =
      "<nil>: Invalid value: null: some validation rules were not checked because the object was "
      "invalid; correct the existing errors to complete validation]";
  EXPECT_EQ(
      Create("a", "{}").message(),
      fmt::format(R"(Gadget.x.io "a" is invalid: [spec.size: Required value, {})", kUnchecked));
  EXPECT_EQ(Create("a", R"({"size":"x"})").message(),
            fmt::format(R"(Gadget.x.io "a" is invalid: [spec.size: Invalid value: "string": )"
                        R"(spec.size in body must be of type integer: "string", {})",
                        kUnchecked));
  EXPECT_EQ(Create("a", R"({"size":1,"replicas":-1})").message(),
            R"(Gadget.x.io "a" is invalid: [spec.replicas: Invalid value: -1: spec.replicas in )"
            R"(body should be greater than or equal to 0, .spec.replicas: Invalid value: -1: )"
            R"(should be a non-negative integer])");
  EXPECT_EQ(Create("a", R"({"size":1,"tags":["a","a"]})").message(),
            R"(Gadget.x.io "a" is invalid: spec.tags[1]: Duplicate value: "a")");
}

TEST_F(CustomResource, MustSayWhatItIs) {
  EXPECT_THAT(cluster_.Create("gadgets", R"({"metadata":{"name":"a"}})").message(),
              HasSubstr("Object 'Kind' is missing in"));
  EXPECT_EQ(
      cluster_
          .Create("gadgets", R"({"apiVersion":"x.io/v1","kind":"Wrong","metadata":{"name":"a"}})")
          .message(),
      R"(Wrong.x.io "a" is invalid: kind: Invalid value: "Wrong": must be Gadget)");
  EXPECT_EQ(
      cluster_
          .Create("gadgets", R"({"apiVersion":"x.io/v2","kind":"Gadget","metadata":{"name":"a"}})")
          .message(),
      "the API version in the data (x.io/v2) does not match the expected API version "
      "(x.io/v1)");
}

TEST_F(CustomResource, IsNotJudgedForWhatHasNotChanged) {
  Create("a", R"({"size":1})");
  const auto stricter = cluster_.ChangeDefinition(
      "gadgets.x.io",
      R"({"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":)"
      R"({"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":)"
      R"({"size":{"type":"integer","minimum":5},"note":{"type":"string"}}}}}}}]}})");
  ASSERT_EQ(stricter.status, 200) << stricter.body;
  cluster_.Settle();
  EXPECT_EQ(cluster_.Merge("gadgets", "a", R"({"spec":{"note":"x"}})").status, 200);
  EXPECT_EQ(cluster_.Merge("gadgets", "a", R"({"spec":{"size":2}})").status, 422);
}

TEST_F(CustomResource, HasStatusAndScaleOfItsOwn) {
  Create("a", R"({"size":1})");
  auto changed =
      cluster_.Merge("gadgets", "a", R"({"spec":{"size":9},"status":{"phase":"Up"}})", "status");
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(changed["spec"]["size"].AsInt(), 1);
  EXPECT_EQ(changed["status"]["phase"].AsString(), "Up");
  EXPECT_EQ(changed.metadata()["generation"].AsInt(), 1);
  changed = cluster_.Merge("gadgets", "a", R"({"spec":{"size":9},"status":{"phase":"Down"}})");
  EXPECT_EQ(changed["status"]["phase"].AsString(), "Up");
  EXPECT_EQ(changed.metadata()["generation"].AsInt(), 2);

  const auto scaled = cluster_.Merge("gadgets", "a", R"({"spec":{"replicas":7}})", "scale");
  EXPECT_EQ(scaled["kind"].AsString(), "Scale") << scaled.body;
  EXPECT_EQ(scaled["spec"]["replicas"].AsInt(), 7);
  EXPECT_EQ(cluster_.Merge("gadgets", "a", R"({"spec":{"replicas":-7}})", "scale").message(),
            R"(Gadget.x.io "a" is invalid: [spec.replicas: Invalid value: -7: spec.replicas in )"
            R"(body should be greater than or equal to 0, .spec.replicas: Invalid value: -7: )"
            R"(should be a non-negative integer])");
}

TEST_F(CustomResource, IsListedSelectedAndPrinted) {
  Create("a", R"({"size":1})");
  Create("b", R"({"size":1,"color":"blue"})");
  EXPECT_THAT(Names(List("")), ElementsAre("a", "b"));
  EXPECT_THAT(Names(List("fieldSelector=spec.color%3Dblue")), ElementsAre("b"));
  EXPECT_EQ(List("fieldSelector=spec.size%3D1").message(), "field label not supported: spec.size");
  const auto table = List("", "application/json;as=Table;v=v1;g=meta.k8s.io");
  const auto rows = table["rows"];
  ASSERT_EQ(rows.size(), 2u) << table.body;
  EXPECT_EQ(value::ToJson(rows.At(1)["cells"]), R"(["b","blue",null])");
  EXPECT_EQ(table["columnDefinitions"].At(1)["description"].AsString(),
            "Custom resource definition column (in JSONPath format): .spec.color");
}

TEST_F(CustomResource, IsAppliedByItsSchema) {
  const auto apply = [&](std::string_view tags, std::string_view manager) {
    return cluster_.Send("gadgets", "v1", "", &ResourceHandler::Patch, "a",
                         Gadget("a", fmt::format(R"({{"size":1,"tags":{}}})", tags)),
                         rest::testing::kApplyPatch, fmt::format("fieldManager={}", manager));
  };
  EXPECT_EQ(apply(R"(["x"])", "one").status, 201);
  const auto both = apply(R"(["y"])", "two");
  EXPECT_EQ(value::ToJson(both["spec"]["tags"]), R"(["x","y"])") << both.body;
  EXPECT_EQ(cluster_
                .Send("gadgets", "v1", "", &ResourceHandler::Patch, "a", "{}",
                      rest::testing::kStrategicPatch)
                .status,
            415);
}

TEST(CustomVersions, ShowTheSameObject) {
  Cluster cluster;
  std::string definition = Definition(
      "gadgets", "Gadget",
      R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","default":"x"}}})");
  const std::string beta =
      R"(},{"name":"v1beta1","served":true,"storage":false,"deprecated":true,"schema":)"
      R"({"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string"}}}}}]}})";
  definition.replace(definition.rfind("}]}}"), 4, beta);
  ASSERT_EQ(cluster.Define(definition).status, 201) << definition;
  const auto created = cluster.Send(
      "gadgets", "v1beta1", "", &ResourceHandler::Create, "",
      R"({"apiVersion":"x.io/v1beta1","kind":"Gadget","metadata":{"name":"o"},"a":"1"})");
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(created["apiVersion"].AsString(), "x.io/v1beta1");
  EXPECT_TRUE(created["b"].is_null());
  const auto stored = cluster.Get("gadgets", "o");
  EXPECT_EQ(stored["apiVersion"].AsString(), "x.io/v1");
  EXPECT_EQ(stored["a"].AsString(), "1");
  EXPECT_EQ(stored["b"].AsString(), "x");
}

}  // namespace
}  // namespace keelson::apiextensions
