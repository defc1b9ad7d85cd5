#include "kube/service/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ip_address.h"
#include "base/log.h"
#include "base/quote.h"
#include "kube/service/service_fields.h"

namespace keelson::kube::service {
namespace {

using Names = v1::ServiceSpec::Names;

bool SamePolicy(const v1::ServiceSpec& a, const v1::ServiceSpec& b) {
  return a.ipFamilyPolicy().value_or("") == b.ipFamilyPolicy().value_or("");
}

bool HasNewNodePorts(const v1::ServiceSpec& spec, const v1::ServiceSpec& old) {
  return std::ranges::any_of(spec.ports(), [&](const auto& port) {
    return port.nodePort() != 0 && std::ranges::none_of(old.ports(), [&](const auto& other) {
             return other.nodePort() == port.nodePort();
           });
  });
}

void DropNodePorts(Ref spec) {
  const size_t count = v1::ServiceSpec(spec.Get()).ports().size();
  for (size_t i = 0; i < count; ++i) {
    spec.Field(Names::ports).Item(i).RemoveField(v1::ServicePort::Names::nodePort);
  }
}

// A service that changes its type loses what only the old type had, as long as the client did not
// touch it; what it did touch, validation will judge.
void DropTypeDependent(Ref spec, const v1::ServiceSpec& old) {
  const v1::ServiceSpec view(spec.Get());
  if (!IsExternalName(old) && IsExternalName(view)) {
    if (SameClusterIps(old, view)) {
      spec.RemoveField(Names::clusterIP);
      spec.RemoveField(Names::clusterIPs);
    }
    if (SameFamilies(old, view)) spec.RemoveField(Names::ipFamilies);
    if (SamePolicy(old, view)) spec.RemoveField(Names::ipFamilyPolicy);
  }
  if (UsesNodePorts(old) && !UsesNodePorts(view) && !HasNewNodePorts(view, old)) {
    DropNodePorts(spec);
  }
  if (NeedsHealthCheck(old) && !NeedsHealthCheck(view) &&
      view.healthCheckNodePort() == old.healthCheckNodePort()) {
    spec.RemoveField(Names::healthCheckNodePort);
  }
  if (IsLoadBalancer(old) && !IsLoadBalancer(view)) {
    if (view.allocateLoadBalancerNodePorts() &&
        view.allocateLoadBalancerNodePorts() == old.allocateLoadBalancerNodePorts()) {
      spec.RemoveField(Names::allocateLoadBalancerNodePorts);
    }
    if (view.loadBalancerClass() == old.loadBalancerClass()) {
      spec.RemoveField(Names::loadBalancerClass);
    }
  }
  if (IsExternallyAccessible(old) && !IsExternallyAccessible(view) &&
      view.externalTrafficPolicy() == old.externalTrafficPolicy()) {
    spec.RemoveField(Names::externalTrafficPolicy);
  }
}

void WarnAboutIp(std::string_view text, const Path& path, std::vector<std::string>& warnings) {
  const auto address = IpAddress::Parse(text);
  if (!address) return;
  const auto canonical = address->ToString();
  if (!names::CheckIp(text).empty()) {
    warnings.push_back(fmt::format("{}: non-standard IP address {} is invalid: use {}",
                                   path.ToString(), Quote(text), Quote(canonical)));
  } else if (!address->is_v4() && text != canonical) {
    warnings.push_back(
        fmt::format("{}: IPv6 address {} should be in RFC 5952 canonical format ({})",
                    path.ToString(), Quote(text), Quote(canonical)));
  }
}

void WarnAboutIps(schema::ListView<std::string_view> list, std::string_view field,
                  std::vector<std::string>& warnings) {
  const Path spec("spec");
  const Path path = spec.Child(field);
  for (size_t i = 0; i < list.size(); ++i) WarnAboutIp(list[i], path.Index(i), warnings);
}

}  // namespace

ServiceStrategy::~ServiceStrategy() { background_.CloseAndWait(); }

void ServiceStrategy::PrepareForUpdate(const WriteScope& scope, Ref object,
                                       const Value& old) const {
  if (!scope.subresource.empty()) return;
  Ref spec = object.Field(v1::Service::Names::spec);
  DropTypeDependent(spec, v1::Service(old).spec());
  const v1::Service changed(object.Get());
  if (!IsLoadBalancer(changed.spec()) && changed.status().loadBalancer().value().size() > 0) {
    object.Field(v1::Service::Names::status)
        .SetField(v1::ServiceStatus::Names::loadBalancer, Value::EmptyObject());
  }
}

void ServiceStrategy::Validate(const WriteScope&, const Value& object, FieldErrors& errors) const {
  ValidateService(object, errors);
}

void ServiceStrategy::ValidateUpdate(const WriteScope& scope, const Value& object, const Value& old,
                                     FieldErrors& errors) const {
  if (scope.subresource == "status") {
    ValidateServiceStatus(object, old, errors);
  } else {
    ValidateServiceUpdate(object, old, errors);
  }
}

std::vector<std::string> ServiceStrategy::Warnings(const WriteScope& scope, const Value& object,
                                                   const Value*) const {
  std::vector<std::string> warnings;
  const v1::Service service(object);
  const auto spec = service.spec();
  if (scope.subresource == "status") {
    const auto ingress = service.status().loadBalancer().ingress();
    const Path status("status");
    const Path parent = status.Child("loadBalancer");
    const Path path = parent.Child("ingress");
    for (size_t i = 0; i < ingress.size(); ++i) {
      WarnAboutIp(ingress[i].ip(), path.Index(i), warnings);
    }
    return warnings;
  }
  if (service.metadata().annotations().contains("service.kubernetes.io/topology-aware-hints")) {
    warnings.emplace_back(
        "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
        "service.kubernetes.io/topology-mode instead");
  }
  if (!spec.clusterIP().empty() && spec.clusterIP() != kNone) {
    WarnAboutIps(spec.clusterIPs(), "clusterIPs", warnings);
  }
  const bool headless = spec.type() == "ClusterIP" && spec.clusterIP() == kNone;
  if (headless) {
    if (!spec.loadBalancerIP().empty()) {
      warnings.emplace_back("spec.loadBalancerIP is ignored for headless services");
    }
    if (!spec.externalIPs().empty()) {
      warnings.emplace_back("spec.externalIPs is ignored for headless services");
    }
    if (spec.sessionAffinity() != "None") {
      warnings.emplace_back("spec.SessionAffinity is ignored for headless services");
    }
  }
  WarnAboutIps(spec.externalIPs(), "externalIPs", warnings);
  if (!spec.externalIPs().empty() && !headless && !IsExternalName(spec)) {
    warnings.emplace_back(
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  WarnAboutIp(spec.loadBalancerIP(), Path("spec").Child("loadBalancerIP"), warnings);
  if (IsExternalName(spec) && !spec.externalIPs().empty()) {
    warnings.emplace_back("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
  }
  if (!IsExternalName(spec) && !spec.externalName().empty()) {
    warnings.emplace_back("spec.externalName is ignored when spec.type is not \"ExternalName\"");
  }
  if (spec.trafficDistribution() == "PreferClose") {
    warnings.emplace_back(
        "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
  }
  return warnings;
}

Task<void> ServiceStrategy::GiveBack(Held held) const {
  for (const auto& address : held.addresses) co_await addresses_.GiveBack(address);
  if (held.ports.empty()) co_return;
  if (auto given = co_await ports_.GiveBack(std::move(held.ports)); !given) {
    log::Error("releasing node ports of a service: {}", given.error().message);
  }
}

Task<void> ServiceStrategy::AfterDelete(const Value& object) const {
  const v1::Service service(object);
  const auto spec = service.spec();
  const std::string ns(service.metadata().namespace_());
  const std::string name(service.metadata().name());
  Held held;
  if (!IsExternalName(spec)) {
    for (const auto text : spec.clusterIPs()) {
      if (auto address = IpAddress::Parse(text)) held.addresses.push_back(*address);
    }
  }
  for (const auto port : spec.ports()) {
    if (port.nodePort() != 0) held.ports.push_back(port.nodePort());
  }
  if (NeedsHealthCheck(spec) && spec.healthCheckNodePort() != 0) {
    held.ports.push_back(spec.healthCheckNodePort());
  }
  if (endpoints_ != nullptr) {
    auto deleted = co_await endpoints_->Delete(ns, name);
    if (!deleted && deleted.error().code != 404) {
      log::Error("delete service endpoints {}/{} failed: {}", name, ns, deleted.error().message);
    }
  }
  co_await GiveBack(std::move(held));
}

}  // namespace keelson::kube::service
