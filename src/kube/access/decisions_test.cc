// What kube-apiserver 1.36 decides with the modes Node and RBAC, asked one by one through
// SubjectAccessReviews: 25 identities, 38 requests each, over the bootstrap policy and four roles.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/authorizer.h"
#include "auth/rbac_authorizer.h"
#include "kube/access/bootstrap_policy.h"
#include "kube/access/node_authorizer.h"

namespace keelson::kube::access {
namespace {

// verb resource[/subresource][.group] [in NAMESPACE] [named NAME], or verb path.
constexpr std::string_view kRequests[] = {
    "get pods in default named p",
    "list pods",
    "create pods in default",
    "delete secrets in default named s",
    "get secrets in kube-system named s",
    "get configmaps in kube-system named extension-apiserver-authentication",
    "update configmaps in kube-public named cluster-info",
    "create replicasets.apps in default",
    "update deployments/status.apps in default named d",
    "update replicasets/scale.apps in default named r",
    "patch events in default named e",
    "create leases.coordination.k8s.io in kube-system",
    "get leases.coordination.k8s.io in kube-system named kube-scheduler",
    "create selfsubjectaccessreviews.authorization.k8s.io",
    "create tokenreviews.authentication.k8s.io",
    "approve signers.certificates.k8s.io named kubernetes.io/kubelet-serving",
    "sign signers.certificates.k8s.io named kubernetes.io/kubelet-serving",
    "escalate clusterroles.rbac.authorization.k8s.io named x",
    "bind clusterroles.rbac.authorization.k8s.io named admin",
    "list roles.rbac.authorization.k8s.io in default",
    "impersonate users named x",
    "get pods.metrics.k8s.io in default named p",
    "get pods/log in default named p",
    "create pods/exec in default named p",
    "get widgets.example.com in default named w",
    "deletecollection jobs.batch in default",
    "watch services",
    "get /healthz",
    "get /metrics",
    "get /api",
    "get /api/v1",
    "get /apis/apps",
    "get /openapi/v2",
    "get /",
    "post /version",
    "get /version/",
    "get /openid/v1/jwks",
    "get /livez/ping",
};

struct Identity {
  std::string_view user;
  std::vector<std::string> groups;
  std::string_view allowed;  // one sign per request
};

const Identity kIdentities[] = {
    {"admin", {"system:masters"}, "++++++++++++++++++++++++++++++++++++++"},
    {"system:anonymous", {"system:unauthenticated"}, "---------------------------+-------+--"},
    {"bob", {"system:authenticated"}, "-------------+-------------+-++++--+--"},
    {"system:kube-scheduler", {"system:authenticated"}, "++---+----+++++-----------++-++++--+--"},
    {"system:kube-controller-manager",
     {"system:authenticated"},
     "-+-+++----+++++----+------++-++++--+--"},
    {"system:kube-proxy", {"system:authenticated"}, "----------+--+------------++-++++--+--"},
    {"m", {"system:monitoring", "system:authenticated"}, "-------------+-------------++++++--+-+"},
    {"system:node:n1",
     {"system:nodes", "system:authenticated"},
     "--+-------+--++-----------++-++++--+--"},
    {"system:node:n1", {"system:authenticated"}, "-------------+-------------+-++++--+--"},
    {"system:serviceaccount:kube-system:deployment-controller",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "++-----++-+--+-------------+-++++--++-"},
    {"system:serviceaccount:kube-system:generic-garbage-collector",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "++-++++-+++-++-----+-++-+-++-++++--++-"},
    {"system:serviceaccount:kube-system:replicaset-controller",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "-++-------+--+-------------+-++++--++-"},
    {"system:serviceaccount:kube-system:job-controller",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "-++-------+--+-------------+-++++--++-"},
    {"system:serviceaccount:kube-system:namespace-controller",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "++-+++------++-----+-++-++++-++++--++-"},
    {"system:serviceaccount:kube-system:clusterrole-aggregation-controller",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "-------------+---+---------+-++++--++-"},
    {"system:serviceaccount:kube-system:bootstrap-signer",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "----+-+------+-------------+-++++--++-"},
    {"system:serviceaccount:kube-system:token-cleaner",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "----+--------+-------------+-++++--++-"},
    {"system:serviceaccount:kube-system:certificate-controller",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "----------+--+--+----------+-++++--++-"},
    {"system:serviceaccount:default:deployment-controller",
     {"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"},
     "-------------+-------------+-++++--++-"},
    {"system:serviceaccount:kube-system:kube-dns",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "-------------+------------++-++++--++-"},
    {"system:serviceaccount:kube-system:horizontal-pod-autoscaler",
     {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
     "-+-------++--+-------------+-++++--++-"},
    {"v", {"viewers"}, "++--------------------+---+-----------"},
    {"e", {"editors"}, "+-++---++++-----------++++------------"},
    {"a", {"nsadmins"}, "+-++---++++--------+-+++++------------"},
    {"n", {"named"}, "----+-+-----+---------------+-------+-"},
};

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), words.back().size() + 1));
  }
  return words;
}

