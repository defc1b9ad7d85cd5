// Services written to a memory store: what they take, keep and give back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "api/core_v1.h"
#include "kube/service/strategies.h"
#include "rest/testing_store.h"
#include "rest/write.h"
#include "schema/decode_json.h"
#include "schema/transform.h"
#include "value/json.h"

namespace keelson::kube::service {
namespace {

using ::testing::StartsWith;
using value::Document;
using value::Value;

class Replace final : public rest::Mutation {
 public:
  explicit Replace(Document object) : object_(std::move(object)) {}
  ApiResult<Document> Mutate(const Document*) override { return object_; }

 private:
  const Document object_;
};

class ServiceTest : public ::testing::Test {
 protected:
  explicit ServiceTest(std::string_view range = "10.0.0.0/24")
      : kinds_({.cluster_ip_ranges = {*IpPrefix::Parse(range)},
                .node_ports = *PortRange::Parse("30000-30003")},
               test_.store()) {
    rest::KindTable table;
    kinds_.AddTo(table);
    test_.SetKinds(std::move(table));
    kinds_.Connect({.ip_addresses = Spec("networking.k8s.io", "ipaddresses"),
                    .service_cidrs = Spec("networking.k8s.io", "servicecidrs"),
                    .endpoints = Spec("", "endpoints")});
  }

  Document Read(std::string_view json) {
    const auto& type = *Spec("", "services").info->type;
    auto decoded = schema::DecodeJson(type, json);
    KEELSON_CHECK(decoded.has_value());
    schema::ApplyDefaults(type, decoded->object, test_.defaults());
    return decoded->object;
  }
  static std::string Named(std::string_view name, std::string_view spec) {
    return R"({"metadata":{"namespace":"n","name":")" + std::string(name) + R"("},"spec":)" +
           std::string(spec) + "}";
  }
  // The spec as stored, or the refusal's message.
  std::string Create(std::string_view name, std::string_view spec, bool dry_run = false) {
    return Outcome(Wait(
        rest::CreateObject(Spec("", "services"), Scope(name, dry_run), Read(Named(name, spec)))));
  }
  std::string Update(std::string_view name, std::string_view spec) {
    Replace replace(Read(Named(name, spec)));
    return Outcome(Wait(rest::ChangeObject(Spec("", "services"), Scope(name), replace)));
  }
  void Delete(std::string_view name) {
    const rest::DeleteOptions options;
    ASSERT_TRUE(Wait(rest::DeleteObject(Spec("", "services"), Scope(name), options)));
  }
  const rest::WriteScope& Scope(std::string_view name, bool dry_run = false) {
    name_ = name;
    scope_ = {.ns = "n", .name = name_, .dry_run = dry_run, .now = test_.clock().WallNow()};
    return scope_;
  }

  std::string Outcome(ApiResult<rest::Written> written) {
    if (!written) return written.error().message;
    document_ = *value::ParseJson(written->json.view());
    return "";
  }
  // A field of the service that was written last.
  std::string Spec(std::string_view field) {
    return value::ToJson(document_.root()["spec"][field]);
  }

  // The addresses that are taken.
  std::set<std::string> Taken() {
    auto listed = Wait(Spec("networking.k8s.io", "ipaddresses").store->List({}));
    std::set<std::string> names;
    for (const auto& object : listed->objects) names.insert(std::string(object->name()));
    return names;
  }

  const rest::ResourceSpec& Spec(std::string_view group, std::string_view plural) {
    return test_.Spec(group, plural);
  }
  template <typename T>
  T Wait(Task<T> task) {
    return test_.Run(std::move(task));
  }

