#include "auth/abac.h"

#include <fmt/format.h>

#include <algorithm>

#include "value/json.h"

namespace keelson::auth {
namespace {

using value::Value;

constexpr std::string_view kAll = "*";

bool SubjectMatches(const AbacPolicy& policy, const User& user) {
  if (policy.user.empty() && policy.group.empty()) return false;
  if (!policy.user.empty()) {
    // "*" means those who are known.
    const bool matches =
        policy.user == user.name || (policy.user == kAll && user.InGroup(kAuthenticatedGroup));
    if (!matches) return false;
  }
  if (!policy.group.empty()) {
    const bool matches =
        user.InGroup(policy.group) || (policy.group == kAll && user.InGroup(kAuthenticatedGroup));
    if (!matches) return false;
  }
  return true;
}

bool IsReadOnly(std::string_view verb) {
  return verb == "get" || verb == "list" || verb == "watch";
}

bool PathMatches(std::string_view pattern, std::string_view path) {
  if (pattern == kAll || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

// The first version of the format had no envelope, and its resources were in any group.
AbacPolicy ReadOld(const Value& line) {
  AbacPolicy policy{.user = std::string(line["user"].AsString()),
                    .group = std::string(line["group"].AsString()),
                    .readonly = line["readonly"].AsBool(),
                    .resource = std::string(line["resource"].AsString()),
                    .ns = std::string(line["namespace"].AsString())};
  if (policy.user.empty() && policy.group.empty()) policy.group = kAuthenticatedGroup;
  if (policy.resource.empty()) policy.resource = kAll;
  if (policy.ns.empty()) policy.ns = kAll;
  policy.api_group = kAll;
  if (policy.resource == kAll && policy.ns == kAll) policy.non_resource_path = kAll;
  return policy;
}

AbacPolicy ReadSpec(const Value& spec) {
  return {.user = std::string(spec["user"].AsString()),
          .group = std::string(spec["group"].AsString()),
          .readonly = spec["readonly"].AsBool(),
          .api_group = std::string(spec["apiGroup"].AsString()),
          .resource = std::string(spec["resource"].AsString()),
          .ns = std::string(spec["namespace"].AsString()),
          .non_resource_path = std::string(spec["nonResourcePath"].AsString())};
}

}  // namespace

bool AbacPolicy::Allows(const Attributes& attributes) const {
  if (!SubjectMatches(*this, *attributes.user)) return false;
  if (readonly && !IsReadOnly(attributes.verb)) return false;
  if (!attributes.resource_request) return PathMatches(non_resource_path, attributes.path);
  return (ns == kAll || ns == attributes.ns) &&
         (resource == kAll || resource == attributes.resource) &&
         (api_group == kAll || api_group == attributes.group);
}

Result<std::vector<AbacPolicy>> ParseAbacPolicies(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  std::vector<AbacPolicy> policies;
  for (int number = 1; !text.empty(); ++number) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBlank)));
    if (line.empty() || line.front() == '#') continue;
    auto parsed = value::ParseJson(line);
    if (!parsed || !parsed->root().is_object()) {
      return Fail(ErrorCode::kInvalid, "error reading policy file, line {}: not a JSON object",
                  number);
    }
    const auto root = parsed->root();
    const auto kind = root["kind"].AsString();
    if (kind.empty() && root["apiVersion"].AsString().empty()) {
      policies.push_back(ReadOld(root));
    } else if (kind == "Policy" &&
               root["apiVersion"].AsString().starts_with("abac.authorization.kubernetes.io/")) {
      policies.push_back(ReadSpec(root["spec"]));
    } else {
      return Fail(ErrorCode::kInvalid, "error reading policy file, line {}: unrecognized object",
                  number);
    }
  }
  return policies;
}

std::optional<Authorization> AbacAuthorizer::TryAuthorize(const Attributes& attributes) {
  const bool allowed = std::ranges::any_of(
      policies_, [&](const AbacPolicy& policy) { return policy.Allows(attributes); });
  if (allowed) return Authorization{.decision = Decision::kAllow};
  return Authorization{.reason = "No policy matched."};
}

UserRules AbacAuthorizer::RulesFor(const UserPtr& user, std::string_view ns) {
  UserRules found;
  for (const auto& policy : policies_) {
    if (!SubjectMatches(policy, *user) || (policy.ns != kAll && policy.ns != ns)) continue;
    std::vector<std::string> verbs = policy.readonly
                                         ? std::vector<std::string>{"get", "list", "watch"}
                                         : std::vector<std::string>{"*"};
    if (!policy.resource.empty()) {
      found.rules.push_back(
          {.verbs = verbs, .api_groups = {policy.api_group}, .resources = {policy.resource}});
    }
    if (!policy.non_resource_path.empty()) {
      found.rules.push_back(
          {.verbs = std::move(verbs), .non_resource_urls = {policy.non_resource_path}});
    }
  }
  return found;
}

}  // namespace keelson::auth
