#pragma once

// The paths below /api and /apis of one server: discovery documents, resources, subresources.
//
// Everything is derived from the handlers it is given, once; serving looks up and calls. Immutable
// and shared by all io threads; a server whose resources change puts a new endpoint in its mux.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rest/discovery.h"
#include "rest/resource.h"
#include "server/discovery_endpoint.h"
#include "server/endpoint.h"
#include "server/request_metrics.h"

namespace keelson::server {

class ApiEndpoint final : public Endpoint {
 public:
  // Groups in the order discovery shows them, the legacy group (name "") anywhere. The handlers
  // outlive the endpoint.
  ApiEndpoint(const schema::Catalog& catalog, std::vector<rest::DiscoveryGroup> groups,
              const std::vector<const rest::ResourceHandler*>& handlers);

  Pending Serve(RequestContext& context) override;

  // The roots to register with PathMux::HandleService: /api and /apis/<group>.
  std::vector<std::string> roots() const;

 private:
  struct Document {
    std::string body;
    const schema::Type* type = nullptr;  // for its protobuf form
  };
  // Views into the handlers' specs, or into a request.
  struct Key {
    std::string_view resource;
    std::string_view subresource;
    std::string_view group;
    std::string_view version;
    auto operator<=>(const Key&) const = default;
  };

  // A handler, and its verbs as metrics see them, in the order of kVerbs; null for others.
  struct Entry {
    const rest::ResourceHandler* handler = nullptr;
    std::vector<const InstrumentedRoute*> routes;
  };

  void RenderDocuments(const schema::Catalog& catalog);
  void ServeDiscovery(RequestContext& context) const;
  Pending ServeResource(RequestContext& context) const;

  const std::vector<rest::DiscoveryGroup> groups_;
  std::map<Key, Entry> handlers_;
  std::deque<InstrumentedRoute> routes_;
  std::map<std::string, Document, std::less<>> documents_;  // by path
  AggregatedAnswer aggregated_legacy_;
  const schema::Type* versions_type_ = nullptr;
};

}  // namespace keelson::server
