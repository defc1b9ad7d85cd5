#pragma once

// What is special about Role, ClusterRole, RoleBinding and ClusterRoleBinding when they are
// written.

#include <span>
#include <string_view>

#include "rest/strategy.h"
#include "schema/transform.h"

namespace keelson::kube::access {

// Null for resources that are not of rbac.authorization.k8s.io.
const rest::Strategy* FindStrategy(std::string_view group, std::string_view plural);
std::span<const schema::DefaultHook> Defaults();

}  // namespace keelson::kube::access
