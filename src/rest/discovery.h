#pragma once

// Discovery documents: what a server tells clients about the groups, versions and resources it has.
//
// Rendered from ResourceInfo alone, so a resource cannot be served and not discovered. Everything
// returned is a finished JSON body; the other forms are made from it by the schema engine.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/resource.h"

namespace keelson::rest {

// One version of a group, with its resources in the order discovery shows them.
struct DiscoveryVersion {
  std::string version;
  std::vector<const schema::ResourceInfo*> resources;
  bool stale = false;  // an aggregated server that does not answer; shown from memory
};

// One group, its preferred version first.
struct DiscoveryGroup {
  std::string name;  // empty for the legacy group
  std::vector<DiscoveryVersion> versions;
};

// GET /api: kind APIVersions. `server_address` is host:port as this client reaches the server.
std::string RenderApiVersions(const DiscoveryGroup& legacy, std::string_view server_address);
// GET /apis: kind APIGroupList.
std::string RenderApiGroupList(std::span<const DiscoveryGroup> groups);
// GET /apis/<group>: kind APIGroup.
std::string RenderApiGroup(const DiscoveryGroup& group);
// GET /api/v1 and /apis/<group>/<version>: kind APIResourceList.
std::string RenderApiResourceList(std::string_view group, const DiscoveryVersion& version);

// The aggregated form (apidiscovery.k8s.io/v2), all groups in one answer.
struct AggregatedDiscovery {
  std::string body;
  std::string etag;  // with its quotes
};
AggregatedDiscovery RenderAggregated(std::span<const DiscoveryGroup> groups);

}  // namespace keelson::rest
