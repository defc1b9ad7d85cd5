#include "kube/access/node_restriction.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "admission/refusal.h"
#include "base/quote.h"
#include "kube/access/node_authorizer.h"
#include "kube/access/node_references.h"
#include "storage/object_store.h"
#include "value/json.h"

namespace keelson::kube::access {
namespace {

using admission::Forbid;
using admission::Operation;
using admission::Request;
using value::Value;

constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
constexpr std::string_view kLeaseNamespace = "kube-node-lease";
constexpr std::string_view kRestricted = "node-restriction.kubernetes.io";

// What kubelets say about their nodes.
constexpr std::string_view kKubeletLabels[] = {
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "kubernetes.io/os",
    "kubernetes.io/arch",
};
constexpr std::string_view kKubeletNamespaces[] = {"kubelet.kubernetes.io", "node.kubernetes.io"};

bool IsWithin(std::string_view ns, std::string_view domain) {
  return ns == domain || (ns.ends_with(domain) && ns.size() > domain.size() &&
                          ns[ns.size() - domain.size() - 1] == '.');
}

bool IsForbiddenLabel(std::string_view key) {
  const auto slash = key.find('/');
  const auto ns = slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
  if (IsWithin(ns, kRestricted)) return true;
  if (!IsWithin(ns, "kubernetes.io") && !IsWithin(ns, "k8s.io")) return false;
  const auto within = [&](std::string_view domain) { return IsWithin(ns, domain); };
  return std::ranges::find(kKubeletLabels, key) == std::end(kKubeletLabels) &&
         std::ranges::none_of(kKubeletNamespaces, within);
}

// Semantically: nothing and an empty list are the same.
bool Same(const Value& one, const Value& other) {
  const auto empty = [](const Value& value) {
    return value.is_null() || ((value.is_list() || value.is_object()) && value.size() == 0);
  };
  return one == other || (empty(one) && empty(other));
}

ApiResult<void> CheckNode(const Request& request, std::string_view node) {
  if (request.name != node) {
    return Forbid(request, fmt::format("node {} is not allowed to modify node {}", Quote(node),
                                       Quote(request.name)));
  }
  const auto& object = request.object;
  const auto& old = request.old_object;
  if (request.operation == Operation::kCreate) {
    if (object["spec"]["configSource"].is_object()) {
      return Forbid(request,
                    fmt::format("node {} is not allowed to create pods with a non-nil configSource",
                                Quote(node)));
    }
    if (auto labels = ForbiddenNodeLabels(object["metadata"]["labels"], {}); !labels.empty()) {
      return Forbid(request, fmt::format("node {} is not allowed to set the following labels: {}",
                                         Quote(node), labels));
    }
  }
  if (request.operation == Operation::kUpdate) {
    const auto source = object["spec"]["configSource"];
    if (source.is_object() && source != old["spec"]["configSource"]) {
      return Forbid(request, fmt::format("node {} is not allowed to update configSource to a new "
                                         "non-nil configSource",
                                         Quote(node)));
    }
    if (!Same(object["spec"]["taints"], old["spec"]["taints"])) {
      return Forbid(request, fmt::format("node {} is not allowed to modify taints", Quote(node)));
    }
    if (!Same(object["metadata"]["ownerReferences"], old["metadata"]["ownerReferences"])) {
      return Forbid(request,
                    fmt::format("node {} is not allowed to modify ownerReferences", Quote(node)));
    }
    auto labels = ForbiddenNodeLabels(object["metadata"]["labels"], old["metadata"]["labels"]);
    if (!labels.empty()) {
      return Forbid(request, "is not allowed to modify labels: " + labels);
    }
  }
  return {};
}

ApiResult<void> CheckPodStatus(const Request& request, std::string_view node) {
  if (request.operation != Operation::kUpdate) {
    return Forbid(request, fmt::format("unexpected operation {}",
                                       Quote(admission::OperationName(request.operation))));
  }
  const auto& object = request.object;
  const auto& old = request.old_object;
  if (old["spec"]["nodeName"].AsString() != node) {
    return Forbid(request, fmt::format("node {} can only update pod status for pods with "
                                       "spec.nodeName set to itself",
                                       Quote(node)));
  }
  if (!Same(object["metadata"]["labels"], old["metadata"]["labels"])) {
    return Forbid(request,
                  fmt::format("node {} cannot update labels through pod status", Quote(node)));
  }
  if (!Same(object["status"]["resourceClaimStatuses"], old["status"]["resourceClaimStatuses"])) {
    return Forbid(request,
                  fmt::format("node {} cannot update resource claim statues", Quote(node)));
  }
  return {};
}

// Of a claim, a kubelet reports how far a resize has come.
ApiResult<void> CheckClaim(const Request& request, std::string_view node) {
  if (request.subresource != "status") return Forbid(request, "may only update PVC status");
  static constexpr std::string_view kReported[] = {
      "capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"};
  const auto keeps = [&](const Value& one, const Value& other) {
    return std::ranges::all_of(one.members(), [&](const value::Member& member) {
      return std::ranges::find(kReported, member.key()) != std::end(kReported) ||
             Same(member.value, other[member.key()]);
    });
  };
  const auto& object = request.object;
  const auto& old = request.old_object;
  if (Same(object["spec"], old["spec"]) && keeps(object["status"], old["status"]) &&
      keeps(old["status"], object["status"])) {
    return {};
  }
  return Forbid(request, fmt::format("node {} is not allowed to update fields other than "
                                     "status.quantity and status.conditions",
                                     Quote(node)));
}

ApiResult<void> CheckLease(const Request& request, std::string_view node) {
  if (request.ns != kLeaseNamespace) {
    return Forbid(request, fmt::format("can only access leases in the {} system namespace",
                                       Quote(kLeaseNamespace)));
  }
  const auto name = request.operation == Operation::kCreate
                        ? request.object["metadata"]["name"].AsString()
                        : request.name;
  if (name == node) return {};
  return Forbid(request, "can only access node lease with the same name as the requesting node");
}

ApiResult<void> CheckCsiNode(const Request& request, std::string_view node) {
  const auto name = request.operation == Operation::kCreate
                        ? request.object["metadata"]["name"].AsString()
                        : request.name;
  if (name == node) return {};
  return Forbid(request, "can only access CSINode with the same name as the requesting node");
}

ApiResult<void> CheckResourceSlice(const Request& request, std::string_view node) {
  const auto& object =
      request.operation == Operation::kCreate ? request.object : request.old_object;
  if (object.is_null() || object["spec"]["nodeName"].AsString() == node) return {};
  return Forbid(request,
                "can only access ResourceSlice with the same NodeName as the requesting node");
}

}  // namespace

std::string ForbiddenNodeLabels(const Value& labels, const Value& old) {
  std::set<std::string> forbidden;
  const auto collect = [&](const Value& one, const Value& other) {
    for (const auto& member : one.members()) {
      const auto* there = other.Find(member.key());
      const bool same = there != nullptr && there->AsString() == member.value.AsString();
      if (!same && IsForbiddenLabel(member.key())) forbidden.emplace(member.key());
    }
  };
  collect(labels, old);
  collect(old, labels);
  return fmt::format("{}", fmt::join(forbidden, ", "));
}

bool NodeRestriction::Handles(const Request& request) const {
  return request.user != nullptr && NodeIdentity(*request.user).has_value();
}

Task<value::Document> NodeRestriction::Find(GroupResource resource, std::string ns,
                                            std::string name) const {
  const auto* stores = stores_.load(std::memory_order_acquire);
  auto* store = stores == nullptr ? nullptr : stores->FindStore(resource.group, resource.resource);
  if (store == nullptr) co_return value::Document();
  auto object = co_await store->Get(std::move(ns), std::move(name));
  if (!object) co_return value::Document();
  co_return value::ParseJson((*object)->json_view()).value_or(value::Document());
}

Task<ApiResult<void>> NodeRestriction::CheckMirrorPod(const Request& request,
                                                      std::string node) const {
  const auto metadata = request.object["metadata"];
  const auto itself = Quote(node);
  if (metadata["annotations"].Find(kMirrorAnnotation) == nullptr) {
    co_return Forbid(request,
                     fmt::format("pod does not have {} annotation, node {} can only create "
                                 "mirror pods",
                                 Quote(kMirrorAnnotation), itself));
  }
  if (request.object["spec"]["nodeName"].AsString() != node) {
    co_return Forbid(request, fmt::format("node {} can only create pods with spec.nodeName set to "
                                          "itself",
                                          itself));
  }
  const auto owners = metadata["ownerReferences"].items();
  if (owners.size() > 1) {
    co_return Forbid(request, fmt::format("node {} can only create pods with a single owner "
                                          "reference set to itself",
                                          itself));
  }
  if (owners.empty() || owners[0]["apiVersion"].AsString() != "v1" ||
      owners[0]["kind"].AsString() != "Node" || owners[0]["name"].AsString() != node) {
    co_return Forbid(request,
                     fmt::format("node {} can only create pods with an owner reference set "
                                 "to itself",
                                 itself));
  }
  if (!owners[0]["controller"].AsBool()) {
    co_return Forbid(request, fmt::format("node {} can only create pods with a controller owner "
                                          "reference set to itself",
                                          itself));
  }
  if (owners[0]["blockOwnerDeletion"].AsBool()) {
    co_return Forbid(request, fmt::format("node {} must not set blockOwnerDeletion on an owner "
                                          "reference",
                                          itself));
  }
  const auto object = co_await Find({"", "nodes"}, "", node);
  if (object.root().is_null()) co_return std::unexpected(NotFoundStatus({"", "nodes"}, node));
  const auto uid = object.root()["metadata"]["uid"].AsString();
  if (owners[0]["uid"].AsString() != uid) {
    co_return Forbid(request, fmt::format("node {} UID mismatch: expected {} got {}", node,
                                          owners[0]["uid"].AsString(), uid));
  }
  // Everything a pod may refer to, were it not a mirror.
  value::Builder plain(value::Document(request.object, {}));
  plain.root().Field("metadata").RemoveField("annotations");
  const auto references = ReferencesOf(std::move(plain).Finish().root());
  static constexpr std::string_view kNames[] = {"secrets", "configmaps", "persistentvolumeclaims",
                                                "resourceclaims", "serviceaccounts"};
  if (!references.empty()) {
    co_return Forbid(request, fmt::format("node {} can not create pods that reference {}", itself,
                                          kNames[static_cast<size_t>(references.begin()->first)]));
  }
  co_return ApiResult<void>();
}

Task<ApiResult<void>> NodeRestriction::CheckPod(const Request& request, std::string node) const {
  const auto itself = Quote(node);
  if (request.subresource == "status") co_return CheckPodStatus(request, node);
  if (request.subresource == "eviction") {
    const auto pod =
        co_await Find({"", "pods"}, std::string(request.ns), std::string(request.name));
    if (pod.root().is_null()) {
      co_return std::unexpected(NotFoundStatus({"", "pods"}, request.name));
    }
    if (pod.root()["spec"]["nodeName"].AsString() == node) co_return ApiResult<void>();
    co_return Forbid(request, fmt::format("node {} can only evict pods with spec.nodeName set to "
                                          "itself",
                                          node));
  }
  if (!request.subresource.empty()) {
    co_return Forbid(request, fmt::format("unexpected pod subresource {}, only 'status' and "
                                          "'eviction' are allowed",
                                          Quote(request.subresource)));
  }
  if (request.operation == Operation::kCreate) co_return co_await CheckMirrorPod(request, node);
  if (request.operation == Operation::kDelete) {
    if (request.old_object["spec"]["nodeName"].AsString() == node) co_return ApiResult<void>();
    co_return Forbid(request, fmt::format("node {} can only delete pods with spec.nodeName set to "
                                          "itself",
                                          itself));
  }
  co_return Forbid(request,
                   fmt::format("unexpected operation {}, node {} can only create and delete "
                               "mirror pods",
                               Quote(admission::OperationName(request.operation)), itself));
}

Task<ApiResult<void>> NodeRestriction::CheckToken(const Request& request, std::string node) const {
  if (request.operation != Operation::kCreate || request.subresource != "token") {
    co_return ApiResult<void>();
  }
  const auto reference = request.object["spec"]["boundObjectRef"];
  const auto uid = reference["uid"].AsString();
  if (reference["apiVersion"].AsString() != "v1" || reference["kind"].AsString() != "Pod" ||
      reference["name"].AsString().empty()) {
    co_return Forbid(request, "node requested token not bound to a pod");
  }
  if (uid.empty()) {
    co_return Forbid(request, "node requested token with a pod binding without a uid");
  }
  const std::string name(reference["name"].AsString());
  const auto pod = co_await Find({"", "pods"}, std::string(request.ns), name);
  if (pod.root().is_null()) co_return std::unexpected(NotFoundStatus({"", "pods"}, name));
  if (pod.root()["metadata"]["uid"].AsString() != uid) {
    co_return Forbid(
        request, fmt::format("the UID in the bound object reference ({}) does not match the UID "
                             "in record. The object might have been deleted and then recreated",
                             uid));
  }
  if (pod.root()["spec"]["nodeName"].AsString() != node) {
    co_return Forbid(request, "node requested token bound to a pod scheduled on a different node");
  }
  co_return co_await CheckAudience(request, pod.root());
}

Task<ApiResult<void>> NodeRestriction::Validate(const Request& request) const {
  const std::string node(*NodeIdentity(*request.user));
  if (node.empty()) {
    co_return Forbid(
        request, fmt::format("could not determine node from user {}", Quote(request.user->name)));
  }
  if (request.IsFor("", "pods")) co_return co_await CheckPod(request, node);
  if (request.IsFor("", "serviceaccounts")) co_return co_await CheckToken(request, node);
  if (request.IsFor("", "nodes")) co_return CheckNode(request, node);
  if (request.IsFor("", "persistentvolumeclaims")) co_return CheckClaim(request, node);
  if (request.IsFor("coordination.k8s.io", "leases")) co_return CheckLease(request, node);
  if (request.IsFor("storage.k8s.io", "csinodes")) co_return CheckCsiNode(request, node);
  if (request.IsFor("resource.k8s.io", "resourceslices")) {
    co_return CheckResourceSlice(request, node);
  }
  co_return ApiResult<void>();
}

}  // namespace keelson::kube::access
