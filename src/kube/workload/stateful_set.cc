// StatefulSet: pods with a stable name, address and storage each.

#include <fmt/format.h>

#include <vector>

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "kube/pod/validate_template.h"
#include "kube/workload/kinds.h"
#include "kube/workload/pod_template.h"
#include "kube/workload/replica_status.h"
#include "rest/field_checks.h"
#include "rest/object_meta.h"
#include "rest/seen_texts.h"
#include "schema/internal_form.h"
#include "schema/struct_editor.h"
#include "value/document.h"
#include "value/quantity.h"

namespace keelson::kube::workload {
namespace {

using api::apps_v1::RollingUpdateStatefulSetStrategy;
using api::apps_v1::StatefulSet;
using api::apps_v1::StatefulSetSpec;
using api::apps_v1::StatefulSetUpdateStrategy;
using api::core_v1::PodSpec;
using api::core_v1::PodTemplateSpec;
using rest::CheckNonnegative;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using value::Member;
using value::Path;
using value::Value;

// What may change in the spec; everything else is fixed once the set exists.
constexpr std::string_view kChangeable[] = {"replicas",
                                            "template",
                                            "updateStrategy",
                                            "minReadySeconds",
                                            "ordinals",
                                            "revisionHistoryLimit",
                                            "persistentVolumeClaimRetentionPolicy"};

void CheckRollingUpdate(const RollingUpdateStatefulSetStrategy& update, const Path& path,
                        FieldErrors& errors) {
  CheckNonnegative(update.partition(), path.Child("partition"), errors);
  const Value unavailable = update.maxUnavailable();
  if (unavailable.is_null()) return;
  const Path at = path.Child("maxUnavailable");
  rest::CheckCountOrPercent(unavailable, at, errors);
  if (rest::CountOrPercent(unavailable) == 0) {
    errors.push_back(Invalid(at, unavailable, "cannot be 0"));
  }
  rest::CheckAtMostAllPercent(unavailable, at, errors);
}

void CheckUpdateStrategy(const StatefulSetUpdateStrategy& strategy, const Path& path,
                         FieldErrors& errors) {
  const Path rolling = path.Child("rollingUpdate");
  if (strategy.type().empty()) {
    errors.push_back(schema::Required(path, ""));
  } else if (strategy.type() == "OnDelete") {
    if (strategy.rollingUpdate()) {
      errors.push_back(Invalid(rolling,
                               schema::InternalBadValue(RollingUpdateStatefulSetStrategy::Schema(),
                                                        strategy.rollingUpdate().value()),
                               "only allowed for updateStrategy 'RollingUpdate'"));
    }
  } else if (strategy.type() == "RollingUpdate") {
    if (strategy.rollingUpdate()) CheckRollingUpdate(strategy.rollingUpdate(), rolling, errors);
  } else {
    errors.push_back(Invalid(
        path, schema::InternalBadValue(StatefulSetUpdateStrategy::Schema(), strategy.value()),
        "must be 'RollingUpdate' or 'OnDelete'"));
  }
}

void CheckPolicies(const StatefulSetSpec& spec, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kRetention[] = {"Retain", "Delete"};
  const auto management = spec.podManagementPolicy();
  if (management.empty()) {
    errors.push_back(schema::Required(path.Child("podManagementPolicy"), ""));
  } else if (management != "OrderedReady" && management != "Parallel") {
    errors.push_back(Invalid(path.Child("podManagementPolicy"), management,
                             "must be 'OrderedReady' or 'Parallel'"));
  }
  CheckUpdateStrategy(spec.updateStrategy(), path.Child("updateStrategy"), errors);
  if (auto retention = spec.persistentVolumeClaimRetentionPolicy()) {
    const Path at = path.Child("persistentVolumeClaimRetentionPolicy");
    rest::CheckSupported(retention.whenDeleted(), kRetention, at.Child("whenDeleted"), errors);
    rest::CheckSupported(retention.whenScaled(), kRetention, at.Child("whenScaled"), errors);
  }
}

// The volume that a claim template becomes in each pod.
Value ClaimVolume(std::string_view claim, value::Arena& arena) {
  using Source = api::core_v1::PersistentVolumeClaimVolumeSource::Names;
  using Volume = api::core_v1::Volume::Names;
  const Value name = Value::String(claim);
  auto* source = arena.AllocateArray<Member>(1);
  source[0] = Member(&Source::claimName, name);
  auto* volume = arena.AllocateArray<Member>(2);
  volume[0] = Member(&Volume::name, name);
  volume[1] = Member(&Volume::persistentVolumeClaim, Value::Object({source, 1}));
  return Value::Object({volume, 2});
}

// The template as its pods will be: the controller names them and mounts their claims, whatever the
// template says about either.
Value TemplateToCheck(const StatefulSetSpec& spec, value::Arena& arena) {
  schema::StructEditor pod(PodSpec::Schema(), spec.template_().spec().value(), arena);
  pod.Remove(PodSpec::Names::subdomain);
  pod.Remove(PodSpec::Names::hostname);
  const auto claims = spec.volumeClaimTemplates();
  if (!claims.empty()) {
    const auto volumes = spec.template_().spec().volumes();
    auto* merged = arena.AllocateArray<Value>(claims.size() + volumes.size());
    size_t count = 0;
    rest::SeenTexts claimed;
    for (auto claim : claims) {
      if (!claimed.Insert(claim.metadata().name())) continue;
      merged[count++] = ClaimVolume(claim.metadata().name(), arena);
    }
    for (auto volume : volumes) {
      if (!claimed.Contains(volume.name())) merged[count++] = volume.value();
    }
    pod.Set(PodSpec::Names::volumes, Value::List({merged, count}));
  }
  schema::StructEditor pod_template(PodTemplateSpec::Schema(), spec.template_().value(), arena);
  pod_template.Set(PodTemplateSpec::Names::spec, pod.value());
  return pod_template.value();
}

void CheckTemplateItself(const WriteScope& scope, const StatefulSetSpec& spec, const Path& path,
                         FieldErrors& errors) {
  const auto rules = pod::TemplateRules(scope);
  const auto pod = spec.template_().spec();
  if (pod.subdomain().empty() && pod.hostname().empty() && spec.volumeClaimTemplates().empty()) {
    pod::ValidatePodTemplateSpec(spec.template_().value(), path, errors, rules);
  } else {
    const auto arena = value::Arena::Make(4096);
    pod::ValidatePodTemplateSpec(TemplateToCheck(spec, *arena), path, errors, rules);
  }
}

enum class Template { kCheck, kSkip };

void CheckTemplate(const WriteScope& scope, const StatefulSetSpec& spec, Template mode,
                   const Path& path, FieldErrors& errors) {
  const auto selector = spec.selector();
  if (!rest::IsUsableSelector(selector.value())) {
    errors.push_back(Invalid(path.Child("selector"), selector.value(), ""));
  } else {
    const Path at = path.Child("template");
    if (!rest::IsEmptySelector(selector.value())) {
      CheckSelected(selector, spec.template_(), at, errors);
    }
    if (mode == Template::kCheck) CheckTemplateItself(scope, spec, at, errors);
    const auto metadata = spec.template_().metadata();
    rest::ValidateLabels(metadata.labels().value(), at.Child("labels"), errors);
    rest::ValidateAnnotations(metadata.annotations().value(), at.Child("annotations"), errors);
  }
  CheckRunsForever(spec.template_(), "StatefulSet", path.Child("template"), errors);
}

// What a new set must satisfy and an old one need not, because it cannot change it.
void CheckFixedParts(const StatefulSetSpec& spec, const Path& path, FieldErrors& errors) {
  const auto claims = spec.volumeClaimTemplates();
  for (size_t i = 0; i < claims.size(); ++i) {
    pod::ValidateClaimSpec(claims[i].spec().value(),
                           path.Child("volumeClaimTemplates").Index(i).Child("spec"), errors);
  }
}

void CheckSpec(const WriteScope& scope, const StatefulSetSpec& spec, bool is_new, Template mode,
               FieldErrors& errors) {
  const Path path("spec");
  CheckPolicies(spec, path, errors);
  if (is_new) CheckFixedParts(spec, path, errors);
  CheckNonnegative(spec.replicas(), path.Child("replicas"), errors);
  CheckNonnegative(spec.minReadySeconds(), path.Child("minReadySeconds"), errors);
  CheckNonnegative(spec.ordinals().start(), path.Child("ordinals.start"), errors);
  if (is_new && !spec.serviceName().empty()) {
    rest::CheckText(spec.serviceName(), names::CheckDns1123Label, path.Child("serviceName"),
                    errors);
  }
  if (!spec.selector()) {
    errors.push_back(schema::Required(path.Child("selector"), ""));
  } else {
    const Value selector = spec.selector().value();
    rest::CheckLabelSelector(selector, path.Child("selector"), errors);
    if (rest::IsEmptySelector(selector)) {
      errors.push_back(
          Invalid(path.Child("selector"), selector, "empty selector is invalid for statefulset"));
    }
  }
  CheckTemplate(scope, spec, mode, path, errors);
}

void Validate(const WriteScope& scope, const Value& object, FieldErrors& errors) {
  CheckSpec(scope, StatefulSet(object).spec(), /*is_new=*/true, Template::kCheck, errors);
}

// A set that was stored before a rule existed may keep a template that breaks it.
void CheckChangedSpec(const WriteScope& scope, const StatefulSetSpec& spec,
                      const StatefulSetSpec& old, FieldErrors& errors) {
  FieldErrors found;
  CheckSpec(scope, spec, /*is_new=*/false, Template::kCheck, found);
  if (found.empty()) return;
  FieldErrors old_errors;
  CheckSpec(scope, old, /*is_new=*/false, Template::kCheck, old_errors);
  if (!old_errors.empty()) {
    found.clear();
    CheckSpec(scope, spec, /*is_new=*/false, Template::kSkip, found);
  }
  schema::Append(errors, std::move(found));
}

bool IsChangeable(std::string_view field) {
  return std::ranges::find(kChangeable, field) != std::end(kChangeable);
}

void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& old,
                    FieldErrors& errors) {
  const auto spec = StatefulSet(object).spec();
  const auto before = StatefulSet(old).spec();
  CheckChangedSpec(scope, spec, before, errors);
  for (const auto& field : StatefulSetSpec::Schema().fields()) {
    if (IsChangeable(field.text())) continue;
    if (schema::EqualByMeaning(*field.type, spec.value()[*field.name],
                               before.value()[*field.name])) {
      continue;
    }
    errors.push_back(schema::Forbidden(
        Path("spec"),
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
        "'minReadySeconds' are forbidden"));
    return;
  }
}

void ValidateStatus(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  static constexpr std::string_view kCounts[] = {
      "replicas",          "readyReplicas",      "currentReplicas", "updatedReplicas",
      "availableReplicas", "observedGeneration", "collisionCount"};
  static constexpr CountLimit kLimits[] = {
      {"readyReplicas", "replicas", "cannot be greater than status.replicas"},
      {"currentReplicas", "replicas", "cannot be greater than status.replicas"},
      {"updatedReplicas", "replicas", "cannot be greater than status.replicas"},
      {"availableReplicas", "replicas", "cannot be greater than status.replicas"},
      {"availableReplicas", "readyReplicas", "cannot be greater than status.readyReplicas"}};
  CheckCounts(object["status"], kCounts, kLimits, errors);
  CheckCollisions(object["status"], old["status"], errors);
}

// Storage is asked for in whole bytes.
void WarnAboutFractions(const Value& claim_spec, const Path& path,
                        std::vector<std::string>& warnings) {
  for (std::string_view part : {"requests", "limits"}) {
    const auto text = claim_spec["resources"][part]["storage"].AsString();
    auto amount = value::Quantity::Parse(text);
    if (!amount || amount->MilliValue() % 1000 == 0) continue;
    warnings.push_back(
        fmt::format("{}: fractional byte value \"{}\" is invalid, must be an integer",
                    path.Child("resources").Child(part).Key("storage").ToString(), text));
  }
}

std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value* old) {
  std::vector<std::string> warnings;
  const auto spec = StatefulSet(object).spec();
  const Path path("spec");
  if (GenerationMoved(object, old)) {
    WarnAboutTemplate(spec.template_(), path.Child("template"), warnings);
  }
  const auto claims = spec.volumeClaimTemplates();
  for (size_t i = 0; i < claims.size(); ++i) {
    const Path claim = path.Child("volumeClaimTemplates").Index(i);
    // Upstream's path has a capital on update only.
    WarnAboutFractions(claims[i].spec().value(), old == nullptr ? claim : claim.Child("Spec"),
                       warnings);
  }
  if (spec.revisionHistoryLimit().value_or(0) < 0) {
    warnings.emplace_back(
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= "
        "0 is recommended");
  }
  return warnings;
}

}  // namespace

const rest::RuleStrategy kStatefulSet({.name_check = names::NameIsDnsLabel,
                                       .counts_generation = true,
                                       .validate = Validate,
                                       .validate_update = ValidateUpdate,
                                       .validate_status = ValidateStatus,
                                       .warnings = Warnings});

}  // namespace keelson::kube::workload
