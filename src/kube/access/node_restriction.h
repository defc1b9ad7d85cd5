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
#include "base/status.h"
#include "base/task.h"
#include "rest/resource.h"

namespace keelson::kube::access {

class NodeRestriction final : public admission::Plugin {
 public:
  // `stores` outlives it; while it holds none, what depends on other objects is refused.
  explicit NodeRestriction(const std::atomic<const rest::ObjectStores*>& stores)
      : stores_(stores) {}

  std::string_view name() const override { return "NodeRestriction"; }
  bool Handles(const admission::Request& request) const override;
  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const admission::Request& request) const override;

 private:
  Task<ApiResult<void>> CheckPod(const admission::Request& request, std::string node) const;
  Task<ApiResult<void>> CheckMirrorPod(const admission::Request& request, std::string node) const;
  Task<ApiResult<void>> CheckToken(const admission::Request& request, std::string node) const;
  // The object's JSON, read anew; null when there is none.
  Task<value::Document> Find(std::string_view resource, std::string ns, std::string name) const;

  const std::atomic<const rest::ObjectStores*>& stores_;
};

// Labels that a kubelet may not set on its node, of those that differ. Pure.
std::string ForbiddenNodeLabels(const value::Value& labels, const value::Value& old);

}  // namespace keelson::kube::access
