#pragma once

// CustomResourceDefinition as a kind: what is special about it when it is written.

#include <span>
#include <string_view>

#include "rest/kind_table.h"
#include "schema/transform.h"

namespace keelson::apiextensions {

inline constexpr std::string_view kGroup = "apiextensions.k8s.io";
inline constexpr std::string_view kDefinitions = "customresourcedefinitions";
// Holds a definition until its objects are gone.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

std::span<const rest::KindStrategy> Strategies();
std::span<const schema::DefaultHook> Defaults();

}  // namespace keelson::apiextensions
