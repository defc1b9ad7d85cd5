#pragma once

// The kinds around services that keep no state of their own; internal.

#include "rest/kind_rules.h"

namespace keelson::kube::service {

extern const rest::KindRules kEndpointsRules;
extern const rest::KindRules kEndpointSliceRules;

}  // namespace keelson::kube::service
