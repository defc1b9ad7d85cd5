#pragma once

// Role-based access control as an authorizer.
//
// What a user may do is compiled once per identity and version of the policy (rbac/identity_rules)
// and kept: beside each io thread for the users it is serving, and in a bounded table for all. A
// decision then is a few lookups, without a lock.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "auth/authorizer.h"
#include "rbac/identity_rules.h"
#include "rbac/policy.h"

namespace keelson::auth {

// Where the policy comes from, for those who must not decide on an old one.
class PolicySource {
 public:
  virtual ~PolicySource() = default;
  // Whether everything written so far is in the policy. Any thread; cheap.
  virtual bool Current() const = 0;
  // Waits until what is written by now is in the policy, or cannot be.
  virtual Task<void> CatchUp() = 0;
};

class RbacAuthorizer final : public Authorizer {
 public:
  // `policy` outlives it.
  explicit RbacAuthorizer(const rbac::PolicySet& policy);
  ~RbacAuthorizer() override;

  // From now on nobody is refused before `source` has caught up; null ends that. `source` outlives
  // the requests being served.
  void SetSource(PolicySource* source) { source_.store(source, std::memory_order_release); }

  std::optional<Authorization> TryAuthorize(const Attributes& attributes) override;
  Task<Authorization> Authorize(Attributes attributes) override;
  UserRules RulesFor(const UserPtr& user, std::string_view ns) override;

  // Everything granted to the user, at the policy's current version.
  std::shared_ptr<const rbac::IdentityRules> RulesOf(const UserPtr& user);

 private:
  struct Identity {
    UserPtr user;
    std::shared_ptr<const rbac::IdentityRules> rules;
  };
  struct Slot;

  Authorization Decide(const rbac::IdentityRules& rules, const Attributes& attributes) const;
  const rbac::IdentityRules& ThreadRules(const UserPtr& user);
  static Slot& SlotOf(const User* user);

  // Two generations: when the young one is full it becomes the old one, which is forgotten. What
  // is in use moves back.
  static constexpr size_t kGeneration = 1024;
  using Table = std::unordered_multimap<uint64_t, Identity>;
  Identity* Find(Table& table, uint64_t hash, const User& user);

  const rbac::PolicySet& policy_;
  const uint64_t id_;  // never the same for two authorizers of the process
  std::atomic<PolicySource*> source_{nullptr};
  std::mutex mutex_;
  Table young_;
  Table old_;
};

}  // namespace keelson::auth
