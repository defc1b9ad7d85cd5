#pragma once

// The kinds that make up the cluster around the workloads: networking, storage, scheduling,
// certificates, flow control, admission registration, devices, runtime classes, API services and
// custom resource definitions. What is special about them when they are written, contributed to a
// rest::KindTable.

#include <span>

#include "rest/kind_table.h"
#include "schema/transform.h"

namespace keelson::kube::cluster {

std::span<const rest::KindStrategy> Strategies();
std::span<const rest::KindSubresource> Subresources();
std::span<const schema::DefaultHook> Defaults();

}  // namespace keelson::kube::cluster
