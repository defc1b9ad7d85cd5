#include "kube/workload/daemon_set.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "kube/pod/validate_template.h"
#include "kube/workload/kinds.h"
#include "kube/workload/pod_template.h"
#include "kube/workload/replica_status.h"
#include "rest/field_checks.h"
#include "schema/internal_form.h"

namespace keelson::kube::workload {

using value::Value;

Value WithTemplateGeneration(const Value& annotations, int64_t generation, value::Arena& arena) {
  const auto members = annotations.members();
  const auto number = Value::String(arena.CopyString(std::to_string(generation)), /*plain=*/true);
  const auto at = std::ranges::lower_bound(members, kTemplateGeneration, {}, &value::Member::key);
  const size_t position = static_cast<size_t>(at - members.begin());
  const bool present = at != members.end() && at->key() == kTemplateGeneration;
  const size_t size = members.size() + (present ? 0 : 1);
  auto* changed = arena.AllocateArray<value::Member>(size);
  std::copy(members.begin(), at, changed);
  std::copy(at + (present ? 1 : 0), members.end(), changed + position + 1);
  const auto* name = present ? at->name : value::InternName(arena, kTemplateGeneration);
  changed[position] = value::Member(name, number);
  return Value::Object({changed, size});
}

namespace {

using api::apps_v1::DaemonSet;
using api::apps_v1::DaemonSetSpec;
using api::apps_v1::DaemonSetUpdateStrategy;
using api::apps_v1::RollingUpdateDaemonSet;
using api::core_v1::PodTemplateSpec;
using api::meta_v1::LabelSelector;
using rest::CheckNonnegative;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using value::Path;
using value::Ref;

int64_t TemplateGenerationOf(const Value& set) {
  const auto text = set["metadata"]["annotations"][kTemplateGeneration].AsString();
  int64_t generation = 0;
  std::from_chars(text.data(), text.data() + text.size(), generation);
  return generation;
}

void SetTemplateGeneration(Ref object, int64_t generation) {
  Ref annotations = object.Field("metadata").Field("annotations");
  annotations.Set(WithTemplateGeneration(annotations.Get(), generation, object.builder().arena()));
}

void PrepareForCreate(const WriteScope&, Ref object) {
  if (TemplateGenerationOf(object.Get()) < 1) SetTemplateGeneration(object, 1);
}

void PrepareForUpdate(const WriteScope&, Ref object, const Value& old) {
  const bool changed = !schema::EqualByMeaning(PodTemplateSpec::Schema(),
                                               DaemonSet(object.Get()).spec().template_().value(),
                                               DaemonSet(old).spec().template_().value());
  SetTemplateGeneration(object, TemplateGenerationOf(old) + (changed ? 1 : 0));
}

void CheckRollingUpdate(const RollingUpdateDaemonSet& update, const Path& path,
                        FieldErrors& errors) {
  const Value unavailable = update.maxUnavailable();
  const Value surge = update.maxSurge();
  rest::CheckCountOrPercent(unavailable, path.Child("maxUnavailable"), errors);
  rest::CheckCountOrPercent(surge, path.Child("maxSurge"), errors);
  rest::CheckAtMostAllPercent(unavailable, path.Child("maxUnavailable"), errors);
  rest::CheckAtMostAllPercent(surge, path.Child("maxSurge"), errors);
  const bool misses = rest::CountOrPercent(unavailable) != 0;
  const bool surges = rest::CountOrPercent(surge) != 0;
  if (misses && surges) {
    errors.push_back(
        Invalid(path.Child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero"));
  } else if (!misses && !surges) {
    errors.push_back(
        schema::Required(path.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"));
  }
}

void CheckUpdateStrategy(const DaemonSetUpdateStrategy& strategy, const Path& path,
                         FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"RollingUpdate", "OnDelete"};
  if (strategy.type() == "OnDelete") return;
  if (strategy.type() != "RollingUpdate") {
    errors.push_back(schema::NotSupported(
        path, schema::InternalBadValue(DaemonSetUpdateStrategy::Schema(), strategy.value()),
        kTypes));
  } else if (!strategy.rollingUpdate()) {
    errors.push_back(schema::Required(path.Child("rollingUpdate"), ""));
  } else {
    CheckRollingUpdate(strategy.rollingUpdate(), path.Child("rollingUpdate"), errors);
  }
}

void CheckSpec(const WriteScope& scope, const DaemonSetSpec& spec, rest::SelectorLeniency leniency,
               FieldErrors& errors) {
  const Path path("spec");
  const Value selector = spec.selector().value();
  rest::CheckLabelSelector(selector, path.Child("selector"), errors, leniency);
  const Path at_template = path.Child("template");
  if (rest::IsUsableSelector(selector)) {
    CheckSelected(spec.selector(), spec.template_(), at_template, errors);
  }
  if (rest::IsEmptySelector(selector)) {
    errors.push_back(
        Invalid(path.Child("selector"), selector, "empty selector is invalid for daemonset"));
  }
  pod::ValidatePodTemplateSpec(spec.template_().value(), at_template, errors,
                               pod::TemplateRules(scope));
  CheckRunsForever(spec.template_(), "DaemonSet", at_template, errors);
  CheckNonnegative(spec.minReadySeconds(), path.Child("minReadySeconds"), errors);
  CheckUpdateStrategy(spec.updateStrategy(), path.Child("updateStrategy"), errors);
  CheckNonnegative(spec.revisionHistoryLimit(), path.Child("revisionHistoryLimit"), errors);
}

void Validate(const WriteScope& scope, const Value& object, FieldErrors& errors) {
  CheckSpec(scope, DaemonSet(object).spec(), {}, errors);
}

void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& old,
                    FieldErrors& errors) {
  const Value before = DaemonSet(old).spec().selector().value();
  rest::CheckImmutable(LabelSelector::Schema(), DaemonSet(object).spec().selector().value(), before,
                       Path("spec").Child("selector"), errors);
  CheckSpec(scope, DaemonSet(object).spec(), {.bad_values = rest::HasBadValues(before)}, errors);
}

void ValidateStatus(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  static constexpr std::string_view kCounts[] = {"currentNumberScheduled", "numberMisscheduled",
                                                 "desiredNumberScheduled", "numberReady",
                                                 "observedGeneration",     "updatedNumberScheduled",
                                                 "numberAvailable",        "numberUnavailable",
                                                 "collisionCount"};
  CheckCounts(object["status"], kCounts, {}, errors);
  CheckCollisions(object["status"], old["status"], errors);
}

std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value* old) {
  std::vector<std::string> warnings;
  if (old == nullptr || TemplateGenerationOf(object) != TemplateGenerationOf(*old)) {
    WarnAboutTemplate(DaemonSet(object).spec().template_(), Path("spec").Child("template"),
                      warnings);
  }
  return warnings;
}

}  // namespace

const rest::RuleStrategy kDaemonSet({.counts_generation = true,
                                     .prepare_for_create = PrepareForCreate,
                                     .prepare_for_update = PrepareForUpdate,
                                     .validate = Validate,
                                     .validate_update = ValidateUpdate,
                                     .validate_status = ValidateStatus,
                                     .warnings = Warnings});

}  // namespace keelson::kube::workload
