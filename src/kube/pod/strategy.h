#pragma once

// The code of pods, for the table of all kinds.

#include <span>

#include "kube/pod/validate_template.h"
#include "rest/kind_table.h"

namespace keelson::kube::pod {

std::span<const rest::KindStrategy> Strategies();
std::span<const rest::KindSubresource> Subresources();

}  // namespace keelson::kube::pod
