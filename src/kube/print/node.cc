// Nodes, what runs on them, and the health of components.

#include <fmt/format.h>

#include <set>

#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using api::core_v1::Node;
using rest::Row;
using value::Value;

void NodeStatus(const Value& object, Row& row) {
  const Node node(object);
  std::string status = "Unknown";
  for (const auto& condition : node.status().conditions()) {
    if (condition.type() == "Ready") status = condition.status() == "True" ? "Ready" : "NotReady";
  }
  if (node.spec().unschedulable()) status += ",SchedulingDisabled";
  row.Text(status);
}

// Roles are labels: node-role.kubernetes.io/<role> or kubernetes.io/role=<role>.
void NodeRoles(const Value& object, Row& row) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [key, text] : Node(object).metadata().labels()) {
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) {
      roles.emplace(key.substr(kPrefix.size()));
    } else if (key == "kubernetes.io/role" && !text.empty()) {
      roles.emplace(text);
    }
  }
  row.Text(roles.empty() ? kNone : Join(std::vector<std::string>(roles.begin(), roles.end())));
}

std::string_view AddressOf(const Node& node, std::string_view type) {
  for (const auto& address : node.status().addresses()) {
    if (address.type() == type) return address.address();
  }
  return kNone;
}

void NodeAddresses(const Value& object, Row& row) {
  row.Text(AddressOf(Node(object), "InternalIP"));
  row.Text(AddressOf(Node(object), "ExternalIP"));
}

void KernelVersion(const Value& object, Row& row) {
  const auto info = Node(object).status().nodeInfo();
  std::string version(OrElse(info.kernelVersion(), kUnknown));
  if (!info.architecture().empty()) version += fmt::format(" ({})", info.architecture());
  row.Text(version);
}

constexpr rest::Cell kNodeCells[] = {
    rest::kNameCell,
    rest::ComputedCell(NodeStatus,
                       "status.conditions.type status.conditions.status spec.unschedulable"),
    rest::ComputedCell(NodeRoles, "metadata.labels"),
    rest::kAgeCell,
    rest::TextCell("status.nodeInfo.kubeletVersion"),
    rest::ComputedCell(NodeAddresses, "status.addresses"),
    rest::TextCell("status.nodeInfo.osImage", kUnknown),
    rest::ComputedCell(KernelVersion, "status.nodeInfo.kernelVersion status.nodeInfo.architecture"),
    rest::TextCell("status.nodeInfo.containerRuntimeVersion", kUnknown),
};

void ComponentHealth(const Value& object, Row& row) {
  for (const auto& condition : api::core_v1::ComponentStatus(object).conditions()) {
    if (condition.type() != "Healthy") continue;
    row.Text(condition.status() == "True" ? "Healthy" : "Unhealthy");
    row.Text(condition.message());
    row.Text(condition.error());
    return;
  }
  row.Text("Unknown");
  row.Text("");
  row.Text("");
}

constexpr rest::Cell kComponentCells[] = {
    rest::kNameCell,
    rest::ComputedCell(ComponentHealth, "conditions"),
};

constexpr rest::Cell kRuntimeClassCells[] = {
    rest::kNameCell,
    rest::TextCell("handler"),
    rest::kAgeCell,
};

constexpr rest::TablePrinter kPrinters[] = {
    {"", "nodes", kNodeCells},
    {"", "componentstatuses", kComponentCells},
    {"node.k8s.io", "runtimeclasses", kRuntimeClassCells},
};

}  // namespace

std::span<const rest::TablePrinter> NodePrinters() { return kPrinters; }

}  // namespace keelson::kube::print
