#pragma once

// A plain reading of policy rules: does this rule allow that request, and do these rules cover
// those. The compiled form (identity_rules.h) must always agree with it.

#include <string>
#include <string_view>
#include <vector>

#include "rbac/policy.h"

namespace keelson::rbac {

// What is asked, without who asks. `ns` is empty for cluster-wide requests.
struct Request {
  bool resource_request = true;
  std::string_view verb;
  std::string_view path;  // non-resource requests
  std::string_view group;
  std::string_view ns;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name;
};

bool RuleAllows(const PolicyRule& rule, const Request& request);

// Whether a rule's URL ("*", "/healthz", "/api/*") stands for this path.
bool UrlMatches(std::string_view rule_url, std::string_view path);

// Privilege escalation: the parts of `wanted` that `owned` does not cover, broken down to single
// verbs, groups and resources as upstream reports them. Empty when all is covered.
Rules Uncovered(const Rules& owned, const Rules& wanted);

// `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`, as refusals of an escalation show a rule.
std::string Describe(const PolicyRule& rule);

}  // namespace keelson::rbac
