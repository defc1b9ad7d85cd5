// Kinds about the cluster as a whole: API services, certificates, priorities, fairness.

#include <fmt/format.h>

#include "api/apiregistration_v1.h"
#include "api/certificates_v1.h"
#include "api/flowcontrol_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using rest::Row;
using value::Value;

void ServedBy(const Value& object, Row& row) {
  const auto service = api::apiregistration_v1::APIService(object).spec().service();
  row.Text(service ? fmt::format("{}/{}", service.namespace_(), service.name()) : "Local");
}

void ServiceAvailable(const Value& object, Row& row) {
  for (const auto& condition : api::apiregistration_v1::APIService(object).status().conditions()) {
    if (condition.type() != "Available") continue;
    const bool plain = condition.status() == "True" || condition.reason().empty();
    return row.Text(plain ? std::string(condition.status())
                          : fmt::format("{} ({})", condition.status(), condition.reason()));
  }
  row.Text("Unknown");
}

constexpr rest::Cell kApiServiceCells[] = {
    rest::kNameCell,
    rest::ComputedCell(ServedBy, "spec.service"),
    rest::ComputedCell(ServiceAvailable, "status.conditions"),
    rest::kAgeCell,
};

using api::certificates_v1::CertificateSigningRequest;

void RequestedDuration(const Value& object, Row& row) {
  const auto seconds = CertificateSigningRequest(object).spec().expirationSeconds();
  row.Text(seconds ? rest::HumanDuration(std::chrono::seconds(*seconds)) : std::string(kNone));
}

void RequestCondition(const Value& object, Row& row) {
  const auto status = CertificateSigningRequest(object).status();
  auto has = [&](std::string_view type) {
    for (const auto& condition : status.conditions()) {
      if (condition.type() == type) return true;
    }
    return false;
  };
  std::string text = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  if (has("Failed")) text += ",Failed";
  if (!status.certificate().empty()) text += ",Issued";
  row.Text(text);
}

constexpr rest::Cell kRequestCells[] = {
    rest::kNameCell,
    rest::kAgeCell,
    rest::TextCell("spec.signerName", kNone),
    rest::TextCell("spec.username"),
    rest::ComputedCell(RequestedDuration, "spec.expirationSeconds"),
    rest::ComputedCell(RequestCondition, "status.conditions.type status.certificate"),
};

constexpr rest::Cell kPriorityClassCells[] = {
    rest::kNameCell,
    rest::IntCell("value"),
    rest::BoolCell("globalDefault"),
    rest::kAgeCell,
    rest::TextCell("preemptionPolicy"),
};

void MissingLevel(const Value& object, Row& row) {
  for (const auto& condition : api::flowcontrol_v1::FlowSchema(object).status().conditions()) {
    if (condition.type() == "Dangling") return row.Text(condition.status());
  }
  row.Text("?");
}

constexpr rest::Cell kFlowSchemaCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.priorityLevelConfiguration.name"),
    rest::IntCell("spec.matchingPrecedence"),
    rest::TextCell("spec.distinguisherMethod.type", kNone),
    rest::kAgeCell,
    rest::ComputedCell(MissingLevel, "status.conditions.type status.conditions.status"),
};

// Four cells: shares, queues, hand size, queue length.
void LevelLimits(const Value& object, Row& row) {
  const auto limited = api::flowcontrol_v1::PriorityLevelConfiguration(object).spec().limited();
  const auto queuing = limited.limitResponse().queuing();
  auto number = [&](bool known, int64_t amount) { known ? row.Int(amount) : row.Text(kNone); };
  number(static_cast<bool>(limited), limited.nominalConcurrencyShares().value_or(0));
  number(static_cast<bool>(queuing), queuing.queues());
  number(static_cast<bool>(queuing), queuing.handSize());
  number(static_cast<bool>(queuing), queuing.queueLengthLimit());
}

constexpr rest::Cell kPriorityLevelCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.type"),
    rest::ComputedCell(LevelLimits, "spec.limited"),
    rest::kAgeCell,
};

constexpr rest::TablePrinter kPrinters[] = {
    {"apiregistration.k8s.io", "apiservices", kApiServiceCells},
    {"certificates.k8s.io", "certificatesigningrequests", kRequestCells},
    {"scheduling.k8s.io", "priorityclasses", kPriorityClassCells},
    {"flowcontrol.apiserver.k8s.io", "flowschemas", kFlowSchemaCells, "spec.matchingPrecedence"},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", kPriorityLevelCells},
};

}  // namespace

std::span<const rest::TablePrinter> ClusterPrinters() { return kPrinters; }

}  // namespace keelson::kube::print
