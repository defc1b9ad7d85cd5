#pragma once

// Between the API objects of role-based access control and the values that decisions are made on.
// Pure, any thread.

#include <optional>
#include <string_view>
#include <vector>

#include "rbac/policy.h"
#include "selector/label_selector.h"
#include "value/document.h"
#include "value/value.h"

namespace keelson::kube::access {

inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
inline constexpr std::string_view kRbacVersion = "rbac.authorization.k8s.io/v1";
inline constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

// The `rules` of a Role or ClusterRole.
rbac::Rules ReadRules(const value::Value& rules);
value::Value WriteRules(value::Builder& builder, const rbac::Rules& rules);

// A RoleBinding or ClusterRoleBinding. Subjects of unknown kinds are left out: nobody is one.
rbac::Binding ReadBinding(const value::Value& object);
value::Value WriteSubjects(value::Builder& builder, const std::vector<rbac::Subject>& subjects);

// A meta/v1 LabelSelector; kInvalid for an operator it does not have.
Result<selector::LabelSelector> ReadLabelSelector(const value::Value& selector);

// The selectors of a ClusterRole's aggregation rule; nothing when it has none. Unreadable ones are
// left out.
std::optional<std::vector<selector::LabelSelector>> ReadAggregation(const value::Value& role);

}  // namespace keelson::kube::access
