#pragma once

// The command line of keelson.

#include <cstdint>
#include <string>
#include <vector>

#include "access_options.h"
#include "base/flags.h"
#include "base/ip_address.h"
#include "kube/admission/plugins.h"
#include "kube/relay/kubelet.h"
#include "kube/service/port_allocator.h"
#include "server/options.h"
#include "storage.h"

namespace keelson::app {

// What a cluster is told about its services, and for how long it remembers events.
struct ClusterOptions {
  std::string service_cluster_ip_range = "10.0.0.0/24";  // one, or two of different families
  kube::service::PortRange service_node_port_range;
  int64_t kubernetes_service_node_port = 0;
  std::string endpoint_reconciler_type = "lease";
  Duration event_ttl = std::chrono::hours(1);
  bool allow_privileged = false;

  void AddFlags(flags::FlagSet& flags);
  std::vector<std::string> Validate() const;
  // What service_cluster_ip_range says, as far as it makes sense.
  std::vector<IpPrefix> service_ranges() const;
};

struct Options {
  server::ServerRunOptions run;
  server::SecureServingOptions serving;
  server::FeatureOptions features;
  StorageOptions storage;
  AccessOptions access;
  kube::plugins::ChainOptions admission;
  kube::KubeletOptions kubelet;
  ClusterOptions cluster;
  uint64_t verbosity = 0;
  std::string version;  // "", "true" or "raw"
  bool help = false;

  void AddFlags(flags::FlagSet& flags);
  std::vector<std::string> Validate() const;
};

}  // namespace keelson::app
