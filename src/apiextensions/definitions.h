#pragma once

// Definitions: follows the CustomResourceDefinitions and keeps everything in step with them: what
// is served, their names and conditions, and the removal of a definition's objects before its own.
//
// Works on one executor. Stop before the storage behind it is stopped, after the last request: it
// lets go of all custom kinds.

#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiextensions/custom_kind.h"
#include "apiextensions/definition_names.h"
#include "apiextensions/routes.h"
#include "base/executor.h"
#include "base/gate.h"
#include "rest/resource.h"
#include "server/generic_api_server.h"
#include "server/signals.h"
#include "storage/follow.h"

namespace keelson::apiextensions {

// CustomResourceDefinition as a resource, and its status. They outlive whoever is given them.
struct DefinitionResources {
  const rest::ResourceSpec& definitions;
  const rest::ResourceSpec& status;
};

class Definitions final : public storage::Follower {
 public:
  // Everything outlives it.
  Definitions(const DefinitionResources& resources, const KindParts& parts, Routes& routes,
              Executor& executor);
  ~Definitions() override;

  // The hooks by which the server is ready only when all stored definitions are served.
  Result<void> AddHooks(server::GenericApiServer& server);

  void Start();
  Task<void> Stop();

  // Raised once all definitions that were there at the start are served.
  const std::shared_ptr<server::Signal>& synced() const { return synced_; }

  // --- storage::Follower, on the executor
  void Replace(const std::vector<storage::ObjectRef>& objects) override;
  void Apply(const std::vector<storage::WatchEvent>& events) override;

 private:
  using Key = std::pair<std::string, std::string>;  // group, plural: the order of routes
  struct Entry {
    Key key;
    storage::ObjectRef object;
    CustomKindRef kind;  // null when it is not served
    std::string shape;   // of what the kind was made from
    bool settled = true;
    bool busy = false;   // being written
    bool again = false;  // has changed since
  };

  void Put(const storage::ObjectRef& object);
  void Remove(std::string_view name);
  void Serve(Entry& entry, const value::Value& root);
  void PublishIfChanged();
  // Looks at a definition, and at those of its group that lack a name.
  void Sync(const std::string& name);
  void SyncGroup(const std::string& group);
  Task<void> Work(std::string name);
  Task<ApiResult<void>> Settle(std::string name);
  Task<ApiResult<void>> Finalize(std::string name, CustomKindRef kind);
  Task<ApiResult<void>> RemoveObjects(CustomKindRef kind);
  Task<void> RemoveObject(const rest::ResourceSpec& spec, storage::ObjectRef object,
                          ApiResult<void>& result);
  Task<Result<void>> WaitUntilSynced();

  const DefinitionResources resources_;
  const KindParts parts_;
  Routes& routes_;
  Executor& executor_;
  const std::shared_ptr<server::Signal> synced_ = std::make_shared<server::Signal>();
  std::stop_source stop_;
  Gate gate_;

  // On the executor.
  std::map<std::string, Entry, std::less<>> entries_;  // by the definition's name
  std::map<Key, CustomKindRef> kinds_;
  DefinitionNames names_;
  std::map<std::string, std::set<std::string>, std::less<>> unsettled_;  // by group
  bool changed_ = false;
};

}  // namespace keelson::apiextensions
