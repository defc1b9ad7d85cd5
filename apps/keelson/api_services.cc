#include "api_services.h"

#include "base/gate.h"

namespace keelson::app {
namespace {

const rest::ResourceSpec& ResourceOf(const kube::BuiltInApi& api) {
  const auto* spec = api.Find(aggregator::kGroup, aggregator::kApiServices);
  KEELSON_CHECK(spec != nullptr);
  return *spec;
}

}  // namespace

ApiServiceConnection::ApiServiceConnection(Cluster& cluster, server::PathMux& mux,
                                           Executor& executor)
    : executor_(executor), services_(ResourceOf(cluster.api()), mux, executor) {
  services_.Start();
}

ApiServiceConnection::~ApiServiceConnection() {
  Gate closing;
  closing.Spawn(&executor_, services_.Stop());
  closing.CloseAndWait();
}

}  // namespace keelson::app
