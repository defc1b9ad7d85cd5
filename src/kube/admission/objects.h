#pragma once

// Other objects, as plugins look them up: service accounts, limit ranges, classes.
//
// Reads come from the watch caches as they are, as upstream's come from its informers; only what is
// not there is asked for again, at the store's own version. The stores belong to the API that the
// plugins guard, so they are bound after both are made and before the first request.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "admission/refusal.h"
#include "base/status.h"
#include "base/task.h"
#include "rest/resource.h"
#include "value/document.h"

namespace keelson::kube::plugins {

using keelson::admission::Forbid;
using keelson::admission::Operation;
using keelson::admission::Plugin;
using keelson::admission::Request;

class Objects {
 public:
  void Bind(const rest::ObjectStores& stores) { stores_ = &stores; }

  // Empty when the cache has none, which proves nothing. Costs no more than looking it up.
  storage::ObjectRef Cached(std::string_view group, std::string_view resource, std::string_view ns,
                            std::string_view name) const;
  // Empty when there is no such object.
  Task<ApiResult<storage::ObjectRef>> Find(std::string_view group, std::string_view resource,
                                           std::string ns, std::string name) const;
  // The same as a tree. Nothing when there is no such object.
  Task<ApiResult<std::optional<value::Document>>> Get(std::string_view group,
                                                      std::string_view resource, std::string ns,
                                                      std::string name) const;
  // All of a namespace (or of the cluster) whose JSON contains `text`, which sorts out most of them
  // before they are read.
  Task<ApiResult<std::vector<value::Document>>> List(std::string_view group,
                                                     std::string_view resource, std::string ns,
                                                     std::string_view text = {}) const;
  // Those of a cluster-wide resource in the cache whose JSON contains `text`. Nothing when the
  // cache is not filled.
  std::optional<std::vector<storage::ObjectRef>> CachedWith(std::string_view group,
                                                            std::string_view resource,
                                                            std::string_view text) const;
  // True when the cache, as far as it has come, holds none in that namespace. Costs nothing, so
  // that plugins which seldom have anything to say can tell.
  bool KnownToBeNone(std::string_view group, std::string_view resource, std::string_view ns) const;
  // Null when there is no such resource.
  storage::ObjectStore* Store(std::string_view group, std::string_view resource) const {
    return stores_ == nullptr ? nullptr : stores_->FindStore(group, resource);
  }

 private:
  const rest::ObjectStores* stores_ = nullptr;
};

// Whether the request creates a whole object of this resource, no part of one.
inline bool Creates(const Request& request, std::string_view group, std::string_view plural) {
  return request.operation == Operation::kCreate && request.subresource.empty() &&
         request.IsFor(group, plural);
}
inline bool Writes(const Request& request, std::string_view group, std::string_view plural) {
  return (request.operation == Operation::kCreate || request.operation == Operation::kUpdate) &&
         request.subresource.empty() && request.IsFor(group, plural);
}

}  // namespace keelson::kube::plugins
