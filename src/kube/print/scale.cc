// What changes the number of pods: autoscalers and disruption budgets.

#include <fmt/format.h>

#include "api/autoscaling_v2.h"
#include "api/policy_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using api::autoscaling_v2::HorizontalPodAutoscaler;
using api::autoscaling_v2::MetricSpec;
using api::autoscaling_v2::MetricStatus;
using api::autoscaling_v2::MetricTarget;
using api::autoscaling_v2::MetricValueStatus;
using rest::Row;
using value::Value;

void ScaleTarget(const Value& object, Row& row) {
  const auto target = HorizontalPodAutoscaler(object).spec().scaleTargetRef();
  row.Text(fmt::format("{}/{}", target.kind(), target.name()));
}

// A quantity that is not there counts as zero where upstream does not ask.
std::string_view Amount(std::optional<std::string_view> quantity) { return quantity.value_or("0"); }

std::string Percent(std::optional<int32_t> utilization, std::string_view absent) {
  return utilization ? fmt::format("{}%", *utilization) : std::string(absent);
}

// "current/target", as an average or as a plain value. External and object metrics have both.
std::string AverageOrValue(const MetricTarget& target, bool known, const MetricValueStatus& now) {
  if (target.averageValue()) {
    return fmt::format("{}/{} (avg)", known ? now.averageValue().value_or(kUnknown) : kUnknown,
                       *target.averageValue());
  }
  return fmt::format("{}/{}", known ? Amount(now.value_()) : kUnknown, Amount(target.value_()));
}

// "cpu: current/target", as an amount or as a share of what was requested.
std::string OfResource(std::string_view resource, const MetricTarget& target, bool known,
                       const MetricValueStatus& now) {
  if (target.averageValue()) {
    return fmt::format("{}: {}/{}", resource, known ? Amount(now.averageValue()) : kUnknown,
                       *target.averageValue());
  }
  return fmt::format("{}: {}/{}", resource,
                     Percent(known ? now.averageUtilization() : std::nullopt, kUnknown),
                     Percent(target.averageUtilization(), "<auto>"));
}

std::string MetricText(const MetricSpec& spec, const MetricStatus& status) {
  const auto type = spec.type();
  if (type == "External") {
    return AverageOrValue(spec.external().target(), static_cast<bool>(status.external()),
                          status.external().current());
  }
  if (type == "Object") {
    return AverageOrValue(spec.object().target(), static_cast<bool>(status.object()),
                          status.object().current());
  }
  if (type == "Pods") {
    return fmt::format("{}/{}",
                       status.pods() ? Amount(status.pods().current().averageValue()) : kUnknown,
                       Amount(spec.pods().target().averageValue()));
  }
  if (type == "Resource") {
    return OfResource(spec.resource().name(), spec.resource().target(),
                      static_cast<bool>(status.resource()), status.resource().current());
  }
  if (type == "ContainerResource") {
    return OfResource(spec.containerResource().name(), spec.containerResource().target(),
                      static_cast<bool>(status.containerResource()),
                      status.containerResource().current());
  }
  return "<unknown type>";
}

void ScaleMetrics(const Value& object, Row& row) {
  constexpr size_t kMost = 2;
  const HorizontalPodAutoscaler scaler(object);
  const auto specs = scaler.spec().metrics();
  const auto statuses = scaler.status().currentMetrics();
  if (specs.empty()) return row.Text(kNone);
  std::vector<std::string> texts;
  for (size_t i = 0; i < specs.size(); ++i) {
    texts.push_back(MetricText(specs[i], i < statuses.size() ? statuses[i] : MetricStatus()));
  }
  row.Text(FirstFew(texts, kMost, ", "));
}

void MinPods(const Value& object, Row& row) {
  const auto least = HorizontalPodAutoscaler(object).spec().minReplicas();
  row.Text(least ? std::to_string(*least) : std::string(kUnset));
}

constexpr rest::Cell kAutoscalerCells[] = {
    rest::kNameCell,
    rest::ComputedCell(ScaleTarget, "spec.scaleTargetRef"),
    rest::ComputedCell(ScaleMetrics, "spec.metrics status.currentMetrics"),
    rest::ComputedCell(MinPods, "spec.minReplicas"),
    rest::IntCell("spec.maxReplicas"),
    rest::IntCell("status.currentReplicas"),
    rest::kAgeCell,
};

// A count or a percentage.
void CountOrShare(const Value& amount, Row& row) {
  if (amount.is_null()) return row.Text("N/A");
  row.Text(amount.is_int() ? std::to_string(amount.AsInt()) : std::string(amount.AsString()));
}

void MinAvailable(const Value& object, Row& row) {
  CountOrShare(object["spec"]["minAvailable"], row);
}

void MaxUnavailable(const Value& object, Row& row) {
  CountOrShare(object["spec"]["maxUnavailable"], row);
}

constexpr rest::Cell kBudgetCells[] = {
    rest::kNameCell,
    rest::ComputedCell(MinAvailable, "spec.minAvailable"),
    rest::ComputedCell(MaxUnavailable, "spec.maxUnavailable"),
    rest::IntCell("status.disruptionsAllowed"),
    rest::kAgeCell,
};

constexpr rest::TablePrinter kPrinters[] = {
    {"autoscaling", "horizontalpodautoscalers", kAutoscalerCells},
    {"policy", "poddisruptionbudgets", kBudgetCells},
};

}  // namespace

std::span<const rest::TablePrinter> ScalePrinters() { return kPrinters; }

}  // namespace keelson::kube::print
