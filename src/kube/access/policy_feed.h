#pragma once

// PolicyFeed: keeps the authorizer's policy at what is stored, and aggregated ClusterRoles at the
// sum of their parts.
//
// It follows the four kinds of role-based access control through their watch caches, on one
// executor. A change is in the policy a moment after it is written; since a refusal must not be the
// answer to somebody who was just given permission, refusals first let the policy catch up.
//
// Stop before the storage behind it is stopped; the policy stays as it was.

#include <array>
#include <atomic>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "auth/rbac_authorizer.h"
#include "base/clock.h"
#include "base/completion.h"
#include "base/executor.h"
#include "base/gate.h"
#include "kube/access/aggregation.h"
#include "kv/store.h"
#include "rbac/policy.h"
#include "rest/resource.h"
#include "storage/cache_feed.h"

namespace keelson::kube::access {

// The resources of rbac.authorization.k8s.io. They outlive whoever is given them.
struct RbacResources {
  const rest::ResourceSpec* roles;
  const rest::ResourceSpec* cluster_roles;
  const rest::ResourceSpec* role_bindings;
  const rest::ResourceSpec* cluster_role_bindings;
};

class PolicyFeed final : public auth::PolicySource {
 public:
  struct Deps {
    rbac::PolicySet& policy;
    kv::Store& store;
    storage::CacheFeed& feed;
    Executor& executor;
    Clock& clock;
  };

  PolicyFeed(const RbacResources& resources, const Deps& deps);
  ~PolicyFeed() override;

  void Start();
  Task<void> Stop();

  bool Current() const override;
  Task<void> CatchUp() override;

 private:
  enum Kind : size_t { kRoles, kClusterRoles, kRoleBindings, kClusterRoleBindings, kKinds };
  using Key = std::pair<std::string, std::string>;  // namespace, name

  Task<void> Follow(Kind kind);
  Task<ApiResult<void>> FollowOnce(Kind kind);
  void Replace(Kind kind, const std::vector<storage::ObjectRef>& objects);
  void Put(Kind kind, const storage::CachedObject& object);
  void Remove(Kind kind, const Key& key);
  void PutClusterRole(const storage::CachedObject& object, const value::Value& root,
                      std::shared_ptr<const rbac::Rules> rules);
  void Aggregate();
  Task<void> WriteAggregate(std::string name);
  void Filled(Kind kind);

  const std::array<const rest::ResourceSpec*, kKinds> resources_;
  const Deps deps_;
  std::stop_source stop_;
  Gate gate_;
  // Everything the policy may depend on up to here is in it.
  std::atomic<kv::Revision> caught_up_{0};

  // On the executor.
  std::array<std::set<Key>, kKinds> known_;
  ClusterRoles cluster_roles_;
  std::map<std::string, bool> being_written_;  // and whether anything has changed since
  std::array<bool, kKinds> filled_{};
  std::vector<std::shared_ptr<Completion<bool>>> awaiting_fill_;
};

}  // namespace keelson::kube::access
