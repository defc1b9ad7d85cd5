#pragma once

// The objects every cluster begins with, as documents ready to be stored.

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ip_address.h"
#include "value/document.h"

namespace keelson::kube::bootstrap {

// default, kube-node-lease, kube-public, kube-system.
std::vector<value::Document> SystemNamespaces();

// How clients inside the cluster reach this server.
struct ServerAddress {
  IpAddress public_address;
  int public_port = 6443;
  IpAddress cluster_address;  // of the service "kubernetes"
  int node_port = 0;          // 0: none
};
value::Document KubernetesService(const ServerAddress& address);
value::Document KubernetesEndpoints(const ServerAddress& address);
value::Document KubernetesEndpointSlice(const ServerAddress& address);

// The ServiceCIDR "kubernetes" for the ranges the server was started with.
value::Document DefaultServiceCidr(const std::vector<IpPrefix>& ranges, WallTime now);

std::vector<value::Document> SystemPriorityClasses();

std::vector<value::Document> PriorityLevels();
std::vector<value::Document> FlowSchemas(WallTime now);

// kube-system/kube-apiserver-legacy-service-account-token-tracking: since when the use of old
// tokens is noted.
value::Document TokenTracking(WallTime now);

// kube-system/apiserver-...: this server is alive.
struct Identity {
  std::string name;    // apiserver-<hash>
  std::string holder;  // the same and something unique to this process
  std::string hostname;
  std::string peer_address;  // "10.0.0.1:6443"
};
Identity MakeIdentity(std::string_view hostname, const ServerAddress& address);
value::Document IdentityLease(const Identity& identity, WallTime now);

}  // namespace keelson::kube::bootstrap
