#pragma once

// The first server of the program's chain: who answers for which group.

#include "aggregator/api_services.h"
#include "base/executor.h"
#include "base/result.h"
#include "cluster.h"
#include "server/generic_api_server.h"

namespace keelson::app {

// Follows the APIServices in the cluster from its beginning to its end.
class ApiServiceConnection {
 public:
  ApiServiceConnection(Cluster& cluster, server::PathMux& mux, Executor& executor);
  ~ApiServiceConnection();

  Result<void> AddHooks(server::GenericApiServer& server) { return services_.AddHooks(server); }

 private:
  Executor& executor_;
  aggregator::ApiServices services_;
};

}  // namespace keelson::app
