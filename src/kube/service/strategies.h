#pragma once

// Services and what belongs to them: Endpoints, EndpointSlice, IPAddress, ServiceCIDR. Contributed
// to rest::KindTable.

#include <memory>
#include <span>
#include <vector>

#include "base/ip_address.h"
#include "kube/service/port_allocator.h"
#include "kv/store.h"
#include "rest/kind_table.h"
#include "rest/resource.h"
#include "schema/transform.h"

namespace keelson::kube::service {

struct Options {
  std::vector<IpPrefix> cluster_ip_ranges;  // --service-cluster-ip-range; one, or one per family
  PortRange node_ports;                     // --service-node-port-range
};

// Owns the strategies and allocators; outlives the table that they are added to.
class Kinds {
 public:
  // `store` keeps the record of node ports and outlives this.
  Kinds(const Options& options, kv::Store& store);
  ~Kinds();

  void AddTo(rest::KindTable& table) const;

  // The resources of the API that was made from the table. Once, before the first write.
  struct Resources {
    const rest::ResourceSpec& ip_addresses;
    const rest::ResourceSpec& service_cidrs;
    const rest::ResourceSpec& endpoints;
  };
  void Connect(const Resources& resources);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::span<const schema::DefaultHook> Defaults();

}  // namespace keelson::kube::service
