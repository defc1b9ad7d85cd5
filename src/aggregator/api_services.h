#pragma once

// ApiServices: keeps the routes of aggregated groups in step with the APIService objects, and
// creates those of the groups that this program serves itself.
//
// Works on one executor. Stop before the storage behind it is stopped.

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/gate.h"
#include "base/result.h"
#include "base/task.h"
#include "rest/resource.h"
#include "schema/resource.h"
#include "server/generic_api_server.h"
#include "server/path_mux.h"
#include "server/signals.h"
#include "storage/follow.h"

namespace keelson::aggregator {

inline constexpr std::string_view kGroup = "apiregistration.k8s.io";
inline constexpr std::string_view kApiServices = "apiservices";

class ApiServices final : public storage::Follower {
 public:
  // `resource` is APIService. Everything outlives it.
  ApiServices(const rest::ResourceSpec& resource, server::PathMux& mux, Executor& executor);
  ~ApiServices() override;

  // The hooks by which the server is ready only when all of this is in place.
  Result<void> AddHooks(server::GenericApiServer& server);

  void Start();
  Task<void> Stop();

  // Creates the APIServices of the groups in the catalog that are not there.
  Task<Result<void>> RegisterLocal();

  // --- storage::Follower, on the executor
  void Replace(const std::vector<storage::ObjectRef>& objects) override;
  void Apply(const std::vector<storage::WatchEvent>& events) override;

 private:
  void Put(const storage::CachedObject& object);
  void Remove(std::string_view name);
  Task<void> CreateLocal(const schema::GroupVersionInfo& version);
  Task<Result<void>> WaitUntilSynced();

  const rest::ResourceSpec resource_;  // past admission
  server::PathMux& mux_;
  Executor& executor_;
  const std::shared_ptr<server::Endpoint> unavailable_;
  const std::shared_ptr<server::Signal> synced_ = std::make_shared<server::Signal>();
  std::stop_source stop_;
  Gate gate_;
  std::map<std::string, std::string, std::less<>> routes_;  // by name; on the executor
};

}  // namespace keelson::aggregator