 private:
  rest::testing::TestStore test_;
  Kinds kinds_;
  std::string name_;
  rest::WriteScope scope_;
  Document document_;
};

constexpr std::string_view kPlain = R"({"ports":[{"port":80}]})";
constexpr std::string_view kNodePort = R"({"type":"NodePort","ports":[{"port":80}]})";

TEST_F(ServiceTest, TakesAnAddressAndGivesItBackWhenDeleted) {
  ASSERT_EQ(Create("a", kPlain), "");
  EXPECT_THAT(Spec("clusterIP"), StartsWith("\"10.0.0."));
  EXPECT_EQ(Spec("ipFamilies"), R"(["IPv4"])");
  EXPECT_EQ(Spec("ipFamilyPolicy"), R"("SingleStack")");
  EXPECT_EQ(Taken().size(), 1);
  Delete("a");
  EXPECT_TRUE(Taken().empty());
}

TEST_F(ServiceTest, AnAddressIsTakenOnce) {
  constexpr std::string_view kFixed = R"({"clusterIP":"10.0.0.9","ports":[{"port":80}]})";
  ASSERT_EQ(Create("a", kFixed), "");
  EXPECT_EQ(Create("b", kFixed),
            "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.0.0.9\"]: failed to "
            "allocate IP 10.0.0.9: provided IP is already allocated");
  Delete("a");
  EXPECT_EQ(Create("b", kFixed), "");
  EXPECT_EQ(Create("c", R"({"clusterIP":"1.2.3.4","ports":[{"port":80}]})"),
            "Service \"c\" is invalid: spec.clusterIPs: Invalid value: [\"1.2.3.4\"]: failed to "
            "allocate IP 1.2.3.4: the provided network does not match the current range");
}

TEST_F(ServiceTest, ARefusedServiceLeavesNothingBehind) {
  EXPECT_EQ(
      Create("a", R"({"type":"NodePort","ports":[{"port":0}]})"),
      "Service \"a\" is invalid: [spec.ports[0].port: Invalid value: 0: must be between 1 and "
      "65535, inclusive, spec.ports[0].targetPort: Invalid value: 0: must be between 1 and "
      "65535, inclusive]");
  EXPECT_TRUE(Taken().empty());
  for (const char* name : {"b", "c", "d", "e"}) EXPECT_EQ(Create(name, kNodePort), "");
}

TEST_F(ServiceTest, ADryRunTakesNothing) {
  EXPECT_EQ(Create("a", kNodePort, /*dry_run=*/true), "");
  EXPECT_EQ(Spec("clusterIP"), "\"10.0.0.0\"");
  EXPECT_TRUE(Taken().empty());
}

TEST_F(ServiceTest, NodePortsRunOutAndComeBack) {
  for (const char* name : {"a", "b", "c", "d"}) ASSERT_EQ(Create(name, kNodePort), "");
  EXPECT_EQ(Create("e", kNodePort),
            "Internal error occurred: failed to allocate a nodePort: range is full");
  EXPECT_EQ(Taken().size(), 4);
  Delete("a");
  EXPECT_EQ(Create("e", kNodePort), "");
}

TEST_F(ServiceTest, NodePortsAreAskedForByNumber) {
  ASSERT_EQ(Create("a", R"({"type":"NodePort","ports":[{"port":80,"nodePort":30001}]})"), "");
  EXPECT_EQ(Create("b", R"({"type":"NodePort","ports":[{"port":80,"nodePort":30001}]})"),
            "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port "
            "is already allocated");
  EXPECT_EQ(Create("b", R"({"type":"NodePort","ports":[{"port":80,"nodePort":80}]})"),
            "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is "
            "not in the valid range. The range of valid ports is 30000-30003");
}

TEST_F(ServiceTest, AnUpdateMayLeaveOutWhatTheServerChose) {
  ASSERT_EQ(Create("a", kNodePort), "");
  const auto address = Spec("clusterIP");
  const auto ports = Spec("ports");
  ASSERT_EQ(Update("a", R"({"type":"NodePort","ports":[{"port":80}],"selector":{"x":"y"}})"), "");
  EXPECT_EQ(Spec("clusterIP"), address);
  EXPECT_EQ(Spec("ports"), ports);
  EXPECT_EQ(Update("a", R"({"clusterIP":"10.0.0.77","ports":[{"port":80}]})")
                    .find("may not change once set") != std::string::npos,
            true);
}

TEST_F(ServiceTest, AChangedTypeGivesBackWhatItNoLongerNeeds) {
  for (const char* name : {"a", "b", "c", "d"}) ASSERT_EQ(Create(name, kNodePort), "");
  ASSERT_EQ(Update("a", kPlain), "");
  EXPECT_EQ(Spec("ports"), R"([{"protocol":"TCP","port":80,"targetPort":80}])");
  EXPECT_EQ(Create("e", kNodePort), "");  // with the port that "a" had
  ASSERT_EQ(Update("a", R"({"type":"ExternalName","externalName":"x.example"})"), "");
  EXPECT_EQ(Spec("clusterIP"), "null");
  EXPECT_EQ(Taken().size(), 4);
}

TEST_F(ServiceTest, HeadlessServicesHaveNoAddress) {
  ASSERT_EQ(Create("a", R"({"clusterIP":"None"})"), "");
  EXPECT_EQ(Spec("ipFamilies"), R"(["IPv4","IPv6"])");
  EXPECT_EQ(Spec("ipFamilyPolicy"), R"("RequireDualStack")");
  EXPECT_TRUE(Taken().empty());
  EXPECT_EQ(Create("b", R"({"clusterIP":"None","type":"NodePort","ports":[{"port":80}]})"),
            "Service \"b\" is invalid: spec.clusterIPs[0]: Invalid value: \"None\": may not be set "
            "to 'None' for NodePort services");
}

TEST_F(ServiceTest, LoadBalancersThatStayLocalHaveAHealthCheckPort) {
  ASSERT_EQ(Create("a", R"({"type":"LoadBalancer","externalTrafficPolicy":"Local",)"
                        R"("ports":[{"port":80}]})"),
            "");
  EXPECT_THAT(Spec("healthCheckNodePort"), StartsWith("3000"));
  EXPECT_EQ(Spec("allocateLoadBalancerNodePorts"), "true");
  Delete("a");
  for (const char* name : {"b", "c", "d", "e"}) EXPECT_EQ(Create(name, kNodePort), "");
}

TEST_F(ServiceTest, FamiliesTheClusterHasNotAreRefused) {
  EXPECT_EQ(Create("a", R"({"ipFamilies":["IPv6"],"ports":[{"port":80}]})"),
            "Service \"a\" is invalid: spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured "
            "on this cluster");
  EXPECT_EQ(Create("a", R"({"ipFamilyPolicy":"RequireDualStack","ports":[{"port":80}]})"),
            "Service \"a\" is invalid: spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": "
            "this cluster is not configured for dual-stack services");
}

class TinyRangeTest : public ServiceTest {
 protected:
  TinyRangeTest() : ServiceTest("10.0.0.0/29") {}  // six addresses
};

TEST_F(TinyRangeTest, EveryAddressIsHandedOutExactlyOnce) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) ASSERT_EQ(Create(name, kPlain), "");
  EXPECT_THAT(Taken(), ::testing::ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4",
                                              "10.0.0.5", "10.0.0.6"));
  EXPECT_EQ(Create("g", kPlain),
            "Internal error occurred: failed to allocate a serviceIP for Service \"g\": range is "
            "full");
}

TEST(PortRange, ReadsWhatTheFlagTakes) {
  EXPECT_EQ(PortRange::Parse("30000-32767")->count, 2768);
  EXPECT_EQ(PortRange::Parse("30000+9")->ToString(), "30000-30009");
  EXPECT_FALSE(PortRange::Parse("9-8"));
  EXPECT_FALSE(PortRange::Parse("a-b"));
  EXPECT_FALSE(PortRange::Parse("1-70000"));
  EXPECT_EQ(PortRange::Parse("30000-32767")->reserved(), 86);
}

}  // namespace
}  // namespace keelson::kube::service
