#pragma once

// Files inside one volume that would get into each other's way. Internal.

#include <string>
#include <vector>

#include "api/core_v1.h"
#include "schema/view.h"

namespace keelson::kube::pod {

// A sentence for each pair of files of a volume where one hides the other or needs it to be a
// directory.
void WarnAboutOverlappingPaths(schema::ListView<api::core_v1::Volume> volumes,
                               std::vector<std::string>& warnings);

}  // namespace keelson::kube::pod
