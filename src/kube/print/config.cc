// Kinds that hold settings: ConfigMaps, Secrets, service accounts, namespaces, quotas, leases.

#include <fmt/format.h>

#include <algorithm>

#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using rest::Row;
using value::Value;

void ConfigMapData(const Value& object, Row& row) {
  const api::core_v1::ConfigMap map(object);
  row.Int(static_cast<int64_t>(map.data().size() + map.binaryData().size()));
}

constexpr rest::Cell kConfigMapCells[] = {
    rest::kNameCell,
    rest::ComputedCell(ConfigMapData, "data binaryData"),
    rest::kAgeCell,
};

constexpr rest::Cell kSecretCells[] = {
    rest::kNameCell,
    rest::TextCell("type"),
    rest::CountCell("data"),
    rest::kAgeCell,
};

constexpr rest::Cell kNameAndAge[] = {rest::kNameCell, rest::kAgeCell};

constexpr rest::Cell kNamespaceCells[] = {
    rest::kNameCell,
    rest::TextCell("status.phase"),
    rest::kAgeCell,
};

// Two cells: what is limited as a request, and as a limit.
void QuotaUse(const Value& object, Row& row) {
  const auto status = api::core_v1::ResourceQuota(object).status();
  std::vector<std::string> requests;
  std::vector<std::string> limits;
  std::vector<std::string_view> resources;
  for (const auto& entry : status.hard()) resources.push_back(entry.key);
  std::ranges::sort(resources);
  for (auto resource : resources) {
    auto& cell = resource.starts_with("limits.") ? limits : requests;
    cell.push_back(fmt::format("{}: {}/{}", resource, OrElse(status.used()[resource], "0"),
                               status.hard()[resource]));
  }
  row.Text(Join(requests, ", "));
  row.Text(Join(limits, ", "));
}

constexpr rest::Cell kQuotaCells[] = {
    rest::kNameCell,
    rest::ComputedCell(QuotaUse, "status.hard status.used"),
    rest::kAgeCell,
};

constexpr rest::Cell kLeaseCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.holderIdentity"),
    rest::kAgeCell,
};

constexpr rest::TablePrinter kPrinters[] = {
    {"", "configmaps", kConfigMapCells},  {"", "secrets", kSecretCells},
    {"", "serviceaccounts", kNameAndAge}, {"", "namespaces", kNamespaceCells},
    {"", "resourcequotas", kQuotaCells},  {"coordination.k8s.io", "leases", kLeaseCells},
};

}  // namespace

std::span<const rest::TablePrinter> ConfigPrinters() { return kPrinters; }

}  // namespace keelson::kube::print
