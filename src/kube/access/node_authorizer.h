#pragma once

// What kubelets may do: their own node, lease and CSI objects, the pods bound to them, and of
// secrets, config maps, volumes and accounts only what those pods need.
//
// There is no graph to keep: the pods of a node are one lookup in the pods' watch cache, which is
// indexed by node, and what each of them needs is read once per state of the pod and remembered.
// A cluster without kubelets pays nothing.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "auth/authorizer.h"
#include "kube/access/node_references.h"
#include "rbac/policy.h"
#include "rest/resource.h"
#include "storage/cached_object.h"

namespace keelson::kube::access {

// The node a user is: system:node:<name>, in the group system:nodes. Nothing when it is none;
// empty when it is one without a name.
std::optional<std::string_view> NodeIdentity(const auth::User& user);

class NodeAuthorizer final : public auth::Authorizer {
 public:
  // `rules` is what kubelets may do beyond the above.
  explicit NodeAuthorizer(rbac::Rules rules) : rules_(std::move(rules)) {}

  // Where objects are found; until then nothing that depends on them is allowed. Null ends that;
  // `stores` outlives the requests being served.
  void SetStores(const rest::ObjectStores* stores) {
    stores_.store(stores, std::memory_order_release);
  }

  std::optional<auth::Authorization> TryAuthorize(const auth::Attributes& attributes) override;
  Task<auth::Authorization> Authorize(auth::Attributes attributes) override;
  auth::UserRules RulesFor(const auth::UserPtr& user, std::string_view ns) override;

 private:
  // What is decided without looking at objects; nothing when they must be looked at.
  std::optional<auth::Authorization> DecideByName(std::string_view node,
                                                  const auth::Attributes& attributes) const;
  Task<bool> IsRelated(std::string node, auth::Attributes attributes);
  Task<bool> PodsNeed(std::string node, std::string ns, Referenced kind, std::string name);
  Task<bool> VolumeIsOn(std::string node, std::string volume);
  Task<bool> VolumesNeed(std::string node, std::string ns, std::string secret);
  Task<bool> FieldIs(std::string_view group, std::string_view resource, std::string ns,
                     std::string name, std::string field, std::string wanted);
  std::shared_ptr<const PodReferences> ReferencesOfPod(const storage::CachedObject& pod);

  const rbac::Rules rules_;
  std::atomic<const rest::ObjectStores*> stores_{nullptr};

  // By the pod's uid and revision. When the young table is full it becomes the old one, which is
  // forgotten.
  static constexpr size_t kGeneration = 8192;
  using Table = std::unordered_map<std::string, std::shared_ptr<const PodReferences>>;
  std::mutex mutex_;
  Table young_;
  Table old_;
};

}  // namespace keelson::kube::access
