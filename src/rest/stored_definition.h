#pragma once

// CustomResourceDefinitions as kube-apiserver stores them: JSON of v1beta1, though that is long
// served no more. What all versions of a kind have in common stands once there, above them; a
// conversion's webhook lies flat, and a column's path has another name.

#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::rest {

inline constexpr std::string_view kOldDefinitions = "apiextensions.k8s.io/v1beta1";

// The JSON of v1 for that of v1beta1.
Result<std::string> DefinitionFromV1beta1(std::string_view json);

}  // namespace keelson::rest
