#pragma once

// Aggregated ClusterRoles: those whose rules are the sum of the rules of other roles, found by
// label. Pure.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rbac/policy.h"
#include "selector/label_selector.h"

namespace keelson::kube::access {

// What aggregation needs to know of a ClusterRole.
struct ClusterRoleFacts {
  std::map<std::string, std::string, std::less<>> labels;
  std::optional<std::vector<selector::LabelSelector>> aggregates;
  std::shared_ptr<const rbac::Rules> rules;  // never null

  // selector::LabelSelector's view of the labels.
  std::optional<std::string_view> Find(std::string_view key) const {
    auto found = labels.find(key);
    if (found == labels.end()) return std::nullopt;
    return found->second;
  }
};

using ClusterRoles = std::map<std::string, ClusterRoleFacts, std::less<>>;

// The rules that the role's selectors sum up, each once, in order of selector and role name.
// `name` must be an aggregated role of `roles`.
rbac::Rules AggregatedRules(const ClusterRoles& roles, std::string_view name);

}  // namespace keelson::kube::access
