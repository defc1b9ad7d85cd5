#pragma once

// The pod security standards: whether a pod keeps to the baseline or to the restricted level, as of
// the newest version of the standards.

#include <string>
#include <string_view>
#include <vector>

#include "api/core_v1.h"
#include "value/value.h"

namespace keelson::kube::plugins {

enum class SecurityLevel : uint8_t { kPrivileged, kBaseline, kRestricted };

// What a pod does that its level does not allow: `reason (detail), reason (detail)`. Empty when
// nothing. `metadata` is the pod's or the template's.
std::string SecurityViolations(SecurityLevel level, const value::Value& metadata,
                               api::core_v1::PodSpec spec);

}  // namespace keelson::kube::plugins
