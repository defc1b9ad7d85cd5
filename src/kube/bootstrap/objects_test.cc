#include "kube/bootstrap/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/catalog.h"
#include "schema/decode_json.h"
#include "value/json.h"

namespace keelson::kube::bootstrap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using value::Document;

const WallTime kNow{std::chrono::seconds(1767225600)};  // 2026-01-01

ServerAddress Address() {
  return {.public_address = *IpAddress::Parse("192.0.2.10"),
          .public_port = 6443,
          .cluster_address = *IpAddress::Parse("10.96.0.1")};
}

// What the schema does not know about an object of ours.
std::vector<std::string> Unknown(std::string_view group, std::string_view plural,
                                 const Document& object) {
  const auto& type = *api::kCatalog.Find(group, "v1")->FindResource(plural)->type;
  auto decoded = schema::DecodeJson(type, value::ToJson(object.root()), {.strict = true});
  KEELSON_CHECK(decoded.has_value());
  return decoded->strict_errors;
}

TEST(BootstrapObjects, FitTheirSchemas) {
  constexpr std::string_view kFlowControl = "flowcontrol.apiserver.k8s.io";
  for (const auto& level : PriorityLevels()) {
    EXPECT_THAT(Unknown(kFlowControl, "prioritylevelconfigurations", level), IsEmpty());
  }
  for (const auto& schema : FlowSchemas(kNow)) {
    EXPECT_THAT(Unknown(kFlowControl, "flowschemas", schema), IsEmpty());
  }
  for (const auto& name_space : SystemNamespaces()) {
    EXPECT_THAT(Unknown("", "namespaces", name_space), IsEmpty());
  }
  for (const auto& priority : SystemPriorityClasses()) {
    EXPECT_THAT(Unknown("scheduling.k8s.io", "priorityclasses", priority), IsEmpty());
  }
  EXPECT_THAT(Unknown("", "services", KubernetesService(Address())), IsEmpty());
  EXPECT_THAT(Unknown("", "endpoints", KubernetesEndpoints(Address())), IsEmpty());
  EXPECT_THAT(Unknown("discovery.k8s.io", "endpointslices", KubernetesEndpointSlice(Address())),
              IsEmpty());
  EXPECT_THAT(Unknown("networking.k8s.io", "servicecidrs",
                      DefaultServiceCidr({*IpPrefix::Parse("10.96.0.0/16")}, kNow)),
              IsEmpty());
  EXPECT_THAT(Unknown("coordination.k8s.io", "leases",
                      IdentityLease(MakeIdentity("host", Address()), kNow)),
              IsEmpty());
}

TEST(BootstrapObjects, EveryFlowHasItsLevel) {
  std::set<std::string> levels;
  for (const auto& level : PriorityLevels()) {
    levels.insert(std::string(level.root()["metadata"]["name"].AsString()));
  }
  EXPECT_THAT(levels, ElementsAre("catch-all", "exempt", "global-default", "leader-election",
                                  "node-high", "system", "workload-high", "workload-low"));
  const auto schemas = FlowSchemas(kNow);
  EXPECT_EQ(schemas.size(), 11);
  for (const auto& schema : schemas) {
    const auto level = schema.root()["spec"]["priorityLevelConfiguration"]["name"].AsString();
    EXPECT_TRUE(levels.contains(std::string(level))) << level;
  }
}

TEST(BootstrapObjects, AServerHasOneNameAndANewHolderEachTime) {
  const auto first = MakeIdentity("host", Address());
  const auto second = MakeIdentity("host", Address());
  EXPECT_EQ(first.name, second.name);
  EXPECT_NE(first.holder, second.holder);
  EXPECT_NE(first.name, MakeIdentity("other", Address()).name);
  EXPECT_EQ(first.name.size(), std::string_view("apiserver-").size() + 26);
  EXPECT_EQ(first.peer_address, "192.0.2.10:6443");
}

}  // namespace
}  // namespace keelson::kube::bootstrap
