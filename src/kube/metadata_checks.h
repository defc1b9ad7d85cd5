#pragma once

// How often upstream's code for a kind checks metadata when an object changes.

#include "rest/resource.h"
#include "schema/resource.h"

namespace keelson::kube {

rest::MetadataChecks MetadataChecksOf(const schema::ResourceInfo& info);

}  // namespace keelson::kube
