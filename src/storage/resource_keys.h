#pragma once

// Where objects stand in the store: /registry/<prefix>/[<namespace>/]<name>, the layout of
// upstream, so that either server can take over the other's data.

#include <string>
#include <string_view>

#include "base/status.h"

namespace keelson::storage {

inline constexpr std::string_view kRegistryRoot = "/registry/";

// The part between the root and an object's namespace or name. Built-in resources mostly stand
// under their plural alone, custom ones under their group and plural.
std::string ResourcePrefix(const GroupResource& resource, bool built_in);

// "namespace/name" or "name": an object's key below its resource's prefix.
std::string RelativeKey(std::string_view ns, std::string_view name);

}  // namespace keelson::storage
