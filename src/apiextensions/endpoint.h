#pragma once

// The third server of the delegation chain: the paths of custom resources, below /apis.
//
// Everything it does not know goes to whoever is behind it, as upstream's does: an unknown kind, a
// version that is not served, an object of a namespace where kinds have none.

#include <memory>

#include "apiextensions/routes.h"
#include "schema/resource.h"
#include "server/discovery_endpoint.h"
#include "server/endpoint.h"
#include "server/openapi_documents.h"

namespace keelson::apiextensions {

class CustomResourceEndpoint final : public server::Endpoint {
 public:
  // The catalog outlives it.
  CustomResourceEndpoint(const schema::Catalog& catalog, std::shared_ptr<const Routes> routes,
                         std::shared_ptr<server::Endpoint> otherwise);

  server::Pending Serve(server::RequestContext& context) override;

 private:
  server::Pending ServeDiscovery(server::RequestContext& context);
  server::Pending ServeKind(server::RequestContext& context, const CustomKindRef& kind) const;

  const std::shared_ptr<const Routes> routes_;
  const std::shared_ptr<server::Endpoint> otherwise_;
  const schema::Type* group_type_;
  const schema::Type* version_type_;
};

// The groups of custom resources, for the list of all groups.
class CustomGroups final : public server::DiscoverySource {
 public:
  explicit CustomGroups(std::shared_ptr<const Routes> routes) : routes_(std::move(routes)) {}
  uint64_t version() const override { return routes_->table()->version(); }
  Groups Current() const override;

 private:
  const std::shared_ptr<const Routes> routes_;
};

// The schemas of custom resources, for OpenAPI.
class CustomSchemas final : public server::OpenApiSupplement {
 public:
  explicit CustomSchemas(std::shared_ptr<const Routes> routes) : routes_(std::move(routes)) {}
  uint64_t version() const override { return routes_->table()->version(); }
  Resources Current() const override;

 private:
  const std::shared_ptr<const Routes> routes_;
};

}  // namespace keelson::apiextensions
