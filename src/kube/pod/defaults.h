#pragma once

// Defaults of pods and of what they are made of that depend on other fields. The fixed ones stand
// in api/*.api. Those of parts apply to pod templates of every kind too.

#include <span>

#include "schema/transform.h"

namespace keelson::kube::pod {

std::span<const schema::DefaultHook> Defaults();

}  // namespace keelson::kube::pod
