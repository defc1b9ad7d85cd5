#pragma once

// The work of the post-start hook rbac/bootstrap-roles: every role and binding of the bootstrap
// policy exists and holds at least what it should.
//
// What is missing is created, rules and subjects that were taken away are put back, additions stay.
// An object annotated with autoupdate=false is left alone. All writes are started together, so
// that the store makes them durable together.

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "kube/access/bootstrap_policy.h"
#include "kube/access/policy_feed.h"

namespace keelson::kube::access {

// On an executor.
Task<Result<void>> ReconcileBootstrapPolicy(RbacResources resources, BootstrapPolicy policy);

}  // namespace keelson::kube::access
