#pragma once

// Conditions of a pod as the server itself sets them. Internal.

#include <string_view>

#include "base/clock.h"
#include "value/document.h"

namespace keelson::kube::pod {

struct PodCondition {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string_view message;
};

// Adds the condition or brings the one of its type up to date; its transition time moves only with
// its status. Texts must outlive the tree.
void SetCondition(value::Ref pod, const PodCondition& condition, WallTime now);

}  // namespace keelson::kube::pod
