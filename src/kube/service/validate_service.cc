#include <fmt/format.h>

#include <algorithm>

#include "base/ip_address.h"
#include "base/seen.h"
#include "base/status.h"
#include "kube/service/service_fields.h"
#include "rest/object_meta.h"

namespace keelson::kube::service {
namespace {

constexpr std::string_view kTypes[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"};
constexpr std::string_view kAffinities[] = {"ClientIP", "None"};
constexpr std::string_view kTrafficPolicies[] = {"Cluster", "Local"};
constexpr std::string_view kDistributions[] = {"PreferClose", "PreferSameZone", "PreferSameNode"};
constexpr std::string_view kHints = "service.kubernetes.io/topology-aware-hints";
constexpr std::string_view kMode = "service.kubernetes.io/topology-mode";
constexpr std::string_view kSourceRanges = "service.beta.kubernetes.io/load-balancer-source-ranges";
constexpr const char* kLoadBalancerOnly = "may only be used when `type` is 'LoadBalancer'";

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

void CheckTopologyAnnotations(const v1::Service& service, FieldErrors& errors) {
  const auto annotations = service.metadata().annotations();
  if (annotations.empty() || !annotations.contains(kHints) || !annotations.contains(kMode) ||
      annotations[kHints] == annotations[kMode]) {
    return;
  }
  errors.push_back(
      Invalid(Path("metadata").Child("annotations").Key(kMode), annotations[kMode],
              fmt::format("must match annotations[{}] when both are specified", kHints)));
}

void CheckExternalName(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  constexpr const char* kNotHere = "may not be set for ExternalName services";
  if (!spec.clusterIPs().empty()) errors.push_back(Forbidden(path.Child("clusterIPs"), kNotHere));
  if (!spec.ipFamilies().empty()) errors.push_back(Forbidden(path.Child("ipFamilies"), kNotHere));
  if (spec.ipFamilyPolicy()) errors.push_back(Forbidden(path.Child("ipFamilyPolicy"), kNotHere));
  auto name = spec.externalName();
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) {
    errors.push_back(Required(path.Child("externalName"), ""));
  } else {
    rest::CheckText(name, names::CheckDns1123Subdomain, path.Child("externalName"), errors);
  }
}

void CheckTypeAndAddress(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  if (spec.ports().empty() && !IsHeadless(spec) && !IsExternalName(spec)) {
    errors.push_back(Required(path.Child("ports"), ""));
  }
  if (UsesNodePorts(spec) && IsHeadless(spec)) {
    errors.push_back(Invalid(path.Child("clusterIPs").Index(0), kNone,
                             fmt::format("may not be set to 'None' for {} services", spec.type())));
  } else if (IsExternalName(spec)) {
    CheckExternalName(spec, path, errors);
  }
}

void CheckTargetPort(const Value& target, const Path& path, FieldErrors& errors) {
  if (target.is_string()) {
    rest::CheckText(target.AsString(), names::CheckPortName, path, errors);
  } else {
    schema::AddComplaints(errors, path, target.AsInt(), names::CheckPortNumber(target.AsInt()));
  }
}

void CheckPort(const v1::ServicePort& port, bool needs_name, Seen<std::string_view>& names_seen,
               const Path& path, FieldErrors& errors) {
  const auto name = port.name();
  if (name.empty()) {
    if (needs_name) errors.push_back(Required(path.Child("name"), ""));
  } else {
    rest::CheckText(name, names::CheckDns1123Label, path.Child("name"), errors);
    if (!names_seen.Insert(name)) errors.push_back(schema::Duplicate(path.Child("name"), name));
  }
  schema::AddComplaints(errors, path.Child("port"), port.port(),
                        names::CheckPortNumber(port.port()));
  rest::CheckRequiredChoice(port.protocol(), kPortProtocols, path.Child("protocol"), errors);
  CheckTargetPort(port.targetPort(), path.Child("targetPort"), errors);
  if (auto protocol = port.appProtocol()) {
    rest::CheckText(*protocol, names::CheckQualifiedName, path.Child("appProtocol"), errors);
  }
}

void CheckAffinity(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  constexpr int32_t kMaxSeconds = 86400;
  const auto affinity = spec.sessionAffinity();
  rest::CheckRequiredChoice(affinity, kAffinities, path.Child("sessionAffinity"), errors);
  const Path config_path = path.Child("sessionAffinityConfig");
  const auto config = spec.sessionAffinityConfig();
  if (affinity == "None") {
    if (config) {
      errors.push_back(Forbidden(config_path, "must not be set when session affinity is None"));
    }
    return;
  }
  if (affinity != "ClientIP") return;
  if (!config) {
    errors.push_back(Required(config_path, "when session affinity type is ClientIP"));
    return;
  }
  const Path client = config_path.Child("clientIP");
  if (!config.clientIP()) {
    errors.push_back(Required(client, "when session affinity type is ClientIP"));
    return;
  }
  const auto seconds = config.clientIP().timeoutSeconds();
  if (!seconds) {
    errors.push_back(
        Required(client.Child("timeoutSeconds"), "when session affinity type is ClientIP"));
  } else if (*seconds <= 0 || *seconds > kMaxSeconds) {
    errors.push_back(Invalid(client.Child("timeoutSeconds"), *seconds,
                             fmt::format("must be greater than 0 and less than {}", kMaxSeconds)));
  }
}

void CheckExternalIps(const v1::ServiceSpec& spec, const v1::ServiceSpec* old, const Path& path,
                      FieldErrors& errors) {
  const auto addresses = spec.externalIPs();
  const auto before = old != nullptr ? old->externalIPs() : schema::ListView<std::string_view>();
  for (size_t i = 0; i < addresses.size(); ++i) {
    const bool kept = std::ranges::find(before, addresses[i]) != before.end();
    auto complaints = kept ? names::Complaints() : names::CheckIp(addresses[i]);
    if (complaints.empty()) complaints = names::CheckEndpointIp(addresses[i]);
    schema::AddComplaints(errors, path.Index(i), addresses[i], complaints);
  }
}

// A service port as upstream prints the key that is there twice.
std::string PortKey(const v1::ServicePort& port) {
  std::string text = R"({"Name":"","Protocol":)";
  AppendJsonString(text, port.protocol());
  text +=
      fmt::format(R"(,"AppProtocol":null,"Port":{},"TargetPort":0,"NodePort":0}})", port.port());
  return text;
}

void CheckPortUse(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  const auto ports = spec.ports();
  if (spec.type() == "ClusterIP") {
    for (size_t i = 0; i < ports.size(); ++i) {
      if (ports[i].nodePort() == 0) continue;
      errors.push_back(
          Forbidden(path.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"));
    }
  }
  // A number may be used once by each protocol.
  auto key = [](const v1::ServicePort& port, int32_t number) {
    return uint64_t{value::HashName(port.protocol())} << 32 | static_cast<uint32_t>(number);
  };
  Seen<uint64_t> node_ports;
  for (size_t i = 0; i < ports.size(); ++i) {
    const int32_t number = ports[i].nodePort();
    if (number != 0 && !node_ports.Insert(key(ports[i], number))) {
      errors.push_back(schema::Duplicate(path.Index(i).Child("nodePort"), number));
    }
  }
  Seen<uint64_t> own_ports;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!own_ports.Insert(key(ports[i], ports[i].port()))) {
      errors.push_back(schema::Duplicate(path.Index(i), schema::BadValue::Json(PortKey(ports[i]))));
    }
  }
}

void CheckSourceRanges(const v1::Service& service, const v1::Service* old, const Path& path,
                       FieldErrors& errors) {
  const auto spec = service.spec();
  const auto ranges = spec.loadBalancerSourceRanges();
  if (!ranges.empty()) {
    const Path list = path.Child("LoadBalancerSourceRanges");
    if (!IsLoadBalancer(spec)) errors.push_back(Forbidden(list, kLoadBalancerOnly));
    const auto kept = old != nullptr ? old->spec().loadBalancerSourceRanges()
                                     : schema::ListView<std::string_view>();
    for (size_t i = 0; i < ranges.size(); ++i) {
      const auto range = TrimSpace(ranges[i]);
      if (std::ranges::any_of(kept, [&](auto text) { return TrimSpace(text) == range; })) continue;
      rest::CheckText(range, names::CheckCidr, list.Index(i), errors);
    }
    return;
  }
  const auto annotations = service.metadata().annotations();
  if (!annotations.contains(kSourceRanges)) return;
  const Path metadata("metadata");
  const Path list = metadata.Child("annotations");
  const Path at = list.Key(kSourceRanges);
  if (!IsLoadBalancer(spec)) errors.push_back(Forbidden(at, kLoadBalancerOnly));
  auto text = annotations[kSourceRanges];
  if (old != nullptr && old->metadata().annotations()[kSourceRanges] == text) return;
  text = TrimSpace(text);
  while (!text.empty()) {
    const auto comma = text.find(',');
    rest::CheckText(TrimSpace(text.substr(0, comma)), names::CheckCidr, at, errors);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
}

void CheckLoadBalancerClass(const v1::ServiceSpec& spec, FieldErrors& errors) {
  const auto name = spec.loadBalancerClass();
  if (!name) return;
  const Path root("spec");
  const Path path = root.Child("loadBalancerClass");
  if (IsLoadBalancer(spec)) {
    rest::CheckText(*name, names::CheckQualifiedName, path, errors);
  } else {
    errors.push_back(Forbidden(path, kLoadBalancerOnly));
  }
}

void CheckLoadBalancer(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  if (spec.allocateLoadBalancerNodePorts() && !IsLoadBalancer(spec)) {
    errors.push_back(Forbidden(path.Child("allocateLoadBalancerNodePorts"), kLoadBalancerOnly));
  }
  if (IsLoadBalancer(spec) && !spec.allocateLoadBalancerNodePorts()) {
    errors.push_back(Required(Path("allocateLoadBalancerNodePorts"), ""));
  }
  CheckLoadBalancerClass(spec, errors);
}

void CheckTraffic(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  const auto external = spec.externalTrafficPolicy();
  if (IsExternallyAccessible(spec)) {
    rest::CheckRequiredChoice(external, kTrafficPolicies, path.Child("externalTrafficPolicy"),
                              errors);
  } else if (!external.empty()) {
    errors.push_back(Invalid(path.Child("externalTrafficPolicy"), external,
                             "may only be set for externally-accessible services"));
  }
  const auto health = spec.healthCheckNodePort();
  const Path health_path = path.Child("healthCheckNodePort");
  if (!NeedsHealthCheck(spec)) {
    if (health != 0) {
      errors.push_back(Invalid(health_path, health,
                               "may only be set when `type` is 'LoadBalancer' and "
                               "`externalTrafficPolicy` is 'Local'"));
    }
  } else if (health == 0) {
    errors.push_back(Required(health_path, ""));
  } else {
    schema::AddComplaints(errors, health_path, health, names::CheckPortNumber(health));
  }
  if (auto internal = spec.internalTrafficPolicy()) {
    rest::CheckSupported(*internal, kTrafficPolicies, path.Child("internalTrafficPolicy"), errors);
  } else if (UsesNodePorts(spec) || spec.type() == "ClusterIP") {
    errors.push_back(Required(path.Child("internalTrafficPolicy"), ""));
  }
  if (auto distribution = spec.trafficDistribution()) {
    rest::CheckSupported(*distribution, kDistributions, path.Child("trafficDistribution"), errors);
  }
}

void CheckService(const v1::Service& service, const v1::Service* old, FieldErrors& errors) {
  const auto spec = service.spec();
  const auto old_spec = old != nullptr ? old->spec() : v1::ServiceSpec();
  const v1::ServiceSpec* before = old != nullptr ? &old_spec : nullptr;
  const Path path("spec");
  const Path ports = path.Child("ports");
  CheckTopologyAnnotations(service, errors);
  CheckTypeAndAddress(spec, path, errors);
  Seen<std::string_view> names_seen;
  for (size_t i = 0; i < spec.ports().size(); ++i) {
    CheckPort(spec.ports()[i], spec.ports().size() > 1, names_seen, ports.Index(i), errors);
  }
  rest::ValidateLabels(spec.selector().value(), path.Child("selector"), errors);
  CheckAffinity(spec, path, errors);
  CheckClusterIps(spec, before, errors);
  CheckExternalIps(spec, before, path.Child("externalIPs"), errors);
  rest::CheckRequiredChoice(spec.type(), kTypes, path.Child("type"), errors);
  CheckPortUse(spec, ports, errors);
  CheckSourceRanges(service, old, path, errors);
  CheckLoadBalancer(spec, path, errors);
  CheckTraffic(spec, path, errors);
}

void CheckIngress(const v1::LoadBalancerIngress& ingress, const v1::LoadBalancerStatus& old,
                  const Path& path, FieldErrors& errors) {
  constexpr std::string_view kModes[] = {"Proxy", "VIP"};
  const auto ip = ingress.ip();
  const bool kept = std::ranges::any_of(
      old.ingress(), [&](const auto& other) { return !ip.empty() && other.ip() == ip; });
  if (!ip.empty() && !kept) rest::CheckText(ip, names::CheckIp, path.Child("ip"), errors);
  const auto mode = ingress.ipMode();
  if (!mode) {
    if (!ip.empty()) {
      errors.push_back(Required(path.Child("ipMode"), "must be specified when `ip` is set"));
    }
  } else if (ip.empty()) {
    errors.push_back(Forbidden(path.Child("ipMode"), "may not be specified when `ip` is not set"));
  } else {
    rest::CheckSupported(*mode, kModes, path.Child("ipMode"), errors);
  }
  const auto host = ingress.hostname();
  if (host.empty()) return;
  rest::CheckText(host, names::CheckDns1123Subdomain, path.Child("hostname"), errors);
  if (IpAddress::Parse(host)) {
    errors.push_back(
        Invalid(path.Child("hostname"), host, "must be a DNS name, not an IP address"));
  }
}

}  // namespace

void ValidateService(const Value& service, FieldErrors& errors) {
  CheckService(v1::Service(service), nullptr, errors);
}

void ValidateServiceUpdate(const Value& object, const Value& stored, FieldErrors& errors) {
  const v1::Service service(object);
  const v1::Service old(stored);
  const auto spec = service.spec();
  const auto before = old.spec();
  const Path path("spec");
  CheckClusterIpsUpdate(spec, before, errors);
  if (IsLoadBalancer(before) && IsLoadBalancer(spec) &&
      spec.loadBalancerClass() != before.loadBalancerClass()) {
    errors.push_back(Invalid(path.Child("loadBalancerClass"),
                             spec.value()[v1::ServiceSpec::Names::loadBalancerClass],
                             "may not change once set"));
  }
  CheckLoadBalancerClass(spec, errors);
  if (NeedsHealthCheck(before) && NeedsHealthCheck(spec) &&
      spec.healthCheckNodePort() != before.healthCheckNodePort()) {
    errors.push_back(Forbidden(path.Child("healthCheckNodePort"), "field is immutable"));
  }
  CheckService(service, &old, errors);
}

void ValidateServiceStatus(const Value& object, const Value& stored, FieldErrors& errors) {
  const v1::Service service(object);
  const auto balancer = service.status().loadBalancer();
  const auto ingress = balancer.ingress();
  if (ingress.empty()) return;
  const Path status("status");
  const Path parent = status.Child("loadBalancer");
  const Path path = parent.Child("ingress");
  if (!IsLoadBalancer(service.spec())) {
    errors.push_back(Forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'"));
    return;
  }
  const auto old = v1::Service(stored).status().loadBalancer();
  for (size_t i = 0; i < ingress.size(); ++i) CheckIngress(ingress[i], old, path.Index(i), errors);
}

}  // namespace keelson::kube::service
