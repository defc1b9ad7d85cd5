#include "schema/transform.h"

#include <gtest/gtest.h>

#include "api/apps_v1.h"
#include "api/catalog.h"
#include "api/core_v1.h"
#include "schema/decode_json.h"
#include "schema/equality.h"
#include "schema/test_types.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using value::Document;
using value::ToJson;
using value::Value;

const Type& Kind(std::string_view group, std::string_view version, std::string_view kind) {
  return *api::kCatalog.Find(group, version)->FindKind(kind);
}

Document Decode(const Type& type, std::string_view json) {
  auto decoded = DecodeJson(type, json);
  EXPECT_TRUE(decoded.has_value()) << decoded.error().message;
  return decoded->object;
}

TEST(ApplyDefaults, FillsInWhatTheSchemaSays) {
  const Type& service = Kind("", "v1", "Service");
  Document object =
      Decode(service, R"({"spec":{"ports":[{"port":80},{"port":81,"protocol":"UDP"}]}})");
  ApplyDefaults(service, object);
  EXPECT_EQ(ToJson(object.root()),
            R"({"metadata":{},"spec":{"ports":[{"protocol":"TCP","port":80,"targetPort":0},)"
            R"({"protocol":"UDP","port":81,"targetPort":0}]},"status":{"loadBalancer":{}}})");
}

TEST(ApplyDefaults, ReturnsTheSameTreeWhenNothingIsMissing) {
  const Type& service = Kind("", "v1", "Service");
  Document object = Decode(service, R"({"spec":{"ports":[{"port":81,"protocol":"UDP"}]}})");
  Document before = object;
  ApplyDefaults(service, object);
  EXPECT_EQ(before.root().members().data(), object.root().members().data());
}

TEST(ApplyDefaults, HooksSeeTheObjectAndKeepItsOrder) {
  using Spec = api::apps_v1::DeploymentSpec;
  using Pod = api::core_v1::PodSpec;
  const DefaultHook hooks[] = {
      {&Pod::Schema(),
       [](StructEditor& spec) {
         spec.SetDefault(Pod::Names::dnsPolicy, spec.String("ClusterFirst"));
       }},
      {&Spec::Schema(),
       [](StructEditor& spec) {
         spec.SetDefault(Spec::Names::replicas, Value::Int(1));
         if (spec.Get(Spec::Names::paused).AsBool()) spec.Remove(Spec::Names::paused);
       }},
  };
  const Type& deployment = Kind("apps", "v1", "Deployment");
  Document object = Decode(deployment, R"({"spec":{"paused":true}})");
  ApplyDefaults(deployment, object, DefaultHooks(hooks));
  EXPECT_EQ(
      ToJson(object.root()),
      R"({"metadata":{},"spec":{"replicas":1,"selector":null,"template":{"metadata":{},"spec":)"
      R"({"containers":null,"dnsPolicy":"ClusterFirst"}},"strategy":{}},"status":{}})");
}

// A custom resource's schema: {spec: {size, tags: [{k}], free...}, any}.
constexpr value::Name kSizeName = value::Name::Quoted("\"size\":");
constexpr value::Name kItemsName = value::Name::Quoted("\"items\":");
constexpr Value kThree = Value::Int(3);
constexpr FieldExtra kSizeExtra{.default_value = &kThree};
constexpr std::array kItemFields = {Field{
    .name = &kSizeName, .type = &testing::kInt, .extra = &kSizeExtra, .flags = Field::kDefault}};
constexpr testing::StructOf kItem("", "", kItemFields, {}, Type::kHasDefaults);
constexpr Type kItems{.kind = TypeKind::kList, .flags = Type::kHasDefaults, .element = &kItem.type};
constexpr std::array kRootFields = {Field{.name = &testing::kSpecName, .type = &kItem.type},
                                    Field{.name = &kItemsName, .type = &kItems}};
constexpr testing::StructOf kRoot("", "", kRootFields, {}, Type::kHasDefaults);

