#pragma once

// Whom a request on a pod, a node or a service is relayed to, by what is stored about them. The
// decisions are pure; the subresources look the objects up.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.h"
#include "base/status.h"
#include "http/query.h"
#include "value/value.h"

namespace keelson::kube {

// "name", "name:port" or "scheme:name:port", as URLs of proxies name their targets.
struct ProxyName {
  std::string_view scheme;
  std::string_view name;
  std::string_view port;
};
std::optional<ProxyName> ParseProxyName(std::string_view text);

// The container a request is about: the one it names, or the pod's only one.
ApiResult<std::string> PickContainer(const value::Value& pod, std::string_view asked);

// The query for the kubelet; 422 for options that contradict each other.
ApiResult<std::string> LogQuery(const http::Query& query, std::string_view pod);
// Of exec and attach; the latter has no command.
std::string StreamQuery(const http::Query& query, bool command);
std::string PortForwardQuery(const http::Query& query);

// "http://10.0.0.7:8080". Refuses addresses that only this machine or link knows.
ApiResult<std::string> PodOrigin(const value::Value& pod, const ProxyName& name);

// The name of the Service's port that is asked for: ports may be given by number.
ApiResult<std::string> ServicePortName(const value::Value& service, const ProxyName& name);

// An address that an Endpoints object offers for a port, and the pod behind it.
struct EndpointChoice {
  std::string ip;
  int64_t port = 0;
  std::string pod;
  std::string pod_namespace;
};
std::vector<EndpointChoice> EndpointChoices(const value::Value& endpoints, std::string_view port);

// Whether an address means the same to everybody, and not this machine or link.
bool IsGlobalUnicast(const IpAddress& address);

// What upstream makes of a kubelet's refusal to show a log.
Status KubeletRefusal(int code, std::string_view pod, std::string_view message);

}  // namespace keelson::kube
