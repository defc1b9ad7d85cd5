// Devices and the claims on them.

#include "api/resource_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using rest::Row;
using value::Value;

void ClaimState(const Value& object, Row& row) {
  const api::resource_v1::ResourceClaim claim(object);
  const bool deleted = claim.metadata().deletionTimestamp().has_value();
  std::vector<std::string> states;
  if (deleted) states.emplace_back("deleted");
  if (claim.status().allocation()) {
    states.emplace_back("allocated");
    if (!claim.status().reservedFor().empty()) states.emplace_back("reserved");
  } else if (!deleted) {
    states.emplace_back("pending");
  }
  row.Text(Join(states));
}

constexpr rest::Cell kClaimCells[] = {
    rest::kNameCell,
    rest::ComputedCell(ClaimState,
                       "status.allocation status.reservedFor.name metadata.deletionTimestamp"),
    rest::kAgeCell,
};

constexpr rest::Cell kNameAndAge[] = {rest::kNameCell, rest::kAgeCell};

constexpr rest::Cell kSliceCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.nodeName"),
    rest::TextCell("spec.driver"),
    rest::TextCell("spec.pool.name"),
    rest::kAgeCell,
};

constexpr std::string_view kGroup = "resource.k8s.io";
constexpr rest::TablePrinter kPrinters[] = {
    {kGroup, "resourceclaims", kClaimCells},
    {kGroup, "resourceclaimtemplates", kNameAndAge},
    {kGroup, "deviceclasses", kNameAndAge},
    {kGroup, "resourceslices", kSliceCells},
};

}  // namespace

std::span<const rest::TablePrinter> DevicePrinters() { return kPrinters; }

}  // namespace keelson::kube::print
