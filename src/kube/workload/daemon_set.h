#pragma once

// The generation of a daemon set's template. Upstream counts it in a field that apps/v1 does not
// have and shows it as an annotation, which clients can therefore read but not change.

#include <cstdint>
#include <string_view>

#include "value/arena.h"
#include "value/value.h"

namespace keelson::kube::workload {

inline constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";

// The annotations with this generation in them, sorted, in the arena.
value::Value WithTemplateGeneration(const value::Value& annotations, int64_t generation,
                                    value::Arena& arena);

}  // namespace keelson::kube::workload
