#pragma once

// Endpoints of pods that act instead of storing. Internal to the table of kinds.

#include "rest/subresource.h"

namespace keelson::kube::pod {

// Ties a pod to a node, once. The legacy resource /bindings names the pod in the body alone.
class BindingHandler final : public rest::Subresource {
 public:
  explicit BindingHandler(bool legacy = false) : legacy_(legacy) {}
  Task<ApiResult<rest::Reply>> Create(const rest::SubresourceCall& call,
                                      value::Document binding) const override;

 private:
  const bool legacy_;
};

// Deletes a pod if its disruption budget allows.
class EvictionHandler final : public rest::Subresource {
 public:
  Task<ApiResult<rest::Reply>> Create(const rest::SubresourceCall& call,
                                      value::Document eviction) const override;
};

}  // namespace keelson::kube::pod
