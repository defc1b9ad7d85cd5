#include "cluster.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "api/catalog.h"
#include "apiextensions/strategies.h"
#include "kube/access/certificate_admission.h"
#include "kube/access/node_restriction.h"

namespace keelson::app {
namespace {

// An address of this machine that others may reach it under.
std::optional<IpAddress> HostAddress(IpAddress::Family family) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const bool v4 = entry->ifa_addr->sa_family == AF_INET;
    if (!v4 && entry->ifa_addr->sa_family != AF_INET6) continue;
    char text[NI_MAXHOST];
    const socklen_t size = v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (getnameinfo(entry->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) {
      continue;
    }
    auto address = IpAddress::Parse(text);
    if (address && address->family() == family && !address->IsLoopback() &&
        !address->IsLinkLocalUnicast()) {
      return address;
    }
  }
  return std::nullopt;
}

// Where this server says it is: where it was told, where it listens, or at the machine's address.
std::optional<IpAddress> PublicAddress(const Options& options, IpAddress::Family family) {
  for (const auto& text : {options.run.advertise_address, options.serving.bind_address}) {
    auto address = IpAddress::Parse(text);
    if (address && !address->IsUnspecified() && !address->IsLoopback()) return address;
  }
  return HostAddress(family);
}

kube::bootstrap::Options BootstrapOptions(const Options& options) {
  kube::bootstrap::Options bootstrap;
  bootstrap.cluster_ip_ranges = options.cluster.service_ranges();
  const auto& range = bootstrap.cluster_ip_ranges.front();
  bootstrap.server.public_port = static_cast<int>(options.serving.secure_port);
  bootstrap.server.cluster_address = range.address.Masked(range.length).Plus(1);
  bootstrap.server.node_port = static_cast<int>(options.cluster.kubernetes_service_node_port);
  const auto address = PublicAddress(options, range.address.family());
  // Endpoints that nobody can reach are not worth listing.
  bootstrap.publish_endpoints = address && options.cluster.endpoint_reconciler_type != "none";
  bootstrap.server.public_address = address.value_or(IpAddress());
  char hostname[256] = {};
  gethostname(hostname, sizeof hostname - 1);
  bootstrap.hostname = hostname;
  return bootstrap;
}

rest::StoredForm StoredFormOf(const Options& options) {
  const auto& storage = options.storage;
  auto form = storage.media_type.empty() && storage.etcd.used()
                  ? rest::StoredForm::kProtobuf
                  : rest::ParseStoredForm(storage.media_type);
  KEELSON_CHECK(form.has_value());  // Options::Validate has refused others
  return *form;
}

}  // namespace

Cluster::Cluster(const Options& options, rest::KindTable kinds, Storage& storage,
                 auth::Authorizer& authorizer, Clock& clock)
    : core_({.event_time_to_live =
                 std::chrono::ceil<std::chrono::seconds>(options.cluster.event_ttl)}),
      services_({.cluster_ip_ranges = options.cluster.service_ranges(),
                 .node_ports = options.cluster.service_node_port_range},
                storage.store()) {
  auto lifecycle = std::make_unique<kube::core::NamespaceLifecycle>(clock);
  auto& namespaces = *lifecycle;
  kinds.Add(apiextensions::Strategies());
  kinds.Add(apiextensions::Defaults());
  auto plugins = kube::access::CertificatePlugins(authorizer);
  plugins.push_back(std::move(lifecycle));
  plugins.push_back(std::make_unique<kube::access::NodeRestriction>(stores_, authorizer));
  admission_ = kube::plugins::MakeChain(options.admission, admission_objects_, std::move(plugins));
  core_.AddTo(kinds);
  services_.AddTo(kinds);
  api_ = std::make_unique<kube::BuiltInApi>(kube::ApiParts{
      .catalog = api::kCatalog,
      .store = storage.store(),
      .feed = storage.feed(),
      .clock = clock,
      .kinds = std::move(kinds),
      .admission = &admission_,
      .authorizer = &authorizer,
      .form = StoredFormOf(options),
      .transformer = [&storage](const auto& resource) { return storage.TransformerFor(resource); },
      .allow_privileged = options.cluster.allow_privileged});
  admission_objects_.Bind(*api_);
  stores_ = api_.get();
  auto spec = [&](std::string_view group, std::string_view plural) -> const rest::ResourceSpec& {
    const auto* found = api_->Find(group, plural);
    KEELSON_CHECK(found != nullptr);
    return *found;
  };
  namespaces.Connect(*spec("", "namespaces").store);
  services_.Connect({.ip_addresses = spec("networking.k8s.io", "ipaddresses"),
                     .service_cidrs = spec("networking.k8s.io", "servicecidrs"),
                     .endpoints = spec("", "endpoints")});
  constexpr std::string_view kFlowControl = "flowcontrol.apiserver.k8s.io";
  bootstrap_ = std::make_unique<kube::bootstrap::Bootstrap>(
      BootstrapOptions(options),
      kube::bootstrap::Resources{
          .namespaces = spec("", "namespaces"),
          .services = spec("", "services"),
          .endpoints = spec("", "endpoints"),
          .endpoint_slices = spec("discovery.k8s.io", "endpointslices"),
          .service_cidrs = spec("networking.k8s.io", "servicecidrs"),
          .ip_addresses = spec("networking.k8s.io", "ipaddresses"),
          .priority_classes = spec("scheduling.k8s.io", "priorityclasses"),
          .priority_levels = spec(kFlowControl, "prioritylevelconfigurations"),
          .flow_schemas = spec(kFlowControl, "flowschemas"),
          .config_maps = spec("", "configmaps"),
          .leases = spec("coordination.k8s.io", "leases")},
      clock);
}

}  // namespace keelson::app
