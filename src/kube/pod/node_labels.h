#pragma once

// Node labels that are on their way out, where something selects nodes by them.

#include <string>
#include <vector>

#include "value/path.h"
#include "value/value.h"

namespace keelson::kube::pod {

// `selector` is a core/v1 NodeSelector at `path`; an absent one is fine.
void WarnAboutNodeSelector(const value::Value& selector, const value::Path& path,
                           std::vector<std::string>& warnings);

}  // namespace keelson::kube::pod
