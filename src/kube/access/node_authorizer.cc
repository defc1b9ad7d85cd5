#include "kube/access/node_authorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "rbac/rules.h"
#include "selector/field_selector.h"
#include "storage/object_store.h"
#include "value/json.h"

namespace keelson::kube::access {
namespace {

using auth::Attributes;
using auth::Authorization;
using auth::Decision;
using value::Value;

constexpr std::string_view kNodePrefix = "system:node:";
constexpr std::string_view kNodesGroup = "system:nodes";
constexpr std::string_view kLeaseNamespace = "kube-node-lease";

Authorization Allow() { return {.decision = Decision::kAllow}; }
Authorization NoOpinion(std::string reason) { return {.reason = std::move(reason)}; }

bool OneOf(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, text) != list.end();
}

// Whether the request only asks for objects whose `field` is `value`.
bool Selects(const Attributes& attributes, std::string_view field, std::string_view value) {
  if (attributes.field_selector.empty()) return false;
  auto selector = selector::FieldSelector::Parse(attributes.field_selector);
  if (!selector) return false;
  return selector->RequiredValue(field) == value;
}

// Decisions that need objects are made later.
using MaybeNow = std::optional<Authorization>;
constexpr std::nullopt_t kLater = std::nullopt;

MaybeNow Named(const Attributes& attributes) {
  if (attributes.name.empty()) return NoOpinion("No Object name found");
  return kLater;
}

MaybeNow DecideGet(const Attributes& attributes) {
  if (attributes.verb != "get") {
    return NoOpinion("can only get individual resources of this type");
  }
  if (!attributes.subresource.empty()) return NoOpinion("cannot get subresource");
  return Named(attributes);
}

MaybeNow DecideRead(const Attributes& attributes) {
  if (!OneOf(attributes.verb, {"get", "list", "watch"})) {
    return NoOpinion("can only read resources of this type");
  }
  if (!attributes.subresource.empty()) return NoOpinion("cannot read subresource");
  if (attributes.ns.empty()) return NoOpinion("can only read namespaced object of this type");
  return Named(attributes);
}

MaybeNow DecideClaim(const Attributes& attributes) {
  if (attributes.subresource != "status") return DecideGet(attributes);
  if (!OneOf(attributes.verb, {"update", "patch"})) {
    return NoOpinion("can only get/update/patch this type");
  }
  return Named(attributes);
}

MaybeNow DecideAccount(const Attributes& attributes) {
  if (attributes.verb == "get" && attributes.subresource.empty()) return DecideRead(attributes);
  if (attributes.verb != "create" || attributes.name.empty()) {
    return NoOpinion("can only create tokens for individual service accounts");
  }
  if (attributes.subresource != "token") {
    return NoOpinion("can only create token subresource of serviceaccount");
  }
  return kLater;
}

MaybeNow DecideLease(std::string_view node, const Attributes& attributes) {
  if (!OneOf(attributes.verb, {"get", "create", "update", "patch", "delete"})) {
    return NoOpinion("can only get, create, update, patch, or delete a node lease");
  }
  if (attributes.ns != kLeaseNamespace) {
    return NoOpinion(
        fmt::format("can only access leases in the {} system namespace", Quote(kLeaseNamespace)));
  }
  if (attributes.verb != "create" && attributes.name != node) {
    return NoOpinion("can only access node lease with the same name as the requesting node");
  }
  return Allow();
}

MaybeNow DecideCsiNode(std::string_view node, const Attributes& attributes) {
  if (!OneOf(attributes.verb, {"get", "create", "update", "patch", "delete"})) {
    return NoOpinion("can only get, create, update, patch, or delete a CSINode");
  }
  if (!attributes.subresource.empty()) return NoOpinion("cannot authorize CSINode subresources");
  if (attributes.verb != "create" && attributes.name != node) {
    return NoOpinion("can only access CSINode with the same name as the requesting node");
  }
  return Allow();
}

MaybeNow DecideResourceSlice(std::string_view node, const Attributes& attributes) {
  if (!attributes.subresource.empty()) {
    return NoOpinion("cannot authorize ResourceSlice subresources");
  }
  if (attributes.verb == "create") return Allow();
  if (OneOf(attributes.verb, {"get", "update", "patch", "delete"})) return Named(attributes);
  if (OneOf(attributes.verb, {"watch", "list", "deletecollection"})) {
    if (Selects(attributes, "spec.nodeName", node)) return Allow();
    return NoOpinion(
        "can only list/watch/deletecollection resourceslices with nodeName field selector");
  }
  return NoOpinion(
      "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, "
      "patch, delete, deletecollection");
}

MaybeNow DecideNode(std::string_view node, const Attributes& attributes) {
  if (attributes.subresource == "status") {
    return OneOf(attributes.verb, {"update", "patch"}) ? Allow() : NoOpinion("");
  }
  if (!attributes.subresource.empty()) return NoOpinion("");
  if (OneOf(attributes.verb, {"create", "update", "patch"})) return Allow();
  if (!OneOf(attributes.verb, {"get", "list", "watch"})) return NoOpinion("");
  if (attributes.name == node) return Allow();
  if (attributes.name.empty()) {
    return NoOpinion(
        fmt::format("node '{}' cannot read all nodes, only its own Node object", node));
  }
  return NoOpinion(
      fmt::format("node '{}' cannot read '{}', only its own Node object", node, attributes.name));
}

MaybeNow DecidePod(std::string_view node, const Attributes& attributes) {
  const auto verb = attributes.verb;
  if (attributes.subresource == "status") {
    return OneOf(verb, {"update", "patch"}) ? Allow() : NoOpinion("");
  }
  if (attributes.subresource == "eviction") return verb == "create" ? Allow() : NoOpinion("");
  if (!attributes.subresource.empty()) return NoOpinion("");
  if (verb == "get") return DecideGet(attributes);
  if (verb == "list" || verb == "watch") {
    if (Selects(attributes, "spec.nodeName", node)) return Allow();
    if (!attributes.name.empty()) return kLater;
    return NoOpinion("can only list/watch pods with spec.nodeName field selector");
  }
  return OneOf(verb, {"create", "delete"}) ? Allow() : NoOpinion("");
}

}  // namespace

