// The networking group: ingresses, policies, addresses.

#include <fmt/format.h>

#include <set>

#include "api/networking_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using api::networking_v1::Ingress;
using api::networking_v1::IngressClass;
using rest::Row;
using value::Value;

// At most three hosts. What follows the third is counted by rules, those without a host included.
void IngressHosts(const Value& object, Row& row) {
  constexpr size_t kMost = 3;
  const auto rules = Ingress(object).spec().rules();
  std::vector<std::string> hosts;
  bool more = false;
  for (const auto& rule : rules) {
    if (hosts.size() == kMost) more = true;
    if (!more && !rule.host().empty()) hosts.emplace_back(rule.host());
  }
  if (hosts.empty()) return row.Text("*");
  row.Text(more ? fmt::format("{} + {} more...", Join(hosts), rules.size() - kMost) : Join(hosts));
}

void IngressAddress(const Value& object, Row& row) {
  std::set<std::string> addresses;
  for (const auto& ingress : Ingress(object).status().loadBalancer().ingress()) {
    if (auto name = OrElse(ingress.ip(), ingress.hostname()); !name.empty()) {
      addresses.emplace(name);
    }
  }
  row.Text(Join(std::vector<std::string>(addresses.begin(), addresses.end())));
}

void IngressPorts(const Value& object, Row& row) {
  row.Text(Ingress(object).spec().tls().empty() ? "80" : "80, 443");
}

constexpr rest::Cell kIngressCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.ingressClassName", kNone),
    rest::ComputedCell(IngressHosts, "spec.rules.host"),
    rest::ComputedCell(IngressAddress, "status.loadBalancer.ingress"),
    rest::ComputedCell(IngressPorts, "spec.tls.secretName"),
    rest::kAgeCell,
};

void IngressClassName(const Value& object, Row& row) {
  const auto metadata = IngressClass(object).metadata();
  std::string name(metadata.name());
  if (metadata.annotations()["ingressclass.kubernetes.io/is-default-class"] == "true") {
    name += " (default)";
  }
  row.Text(name);
}

void IngressParameters(const Value& object, Row& row) {
  const auto parameters = IngressClass(object).spec().parameters();
  if (!parameters) return row.Text(kNone);
  std::string text(parameters.kind());
  if (auto group = parameters.apiGroup()) text += "." + std::string(*group);
  row.Text(text + "/" + std::string(parameters.name()));
}

constexpr rest::Cell kIngressClassCells[] = {
    rest::ComputedCell(IngressClassName, "metadata.name metadata.annotations"),
    rest::TextCell("spec.controller"),
    rest::ComputedCell(IngressParameters, "spec.parameters"),
    rest::kAgeCell,
};

void PolicySelector(const Value& object, Row& row) {
  row.Text(
      OrElse(SelectorText(api::networking_v1::NetworkPolicy(object).spec().podSelector()), kNone));
}

constexpr rest::Cell kPolicyCells[] = {
    rest::kNameCell,
    rest::ComputedCell(PolicySelector, "spec.podSelector"),
    rest::kAgeCell,
};

void AddressParent(const Value& object, Row& row) {
  const auto parent = api::networking_v1::IPAddress(object).spec().parentRef();
  if (!parent) return row.Text(kNone);
  std::string resource(parent.resource());
  if (!parent.group().empty()) resource += "." + std::string(parent.group());
  auto text = LowerCase(resource);
  if (!parent.namespace_().empty()) text += "/" + std::string(parent.namespace_());
  row.Text(text + "/" + std::string(parent.name()));
}

// One cell more than columns, as upstream has it.
constexpr rest::Cell kAddressCells[] = {
    rest::kNameCell,
    rest::ComputedCell(AddressParent, "spec.parentRef"),
    rest::kAgeCell,
};

void CidrText(const Value& object, Row& row) {
  row.Text(Join(api::networking_v1::ServiceCIDR(object).spec().cidrs()));
}

constexpr rest::Cell kCidrCells[] = {
    rest::kNameCell,
    rest::ComputedCell(CidrText, "spec.cidrs"),
    rest::kAgeCell,
};

constexpr std::string_view kGroup = "networking.k8s.io";
constexpr rest::TablePrinter kPrinters[] = {
    {kGroup, "ingresses", kIngressCells},      {kGroup, "ingressclasses", kIngressClassCells},
    {kGroup, "networkpolicies", kPolicyCells}, {kGroup, "ipaddresses", kAddressCells},
    {kGroup, "servicecidrs", kCidrCells},
};

}  // namespace

std::span<const rest::TablePrinter> NetworkPrinters() { return kPrinters; }

}  // namespace keelson::kube::print
