#pragma once

// NodeRestriction: kubelets write their own objects and those of the pods bound to them, and
// nothing in them that would give them more.
//
// The node authorizer says which requests a kubelet may make; this admission plugin looks at what
// stands in them.

#include <atomic>
#include <string>
#include <string_view>

#include "admission/admission.h"
#include "auth/authorizer.h"
#include "base/result.h"
#include "base/status.h"
#include "base/task.h"
#include "rest/resource.h"

namespace keelson::kube::access {

class NodeRestriction final : public admission::Plugin {
 public:
  // Both outlive it; while `stores` holds none, what depends on other objects is refused.
  NodeRestriction(const std::atomic<const rest::ObjectStores*>& stores,
                  auth::Authorizer& authorizer)
      : stores_(stores), authorizer_(authorizer) {}

  std::string_view name() const override { return "NodeRestriction"; }
  bool Handles(const admission::Request& request) const override;
  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const admission::Request& request) const override;

 private:
  Task<ApiResult<void>> CheckPod(const admission::Request& request, std::string node) const;
  Task<ApiResult<void>> CheckMirrorPod(const admission::Request& request, std::string node) const;
  Task<ApiResult<void>> CheckToken(const admission::Request& request, std::string node) const;
  // A token for others than this server is given to a kubelet when a volume of the pod calls for
  // it, or a rule says so.
  Task<ApiResult<void>> CheckAudience(const admission::Request& request, value::Value pod) const;
  Task<Result<bool>> CallsForAudience(value::Value pod, std::string audience) const;
  // The CSI driver behind a volume; empty when there is none.
  Task<Result<std::string>> DriverOf(value::Value volume, value::Value pod) const;
  // The object's JSON, read anew; null when there is none.
  Task<value::Document> Find(GroupResource resource, std::string ns, std::string name) const;

  const std::atomic<const rest::ObjectStores*>& stores_;
  auth::Authorizer& authorizer_;
};

// Labels that a kubelet may not set on its node, of those that differ. Pure.
std::string ForbiddenNodeLabels(const value::Value& labels, const value::Value& old);

}  // namespace keelson::kube::access
