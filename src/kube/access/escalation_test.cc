#include "kube/access/escalation.h"

#include <gtest/gtest.h>

#include "kube/access/testing_access.h"

namespace keelson::kube::access {
namespace {

using testing::TestCluster;

class EscalationTest : public ::testing::Test {
 protected:
  EscalationTest()
      : rbac_(std::make_shared<auth::RbacAuthorizer>(policy_)), escalation_(rbac_, rbac_, policy_) {
    policy_.SetRole({"n", "writer"},
                    {{.verbs = {"get", "create"},
                      .api_groups = {"rbac.authorization.k8s.io"},
                      .resources = {"roles", "rolebindings"}},
                     {.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}}});
    policy_.SetBinding({"n", "writer", {false, "writer"}, {{rbac::SubjectKind::kUser, "alice"}}});
  }

  std::string Role(std::string_view rules, const auth::User& user, bool cluster = false) {
    auto role = value::ParseJson(fmt::format(R"({{"metadata":{{"name":"r"}},"rules":{}}})", rules));
    rest::WriteScope scope{.ns = cluster ? "" : "n", .user = &user};
    auto checked = cluster_.Run(escalation_.CheckRole(scope, role->root(), nullptr, cluster));
    return checked ? "" : checked.error().message;
  }
  std::string Bind(std::string_view role, const auth::User& user) {
    auto binding = value::ParseJson(fmt::format(
        R"({{"metadata":{{"name":"b"}},"roleRef":{{"apiGroup":"rbac.authorization.k8s.io",)"
        R"("kind":"Role","name":"{}"}}}})",
        role));
    rest::WriteScope scope{.ns = "n", .user = &user};
    auto checked = cluster_.Run(escalation_.CheckBinding(scope, binding->root(), nullptr, false));
    return checked ? "" : checked.error().message;
  }

  TestCluster cluster_;
  rbac::PolicySet policy_;
  std::shared_ptr<auth::RbacAuthorizer> rbac_;
  Escalation escalation_;
  const auth::User alice_{.name = "alice", .groups = {"system:authenticated"}};
};

TEST_F(EscalationTest, NobodyGrantsMoreThanTheyHave) {
  EXPECT_EQ(Role(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])", alice_), "");
  EXPECT_EQ(Role(R"([{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["pods"]},)"
                 R"({"verbs":["*"],"apiGroups":["x.io"],"resources":["ys"]}])",
                 alice_),
            "roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"alice\" "
            "(groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not "
            "currently held:\n"
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"watch\"]}\n"
            "{APIGroups:[\"x.io\"], Resources:[\"ys\"], Verbs:[\"*\"]}");
  const auth::User master{.name = "root", .groups = {"system:masters"}};
  EXPECT_EQ(Role(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])", master), "");
}

TEST_F(EscalationTest, WhoMayEscalateOrBindMay) {
  policy_.SetRole({"", "wide"}, {{.verbs = {"escalate", "bind"},
                                  .api_groups = {"rbac.authorization.k8s.io"},
                                  .resources = {"roles"}}});
  policy_.SetBinding({"", "wide", {true, "wide"}, {{rbac::SubjectKind::kUser, "bob"}}});
  policy_.SetRole({"n", "powerful"}, {{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}}});
  const auth::User bob{.name = "bob"};
  EXPECT_EQ(Role(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])", bob), "");
  EXPECT_EQ(Bind("powerful", bob), "");
  EXPECT_EQ(Bind("writer", alice_), "");
  EXPECT_TRUE(Bind("powerful", alice_).starts_with("rolebindings.rbac.authorization.k8s.io \"b\""));
  EXPECT_EQ(Bind("missing", alice_),
            "rolebindings.rbac.authorization.k8s.io \"missing\" not found");
}

}  // namespace
}  // namespace keelson::kube::access
