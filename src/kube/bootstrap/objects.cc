#include "kube/bootstrap/objects.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "base/ids.h"
#include "crypto/digest.h"
#include "value/json.h"
#include "value/timestamp.h"

namespace keelson::kube::bootstrap {
namespace {

using value::Document;

Document Parse(const std::string& json) {
  auto object = value::ParseJson(json);
  KEELSON_CHECK(object.has_value());
  return *std::move(object);
}

value::Timestamp Stamp(WallTime time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  return {.seconds = seconds.count(), .nanos = static_cast<int32_t>((since - seconds).count())};
}

std::string Quoted(std::string_view text) { return value::ToJson(value::Value::String(text)); }

// Lower-case base32 without padding, 16 bytes: upstream's identity hash.
std::string Base32(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  uint32_t buffer = 0;
  int bits = 0;
  for (const char byte : bytes) {
    buffer = buffer << 8 | static_cast<uint8_t>(byte);
    bits += 8;
    for (; bits >= 5; bits -= 5) text += kAlphabet[buffer >> (bits - 5) & 31];
  }
  if (bits > 0) text += kAlphabet[buffer << (5 - bits) & 31];
  return text;
}

}  // namespace

std::vector<Document> SystemNamespaces() {
  std::vector<Document> namespaces;
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    namespaces.push_back(Parse(fmt::format(
        R"({{"kind":"Namespace","apiVersion":"v1","metadata":{{"name":"{0}",)"
        R"("labels":{{"kubernetes.io/metadata.name":"{0}"}}}},"spec":{{}},"status":{{}}}})",
        name)));
  }
  return namespaces;
}

Document KubernetesService(const ServerAddress& address) {
  const bool on_nodes = address.node_port != 0;
  return Parse(fmt::format(
      R"({{"kind":"Service","apiVersion":"v1","metadata":{{"name":"kubernetes",)"
      R"("namespace":"default","labels":{{"component":"apiserver","provider":"kubernetes"}}}},)"
      R"("spec":{{"ports":[{{"name":"https","protocol":"TCP","port":443,"targetPort":{0}{1}}}],)"
      R"("clusterIP":"{2}","type":"{3}","sessionAffinity":"None",{4})"
      R"("ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster"}},)"
      R"("status":{{"loadBalancer":{{}}}}}})",
      address.public_port, on_nodes ? fmt::format(",\"nodePort\":{}", address.node_port) : "",
      address.cluster_address.ToString(), on_nodes ? "NodePort" : "ClusterIP",
      on_nodes ? "\"externalTrafficPolicy\":\"Cluster\"," : ""));
}

Document KubernetesEndpoints(const ServerAddress& address) {
  return Parse(fmt::format(
      R"({{"kind":"Endpoints","apiVersion":"v1","metadata":{{"name":"kubernetes",)"
      R"("namespace":"default","labels":{{"endpointslice.kubernetes.io/skip-mirror":"true"}}}},)"
      R"("subsets":[{{"addresses":[{{"ip":"{}"}}],)"
      R"("ports":[{{"name":"https","port":{},"protocol":"TCP"}}]}}]}})",
      address.public_address.ToString(), address.public_port));
}

Document KubernetesEndpointSlice(const ServerAddress& address) {
  return Parse(
      fmt::format(R"({{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":{{)"
                  R"("name":"kubernetes","namespace":"default",)"
                  R"("labels":{{"kubernetes.io/service-name":"kubernetes"}}}},"addressType":"{}",)"
                  R"("endpoints":[{{"addresses":["{}"],"conditions":{{"ready":true}}}}],)"
                  R"("ports":[{{"name":"https","protocol":"TCP","port":{}}}]}})",
                  address.public_address.is_v4() ? "IPv4" : "IPv6",
                  address.public_address.ToString(), address.public_port));
}

Document DefaultServiceCidr(const std::vector<IpPrefix>& ranges, WallTime now) {
  std::string cidrs;
  for (const auto& range : ranges) {
    cidrs += fmt::format("{}\"{}\"", cidrs.empty() ? "" : ",", range.ToString());
  }
  return Parse(fmt::format(
      R"({{"kind":"ServiceCIDR","apiVersion":"networking.k8s.io/v1",)"
      R"("metadata":{{"name":"kubernetes"}},"spec":{{"cidrs":[{}]}},"status":{{"conditions":[)"
      R"({{"type":"Ready","status":"True","lastTransitionTime":"{}","reason":"",)"
      R"("message":"Kubernetes default Service CIDR is ready"}}]}}}})",
      cidrs, value::FormatTime(Stamp(now))));
}

std::vector<Document> SystemPriorityClasses() {
  struct Class {
    const char* name;
    int64_t value;
    const char* description;
  };
  constexpr Class kClasses[] = {
      {"system-cluster-critical", 2000000000,
       "For pods the cluster cannot do without, on whichever node they run."},
      {"system-node-critical", 2000001000,
       "For pods a node cannot do without; they must stay on it."},
  };
  std::vector<Document> classes;
  for (const auto& entry : kClasses) {
    classes.push_back(
        Parse(fmt::format(R"({{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1",)"
                          R"("metadata":{{"name":"{}"}},"value":{},"description":{},)"
                          R"("preemptionPolicy":"PreemptLowerPriority"}})",
                          entry.name, entry.value, Quoted(entry.description))));
  }
  return classes;
}

Document TokenTracking(WallTime now) {
  const auto day = value::FormatTime(Stamp(now)).substr(0, 10);
  return Parse(fmt::format(R"({{"kind":"ConfigMap","apiVersion":"v1","metadata":{{)"
                           R"("name":"kube-apiserver-legacy-service-account-token-tracking",)"
                           R"("namespace":"kube-system"}},"data":{{"since":"{}"}}}})",
                           day));
}

Identity MakeIdentity(std::string_view hostname, const ServerAddress& address) {
  constexpr size_t kHashBytes = 16;
  const auto digest = crypto::Digest(crypto::Hash::kSha256, hostname);
  Identity identity;
  identity.name = "apiserver-" + Base32(std::string_view(digest).substr(0, kHashBytes));
  identity.holder = identity.name + "_" + NewUuid();
  identity.hostname = hostname;
  identity.peer_address =
      fmt::format(fmt::runtime(address.public_address.is_v4() ? "{}:{}" : "[{}]:{}"),
                  address.public_address.ToString(), address.public_port);
  return identity;
}

Document IdentityLease(const Identity& identity, WallTime now) {
  return Parse(fmt::format(
      R"({{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{{"name":{0},)"
      R"("namespace":"kube-system","labels":{{)"
      R"("apiserver.kubernetes.io/identity":"kube-apiserver","kubernetes.io/hostname":{1}}},)"
      R"("annotations":{{"kubernetes.io/peer-advertise-address":{2}}}}},"spec":{{)"
      R"("holderIdentity":{3},"leaseDurationSeconds":3600,"renewTime":"{4}"}}}})",
      Quoted(identity.name), Quoted(identity.hostname), Quoted(identity.peer_address),
      Quoted(identity.holder), value::FormatMicroTime(Stamp(now))));
}

}  // namespace keelson::kube::bootstrap
