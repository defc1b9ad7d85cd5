#include "kube/access/policy_feed.h"

#include <gtest/gtest.h>

#include "kube/access/bootstrap_hook.h"
#include "kube/access/testing_access.h"

namespace keelson::kube::access {
namespace {

using testing::TestCluster;

constexpr std::string_view kReader =
    R"({"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1",)"
    R"("metadata":{"name":"reader","labels":{"sum":"yes"}},)"
    R"("rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})";
constexpr std::string_view kToAlice =
    R"({"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1",)"
    R"("metadata":{"name":"b","namespace":"one"},)"
    R"("subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"alice"}],)"
    R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"reader"}})";

bool MayRead(const rbac::PolicySet& policy, std::string_view user, std::string_view ns) {
  rbac::IdentityRules rules(policy.Current(), user, {});
  return rules.FindAllowing({.verb = "get", .ns = ns, .resource = "pods", .name = "p"}) != nullptr;
}

TEST(PolicyFeed, FollowsWhatIsWrittenBeforeAndAfterItStarts) {
  TestCluster cluster;
  rbac::PolicySet policy;
  cluster.Put("clusterroles", kReader);
  cluster.Follow(policy);
  EXPECT_FALSE(MayRead(policy, "alice", "one"));
  cluster.Put("rolebindings", kToAlice);
  EXPECT_TRUE(MayRead(policy, "alice", "one"));
  EXPECT_FALSE(MayRead(policy, "alice", "two"));
  cluster.Delete("rolebindings", "one", "b");
  EXPECT_FALSE(MayRead(policy, "alice", "one"));
}

TEST(PolicyFeed, ARefusalWaitsForWhatWasWritten) {
  TestCluster cluster;
  rbac::PolicySet policy;
  cluster.Follow(policy);
  auth::RbacAuthorizer authorizer(policy);
  authorizer.SetSource(&cluster.policy_feed());
  cluster.Put("clusterroles", kReader);
  auth::Attributes attributes{
      .user = std::make_shared<auth::User>(auth::User{.name = "alice"}),
      .resource_request = true,
      .verb = "get",
      .ns = "one",
      .resource = "pods",
  };
  EXPECT_FALSE(authorizer.TryAuthorize(attributes).has_value());
  EXPECT_EQ(cluster.Run(authorizer.Authorize(attributes)).decision, auth::Decision::kNoOpinion);
  // Nothing was written since: refused at once.
  ASSERT_TRUE(authorizer.TryAuthorize(attributes).has_value());
  cluster.Put("rolebindings", kToAlice);
  EXPECT_EQ(authorizer.TryAuthorize(attributes)->decision, auth::Decision::kAllow);
}

TEST(PolicyFeed, KeepsAggregatedRolesAtTheSumOfTheirParts) {
  TestCluster cluster;
  rbac::PolicySet policy;
  cluster.Follow(policy);
  cluster.Put("clusterroles",
              R"({"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1",)"
              R"("metadata":{"name":"all"},"rules":null,)"
              R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"sum":"yes"}}]}})");
  cluster.Put("clusterroles", kReader);
  auto rules = ReadRules(cluster.Get("clusterroles", "", "all")->operator[]("rules"));
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].resources, std::vector<std::string>{"pods"});
  cluster.Delete("clusterroles", "", "reader");
  EXPECT_TRUE(ReadRules(cluster.Get("clusterroles", "", "all")->operator[]("rules")).empty());
}

TEST(BootstrapPolicy, SaysWhatEveryClusterHas) {
  auto policy = AllBootstrapPolicy();
  size_t cluster_roles = 0;
  size_t cluster_bindings = 0;
  for (const auto& role : policy.roles) cluster_roles += role.key.ns.empty();
  for (const auto& binding : policy.bindings) cluster_bindings += binding.ns.empty();
  EXPECT_EQ(cluster_roles, 69u);
  EXPECT_EQ(policy.roles.size() - cluster_roles, 7u);
  EXPECT_EQ(cluster_bindings, 50u);
  EXPECT_EQ(policy.bindings.size() - cluster_bindings, 7u);
}

class BootstrapHookTest : public ::testing::Test {
 protected:
  void Reconcile() {
    auto done = cluster_.Run(ReconcileBootstrapPolicy(cluster_.rbac(), AllBootstrapPolicy()));
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  rbac::Rules RulesOf(std::string name) {
    return ReadRules(cluster_.Get("clusterroles", "", std::move(name)).root()["rules"]);
  }
  TestCluster cluster_;
};

TEST_F(BootstrapHookTest, WritesEverythingOnceAndThenNothing) {
  Reconcile();
  EXPECT_EQ(cluster_.Count("clusterroles"), 69u);
  EXPECT_EQ(cluster_.Count("roles"), 7u);
  EXPECT_EQ(cluster_.Count("clusterrolebindings"), 50u);
  EXPECT_EQ(cluster_.Count("rolebindings"), 7u);
  EXPECT_EQ(RulesOf("admin").size(), 29u);
  auto revision = cluster_.store().KnownRevision();
  Reconcile();
  // Nor does aggregation find anything to add.
  rbac::PolicySet policy;
  cluster_.Follow(policy);
  EXPECT_EQ(cluster_.store().KnownRevision(), revision);
}

TEST_F(BootstrapHookTest, RestoresWhatIsMissingAndKeepsAdditions) {
  cluster_.Put("clusterroles",
               R"({"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1",)"
               R"("metadata":{"name":"system:basic-user"},)"
               R"("rules":[{"verbs":["get"],"apiGroups":["x"],"resources":["y"]}]})");
  cluster_.Put("clusterroles",
               R"({"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":)"
               R"({"name":"system:kube-dns","annotations":)"
               R"({"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":null})");
  cluster_.Put("clusterrolebindings",
               R"({"kind":"ClusterRoleBinding","apiVersion":"rbac.authorization.k8s.io/v1",)"
               R"("metadata":{"name":"cluster-admin"},"roleRef":)"
               R"({"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}})");
  Reconcile();
  auto rules = RulesOf("system:basic-user");
  EXPECT_EQ(rules.size(), 4u);  // one added, three missing parts
  EXPECT_EQ(rules[0].api_groups[0], "x");
  EXPECT_TRUE(RulesOf("system:kube-dns").empty());
  auto binding = ReadBinding(cluster_.Get("clusterrolebindings", "", "cluster-admin").root());
  EXPECT_EQ(binding.role.name, "cluster-admin");
  ASSERT_EQ(binding.subjects.size(), 1u);
  EXPECT_EQ(binding.subjects[0].name, "system:masters");
}

}  // namespace
}  // namespace keelson::kube::access
