#pragma once

// Nobody gives away more than they have: the checks on writes of roles and bindings.
//
// Who writes a role must hold every permission in it, or be allowed to escalate the role; who binds
// one, every permission of the role bound, or be allowed to bind it. Members of system:masters may
// always.

#include <memory>
#include <string>
#include <string_view>

#include "auth/authorizer.h"
#include "auth/rbac_authorizer.h"
#include "base/status.h"
#include "base/task.h"
#include "rbac/policy.h"
#include "rest/kind_table.h"
#include "rest/strategy.h"

namespace keelson::kube::access {

class Escalation {
 public:
  // `policy` outlives it. `rbac` tells what users have; null (another mode decides): nothing.
  Escalation(std::shared_ptr<auth::Authorizer> authorizer,
             std::shared_ptr<auth::RbacAuthorizer> rbac, const rbac::PolicySet& policy)
      : authorizer_(std::move(authorizer)), rbac_(std::move(rbac)), policy_(policy) {}

  // Whether this Role or ClusterRole may be written; `old` is null on create.
  Task<ApiResult<void>> CheckRole(const rest::WriteScope& scope, value::Value role,
                                  const value::Value* old, bool cluster) const;
  // The same for RoleBinding and ClusterRoleBinding.
  Task<ApiResult<void>> CheckBinding(const rest::WriteScope& scope, value::Value binding,
                                     const value::Value* old, bool cluster) const;

 private:
  Task<bool> IsAllowed(auth::Attributes attributes) const;
  // What `user` lacks of `rules`, as the refusal says it; empty when nothing.
  std::string Lacking(const auth::UserPtr& user, std::string_view ns,
                      const rbac::Rules& rules) const;

  std::shared_ptr<auth::Authorizer> authorizer_;
  std::shared_ptr<auth::RbacAuthorizer> rbac_;
  const rbac::PolicySet& policy_;
};

}  // namespace keelson::kube::access