auth::Attributes Parse(std::string_view request) {
  auto words = Words(request);
  auth::Attributes attributes{.verb = words[0]};
  if (words[1].starts_with('/')) {
    attributes.path = words[1];
    return attributes;
  }
  attributes.resource_request = true;
  auto what = words[1];
  if (auto dot = what.find('.'); dot != std::string_view::npos) {
    attributes.group = what.substr(dot + 1);
    what = what.substr(0, dot);
  }
  if (auto slash = what.find('/'); slash != std::string_view::npos) {
    attributes.subresource = what.substr(slash + 1);
    what = what.substr(0, slash);
  }
  attributes.resource = what;
  for (size_t i = 2; i + 1 < words.size(); i += 2) {
    (words[i] == "in" ? attributes.ns : attributes.name) = words[i + 1];
  }
  return attributes;
}

void Grant(rbac::PolicySet& policy, std::string ns, std::string name, bool cluster,
           rbac::Rules rules, std::string group) {
  policy.SetRole({cluster ? "" : ns, name}, std::move(rules));
  policy.SetBinding({ns, name, {cluster, name}, {{rbac::SubjectKind::kGroup, std::move(group)}}});
}

class DecisionsTest : public ::testing::Test {
 protected:
  DecisionsTest() {
    auto bootstrap = AllBootstrapPolicy();
    rbac::Rules node_rules;
    for (auto& role : bootstrap.roles) {
      if (role.key.name == "system:node") node_rules = role.rules;
      policy_.SetRole(role.key, role.rules);
    }
    for (auto& binding : bootstrap.bindings) policy_.SetBinding(binding);
    Grant(policy_, "", "t-view", true,
          {{.verbs = {"get", "list", "watch"},
            .api_groups = {"", "apps"},
            .resources = {"pods", "pods/log", "deployments", "services"}}},
          "viewers");
    Grant(policy_, "default", "t-edit", true,
          {{.verbs = {"*"}, .api_groups = {"", "apps", "batch"}, .resources = {"*"}},
           {.verbs = {"get"}, .api_groups = {"*"}, .resources = {"widgets"}}},
          "editors");
    Grant(policy_, "default", "t-admin", false,
          {{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}}}, "nsadmins");
    Grant(policy_, "", "t-named", true,
          {{.verbs = {"get", "update"},
            .api_groups = {"", "coordination.k8s.io"},
            .resources = {"configmaps", "leases", "secrets", "*/status"},
            .resource_names = {"kube-scheduler", "cluster-info", "s"}},
           {.verbs = {"get"}, .non_resource_urls = {"/openid/*", "/m*"}}},
          "named");
    authorizer_ =
        std::make_unique<auth::AuthorizerUnion>(std::vector<std::shared_ptr<auth::Authorizer>>{
            std::make_shared<auth::PrivilegedGroup>(),
            std::make_shared<NodeAuthorizer>(std::move(node_rules)),
            std::make_shared<auth::RbacAuthorizer>(policy_)});
  }

  rbac::PolicySet policy_;
  std::unique_ptr<auth::AuthorizerUnion> authorizer_;
};

TEST_F(DecisionsTest, AreThoseOfUpstream) {
  size_t decisions = 0;
  for (const auto& identity : kIdentities) {
    ASSERT_EQ(identity.allowed.size(), std::size(kRequests));
    auto user = std::make_shared<const auth::User>(
        auth::User{.name = std::string(identity.user), .groups = identity.groups});
    for (size_t i = 0; i < std::size(kRequests); ++i, ++decisions) {
      auto attributes = Parse(kRequests[i]);
      attributes.user = user;
      // What would need objects is refused where there are none.
      auto verdict = authorizer_->TryAuthorize(attributes);
      const bool allowed = verdict && verdict->decision == auth::Decision::kAllow;
      EXPECT_EQ(allowed, identity.allowed[i] == '+') << identity.user << ": " << kRequests[i];
    }
  }
  EXPECT_EQ(decisions, 950u);
}

TEST_F(DecisionsTest, AreExplainedWhenAsked) {
  auth::Attributes attributes = Parse("get /healthz");
  attributes.user = std::make_shared<const auth::User>(
      auth::User{.name = "system:anonymous", .groups = {"system:unauthenticated"}});
  EXPECT_EQ(authorizer_->TryAuthorize(attributes)->reason, "");
  attributes.explain = true;
  EXPECT_EQ(authorizer_->TryAuthorize(attributes)->reason,
            "RBAC: allowed by ClusterRoleBinding \"system:public-info-viewer\" of ClusterRole "
            "\"system:public-info-viewer\" to Group \"system:unauthenticated\"");
}

}  // namespace
}  // namespace keelson::kube::access
