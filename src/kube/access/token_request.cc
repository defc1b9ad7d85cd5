#include "kube/access/token_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "schema/field_error.h"
#include "schema/transform.h"
#include "storage/object_store.h"
#include "value/json.h"
#include "value/timestamp.h"

namespace keelson::kube::access {
namespace {

using rest::Reply;
using rest::SubresourceCall;
using value::Builder;
using value::Document;
using value::Path;
using value::Value;

constexpr std::string_view kGroup = "authentication.k8s.io";
constexpr std::string_view kKind = "TokenRequest";
constexpr int64_t kMinSeconds = 600;
constexpr int64_t kMaxSeconds = int64_t{1} << 32;
// What kubelets ask for on behalf of pods that may not know how to renew their token.
constexpr int64_t kWarnOnlySeconds = 3607;
constexpr int64_t kExtendedSeconds = int64_t{365} * 24 * 3600;

Status Invalid(std::string_view name, schema::FieldError error) {
  return schema::InvalidStatus(kGroup, kKind, name, {std::move(error)});
}

// The body may repeat what the URL says, not contradict it.
ApiResult<void> CheckNames(const SubresourceCall& call, const Value& metadata) {
  const auto name = metadata["name"].AsString();
  const auto ns = metadata["namespace"].AsString();
  const Path path("metadata");
  if (!name.empty() && name != call.scope.name) {
    return std::unexpected(Invalid(
        call.scope.name, schema::Invalid(path.Child("name"), name,
                                         "must match the service account name if specified")));
  }
  if (!ns.empty() && ns != call.scope.ns) {
    return std::unexpected(Invalid(
        call.scope.name, schema::Invalid(path.Child("namespace"), ns,
                                         "must match the service account namespace if specified")));
  }
  return {};
}

ApiResult<void> CheckExpiration(int64_t seconds) {
  const auto path = Path("spec").Child("expirationSeconds");
  if (seconds < kMinSeconds) {
    return std::unexpected(Invalid(
        "", schema::Invalid(path, seconds, "may not specify a duration less than 10 minutes")));
  }
  if (seconds > kMaxSeconds) {
    return std::unexpected(Invalid(
        "", schema::Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")));
  }
  return {};
}

std::pair<std::string_view, std::string_view> GroupAndVersion(std::string_view api_version) {
  auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

Status Recreated(std::string_view group, std::string_view kind, std::string_view name,
                 std::string_view uid) {
  return ConflictStatus(
      {std::string(group), std::string(kind)}, name,
      fmt::format("the UID in the bound object reference ({}) does not match the UID in record. "
                  "The object might have been deleted and then recreated",
                  uid));
}

Task<ApiResult<storage::ObjectRef>> Find(const SubresourceCall& call, std::string_view resource,
                                         std::string_view ns, std::string_view name) {
  auto* store = call.spec.stores->FindStore("", resource);
  if (store == nullptr)
    co_return std::unexpected(NotFoundStatus({"", std::string(resource)}, name));
  co_return co_await store->Get(std::string(ns), std::string(name));
}

}  // namespace

Task<ApiResult<void>> TokenRequest::Bind(const SubresourceCall& call, Value reference,
                                         TokenClaims& claims) const {
  const auto kind = reference["kind"].AsString();
  const auto [group, version] = GroupAndVersion(reference["apiVersion"].AsString());
  const bool known = group.empty() && (kind == "Pod" || kind == "Node" || kind == "Secret");
  if (!known) {
    co_return std::unexpected(BadRequestStatus(
        fmt::format("cannot bind token to object of type {}/{}, Kind={}", group, version, kind)));
  }
  const std::string name(reference["name"].AsString());
  const auto resource = kind == "Pod" ? "pods" : kind == "Node" ? "nodes" : "secrets";
  auto found = co_await Find(call, resource, kind == "Node" ? "" : call.scope.ns, name);
  if (!found) co_return std::unexpected(std::move(found).error());
  const std::string uid((*found)->uid());
  BoundObject bound{name, uid};
  if (kind == "Node") {
    claims.node = std::move(bound);
  } else if (kind == "Secret") {
    claims.secret = std::move(bound);
  } else {
    auto pod = value::ParseJson((*found)->json_view());
    if (!pod) co_return std::unexpected(InternalErrorStatus(pod.error().message));
    const auto spec = pod->root()["spec"];
    if (spec["serviceAccountName"].AsString() != call.scope.name) {
      co_return std::unexpected(BadRequestStatus(
          fmt::format("cannot bind token for serviceaccount {} to pod running with different "
                      "serviceaccount name.",
                      Quote(call.scope.name))));
    }
    claims.pod = std::move(bound);
    if (const std::string node(spec["nodeName"].AsString()); !node.empty()) {
      auto there = co_await Find(call, "nodes", "", node);
      claims.node = BoundObject{node, there ? std::string((*there)->uid()) : ""};
    }
  }
  const auto wanted = reference["uid"].AsString();
  if (!wanted.empty() && wanted != uid) {
    co_return std::unexpected(Recreated(group, kind, name, wanted));
  }
  co_return ApiResult<void>();
}

Task<ApiResult<Reply>> TokenRequest::Create(const SubresourceCall& call, Document object) const {
  const auto metadata = object.root()["metadata"];
  if (auto named = CheckNames(call, metadata); !named) co_return std::unexpected(named.error());
  auto account = co_await Find(call, "serviceaccounts", call.scope.ns, call.scope.name);
  if (!account) co_return std::unexpected(std::move(account).error());
  const std::string uid((*account)->uid());
  if (const auto asked = metadata["uid"].AsString(); !asked.empty() && asked != uid) {
    co_return std::unexpected(ConflictStatus(
        {std::string(kGroup), std::string(kKind)}, call.scope.name,
        fmt::format("the UID in the token request ({}) does not match the UID of the service "
                    "account ({})",
                    asked, uid)));
  }
  const auto spec = object.root()["spec"];
  TokenClaims claims{.ns = std::string(call.scope.ns),
                     .account = {std::string(call.scope.name), uid},
                     .expiration_seconds = spec["expirationSeconds"].is_int()
                                               ? spec["expirationSeconds"].AsInt()
                                               : 3600};
  for (const auto& audience : spec["audiences"].items()) {
    claims.audiences.emplace_back(audience.AsString());
  }
  if (claims.audiences.empty()) claims.audiences = tokens_->options().api_audiences;
  if (auto checked = CheckExpiration(claims.expiration_seconds); !checked) {
    co_return std::unexpected(checked.error());
  }
  if (const auto reference = spec["boundObjectRef"]; reference.is_object()) {
    if (auto bound = co_await Bind(call, reference, claims); !bound) {
      co_return std::unexpected(bound.error());
    }
  }
  co_return Answer(call, object, std::move(claims));
}

ApiResult<Reply> TokenRequest::Answer(const SubresourceCall& call, const Document& request,
                                      TokenClaims claims) const {
  const auto& options = tokens_->options();
  const auto longest =
      std::chrono::duration_cast<std::chrono::seconds>(options.max_expiration).count();
  if (longest > 0 && claims.expiration_seconds > longest) {
    call.scope.Warn(fmt::format("requested expiration of {} seconds shortened to {} seconds",
                                claims.expiration_seconds, longest));
    claims.expiration_seconds = longest;
  }
  const auto shown = claims.expiration_seconds;
  const bool for_us = std::ranges::all_of(claims.audiences, [&](const std::string& audience) {
    return std::ranges::find(options.api_audiences, audience) != options.api_audiences.end();
  });
  if (options.extend_expiration && claims.pod && shown == kWarnOnlySeconds && for_us) {
    claims.warn_after_seconds = shown;
    claims.expiration_seconds = kExtendedSeconds;
  }
  auto token = tokens_->Issue(claims);
  if (!token) {
    return std::unexpected(
        InternalErrorStatus("failed to generate token: " + token.error().message));
  }
  const auto now =
      std::chrono::floor<std::chrono::seconds>(call.scope.now.time_since_epoch()).count();
  Builder builder(request);
  value::Ref metadata = builder.root().Field("metadata");
  metadata.SetField("name", builder.String(call.scope.name));
  metadata.SetField("namespace", builder.String(call.scope.ns));
  metadata.SetField("uid", builder.String(claims.account.uid));
  metadata.SetField("creationTimestamp", builder.String(value::FormatTime({.seconds = now})));
  std::vector<Value> audiences;
  for (const auto& audience : claims.audiences) audiences.push_back(builder.String(audience));
  value::Ref spec = builder.root().Field("spec");
  spec.SetField("audiences", builder.List(audiences));
  spec.SetField("expirationSeconds", Value::Int(shown));
  builder.root().RemoveField("status");
  value::Ref status = builder.root().Field("status");
  status.SetField("token", builder.String(*token));
  status.SetField("expirationTimestamp",
                  builder.String(value::FormatTime({.seconds = now + shown})));
  return Reply{.object = std::move(builder).Finish()};
}

}  // namespace keelson::kube::access
