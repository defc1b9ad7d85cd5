// NodeRestriction: for whom a kubelet may ask tokens of its pods' accounts.
//
// An audience is called for by a projected volume that names it, or by the CSI driver behind a
// volume of the pod: named by the volume itself, or by way of claim and persistent volume.

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "admission/refusal.h"
#include "base/quote.h"
#include "kube/access/node_restriction.h"

namespace keelson::kube::access {
namespace {

using admission::Forbid;
using admission::Request;
using value::Value;

std::unexpected<Error> Missing(std::string_view kind, std::string_view name) {
  return Fail(ErrorCode::kNotFound, "{} {} not found", kind, Quote(name));
}

}  // namespace

Task<Result<std::string>> NodeRestriction::DriverOf(Value volume, Value pod) const {
  if (volume["csi"].is_object()) co_return std::string(volume["csi"]["driver"].AsString());
  std::string claim_name(volume["persistentVolumeClaim"]["claimName"].AsString());
  if (volume["ephemeral"]["volumeClaimTemplate"].is_object()) {
    claim_name =
        fmt::format("{}-{}", pod["metadata"]["name"].AsString(), volume["name"].AsString());
  }
  if (claim_name.empty()) co_return std::string();
  const auto claim =
      co_await Find({"", "persistentvolumeclaims"},
                    std::string(pod["metadata"]["namespace"].AsString()), claim_name);
  if (claim.root().is_null()) co_return Missing("persistentvolumeclaim", claim_name);
  const std::string volume_name(claim.root()["spec"]["volumeName"].AsString());
  const auto persistent = co_await Find({"", "persistentvolumes"}, "", volume_name);
  if (persistent.root().is_null()) co_return Missing("persistentvolume", volume_name);
  co_return std::string(persistent.root()["spec"]["csi"]["driver"].AsString());
}

Task<Result<bool>> NodeRestriction::CallsForAudience(Value pod, std::string audience) const {
  std::vector<std::string> errors;
  for (const auto& volume : pod["spec"]["volumes"].items()) {
    for (const auto& source : volume["projected"]["sources"].items()) {
      const auto token = source["serviceAccountToken"];
      if (token.is_object() && token["audience"].AsString() == audience) co_return true;
    }
    const auto driver = co_await DriverOf(volume, pod);
    if (!driver) {
      errors.push_back(driver.error().message);
      continue;
    }
    if (driver->empty()) continue;
    const auto object = co_await Find({"storage.k8s.io", "csidrivers"}, "", *driver);
    if (object.root().is_null()) {
      errors.push_back(Missing("csidriver.storage.k8s.io", *driver).error().message);
      continue;
    }
    for (const auto& request : object.root()["spec"]["tokenRequests"].items()) {
      if (request["audience"].AsString() == audience) co_return true;
    }
  }
  if (errors.empty()) co_return false;
  const auto text = fmt::format("{}", fmt::join(errors, ", "));
  co_return Fail(ErrorCode::kNotFound, "{}", errors.size() == 1 ? text : "[" + text + "]");
}

Task<ApiResult<void>> NodeRestriction::CheckAudience(const Request& request, Value pod) const {
  const auto audiences = request.object["spec"]["audiences"].items();
  if (audiences.size() > 1) co_return Forbid(request, "node may only request 0 or 1 audiences");
  const std::string audience(audiences.empty() ? "" : audiences[0].AsString());
  const auto called_for = co_await CallsForAudience(pod, audience);
  if (!called_for) {
    co_return Forbid(request, fmt::format("error validating audience {}: {}", Quote(audience),
                                          called_for.error().message));
  }
  if (*called_for) co_return ApiResult<void>();
  const auth::Attributes wanted{.user = std::make_shared<const auth::User>(*request.user),
                                .resource_request = true,
                                .verb = "request-serviceaccounts-token-audience",
                                .version = "v1",
                                .ns = request.ns,
                                .resource = audience,
                                .name = request.name};
  auto verdict = authorizer_.TryAuthorize(wanted);
  if (!verdict) verdict = co_await authorizer_.Authorize(wanted);
  if (verdict->decision == auth::Decision::kAllow) co_return ApiResult<void>();
  if (verdict->error) {
    co_return Forbid(request,
                     fmt::format("audience {} not found in pod spec volume, error "
                                 "authorizing {} to request tokens for this audience: {}",
                                 Quote(audience), request.user->name, verdict->error->message));
  }
  co_return Forbid(request,
                   fmt::format("audience {} not found in pod spec volume, {} is not authorized to "
                               "request tokens for this audience",
                               Quote(audience), request.user->name));
}

}  // namespace keelson::kube::access
