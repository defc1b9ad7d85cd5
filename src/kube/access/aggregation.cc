#include "kube/access/aggregation.h"

#include <algorithm>

namespace keelson::kube::access {

rbac::Rules AggregatedRules(const ClusterRoles& roles, std::string_view name) {
  rbac::Rules sum;
  for (const auto& selector : *roles.find(name)->second.aggregates) {
    for (const auto& [other, facts] : roles) {
      if (other == name || !selector.Matches(facts)) continue;
      for (const auto& rule : *facts.rules) {
        if (std::ranges::find(sum, rule) == sum.end()) sum.push_back(rule);
      }
    }
  }
  return sum;
}

}  // namespace keelson::kube::access
