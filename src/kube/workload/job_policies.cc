// When a job fails and when it succeeds before all its pods have.

#include "kube/workload/job_policies.h"

#include <fmt/format.h>

#include <algorithm>

#include "rest/field_checks.h"
#include "rest/seen_texts.h"
#include "schema/internal_form.h"

namespace keelson::kube::workload {
namespace {

using api::batch_v1::JobSpec;
using api::batch_v1::PodFailurePolicyOnExitCodesRequirement;
using api::batch_v1::PodFailurePolicyRule;
using api::batch_v1::SuccessPolicyRule;
using rest::SeenTexts;
using schema::BadValue;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr int64_t kMaxRules = 20;
constexpr int64_t kMaxExitCodes = 255;
constexpr int64_t kMaxConditions = 20;
constexpr size_t kMaxSucceededIndexes = 64 * 1024;

constexpr std::string_view kActions[] = {"Count", "FailIndex", "FailJob", "Ignore"};
constexpr std::string_view kOperators[] = {"In", "NotIn"};
constexpr std::string_view kStatuses[] = {"False", "True", "Unknown"};

void CheckExitCodes(const PodFailurePolicyOnExitCodesRequirement& codes, const SeenTexts& names,
                    const Path& path, FieldErrors& errors) {
  if (codes.operator_().empty()) {
    errors.push_back(Required(path.Child("operator"), "valid values: [\"In\" \"NotIn\"]"));
  } else {
    rest::CheckSupported(codes.operator_(), kOperators, path.Child("operator"), errors);
  }
  if (codes.containerName() && !names.Contains(*codes.containerName())) {
    errors.push_back(
        Invalid(path.Child("containerName"), *codes.containerName(),
                "must be one of the container or initContainer names in the pod template"));
  }
  const auto values = codes.values();
  const Path at = path.Child("values");
  if (values.empty()) {
    errors.push_back(Invalid(at, BadValue::Json("null"), "at least one value is required"));
  } else if (std::ssize(values.value().items()) > kMaxExitCodes) {
    errors.push_back(schema::TooMany(at, std::ssize(values.value().items()), kMaxExitCodes));
    return;
  }
  bool ordered = true;
  for (size_t i = 0; i < values.size(); ++i) {
    if (codes.operator_() == "In" && values[i] == 0) {
      errors.push_back(Invalid(at.Index(i), 0, "must not be 0 for the In operator"));
    }
    const auto earlier = values.value().items().first(i);
    if (std::ranges::find(earlier, Value::Int(values[i])) != earlier.end()) {
      errors.push_back(schema::Duplicate(at.Index(i), values[i]));
    }
    ordered = ordered && (i == 0 || values[i - 1] <= values[i]);
  }
  if (!ordered) errors.push_back(Invalid(at, values.value(), "must be ordered"));
}

void CheckConditions(const PodFailurePolicyRule& rule, const Path& path, FieldErrors& errors) {
  const auto patterns = rule.onPodConditions();
  if (static_cast<int64_t>(patterns.size()) > kMaxConditions) {
    errors.push_back(schema::TooMany(path, static_cast<int64_t>(patterns.size()), kMaxConditions));
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    const Path at = path.Index(i);
    rest::CheckText(patterns[i].type(), names::CheckQualifiedName, at.Child("type"), errors);
    if (patterns[i].status().empty()) {
      errors.push_back(
          Required(at.Child("status"), "valid values: [\"False\" \"True\" \"Unknown\"]"));
    } else {
      rest::CheckSupported(patterns[i].status(), kStatuses, at.Child("status"), errors);
    }
  }
}

void CheckFailureRule(const JobSpec& spec, const PodFailurePolicyRule& rule, const SeenTexts& names,
                      const Path& path, FieldErrors& errors) {
  const Path action = path.Child("action");
  if (rule.action().empty()) {
    errors.push_back(
        Required(action, "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]"));
  } else if (rule.action() == "FailIndex") {
    if (!spec.backoffLimitPerIndex()) {
      errors.push_back(
          Invalid(action, rule.action(), "requires the backoffLimitPerIndex to be set"));
    }
  } else {
    rest::CheckSupported(rule.action(), kActions, action, errors);
  }
  const bool by_code = static_cast<bool>(rule.onExitCodes());
  const bool by_condition = !rule.onPodConditions().empty();
  if (by_code) CheckExitCodes(rule.onExitCodes(), names, path.Child("onExitCodes"), errors);
  if (by_condition) CheckConditions(rule, path.Child("onPodConditions"), errors);
  if (by_code && by_condition) {
    errors.push_back(Invalid(path, BadValue::Omitted(),
                             "specifying both OnExitCodes and OnPodConditions is not supported"));
  } else if (!by_code && !by_condition) {
    errors.push_back(Invalid(path, BadValue::Omitted(),
                             "specifying one of OnExitCodes and OnPodConditions is required"));
  }
}

void CheckSucceededCount(const JobSpec& spec, const SuccessPolicyRule& rule, int32_t indexes,
                         const Path& path, FieldErrors& errors) {
  const int32_t count = *rule.succeededCount();
  const int32_t completions = spec.completions().value_or(0);
  rest::CheckNonnegative(count, path, errors);
  if (count > completions) {
    errors.push_back(Invalid(
        path, count,
        fmt::format("must be less than or equal to {} (the number of specified completions)",
                    completions)));
  }
  if (rule.succeededIndexes() && count > indexes) {
    errors.push_back(Invalid(path, count,
                             fmt::format("must be less than or equal to {} (the number of indexes "
                                         "in the specified succeededIndexes field)",
                                         indexes)));
  }
}

void CheckSuccessRule(const JobSpec& spec, const SuccessPolicyRule& rule, const Path& path,
                      FieldErrors& errors) {
  if (!rule.succeededCount() && !rule.succeededIndexes()) {
    errors.push_back(
        Required(path, "at least one of succeededCount or succeededIndexes must be specified"));
  }
  int32_t indexes = 0;
  if (auto list = rule.succeededIndexes()) {
    const Path at = path.Child("succeededIndexes");
    if (list->size() > kMaxSucceededIndexes) {
      errors.push_back(schema::TooLong(at, kMaxSucceededIndexes));
    }
    if (auto counted = CountIndexes(*list, spec.completions().value_or(0))) {
      indexes = *counted;
    } else {
      errors.push_back(
          Invalid(at, *list, "error parsing succeededIndexes: " + counted.error().message));
    }
  }
  if (rule.succeededCount()) {
    CheckSucceededCount(spec, rule, indexes, path.Child("succeededCount"), errors);
  }
}

}  // namespace

void CheckPodFailurePolicy(const JobSpec& spec, const Path& path, FieldErrors& errors) {
  const auto rules = spec.podFailurePolicy().rules();
  const Path at = path.Child("rules");
  if (static_cast<int64_t>(rules.size()) > kMaxRules) {
    errors.push_back(schema::TooMany(at, static_cast<int64_t>(rules.size()), kMaxRules));
  }
  SeenTexts names;
  for (auto container : spec.template_().spec().containers()) names.Insert(container.name());
  for (auto container : spec.template_().spec().initContainers()) names.Insert(container.name());
  for (size_t i = 0; i < rules.size(); ++i) {
    CheckFailureRule(spec, rules[i], names, at.Index(i), errors);
  }
}

void CheckSuccessPolicy(const JobSpec& spec, const Path& path, FieldErrors& errors) {
  const auto policy = spec.successPolicy();
  if (spec.completionMode().value_or("NonIndexed") != "Indexed") {
    errors.push_back(Invalid(
        path, schema::InternalBadValue(api::batch_v1::SuccessPolicy::Schema(), policy.value()),
        "requires indexed completion mode"));
    return;
  }
  const auto rules = policy.rules();
  const Path at = path.Child("rules");
  if (rules.empty()) {
    errors.push_back(
        Required(at, "at least one rules must be specified when the successPolicy is specified"));
  }
  if (static_cast<int64_t>(rules.size()) > kMaxRules) {
    errors.push_back(schema::TooMany(at, static_cast<int64_t>(rules.size()), kMaxRules));
  }
  for (size_t i = 0; i < rules.size(); ++i) CheckSuccessRule(spec, rules[i], at.Index(i), errors);
}

}  // namespace keelson::kube::workload