TEST(Prune, DropsWhatTheSchemaDoesNotKnow) {
  Document object = *value::ParseJson(
      R"({"apiVersion":"v1","kind":"X","metadata":{"zz":1},"spec":{"size":1,"nope":2},"extra":1,)"
      R"("items":[{"size":1},{"odd":{}}]})");
  std::vector<std::string> unknown;
  Prune(kRoot.type, object, &unknown);
  EXPECT_EQ(
      ToJson(object.root()),
      R"({"apiVersion":"v1","kind":"X","metadata":{"zz":1},"spec":{"size":1},"items":[{"size":1},{}]})");
  EXPECT_EQ(unknown,
            (std::vector<std::string>{"unknown field \"spec.nope\"", "unknown field \"extra\"",
                                      "unknown field \"items[1].odd\""}));
  Document again = object;
  Prune(kRoot.type, object);
  EXPECT_EQ(again.root().members().data(), object.root().members().data());
}

TEST(ApplyDefaults, FillsCustomResources) {
  Document object = *value::ParseJson(R"({"spec":{"size":null},"items":[{},{"size":0}]})");
  ApplyDefaults(kRoot.type, object);
  EXPECT_EQ(ToJson(object.root()), R"({"spec":{"size":3},"items":[{"size":3},{"size":0}]})");
}

TEST(PruneNulls, KeepsThoseThatDefaultingReplaces) {
  Document object = *value::ParseJson(R"({"spec":null,"items":[{"size":null}],"other":null})");
  PruneNulls(kRoot.type, object);
  EXPECT_EQ(ToJson(object.root()), R"({"items":[{"size":null}],"other":null})");
}

TEST(Normalize, RestoresCanonicalForm) {
  const Type& pod = testing::kPod.type;
  Document object = *value::ParseJson(
      R"({"spec":{"hostNetwork":false,"containers":[{"image":"","name":"c"},null]},"kind":"Pod",)"
      R"("metadata":{"labels":{"b":"1","a":"2"}},"data":{}})");
  Normalize(pod, object);
  EXPECT_EQ(
      ToJson(object.root()),
      R"({"kind":"Pod","metadata":{"labels":{"a":"2","b":"1"}},"spec":{"containers":[{"name":"c",)"
      R"("resources":{}},{"name":"","resources":{}}]},"status":{}})");
  Document again = object;
  Normalize(pod, object);
  EXPECT_EQ(again.root().members().data(), object.root().members().data());
}

TEST(Normalize, LosesEmptyContainersThatStorageLoses) {
  const Type& pod = testing::kPod.type;
  const auto normalized = [&](EmptyContainers empty) {
    Document object = Decode(pod, R"({"kind":"Pod","spec":{"containers":[]}})");
    Normalize(pod, object, empty);
    return ToJson(object.root()["spec"]["containers"]);
  };
  EXPECT_EQ(normalized(EmptyContainers::kKept), "[]");
  EXPECT_EQ(normalized(EmptyContainers::kLost), "null");
}

TEST(Equality, GoesByMeaning) {
  const Type& pod = testing::kPod.type;
  auto equal = [&](std::string_view a, std::string_view b) {
    return EqualByMeaning(pod, Decode(pod, a).root(), Decode(pod, b).root());
  };
  EXPECT_TRUE(equal(R"({"spec":{"containers":[]}})", R"({"spec":{"containers":null}})"));
  EXPECT_TRUE(equal(R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1"}}}]}})",
                    R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1000m"}}}]}})"));
  EXPECT_FALSE(equal(R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1"}}}]}})",
                     R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"2"}}}]}})"));
  EXPECT_FALSE(equal(R"({"spec":{"terminationGracePeriodSeconds":0}})", R"({"spec":{}})"));
  EXPECT_FALSE(equal(R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{}})"));
  EXPECT_TRUE(equal(R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
                    R"({"metadata":{"labels":{"b":"2","a":"1"}}})"));
}

}  // namespace
}  // namespace keelson::schema
