// Services and the endpoints behind them.

#include <fmt/format.h>

#include <set>

#include "api/discovery_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using api::core_v1::Endpoints;
using api::core_v1::Service;
using api::discovery_v1::EndpointSlice;
using rest::Row;
using value::Value;

// How many addresses or ports a cell names.
constexpr size_t kMost = 3;

void ClusterAddress(const Value& object, Row& row) {
  const auto addresses = Service(object).spec().clusterIPs();
  row.Text(addresses.empty() ? kNone : addresses[0]);
}

std::string ExternalAddresses(const Service& service) {
  const auto type = service.spec().type();
  const auto own = Join(service.spec().externalIPs());
  if (type == "ExternalName") return std::string(service.spec().externalName());
  if (type == "ClusterIP" || type == "NodePort") return std::string(OrElse(own, kNone));
  if (type != "LoadBalancer") return std::string(kUnknown);
  std::set<std::string> balancers;
  for (const auto& ingress : service.status().loadBalancer().ingress()) {
    if (auto name = OrElse(ingress.ip(), ingress.hostname()); !name.empty()) {
      balancers.emplace(name);
    }
  }
  auto text = Join(std::vector<std::string>(balancers.begin(), balancers.end()));
  if (!own.empty()) text += (text.empty() ? "" : ",") + own;
  return text.empty() ? "<pending>" : text;
}

void ExternalAddressCell(const Value& object, Row& row) {
  row.Text(ExternalAddresses(Service(object)));
}

void ServicePorts(const Value& object, Row& row) {
  std::vector<std::string> ports;
  for (const auto& port : Service(object).spec().ports()) {
    ports.push_back(port.nodePort() > 0
                        ? fmt::format("{}:{}/{}", port.port(), port.nodePort(), port.protocol())
                        : fmt::format("{}/{}", port.port(), port.protocol()));
  }
  row.Text(OrElse(Join(ports), kNone));
}

void ServiceSelector(const Value& object, Row& row) {
  row.Text(LabelText(Service(object).spec().selector()));
}

constexpr rest::Cell kServiceCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.type"),
    rest::ComputedCell(ClusterAddress, "spec.clusterIPs"),
    rest::ComputedCell(ExternalAddressCell,
                       "spec.externalIPs spec.type spec.externalName status.loadBalancer.ingress"),
    rest::ComputedCell(ServicePorts, "spec.ports"),
    rest::kAgeCell,
    rest::ComputedCell(ServiceSelector, "spec.selector"),
};

std::string HostAndPort(std::string_view host, int64_t port) {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

void EndpointAddresses(const Value& object, Row& row) {
  const auto subsets = Endpoints(object).subsets();
  std::vector<std::string> all;
  for (const auto& subset : subsets) {
    if (subset.ports().empty()) {
      for (const auto& address : subset.addresses()) all.emplace_back(address.ip());
    }
    for (const auto& port : subset.ports()) {
      for (const auto& address : subset.addresses()) {
        all.push_back(HostAndPort(address.ip(), port.port()));
      }
    }
  }
  row.Text(subsets.empty() ? std::string(kNone) : FirstFew(all, kMost));
}

constexpr rest::Cell kEndpointsCells[] = {
    rest::kNameCell,
    rest::ComputedCell(EndpointAddresses, "subsets.addresses.ip subsets.ports.port"),
    rest::kAgeCell,
};

void SlicePorts(const Value& object, Row& row) {
  std::vector<std::string> ports;
  for (const auto& port : EndpointSlice(object).ports()) {
    ports.push_back(port.port() ? std::to_string(*port.port())
                                : std::string(port.name().value_or("*")));
  }
  row.Text(OrElse(FirstFew(ports, kMost), kUnset));
}

void SliceAddresses(const Value& object, Row& row) {
  std::vector<std::string> all;
  for (const auto& endpoint : EndpointSlice(object).endpoints()) {
    for (auto address : endpoint.addresses()) all.emplace_back(address);
  }
  row.Text(OrElse(FirstFew(all, kMost), kUnset));
}

constexpr rest::Cell kSliceCells[] = {
    rest::kNameCell,
    rest::TextCell("addressType"),
    rest::ComputedCell(SlicePorts, "ports"),
    rest::ComputedCell(SliceAddresses, "endpoints.addresses"),
    rest::kAgeCell,
};

constexpr rest::TablePrinter kPrinters[] = {
    {"", "services", kServiceCells},
    {"", "endpoints", kEndpointsCells},
    {"discovery.k8s.io", "endpointslices", kSliceCells},
};

}  // namespace

std::span<const rest::TablePrinter> ServicePrinters() { return kPrinters; }

}  // namespace keelson::kube::print
