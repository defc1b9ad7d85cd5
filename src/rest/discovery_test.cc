#include "rest/discovery.h"

#include <gtest/gtest.h>

namespace keelson::rest {
namespace {

using schema::Scope;

constexpr std::string_view kShort[] = {"deploy"};
constexpr std::string_view kCategories[] = {"all"};
constexpr schema::Subresource kSubresources[] = {
    {.name = "scale",
     .body = {"autoscaling", "v1", "Scale"},
     .verbs = schema::kVerbGet | schema::kVerbPatch | schema::kVerbUpdate},
    {.name = "status",
     .body = {"apps", "v1", "Deployment"},
     .verbs = schema::kVerbGet | schema::kVerbPatch | schema::kVerbUpdate},
};
constexpr schema::ResourceInfo kDeployments{
    .group = "apps",
    .version = "v1",
    .kind = "Deployment",
    .plural = "deployments",
    .singular = "deployment",
    .verbs = schema::kVerbCreate | schema::kVerbGet | schema::kVerbWatch,
    .short_names = kShort,
    .categories = kCategories,
    .subresources = kSubresources,
    .storage_version_hash = "8aSe+NMegvE=",
};
constexpr schema::ResourceInfo kBindings{
    .version = "v1",
    .kind = "Binding",
    .plural = "bindings",
    .singular = "binding",
    .verbs = schema::kVerbCreate,
};

DiscoveryGroup Apps() { return {"apps", {{"v1", {&kDeployments}}}}; }
DiscoveryGroup Legacy() { return {"", {{"v1", {&kBindings}}}}; }

TEST(Discovery, ListsLegacyVersionsWithTheAddressToUse) {
  EXPECT_EQ(RenderApiVersions(Legacy(), "127.0.0.1:6443"),
            R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":)"
            R"([{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:6443"}]})");
}

TEST(Discovery, ListsGroupsWithTheirPreferredVersion) {
  DiscoveryGroup group{"autoscaling", {{"v2", {}}, {"v1", {}}}};
  EXPECT_EQ(RenderApiGroupList({&group, 1}),
            R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"autoscaling",)"
            R"("versions":[{"groupVersion":"autoscaling/v2","version":"v2"},)"
            R"({"groupVersion":"autoscaling/v1","version":"v1"}],)"
            R"("preferredVersion":{"groupVersion":"autoscaling/v2","version":"v2"}}]})");
  EXPECT_EQ(RenderApiGroup(Apps()),
            R"({"kind":"APIGroup","apiVersion":"v1","name":"apps",)"
            R"("versions":[{"groupVersion":"apps/v1","version":"v1"}],)"
            R"("preferredVersion":{"groupVersion":"apps/v1","version":"v1"}})");
}

TEST(Discovery, ListsResourcesAndTheirSubresources) {
  EXPECT_EQ(RenderApiResourceList("apps", Apps().versions[0]),
            R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[)"
            R"({"name":"deployments","singularName":"deployment","namespaced":true,)"
            R"("kind":"Deployment","verbs":["create","get","watch"],"shortNames":["deploy"],)"
            R"("categories":["all"],"storageVersionHash":"8aSe+NMegvE="},)"
            R"({"name":"deployments/scale","singularName":"","namespaced":true,)"
            R"("group":"autoscaling","version":"v1","kind":"Scale",)"
            R"("verbs":["get","patch","update"]},)"
            R"({"name":"deployments/status","singularName":"","namespaced":true,)"
            R"("kind":"Deployment","verbs":["get","patch","update"]}]})");
}

TEST(Discovery, LegacyResourceListHasNoApiVersion) {
  EXPECT_EQ(RenderApiResourceList("", Legacy().versions[0]),
            R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"bindings",)"
            R"("singularName":"binding","namespaced":true,"kind":"Binding","verbs":["create"]}]})");
}

TEST(Discovery, AggregatesEverythingInOneDocument) {
  DiscoveryGroup groups[] = {Legacy(), Apps()};
  groups[1].versions[0].stale = true;
  auto aggregated = RenderAggregated(groups);
  EXPECT_EQ(
      aggregated.body,
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},)"
      R"("items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"bindings",)"
      R"("responseKind":{"group":"","version":"","kind":"Binding"},"scope":"Namespaced",)"
      R"("singularResource":"binding","verbs":["create"]}],"freshness":"Current"}]},)"
      R"({"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":)"
      R"([{"resource":"deployments","responseKind":{"group":"","version":"","kind":"Deployment"},)"
      R"("scope":"Namespaced","singularResource":"deployment","verbs":["create","get","watch"],)"
      R"("shortNames":["deploy"],"categories":["all"],"subresources":[{"subresource":"scale",)"
      R"("responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},)"
      R"("verbs":["get","patch","update"]},{"subresource":"status",)"
      R"("responseKind":{"group":"","version":"","kind":"Deployment"},)"
      R"("verbs":["get","patch","update"]}]}],"freshness":"Stale"}]}]})");
}

TEST(Discovery, EtagIsTheDigestOfTheDocumentWithoutItsType) {
  DiscoveryGroup group = Legacy();
  auto aggregated = RenderAggregated({&group, 1});
  ASSERT_EQ(aggregated.etag.size(), 130u);
  EXPECT_EQ(aggregated.etag, RenderAggregated({&group, 1}).etag);
  group.versions[0].stale = true;
  EXPECT_NE(aggregated.etag, RenderAggregated({&group, 1}).etag);
}

}  // namespace
}  // namespace keelson::rest
