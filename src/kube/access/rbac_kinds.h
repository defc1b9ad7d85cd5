#pragma once

// What is special about Role, ClusterRole, RoleBinding and ClusterRoleBinding when they are
// written.

#include <span>

#include "rest/kind_table.h"
#include "schema/transform.h"

namespace keelson::kube::access {

std::span<const rest::KindStrategy> Strategies();
std::span<const schema::DefaultHook> Defaults();

}  // namespace keelson::kube::access
