#pragma once

// The kinds of apps, batch, autoscaling and policy: what is special about them when they are
// written. Contributed to a rest::KindTable.

#include <span>

#include "rest/kind_table.h"
#include "schema/transform.h"

namespace keelson::kube::workload {

std::span<const rest::KindStrategy> Strategies();
std::span<const schema::DefaultHook> Defaults();

}  // namespace keelson::kube::workload
