#pragma once

// The last server of the program's chain: custom resources, behind the built-in API.

#include <memory>

#include "apiextensions/definitions.h"
#include "apiextensions/endpoint.h"
#include "apiextensions/routes.h"
#include "auth/authorizer.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "cluster.h"
#include "server/generic_api_server.h"
#include "storage.h"

namespace keelson::app {

class CustomResources {
 public:
  // Before the server that delegates to it, and outlives that.
  CustomResources();

  // Answers for custom resources, and with 404 for everything else.
  const std::shared_ptr<server::Endpoint>& endpoint() const { return endpoint_; }
  const server::DiscoverySource& groups() const { return groups_; }
  const server::OpenApiSupplement& schemas() const { return schemas_; }

  // Follows the definitions in the cluster from now on, until the connection ends.
  class Connection {
   public:
    Connection(CustomResources& resources, Cluster& cluster, Storage& storage,
               auth::Authorizer& authorizer, Clock& clock, Executor& executor);
    // After the last request.
    ~Connection();

    Result<void> AddHooks(server::GenericApiServer& server) {
      return definitions_.AddHooks(server);
    }

   private:
    Executor& executor_;
    apiextensions::Definitions definitions_;
  };

 private:
  const std::shared_ptr<apiextensions::Routes> routes_;
  const std::shared_ptr<server::Endpoint> endpoint_;
  const apiextensions::CustomGroups groups_;
  const apiextensions::CustomSchemas schemas_;
};

}  // namespace keelson::app
