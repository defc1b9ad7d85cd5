#pragma once

// Which of two versions clients should prefer: v2, v1, v1beta2, v1beta1, v1alpha1, then any other
// by name.

#include <string_view>

namespace keelson::apiextensions {

// True when `a` comes before `b`.
bool IsPreferredVersion(std::string_view a, std::string_view b);

}  // namespace keelson::apiextensions
