#pragma once

// Managed fields between a resource and its scale subresource.
//
// A Scale shows only the owners of the replica count, in autoscaling/v1; what its writer then owns
// is the replica count of the resource, in the resource's version.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "patch/managed_fields.h"
#include "value/arena.h"

namespace keelson::patch {

// Where the replica count stands, by apiVersion of the resource: {"spec", "replicas"}. An empty
// path is a version without scale; one that is not listed is not served any more.
using ReplicasPaths = std::map<std::string, std::vector<std::string>, std::less<>>;

// The managedFields of the Scale, from those of the resource.
Result<value::Value> ScaleManagedFields(value::Arena& arena, const value::Value& resource_entries,
                                        const ReplicasPaths& paths);

// The managedFields of the resource after its Scale has been written; `api_version` is the
// resource's version at this endpoint.
Result<value::Value> ResourceManagedFields(value::Arena& arena,
                                           const value::Value& resource_entries,
                                           const value::Value& scale_entries,
                                           std::string_view api_version,
                                           const ReplicasPaths& paths);

}  // namespace keelson::patch
