#pragma once

// What containers ask for, summed up and classified.

#include <map>
#include <string_view>

#include "api/core_v1.h"
#include "value/quantity.h"
#include "value/value.h"

namespace keelson::kube::pod {

// --- names of resources --------------------------------------------------------------------------

bool IsHugePages(std::string_view resource);
// In the kubernetes.io namespace, or in none.
bool IsNativeResource(std::string_view resource);
// A resource of somebody else's: example.com/gpu.
bool IsExtendedResource(std::string_view resource);
// More may be promised than there is.
inline bool IsOvercommitAllowed(std::string_view resource) {
  return IsNativeResource(resource) && !IsHugePages(resource);
}
// Counted in whole pieces.
bool IsIntegerResource(std::string_view resource);
bool IsStandardResource(std::string_view resource);
bool IsStandardContainerResource(std::string_view resource);
// What may be given for a pod as a whole: cpu, memory, huge pages.
bool IsPodLevelResource(std::string_view resource);

// --- amounts -------------------------------------------------------------------------------------

using ResourceAmounts = std::map<std::string_view, value::Quantity>;

enum class Demand : uint8_t { kRequests, kLimits };

// What the containers of a pod need together: the larger of all regular containers at once and of
// each step of initialisation, sidecars included. Upstream's AggregateContainerRequests and
// AggregateContainerLimits.
ResourceAmounts AggregateContainers(api::core_v1::PodSpec spec, Demand demand);

// Guaranteed, Burstable or BestEffort.
std::string_view QosClass(api::core_v1::PodSpec spec);

}  // namespace keelson::kube::pod
