#include "api/discovery_v1.h"
#include "kube/service/service_fields.h"

namespace keelson::kube::service {
namespace {

using schema::StructEditor;
using Spec = v1::ServiceSpec;

constexpr int64_t kAffinitySeconds = 10800;

Value Text(std::string_view text) { return Value::String(text, /*plain=*/true); }

void DefaultAffinity(StructEditor& spec) {
  spec.SetDefault(Spec::Names::sessionAffinity, Text("None"));
  const auto affinity = spec.Get(Spec::Names::sessionAffinity).AsString();
  if (affinity == "None") {
    spec.Remove(Spec::Names::sessionAffinityConfig);
  } else if (affinity == "ClientIP") {
    const v1::SessionAffinityConfig config(spec.Get(Spec::Names::sessionAffinityConfig));
    if (config.clientIP().timeoutSeconds()) return;
    auto* seconds = spec.arena().AllocateArray<value::Member>(2);
    seconds[0] =
        value::Member(&v1::ClientIPConfig::Names::timeoutSeconds, Value::Int(kAffinitySeconds));
    seconds[1] =
        value::Member(&v1::SessionAffinityConfig::Names::clientIP, Value::Object({seconds, 1}));
    spec.Set(Spec::Names::sessionAffinityConfig, Value::Object({seconds + 1, 1}));
  }
}

bool IsUnsetPort(const Value& target) {
  return target.is_null() || (target.is_int() && target.AsInt() == 0) ||
         (target.is_string() && target.AsString().empty());
}

void DefaultPorts(StructEditor& spec) {
  using Names = v1::ServicePort::Names;
  const Value ports = spec.Get(Spec::Names::ports);
  if (ports.items().empty()) return;
  auto* items = spec.arena().AllocateArray<Value>(ports.size());
  bool changed = false;
  for (size_t i = 0; i < ports.size(); ++i) {
    StructEditor port(v1::ServicePort::Schema(), ports.items()[i], spec.arena());
    port.SetDefault(Names::protocol, Text("TCP"));
    if (IsUnsetPort(port.Get(Names::targetPort))) {
      port.Set(Names::targetPort, Value::Int(port.Get(Names::port).AsInt()));
    }
    changed = changed || port.changed();
    items[i] = port.value();
  }
  if (changed) spec.Set(Spec::Names::ports, Value::List({items, ports.size()}));
}

void DefaultIngress(StructEditor& service) {
  using Names = v1::LoadBalancerIngress::Names;
  const auto ingress = v1::Service(service.value()).status().loadBalancer().ingress();
  if (ingress.empty()) return;
  auto* items = service.arena().AllocateArray<Value>(ingress.size());
  for (size_t i = 0; i < ingress.size(); ++i) {
    StructEditor item(v1::LoadBalancerIngress::Schema(), ingress[i].value(), service.arena());
    if (!ingress[i].ip().empty() && !ingress[i].ipMode()) item.Set(Names::ipMode, Text("VIP"));
    items[i] = item.value();
  }
  StructEditor status(v1::ServiceStatus::Schema(), service.Get(v1::Service::Names::status),
                      service.arena());
  StructEditor balancer(v1::LoadBalancerStatus::Schema(),
                        status.Get(v1::ServiceStatus::Names::loadBalancer), service.arena());
  balancer.Set(v1::LoadBalancerStatus::Names::ingress, Value::List({items, ingress.size()}));
  status.Set(v1::ServiceStatus::Names::loadBalancer, balancer.value());
  service.Set(v1::Service::Names::status, status.value());
}

}  // namespace

// In upstream's order: some of these look at what others have set.
void DefaultService(StructEditor& service) {
  StructEditor spec(Spec::Schema(), service.Get(v1::Service::Names::spec), service.arena());
  DefaultAffinity(spec);
  spec.SetDefault(Spec::Names::type, Text("ClusterIP"));
  DefaultPorts(spec);
  const Spec view(spec.value());
  if (IsExternallyAccessible(view)) {
    spec.SetDefault(Spec::Names::externalTrafficPolicy, Text("Cluster"));
  }
  if (UsesNodePorts(view) || view.type() == "ClusterIP") {
    spec.SetDefault(Spec::Names::internalTrafficPolicy, Text("Cluster"));
  }
  const bool balanced = IsLoadBalancer(view);
  if (balanced) spec.SetDefault(Spec::Names::allocateLoadBalancerNodePorts, Value::Bool(true));
  if (spec.changed()) service.Set(v1::Service::Names::spec, spec.value());
  if (balanced) DefaultIngress(service);
}

void DefaultEndpointsPort(StructEditor& port) {
  port.SetDefault(v1::EndpointPort::Names::protocol, Text("TCP"));
}

void DefaultEndpointSlicePort(StructEditor& port) {
  using Names = api::discovery_v1::EndpointPort::Names;
  port.SetDefault(Names::name, Text(""));
  port.SetDefault(Names::protocol, Text("TCP"));
}

}  // namespace keelson::kube::service
