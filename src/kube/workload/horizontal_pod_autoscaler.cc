// HorizontalPodAutoscaler, as autoscaling/v2 has it; v1 is converted before it comes here.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/autoscaling_v2.h"
#include "base/names.h"
#include "base/quote.h"
#include "kube/pod/resources.h"
#include "kube/workload/kinds.h"
#include "rest/field_checks.h"
#include "value/quantity.h"

namespace keelson::kube::workload {
namespace {

using api::autoscaling_v2::CrossVersionObjectReference;
using api::autoscaling_v2::HorizontalPodAutoscaler;
using api::autoscaling_v2::HorizontalPodAutoscalerSpec;
using api::autoscaling_v2::HPAScalingPolicy;
using api::autoscaling_v2::HPAScalingRules;
using api::autoscaling_v2::MetricIdentifier;
using api::autoscaling_v2::MetricSpec;
using api::autoscaling_v2::MetricTarget;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr int32_t kMaxPeriodSeconds = 1800;
constexpr int32_t kMaxStabilizationSeconds = 3600;

// What an old object may keep although a new one may not have it.
struct Leniency {
  int32_t min_replicas = 1;
  bool any_target_version = false;
  bool core_target = false;
  bool any_object_version = false;
};

// "group/version"; nothing is wrong with no text at all. The group is what stands before the slash.
std::string VersionComplaint(std::string_view version, bool core_allowed) {
  const auto slash = version.find('/');
  const auto slashes = std::ranges::count(version, '/');
  if (slashes > 1) return "unexpected GroupVersion string: " + std::string(version);
  const bool has_group = slashes == 1 && slash > 0;
  if (!has_group && !core_allowed) return "apiVersion must specify API group";
  return "";
}

void CheckReference(const CrossVersionObjectReference& reference, bool any_version,
                    bool core_allowed, const Path& path, FieldErrors& errors) {
  const auto check = [&](std::string_view field, std::string_view text) {
    if (text.empty()) {
      errors.push_back(Required(path.Child(field), ""));
    } else {
      rest::CheckText(text, names::CheckPathSegment, path.Child(field), errors);
    }
  };
  check("kind", reference.kind());
  check("name", reference.name());
  if (any_version) return;
  auto complaint = VersionComplaint(reference.apiVersion(), core_allowed);
  if (!complaint.empty()) {
    errors.push_back(
        Invalid(path.Child("apiVersion"), reference.apiVersion(), std::move(complaint)));
  }
}

void CheckPositiveAmount(const Value& amount, const Path& path, FieldErrors& errors) {
  if (amount.is_null()) return;
  auto quantity = value::Quantity::Parse(amount.AsString());
  if (quantity && quantity->Sign() <= 0)
    errors.push_back(Invalid(path, amount, "must be positive"));
}

void CheckTarget(const MetricTarget& target, const Path& path, FieldErrors& errors) {
  const auto type = target.type();
  if (type.empty()) {
    errors.push_back(Required(path.Child("type"), "must specify a metric target type"));
  }
  if (type != "Utilization" && type != "Value" && type != "AverageValue") {
    errors.push_back(
        Invalid(path.Child("type"), type, "must be either Utilization, Value, or AverageValue"));
  }
  using Names = MetricTarget::Names;
  CheckPositiveAmount(target.value()[Names::value_], path.Child("value"), errors);
  CheckPositiveAmount(target.value()[Names::averageValue], path.Child("averageValue"), errors);
  if (auto utilization = target.averageUtilization(); utilization && *utilization < 1) {
    errors.push_back(
        Invalid(path.Child("averageUtilization"), *utilization, "must be greater than 0"));
  }
}

void CheckIdentifier(const MetricIdentifier& metric, const Path& path, FieldErrors& errors) {
  if (metric.name().empty()) {
    errors.push_back(Required(path.Child("name"), "must specify a metric name"));
  } else {
    rest::CheckText(metric.name(), names::CheckPathSegment, path.Child("name"), errors);
  }
}

bool Has(const MetricTarget& target, const value::Name& field) {
  return !target.value()[field].is_null();
}

void CheckUtilizationTarget(const MetricTarget& target, const Path& path, FieldErrors& errors) {
  CheckTarget(target, path, errors);
  const bool average = Has(target, MetricTarget::Names::averageValue);
  const bool utilization = Has(target, MetricTarget::Names::averageUtilization);
  if (!average && !utilization) {
    errors.push_back(Required(path.Child("averageUtilization"),
                              "must set either a target raw value or a target utilization"));
  }
  if (average && utilization) {
    errors.push_back(Forbidden(path.Child("averageValue"),
                               "may not set both a target raw value and a target utilization"));
  }
}

using SourceCheck = void (*)(const MetricSpec& metric, const Leniency& leniency, const Path& path,
                             FieldErrors& errors);

void CheckObject(const MetricSpec& metric, const Leniency& leniency, const Path& path,
                 FieldErrors& errors) {
  const auto source = metric.object();
  CheckReference(source.describedObject(), leniency.any_object_version, /*core_allowed=*/true,
                 path.Child("describedObject"), errors);
  CheckIdentifier(source.metric(), path.Child("metric"), errors);
  const Path target = path.Child("target");
  CheckTarget(source.target(), target, errors);
  if (!Has(source.target(), MetricTarget::Names::value_) &&
      !Has(source.target(), MetricTarget::Names::averageValue)) {
    errors.push_back(
        Required(target.Child("averageValue"), "must set either a target value or averageValue"));
  }
}

void CheckExternal(const MetricSpec& metric, const Leniency&, const Path& path,
                   FieldErrors& errors) {
  const auto source = metric.external();
  CheckIdentifier(source.metric(), path.Child("metric"), errors);
  const Path target = path.Child("target");
  CheckTarget(source.target(), target, errors);
  const bool total = Has(source.target(), MetricTarget::Names::value_);
  const bool average = Has(source.target(), MetricTarget::Names::averageValue);
  if (!total && !average) {
    errors.push_back(Required(target.Child("averageValue"),
                              "must set either a target value for metric or a per-pod target"));
  }
  if (total && average) {
    errors.push_back(Forbidden(target.Child("value"),
                               "may not set both a target value for metric and a per-pod target"));
  }
}

void CheckPods(const MetricSpec& metric, const Leniency&, const Path& path, FieldErrors& errors) {
  const auto source = metric.pods();
  CheckIdentifier(source.metric(), path.Child("metric"), errors);
  CheckTarget(source.target(), path.Child("target"), errors);
  if (!Has(source.target(), MetricTarget::Names::averageValue)) {
    errors.push_back(Required(path.Child("target").Child("averageValue"),
                              "must specify a positive target averageValue"));
  }
}

void CheckResource(const MetricSpec& metric, const Leniency&, const Path& path,
                   FieldErrors& errors) {
  const auto source = metric.resource();
  if (source.name().empty()) {
    errors.push_back(Required(path.Child("name"), "must specify a resource name"));
  }
  CheckUtilizationTarget(source.target(), path.Child("target"), errors);
}

void CheckContainerResource(const MetricSpec& metric, const Leniency&, const Path& path,
                            FieldErrors& errors) {
  const auto source = metric.containerResource();
  if (source.name().empty()) {
    errors.push_back(Required(path.Child("name"), "must specify a resource name"));
  } else {
    rest::CheckText(source.name(), names::CheckQualifiedName, path.Child("name"), errors);
    if (!source.name().contains('/') && !pod::IsStandardContainerResource(source.name())) {
      errors.push_back(
          Invalid(path.Child("name"), source.name(), "must be a standard resource for containers"));
    }
  }
  if (source.container().empty()) {
    errors.push_back(Required(path.Child("container"), "must specify a container"));
  } else {
    rest::CheckText(source.container(), names::CheckDns1123Label, path.Child("container"), errors);
  }
  CheckUtilizationTarget(source.target(), path.Child("target"), errors);
}

// The sources of a metric in the order they are looked at.
struct Source {
  std::string_view type;
  std::string_view field;
  SourceCheck check;
};
constexpr Source kSources[] = {{"Object", "object", CheckObject},
                               {"External", "external", CheckExternal},
                               {"Pods", "pods", CheckPods},
                               {"Resource", "resource", CheckResource},
                               {"ContainerResource", "containerResource", CheckContainerResource}};
constexpr std::string_view kSourceTypes[] = {"ContainerResource", "External", "Object", "Pods",
                                             "Resource"};

void CheckMetric(const MetricSpec& metric, const Leniency& leniency, const Path& path,
                 FieldErrors& errors) {
  if (metric.type().empty()) {
    errors.push_back(Required(path.Child("type"), "must specify a metric source type"));
  }
  rest::CheckSupported(metric.type(), kSourceTypes, path.Child("type"), errors);
  const Value value = metric.value();
  size_t present = 0;
  for (const Source& source : kSources) {
    if (!value[source.field].is_object()) continue;
    if (present++ == 0) source.check(metric, leniency, path.Child(source.field), errors);
  }
  const auto* named = std::ranges::find(kSources, metric.type(), &Source::type);
  if (named == std::end(kSources)) {
    // Upstream complains about the type twice.
    errors.push_back(schema::NotSupported(path.Child("type"), metric.type(), kSourceTypes));
  } else if (!value[named->field].is_object()) {
    errors.push_back(Required(path.Child(named->field),
                              "must populate information for the given metric source"));
  }
  if (present == 1) return;
  for (const Source& source : kSources) {
    if (!value[source.field].is_object() || source.type == metric.type()) continue;
    errors.push_back(
        Forbidden(path.Child(source.field), "must populate the given metric source only"));
  }
}

void CheckPolicy(const HPAScalingPolicy& policy, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"Percent", "Pods"};
  rest::CheckSupported(policy.type(), kTypes, path.Child("type"), errors);
  const int32_t amount =
      static_cast<const schema::View&>(policy).value()[HPAScalingPolicy::Names::value_].AsInt();
  if (amount <= 0) {
    errors.push_back(Invalid(path.Child("value"), amount, "must be greater than zero"));
  }
  const int32_t period = policy.periodSeconds();
  if (period <= 0) {
    errors.push_back(Invalid(path.Child("periodSeconds"), period, "must be greater than zero"));
  }
  if (period > kMaxPeriodSeconds) {
    errors.push_back(Invalid(path.Child("periodSeconds"), period,
                             fmt::format("must be less than or equal to {}", kMaxPeriodSeconds)));
  }
}

void CheckRules(const HPAScalingRules& rules, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kSelect[] = {"Disabled", "Max", "Min"};
  if (!rules) return;
  if (auto window = rules.stabilizationWindowSeconds()) {
    const Path at = path.Child("stabilizationWindowSeconds");
    if (*window < 0) {
      errors.push_back(Invalid(at, *window, "must be greater than or equal to zero"));
    }
    if (*window > kMaxStabilizationSeconds) {
      errors.push_back(Invalid(
          at, *window, fmt::format("must be less than or equal to {}", kMaxStabilizationSeconds)));
    }
  }
  if (auto select = rules.selectPolicy()) {
    rest::CheckSupported(*select, kSelect, path.Child("selectPolicy"), errors);
  }
  const auto policies = rules.policies();
  if (policies.empty()) {
    errors.push_back(Required(path.Child("policies"), "must specify at least one Policy"));
  }
  for (size_t i = 0; i < policies.size(); ++i) {
    CheckPolicy(policies[i], path.Child("policies").Index(i), errors);
  }
  const Value tolerance = rules.value()[HPAScalingRules::Names::tolerance];
  if (auto quantity = value::Quantity::Parse(tolerance.AsString());
      !tolerance.is_null() && quantity && quantity->Sign() < 0) {
    errors.push_back(
        Invalid(path.Child("tolerance"), tolerance, "must be greater than or equal to 0"));
  }
}

void CheckMetrics(const HorizontalPodAutoscalerSpec& spec, const Leniency& leniency,
                  const Path& path, FieldErrors& errors) {
  bool scales_from_zero = false;
  const auto metrics = spec.metrics();
  for (size_t i = 0; i < metrics.size(); ++i) {
    CheckMetric(metrics[i], leniency, path.Index(i), errors);
    scales_from_zero |= metrics[i].type() == "Object" || metrics[i].type() == "External";
  }
  if (spec.minReplicas() == 0 && !scales_from_zero) {
    errors.push_back(Forbidden(
        path,
        "must specify at least one Object or External metric to support scaling to zero replicas"));
  }
}

void CheckSpec(const HorizontalPodAutoscalerSpec& spec, const Leniency& leniency,
               FieldErrors& errors) {
  const Path path("spec");
  const auto min = spec.minReplicas();
  const int32_t max = spec.maxReplicas();
  if (min && *min < leniency.min_replicas) {
    errors.push_back(
        Invalid(path.Child("minReplicas"), *min,
                fmt::format("must be greater than or equal to {}", leniency.min_replicas)));
  }
  const Path at_max = path.Child("maxReplicas");
  if (max == 0) {
    errors.push_back(Required(at_max, "must be set and greater than 0"));
  } else if (max < 0) {
    errors.push_back(Invalid(at_max, max, "must be greater than or equal to 1"));
  }
  if (min && max < *min) {
    errors.push_back(Invalid(at_max, max, "must be greater than or equal to `minReplicas`"));
  }
  CheckReference(spec.scaleTargetRef(), leniency.any_target_version, leniency.core_target,
                 path.Child("scaleTargetRef"), errors);
  CheckMetrics(spec, leniency, path.Child("metrics"), errors);
  const Path behavior = path.Child("behavior");
  CheckRules(spec.behavior().scaleUp(), behavior.Child("scaleUp"), errors);
  CheckRules(spec.behavior().scaleDown(), behavior.Child("scaleDown"), errors);
}

Leniency LeniencyFor(const HorizontalPodAutoscalerSpec& spec) {
  return {.core_target = spec.scaleTargetRef().kind() == "ReplicationController"};
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const auto spec = HorizontalPodAutoscaler(object).spec();
  CheckSpec(spec, LeniencyFor(spec), errors);
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& old_object,
                    FieldErrors& errors) {
  const auto spec = HorizontalPodAutoscaler(object).spec();
  const auto old = HorizontalPodAutoscaler(old_object).spec();
  Leniency leniency = LeniencyFor(spec);
  if (old.minReplicas() == 0) leniency.min_replicas = 0;
  leniency.any_target_version =
      old.scaleTargetRef().apiVersion() == spec.scaleTargetRef().apiVersion() &&
      old.scaleTargetRef().kind() == spec.scaleTargetRef().kind();
  for (auto metric : old.metrics()) {
    leniency.any_object_version |=
        metric.type() == "Object" && metric.object() &&
        !VersionComplaint(metric.object().describedObject().apiVersion(), true).empty();
  }
  CheckSpec(spec, leniency, errors);
}

void ValidateStatus(const WriteScope&, const Value& object, const Value&, FieldErrors& errors) {
  const auto status = HorizontalPodAutoscaler(object).status();
  const Path path("status");
  rest::CheckNonnegative(status.currentReplicas(), path.Child("currentReplicas"), errors);
  rest::CheckNonnegative(status.desiredReplicas(), path.Child("desiredReplicas"), errors);
}

}  // namespace

const rest::RuleStrategy kHorizontalPodAutoscaler({.validate = Validate,
                                                   .validate_update = ValidateUpdate,
                                                   .validate_status = ValidateStatus});

}  // namespace keelson::kube::workload
