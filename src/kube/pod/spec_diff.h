#pragma once

// The difference between two parts of a pod, as messages about forbidden changes show it: a unified
// diff of upstream's unversioned form.

#include <string>

#include "schema/type.h"
#include "value/value.h"

namespace keelson::kube::pod {

std::string ShowChange(const schema::Type& type, const value::Value& before,
                       const value::Value& after);

}  // namespace keelson::kube::pod
