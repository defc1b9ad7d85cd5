#include "kube/access/escalation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "kube/access/policy_objects.h"
#include "rbac/rules.h"

namespace keelson::kube::access {
namespace {

using rest::WriteScope;
using value::Value;

GroupResource Resource(std::string_view plural) {
  return {std::string(kRbacGroup), std::string(plural)};
}

// Joins parts about the same resource that differ in their verb only.
rbac::Rules Compacted(const rbac::Rules& parts) {
  rbac::Rules compact;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> seen;
  for (const auto& part : parts) {
    if (!part.non_resource_urls.empty()) {
      compact.push_back(part);
      continue;
    }
    std::tuple key(part.api_groups[0], part.resources[0],
                   part.resource_names.empty() ? "" : "=" + part.resource_names[0]);
    auto [at, fresh] = seen.emplace(std::move(key), compact.size());
    if (fresh) {
      compact.push_back(part);
    } else {
      auto& verbs = compact[at->second].verbs;
      verbs.insert(verbs.end(), part.verbs.begin(), part.verbs.end());
    }
  }
  return compact;
}

// Whether the change is one that garbage collection makes: owners and finalizers, nothing else.
bool OnlyForGarbageCollection(const Value& object, const Value& old) {
  static constexpr std::string_view kIgnored[] = {"ownerReferences", "finalizers", "selfLink",
                                                  "managedFields", "resourceVersion"};
  const auto same = [](const Value& one, const Value& other, std::string_view skipped) {
    return std::ranges::all_of(one.members(), [&](const value::Member& member) {
      const auto key = member.key();
      if (key == skipped || std::ranges::find(kIgnored, key) != std::end(kIgnored)) return true;
      return member.value == other[key] || (member.value.is_null() && other[key].is_null());
    });
  };
  const auto meta = object["metadata"];
  const auto old_meta = old["metadata"];
  return same(object, old, "metadata") && same(old, object, "metadata") &&
         same(meta, old_meta, "") && same(old_meta, meta, "");
}

const rbac::Rules& FullAuthority() {
  static const rbac::Rules rules = {{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}},
                                    {.verbs = {"*"}, .non_resource_urls = {"*"}}};
  return rules;
}

bool HasAggregation(const Value& role) {
  return !role["aggregationRule"]["clusterRoleSelectors"].items().empty();
}

std::string GoStrings(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ' ';
    AppendQuoted(out, text);
  }
  return out + "]";
}

}  // namespace

Task<bool> Escalation::IsAllowed(auth::Attributes attributes) const {
  auto verdict = authorizer_->TryAuthorize(attributes);
  if (!verdict) verdict = co_await authorizer_->Authorize(attributes);
  co_return verdict->decision == auth::Decision::kAllow;
}

std::string Escalation::Lacking(const auth::UserPtr& user, std::string_view ns,
                                const rbac::Rules& rules) const {
  rbac::Rules owned;
  std::vector<std::string> missing;
  if (rbac_ != nullptr) {
    const auto identity = rbac_->RulesOf(user);
    owned = identity->RulesIn(ns);
    missing = identity->MissingRoles(ns);
  }
  auto lacking = Compacted(rbac::Uncovered(owned, rules));
  if (lacking.empty()) return {};
  std::set<std::string> described;
  for (const auto& rule : lacking) described.insert(rbac::Describe(rule));
  auto text = fmt::format(
      "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
      Quote(user->name), GoStrings(user->groups), fmt::join(described, "\n"));
  if (!missing.empty()) {
    const auto joined = fmt::format("{}", fmt::join(missing, ", "));
    text +=
        fmt::format("; resolution errors: [{}]", missing.size() > 1 ? "[" + joined + "]" : joined);
  }
  return text;
}

Task<ApiResult<void>> Escalation::CheckRole(const WriteScope& scope, Value role, const Value* old,
                                            bool cluster) const {
  // Without a user it is the server itself.
  if (scope.user == nullptr || scope.user->InGroup(auth::kPrivilegedGroup)) {
    co_return ApiResult<void>();
  }
  const auto plural = cluster ? "clusterroles" : "roles";
  const auto user = std::make_shared<const auth::User>(*scope.user);
  if (co_await IsAllowed({.user = user,
                          .resource_request = true,
                          .verb = "escalate",
                          .group = kRbacGroup,
                          .version = "*",
                          .ns = scope.ns,
                          .resource = plural,
                          .name = scope.name})) {
    co_return ApiResult<void>();
  }
  if (old != nullptr && OnlyForGarbageCollection(role, *old)) co_return ApiResult<void>();
  const auto name = role["metadata"]["name"].AsString();
  if (auto lacking = Lacking(user, scope.ns, ReadRules(role["rules"])); !lacking.empty()) {
    co_return std::unexpected(ForbiddenStatus(Resource(plural), name, lacking));
  }
  const bool aggregates = HasAggregation(role) || (old != nullptr && HasAggregation(*old));
  if (cluster && aggregates && !Lacking(user, scope.ns, FullAuthority()).empty()) {
    co_return std::unexpected(ForbiddenStatus(
        Resource(plural), name, "must have cluster-admin privileges to use the aggregationRule"));
  }
  co_return ApiResult<void>();
}

Task<ApiResult<void>> Escalation::CheckBinding(const WriteScope& scope, Value binding,
                                               const Value* old, bool cluster) const {
  if (scope.user == nullptr || scope.user->InGroup(auth::kPrivilegedGroup)) {
    co_return ApiResult<void>();
  }
  if (old != nullptr && OnlyForGarbageCollection(binding, *old)) co_return ApiResult<void>();
  const auto plural = cluster ? "clusterrolebindings" : "rolebindings";
  const auto user = std::make_shared<const auth::User>(*scope.user);
  const auto role = binding["roleRef"];
  const bool to_cluster_role = role["kind"].AsString() == "ClusterRole";
  if ((to_cluster_role || role["kind"].AsString() == "Role") &&
      co_await IsAllowed({.user = user,
                          .resource_request = true,
                          .verb = "bind",
                          .group = role["apiGroup"].AsString(),
                          .version = "*",
                          .ns = scope.ns,
                          .resource = to_cluster_role ? "clusterroles" : "roles",
                          .name = role["name"].AsString()})) {
    co_return ApiResult<void>();
  }
  const std::string role_name(role["name"].AsString());
  auto rules =
      policy_.Current()->FindRole({to_cluster_role ? "" : std::string(scope.ns), role_name});
  if (rules == nullptr) {
    // Upstream names the resource that was written.
    co_return std::unexpected(NotFoundStatus(Resource(plural), role_name));
  }
  if (auto lacking = Lacking(user, scope.ns, *rules); !lacking.empty()) {
    co_return std::unexpected(
        ForbiddenStatus(Resource(plural), binding["metadata"]["name"].AsString(), lacking));
  }
  co_return ApiResult<void>();
}

}  // namespace keelson::kube::access
