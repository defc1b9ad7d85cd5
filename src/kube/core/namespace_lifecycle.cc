#include "kube/core/namespace_lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace keelson::kube::core {
namespace {

using admission::Operation;
using admission::Request;

constexpr std::string_view kImmortal[] = {"default", "kube-public", "kube-system"};
constexpr auto kDistrust = std::chrono::seconds(30);

bool IsNamespace(const Request& request) { return request.IsFor("", "namespaces"); }

// Who asks what is allowed somewhere may ask about places that are not there.
bool IsAccessReview(const Request& request) {
  return request.IsFor("authorization.k8s.io", "localsubjectaccessreviews");
}

Status TerminatingStatus(const Request& request) {
  auto status = ForbiddenStatus(
      {std::string(request.info->group), std::string(request.resource)}, request.name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  request.ns));
  status.details->causes.push_back(
      {.reason = "NamespaceTerminating",
       .message = fmt::format("namespace {} is being terminated", request.ns),
       .field = "metadata.namespace"});
  return status;
}

}  // namespace

void NamespaceLifecycle::Connect(storage::ObjectStore& namespaces) {
  namespaces_ = &namespaces;
  const auto& fields = namespaces.resource().fields;
  const auto phase = std::ranges::find(fields, "status.phase");
  KEELSON_CHECK(phase != fields.end());
  phase_field_ = static_cast<size_t>(phase - fields.begin());
}

bool NamespaceLifecycle::Handles(const Request& request) const {
  if (request.operation == Operation::kDelete) return IsNamespace(request);
  return (request.operation == Operation::kCreate || request.operation == Operation::kUpdate) &&
         !request.ns.empty() && !IsNamespace(request) && !IsAccessReview(request);
}

bool NamespaceLifecycle::RecentlyDeleted(std::string_view name) const {
  std::lock_guard lock(mutex_);
  if (deleted_.empty()) return false;
  const auto now = clock_.Now();
  std::erase_if(deleted_, [&](const auto& entry) { return entry.second < now; });
  return deleted_.contains(name);
}

Task<ApiResult<void>> NamespaceLifecycle::Mutate(const Request& request, value::Ref) const {
  const std::string name(request.ns);
  ApiResult<storage::ObjectRef> found;
  if (!RecentlyDeleted(name)) found = namespaces_->Cached("", name);
  if (!*found) found = co_await namespaces_->Get("", name);
  if (!found) {
    const int code = found.error().code;  // not there, or the store does not answer
    if (code == 404 || code == 504) co_return std::unexpected(std::move(found).error());
    co_return std::unexpected(InternalErrorStatus(found.error().message));
  }
  if (request.operation == Operation::kCreate && (*found)->field(phase_field_) == "Terminating") {
    co_return std::unexpected(TerminatingStatus(request));
  }
  co_return ApiResult<void>();
}

Task<ApiResult<void>> NamespaceLifecycle::Validate(const Request& request) const {
  if (request.operation != Operation::kDelete) co_return ApiResult<void>();
  if (std::ranges::find(kImmortal, request.name) != std::end(kImmortal)) {
    co_return std::unexpected(
        ForbiddenStatus({"", "namespaces"}, request.name, "this namespace may not be deleted"));
  }
  std::lock_guard lock(mutex_);
  deleted_[std::string(request.name)] = clock_.Now() + kDistrust;
  co_return ApiResult<void>();
}

}  // namespace keelson::kube::core
