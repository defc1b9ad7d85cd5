#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "rbac/identity_rules.h"
#include "rbac/policy.h"
#include "rbac/rules.h"

namespace keelson::rbac {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PolicyRule Resources(std::vector<std::string> verbs, std::vector<std::string> groups,
                     std::vector<std::string> resources, std::vector<std::string> names = {}) {
  return {.verbs = std::move(verbs),
          .api_groups = std::move(groups),
          .resources = std::move(resources),
          .resource_names = std::move(names)};
}

PolicyRule Urls(std::vector<std::string> verbs, std::vector<std::string> urls) {
  return {.verbs = std::move(verbs), .non_resource_urls = std::move(urls)};
}

class RbacTest : public testing::Test {
 protected:
  void Bind(std::string name, RoleRef role, std::vector<Subject> subjects, std::string ns = "") {
    set_.SetBinding({std::move(ns), std::move(name), std::move(role), std::move(subjects)});
  }

  // Why the user may; empty when it may not.
  std::string Allowed(std::string_view user, std::vector<std::string> groups, Request request) {
    IdentityRules rules(set_.Current(), user, groups);
    auto* grant = rules.FindAllowing(request);
    return grant ? grant->Describe() : "";
  }

  PolicySet set_;
};

TEST_F(RbacTest, ExplainsWhoGaveThePermission) {
  set_.SetRole({"", "admin"}, {Resources({"*"}, {"*"}, {"*"})});
  set_.SetRole({"ns", "reader"}, {Resources({"get"}, {""}, {"pods"})});
  Bind("b", {true, "admin"}, {{SubjectKind::kGroup, "ops"}});
  Bind("r", {false, "reader"}, {{SubjectKind::kServiceAccount, "sa", ""}}, "ns");
  EXPECT_EQ(Allowed("u", {"ops"}, {.verb = "delete", .resource = "pods"}),
            "ClusterRoleBinding \"b\" of ClusterRole \"admin\" to Group \"ops\"");
  EXPECT_EQ(Allowed("system:serviceaccount:ns:sa", {},
                    {.verb = "get", .ns = "ns", .resource = "pods", .name = "x"}),
            "RoleBinding \"r/ns\" of Role \"reader\" to ServiceAccount \"sa/ns\"");
  EXPECT_EQ(Allowed("system:serviceaccount:ns:sa", {},
                    {.verb = "get", .ns = "other", .resource = "pods"}),
            "");
}

struct RuleCase {
  PolicyRule rule;
  Request request;
  bool allowed;
};

// A decision table: each row is one rule and one request, read both ways (plainly and compiled).
TEST_F(RbacTest, DecidesAsTheRulesRead) {
  const RuleCase cases[] = {
      {Resources({"get"}, {""}, {"pods"}), {.verb = "get", .resource = "pods"}, true},
      {Resources({"get"}, {""}, {"pods"}), {.verb = "list", .resource = "pods"}, false},
      {Resources({"get"}, {""}, {"pods"}), {.verb = "get", .resource = "services"}, false},
      {Resources({"get"}, {"apps"}, {"pods"}), {.verb = "get", .resource = "pods"}, false},
      {Resources({"*"}, {""}, {"pods"}), {.verb = "patch", .resource = "pods"}, true},
      {Resources({"get"}, {"*"}, {"pods"}),
       {.verb = "get", .group = "x.io", .resource = "pods"},
       true},
      {Resources({"get"}, {""}, {"*"}), {.verb = "get", .resource = "pods"}, true},
      {Resources({"get"}, {""}, {"pods"}),
       {.verb = "get", .resource = "pods", .subresource = "log"},
       false},
      {Resources({"get"}, {""}, {"pods/log"}),
       {.verb = "get", .resource = "pods", .subresource = "log"},
       true},
      {Resources({"get"}, {""}, {"pods/log"}), {.verb = "get", .resource = "pods"}, false},
      {Resources({"get"}, {""}, {"*/log"}),
       {.verb = "get", .resource = "pods", .subresource = "log"},
       true},
      {Resources({"get"}, {""}, {"*/log"}),
       {.verb = "get", .resource = "pods", .subresource = "exec"},
       false},
      {Resources({"get"}, {""}, {"*"}),
       {.verb = "get", .resource = "pods", .subresource = "log"},
       true},
      {Resources({"get"}, {""}, {"pods"}, {"a", "b"}),
       {.verb = "get", .resource = "pods", .name = "b"},
       true},
      {Resources({"get"}, {""}, {"pods"}, {"a"}),
       {.verb = "get", .resource = "pods", .name = "c"},
       false},
      {Resources({"list"}, {""}, {"pods"}, {"a"}), {.verb = "list", .resource = "pods"}, false},
      {Urls({"get"}, {"/healthz"}),
       {.resource_request = false, .verb = "get", .path = "/healthz"},
       true},
      {Urls({"get"}, {"/healthz"}),
       {.resource_request = false, .verb = "get", .path = "/healthz/ping"},
       false},
      {Urls({"get"}, {"/healthz/*"}),
       {.resource_request = false, .verb = "get", .path = "/healthz/ping"},
       true},
      {Urls({"*"}, {"*"}), {.resource_request = false, .verb = "post", .path = "/x"}, true},
      {Resources({"get"}, {"*"}, {"*"}),
       {.resource_request = false, .verb = "get", .path = "/x"},
       false},
      {Urls({"get"}, {"*"}), {.verb = "get", .resource = "pods"}, false},
  };
  int row = 0;
  for (const auto& [rule, request, allowed] : cases) {
    EXPECT_EQ(RuleAllows(rule, request), allowed) << "row " << row;
    set_.SetRole({"", "r"}, {rule});
    Bind("b", {true, "r"}, {{SubjectKind::kUser, "u"}});
    EXPECT_EQ(!Allowed("u", {}, request).empty(), allowed) << "row " << row;
    ++row;
  }
}

TEST_F(RbacTest, RoleBindingsReachNoPaths) {
  set_.SetRole({"", "r"}, {Urls({"get"}, {"*"})});
  Bind("b", {true, "r"}, {{SubjectKind::kUser, "u"}}, "ns");
  EXPECT_EQ(Allowed("u", {}, {.resource_request = false, .verb = "get", .path = "/x"}), "");
}

TEST_F(RbacTest, NamesRolesThatAreMissing) {
  Bind("b", {true, "gone"}, {{SubjectKind::kUser, "u"}});
  Bind("c", {false, "away"}, {{SubjectKind::kUser, "u"}}, "ns");
  IdentityRules rules(set_.Current(), "u", {});
  EXPECT_THAT(rules.MissingRoles("ns"),
              ElementsAre("clusterrole.rbac.authorization.k8s.io \"gone\" not found",
                          "role.rbac.authorization.k8s.io \"away\" not found"));
  EXPECT_EQ(rules.MissingRoles("").size(), 1u);
}

TEST_F(RbacTest, FollowsChanges) {
  const Request get{.verb = "get", .resource = "pods"};
  set_.SetRole({"", "r"}, {Resources({"get"}, {""}, {"pods"})});
  Bind("b", {true, "r"}, {{SubjectKind::kUser, "u"}, {SubjectKind::kUser, "v"}});
  auto before = set_.Current();
  EXPECT_NE(Allowed("v", {}, get), "");
  Bind("b", {true, "r"}, {{SubjectKind::kUser, "u"}});
  EXPECT_EQ(Allowed("v", {}, get), "");
  EXPECT_EQ(before->GrantsOf(SubjectKind::kUser, "v").size(), 1u) << "snapshots do not change";
  set_.RemoveBinding("", "b");
  EXPECT_EQ(Allowed("u", {}, get), "");
  set_.RemoveRole({"", "r"});
  EXPECT_EQ(set_.Current()->FindRole({"", "r"}), nullptr);
}

TEST_F(RbacTest, ABatchIsSeenAtOnce) {
  {
    PolicySet::Batch batch(set_);
    set_.SetRole({"", "r"}, {});
    EXPECT_EQ(set_.Current()->FindRole({"", "r"}), nullptr);
  }
  EXPECT_NE(set_.Current()->FindRole({"", "r"}), nullptr);
}

TEST(Uncovered, BreaksDownWhatIsMissing) {
  Rules owned{Resources({"get", "list"}, {""}, {"pods", "*/log"}), Urls({"get"}, {"/api/*"})};
  EXPECT_THAT(Uncovered(owned, {Resources({"get"}, {""}, {"pods", "services/log"}),
                                Resources({"get"}, {""}, {"pods"}, {"a"}),
                                Urls({"get"}, {"/api/v1", "/api/*"})}),
              IsEmpty());
  auto missing = Uncovered(owned, {Resources({"get", "watch"}, {"", "apps"}, {"pods"})});
  std::vector<std::string> texts;
  for (const auto& rule : missing) texts.push_back(Describe(rule));
  EXPECT_THAT(texts, ElementsAre(R"({APIGroups:[""], Resources:["pods"], Verbs:["watch"]})",
                                 R"({APIGroups:["apps"], Resources:["pods"], Verbs:["get"]})",
                                 R"({APIGroups:["apps"], Resources:["pods"], Verbs:["watch"]})"));
}

TEST(Uncovered, NamesDoNotCoverAll) {
  Rules owned{Resources({"get"}, {""}, {"pods"}, {"a"})};
  EXPECT_EQ(Uncovered(owned, {Resources({"get"}, {""}, {"pods"})}).size(), 1u);
  EXPECT_THAT(Uncovered(owned, {Resources({"get"}, {""}, {"pods"}, {"a"})}), IsEmpty());
}

// The compiled form against a plain reading of every binding and rule, on random policies.
TEST(IdentityRules, AgreesWithAPlainReading) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
    auto some = [&](const std::vector<std::string>& from, size_t most) {
      std::vector<std::string> chosen;
      for (size_t n = random() % (most + 1); n > 0; --n) chosen.push_back(pick(from));
      return chosen;
    };
    const std::vector<std::string> verbs{"get", "list", "create", "*"};
    const std::vector<std::string> groups{"", "apps", "*"};
    const std::vector<std::string> resources{"pods", "pods/log", "*/log", "secrets", "*"};
    const std::vector<std::string> names{"a", "b"};
    const std::vector<std::string> urls{"/a", "/a/*", "*", "/b"};
    const std::vector<std::string> namespaces{"", "n1", "n2"};
    const std::vector<std::string> users{"u1", "u2", "system:serviceaccount:n1:s"};
    const std::vector<std::string> teams{"g1", "g2"};
    PolicySet set;
    std::map<RoleKey, Rules> roles;
    std::vector<Binding> bindings;
    for (int i = 0; i < 6; ++i) {
      RoleKey key{pick(namespaces), "r" + std::to_string(random() % 4)};
      Rules rules;
      for (size_t n = random() % 3; n > 0; --n) {
        rules.push_back({some(verbs, 2), some(groups, 2), some(resources, 2), some(names, 1),
                         random() % 3 == 0 ? some(urls, 2) : std::vector<std::string>{}});
      }
      roles[key] = rules;
      set.SetRole(key, rules);
    }
    for (int i = 0; i < 8; ++i) {
      Binding binding{pick(namespaces), "b" + std::to_string(i), {}, {}};
      binding.role = {binding.ns.empty() || random() % 2 == 0, "r" + std::to_string(random() % 4)};
      for (size_t n = random() % 3; n > 0; --n) {
        if (random() % 3 == 0) {
          binding.subjects.push_back({SubjectKind::kServiceAccount, "s", random() % 2 ? "n1" : ""});
        } else if (random() % 2) {
          binding.subjects.push_back({SubjectKind::kGroup, pick(teams)});
        } else {
          binding.subjects.push_back({SubjectKind::kUser, pick(users)});
        }
      }
      bindings.push_back(binding);
      set.SetBinding(binding);
    }
    for (int i = 0; i < 40; ++i) {
      const auto user = pick(users);
      const auto member = some(teams, 2);
      const auto verb = pick({"get", "list", "create", "delete"});
      const auto group = pick({"", "apps", "batch"});
      const auto ns = pick(namespaces);
      const auto path = pick({"/a", "/a/x", "/b", "/c"});
      const auto resource = pick({"pods", "secrets", "nodes"});
      const auto sub = pick({"", "log", "exec"});
      const auto name = pick({"", "a", "b", "c"});
      Request request{.resource_request = random() % 4 != 0,
                      .verb = verb,
                      .path = path,
                      .group = group,
                      .ns = ns,
                      .resource = resource,
                      .subresource = sub,
                      .name = name};
      if (!request.resource_request) request.ns = "";
      bool expected = false;
      for (const auto& binding : bindings) {
        if (!binding.ns.empty() && binding.ns != request.ns) continue;
        bool applies = false;
        for (const auto& subject : binding.subjects) {
          auto sa_ns = subject.ns.empty() ? binding.ns : subject.ns;
          applies |= subject.kind == SubjectKind::kUser ? subject.name == user
                     : subject.kind == SubjectKind::kGroup
                         ? std::ranges::find(member, subject.name) != member.end()
                         : !sa_ns.empty() && user == ServiceAccountUserName(sa_ns, subject.name);
        }
        auto role = roles.find(binding.role_key());
        if (!applies || role == roles.end()) continue;
        for (const auto& rule : role->second) expected |= RuleAllows(rule, request);
      }
      IdentityRules rules(set.Current(), user, member);
      EXPECT_EQ(rules.FindAllowing(request) != nullptr, expected)
          << user << " " << verb << " " << group << "/" << resource << "/" << sub << " " << name
          << " in '" << ns << "' path " << path;
    }
  }
}

}  // namespace
}  // namespace keelson::rbac
