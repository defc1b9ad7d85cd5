#include "kube/service/strategies.h"

#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "kube/service/address_allocator.h"
#include "kube/service/kinds.h"
#include "kube/service/service.h"
#include "kube/service/service_fields.h"
#include "rest/kind_rules.h"

namespace keelson::kube::service {

struct Kinds::State {
  State(const Options& options, kv::Store& store)
      : addresses(options.cluster_ip_ranges),
        ports(store, options.node_ports),
        service(addresses, ports) {}

  AddressAllocator addresses;
  PortAllocator ports;
  ServiceStrategy service;
  rest::RuleStrategy endpoints{kEndpointsRules};
  rest::RuleStrategy slice{kEndpointSliceRules};
};

Kinds::Kinds(const Options& options, kv::Store& store)
    : state_(std::make_unique<State>(options, store)) {}
Kinds::~Kinds() = default;

void Kinds::Connect(const Resources& resources) {
  state_->addresses.Connect(resources.ip_addresses, resources.service_cidrs);
  state_->service.Connect(*resources.endpoints.store);
}

void Kinds::AddTo(rest::KindTable& table) const {
  const rest::KindStrategy strategies[] = {
      {"", "services", &state_->service},
      {"", "endpoints", &state_->endpoints},
      {"discovery.k8s.io", "endpointslices", &state_->slice},
  };
  table.Add(strategies);
  table.Add(Defaults());
}

std::span<const schema::DefaultHook> Defaults() {
  static const schema::DefaultHook kHooks[] = {
      {&v1::Service::Schema(), DefaultService},
      {&v1::EndpointPort::Schema(), DefaultEndpointsPort},
      {&api::discovery_v1::EndpointPort::Schema(), DefaultEndpointSlicePort},
  };
  return kHooks;
}

}  // namespace keelson::kube::service
