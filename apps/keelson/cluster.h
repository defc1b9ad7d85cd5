#pragma once

// The built-in API of the program: the code of its kinds, the stores behind them, and the objects a
// new cluster starts with.

#include <atomic>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "kube/admission/plugins.h"
#include "kube/bootstrap/bootstrap.h"
#include "kube/built_in_api.h"
#include "kube/core/namespace_lifecycle.h"
#include "kube/core/strategies.h"
#include "kube/service/strategies.h"
#include "options.h"
#include "server/generic_api_server.h"
#include "storage.h"

namespace keelson::app {

class Cluster {
 public:
  // `kinds` is the code of kinds that keep no state here. Everything outlives it.
  Cluster(const Options& options, rest::KindTable kinds, Storage& storage,
          auth::Authorizer& authorizer, Clock& clock);

  kube::BuiltInApi& api() { return *api_; }
  const admission::Chain& admission() const { return admission_; }
  // The hooks that create what every cluster has. Before the server is prepared.
  Result<void> AddHooks(server::GenericApiServer& server) { return bootstrap_->AddHooks(server); }

 private:
  kube::core::Kinds core_;
  kube::service::Kinds services_;
  kube::plugins::Objects admission_objects_;
  std::atomic<const rest::ObjectStores*> stores_ = nullptr;
  admission::Chain admission_;
  std::unique_ptr<kube::BuiltInApi> api_;
  std::unique_ptr<kube::bootstrap::Bootstrap> bootstrap_;
};

}  // namespace keelson::app
