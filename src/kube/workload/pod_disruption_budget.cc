// PodDisruptionBudget: how many pods of a group may be missing at a time.

#include "api/policy_v1.h"
#include "kube/workload/kinds.h"
#include "rest/field_checks.h"
#include "schema/internal_form.h"

namespace keelson::kube::workload {
namespace {

using api::policy_v1::PodDisruptionBudget;
using api::policy_v1::PodDisruptionBudgetSpec;
using rest::WriteScope;
using schema::FieldErrors;
using value::Path;
using value::Value;

void CheckSpec(const PodDisruptionBudgetSpec& spec, rest::SelectorLeniency leniency,
               FieldErrors& errors) {
  static constexpr std::string_view kPolicies[] = {"AlwaysAllow", "IfHealthyBudget"};
  const Path path("spec");
  const Value available = spec.minAvailable();
  const Value unavailable = spec.maxUnavailable();
  if (!available.is_null() && !unavailable.is_null()) {
    errors.push_back(schema::Invalid(
        path, schema::InternalBadValue(PodDisruptionBudgetSpec::Schema(), spec.value()),
        "minAvailable and maxUnavailable cannot be both set"));
  }
  for (auto [amount, field] :
       {std::pair{&available, "minAvailable"}, std::pair{&unavailable, "maxUnavailable"}}) {
    if (amount->is_null()) continue;
    rest::CheckCountOrPercent(*amount, path.Child(field), errors);
    rest::CheckAtMostAllPercent(*amount, path.Child(field), errors);
  }
  rest::CheckLabelSelector(spec.selector().value(), path.Child("selector"), errors, leniency);
  if (auto policy = spec.unhealthyPodEvictionPolicy()) {
    rest::CheckSupported(*policy, kPolicies, path.Child("unhealthyPodEvictionPolicy"), errors);
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckSpec(PodDisruptionBudget(object).spec(), {}, errors);
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  const Value before = PodDisruptionBudget(old).spec().selector().value();
  CheckSpec(PodDisruptionBudget(object).spec(), {.bad_values = !rest::IsUsableSelector(before)},
            errors);
}

void ValidateStatus(const WriteScope&, const Value& object, const Value&, FieldErrors& errors) {
  const auto status = PodDisruptionBudget(object).status();
  const Path path("status");
  rest::CheckConditions(status.conditions().value(), path.Child("conditions"), errors);
  rest::CheckNonnegative(status.disruptionsAllowed(), path.Child("disruptionsAllowed"), errors);
  rest::CheckNonnegative(status.currentHealthy(), path.Child("currentHealthy"), errors);
  rest::CheckNonnegative(status.desiredHealthy(), path.Child("desiredHealthy"), errors);
  rest::CheckNonnegative(status.expectedPods(), path.Child("expectedPods"), errors);
}

}  // namespace

const rest::RuleStrategy kPodDisruptionBudget({.name_check = names::NameIsPathSegment,
                                               .unconditional_update = false,
                                               .counts_generation = true,
                                               .validate = Validate,
                                               .validate_update = ValidateUpdate,
                                               .validate_status = ValidateStatus});

}  // namespace keelson::kube::workload