std::optional<std::string_view> NodeIdentity(const auth::User& user) {
  std::string_view name = user.name;
  if (!name.starts_with(kNodePrefix) || !user.InGroup(kNodesGroup)) return std::nullopt;
  return name.substr(kNodePrefix.size());
}

std::optional<Authorization> NodeAuthorizer::DecideByName(std::string_view node,
                                                          const Attributes& attributes) const {
  if (attributes.resource_request) {
    const auto group = attributes.group;
    const auto resource = attributes.resource;
    if (group.empty()) {
      if (resource == "secrets" || resource == "configmaps") return DecideRead(attributes);
      if (resource == "persistentvolumeclaims") return DecideClaim(attributes);
      if (resource == "persistentvolumes") return DecideGet(attributes);
      if (resource == "serviceaccounts") return DecideAccount(attributes);
      if (resource == "nodes") return DecideNode(node, attributes);
      if (resource == "pods") return DecidePod(node, attributes);
    } else if (group == "resource.k8s.io") {
      if (resource == "resourceclaims") return DecideGet(attributes);
      if (resource == "resourceslices") return DecideResourceSlice(node, attributes);
    } else if (group == "storage.k8s.io") {
      if (resource == "volumeattachments") return DecideGet(attributes);
      if (resource == "csinodes") return DecideCsiNode(node, attributes);
    } else if (group == "coordination.k8s.io" && resource == "leases") {
      return DecideLease(node, attributes);
    } else if (group == "certificates.k8s.io" && resource == "podcertificaterequests") {
      return NoOpinion("");
    }
  }
  const rbac::Request request{.resource_request = attributes.resource_request,
                              .verb = attributes.verb,
                              .path = attributes.path,
                              .group = attributes.group,
                              .ns = attributes.ns,
                              .resource = attributes.resource,
                              .subresource = attributes.subresource,
                              .name = attributes.name};
  const bool allowed = std::ranges::any_of(
      rules_, [&](const rbac::PolicyRule& rule) { return rbac::RuleAllows(rule, request); });
  return allowed ? Allow() : NoOpinion("");
}

std::optional<Authorization> NodeAuthorizer::TryAuthorize(const Attributes& attributes) {
  const auto node = attributes.user ? NodeIdentity(*attributes.user) : std::nullopt;
  if (!node) return Authorization{};
  if (node->empty()) {
    return NoOpinion(fmt::format("unknown node for user {}", Quote(attributes.user->name)));
  }
  return DecideByName(*node, attributes);
}

Task<Authorization> NodeAuthorizer::Authorize(Attributes attributes) {
  if (auto now = TryAuthorize(attributes)) co_return *std::move(now);
  const std::string node(*NodeIdentity(*attributes.user));
  if (co_await IsRelated(node, attributes)) co_return Allow();
  co_return NoOpinion(fmt::format("no relationship found between node '{}' and this object", node));
}

auth::UserRules NodeAuthorizer::RulesFor(const auth::UserPtr& user, std::string_view) {
  if (!NodeIdentity(*user)) return {};
  return {.incomplete = true, .error = "node authorizer does not support user rule resolution"};
}

Task<bool> NodeAuthorizer::IsRelated(std::string node, Attributes attributes) {
  if (stores_.load(std::memory_order_acquire) == nullptr) co_return false;
  const std::string ns(attributes.ns);
  const std::string name(attributes.name);
  const auto resource = attributes.resource;
  if (resource == "configmaps") {
    co_return co_await PodsNeed(node, ns, Referenced::kConfigMap, name);
  }
  if (resource == "persistentvolumeclaims") {
    co_return co_await PodsNeed(node, ns, Referenced::kPersistentVolumeClaim, name);
  }
  if (resource == "resourceclaims") {
    co_return co_await PodsNeed(node, ns, Referenced::kResourceClaim, name);
  }
  if (resource == "serviceaccounts") {
    co_return co_await PodsNeed(node, ns, Referenced::kServiceAccount, name);
  }
  if (resource == "secrets") {
    if (co_await PodsNeed(node, ns, Referenced::kSecret, name)) co_return true;
    co_return co_await VolumesNeed(node, ns, name);
  }
  if (resource == "persistentvolumes") co_return co_await VolumeIsOn(node, name);
  if (resource == "pods") co_return co_await FieldIs("", "pods", ns, name, "nodeName", node);
  if (resource == "volumeattachments" || resource == "resourceslices") {
    co_return co_await FieldIs(attributes.group, resource, "", name, "nodeName", node);
  }
  co_return false;
}

std::shared_ptr<const PodReferences> NodeAuthorizer::ReferencesOfPod(
    const storage::CachedObject& pod) {
  auto key = fmt::format("{}/{}", pod.uid(), pod.revision());
  {
    std::lock_guard lock(mutex_);
    for (auto* table : {&young_, &old_}) {
      if (auto found = table->find(key); found != table->end()) return found->second;
    }
  }
  auto parsed = value::ParseJson(pod.json_view());
  auto references = std::make_shared<const PodReferences>(parsed ? ReferencesOf(parsed->root())
                                                                 : PodReferences());
  std::lock_guard lock(mutex_);
  if (young_.size() >= kGeneration) old_ = std::exchange(young_, {});
  young_.insert_or_assign(std::move(key), references);
  return references;
}

Task<bool> NodeAuthorizer::PodsNeed(std::string node, std::string ns, Referenced kind,
                                    std::string name) {
  auto* pods = stores_.load(std::memory_order_acquire)->FindStore("", "pods");
  if (pods == nullptr) co_return false;
  auto selector = selector::FieldSelector::Parse("spec.nodeName=" + node);
  if (!selector) co_return false;
  auto list =
      co_await pods->List({.ns = ns, .fields = *std::move(selector), .resource_version = "0"});
  if (!list) co_return false;
  const std::pair wanted(kind, name);
  for (const auto& pod : list->objects) {
    if (ReferencesOfPod(*pod)->contains(wanted)) co_return true;
  }
  co_return false;
}

Task<bool> NodeAuthorizer::VolumeIsOn(std::string node, std::string volume) {
  auto* volumes = stores_.load(std::memory_order_acquire)->FindStore("", "persistentvolumes");
  if (volumes == nullptr) co_return false;
  auto object = co_await volumes->Get("", volume, "0");
  if (!object) co_return false;
  auto parsed = value::ParseJson((*object)->json_view());
  if (!parsed) co_return false;
  const auto claim = parsed->root()["spec"]["claimRef"];
  if (!claim.is_object()) co_return false;
  co_return co_await PodsNeed(node, std::string(claim["namespace"].AsString()),
                              Referenced::kPersistentVolumeClaim,
                              std::string(claim["name"].AsString()));
}

// Some volumes are mounted with a secret that only the volume names.
Task<bool> NodeAuthorizer::VolumesNeed(std::string node, std::string ns, std::string secret) {
  auto* volumes = stores_.load(std::memory_order_acquire)->FindStore("", "persistentvolumes");
  if (volumes == nullptr) co_return false;
  auto list = co_await volumes->List({.resource_version = "0"});
  if (!list) co_return false;
  const std::pair wanted(ns, secret);
  for (const auto& volume : list->objects) {
    // Most volumes need none.
    if (volume->json_view().find(secret) == std::string_view::npos) continue;
    auto parsed = value::ParseJson(volume->json_view());
    if (!parsed) continue;
    const auto secrets = SecretsOfVolume(parsed->root());
    if (std::ranges::find(secrets, wanted) == secrets.end()) continue;
    if (co_await VolumeIsOn(node, std::string(volume->name()))) co_return true;
  }
  co_return false;
}

Task<bool> NodeAuthorizer::FieldIs(std::string_view group, std::string_view resource,
                                   std::string ns, std::string name, std::string field,
                                   std::string wanted) {
  auto* store = stores_.load(std::memory_order_acquire)->FindStore(group, resource);
  if (store == nullptr) co_return false;
  auto object = co_await store->Get(std::move(ns), std::move(name), "0");
  if (!object) co_return false;
  auto parsed = value::ParseJson((*object)->json_view());
  co_return parsed && parsed->root()["spec"][field].AsString() == wanted;
}

}  // namespace keelson::kube::access
