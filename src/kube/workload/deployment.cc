// Deployment and ReplicaSet: a number of identical pods, with and without a way to replace them.

#include "api/apps_v1.h"
#include "kube/workload/kinds.h"
#include "kube/workload/pod_template.h"
#include "kube/workload/replica_status.h"
#include "rest/field_checks.h"
#include "schema/internal_form.h"

namespace keelson::kube::workload {
namespace {

using api::apps_v1::Deployment;
using api::apps_v1::DeploymentSpec;
using api::apps_v1::DeploymentStrategy;
using api::apps_v1::ReplicaSet;
using api::apps_v1::RollingUpdateDeployment;
using api::meta_v1::LabelSelector;
using rest::CheckNonnegative;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using value::Path;
using value::Ref;
using value::Value;

void CheckRollingUpdate(const RollingUpdateDeployment& update, const Path& path,
                        FieldErrors& errors) {
  const Value unavailable = update.maxUnavailable();
  const Value surge = update.maxSurge();
  rest::CheckCountOrPercent(unavailable, path.Child("maxUnavailable"), errors);
  rest::CheckCountOrPercent(surge, path.Child("maxSurge"), errors);
  if (rest::CountOrPercent(unavailable) == 0 && rest::CountOrPercent(surge) == 0) {
    errors.push_back(
        Invalid(path.Child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0"));
  }
  rest::CheckAtMostAllPercent(unavailable, path.Child("maxUnavailable"), errors);
}

void CheckStrategy(const DeploymentStrategy& strategy, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"Recreate", "RollingUpdate"};
  const Path rolling = path.Child("rollingUpdate");
  if (strategy.type() == "Recreate") {
    if (strategy.rollingUpdate()) {
      errors.push_back(
          schema::Forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'"));
    }
  } else if (strategy.type() == "RollingUpdate") {
    if (strategy.rollingUpdate()) {
      CheckRollingUpdate(strategy.rollingUpdate(), rolling, errors);
    } else {
      errors.push_back(schema::Required(rolling, "this should be defaulted and never be nil"));
    }
  } else {
    errors.push_back(schema::NotSupported(
        path, schema::InternalBadValue(DeploymentStrategy::Schema(), strategy.value()), kTypes));
  }
}

void CheckDeploymentSpec(const WriteScope& scope, const DeploymentSpec& spec, FieldErrors& errors) {
  const Path path("spec");
  CheckNonnegative(spec.replicas(), path.Child("replicas"), errors);
  CheckReplicated(scope, spec.selector(), spec.template_(), path, errors);
  CheckStrategy(spec.strategy(), path.Child("strategy"), errors);
  CheckNonnegative(spec.minReadySeconds(), path.Child("minReadySeconds"), errors);
  CheckNonnegative(spec.revisionHistoryLimit(), path.Child("revisionHistoryLimit"), errors);
  if (auto deadline = spec.progressDeadlineSeconds()) {
    const Path at = path.Child("progressDeadlineSeconds");
    CheckNonnegative(*deadline, at, errors);
    if (*deadline <= spec.minReadySeconds()) {
      errors.push_back(Invalid(at, *deadline, "must be greater than minReadySeconds"));
    }
  }
}

void ValidateDeployment(const WriteScope& scope, const Value& object, FieldErrors& errors) {
  CheckDeploymentSpec(scope, Deployment(object).spec(), errors);
}

void ValidateDeploymentUpdate(const WriteScope& scope, const Value& object, const Value& old,
                              FieldErrors& errors) {
  CheckDeploymentSpec(scope, Deployment(object).spec(), errors);
  rest::CheckImmutable(LabelSelector::Schema(), Deployment(object).spec().selector().value(),
                       Deployment(old).spec().selector().value(), Path("spec").Child("selector"),
                       errors);
}

// Annotations count as well: kubectl and controllers keep what they roll out in them.
void CountAnnotations(const WriteScope&, Ref object, const Value& old) {
  const auto now = Deployment(object.Get()).metadata();
  const auto before = Deployment(old).metadata();
  if (now.annotations().value() == before.annotations().value()) return;
  if (now.annotations().empty() && before.annotations().empty()) return;
  object.Field("metadata").SetField("generation", Value::Int(before.generation() + 1));
}

// Labels are not the status writer's.
void KeepLabels(const WriteScope&, Ref object, const Value& old) {
  Ref metadata = object.Field("metadata");
  const Value labels = old["metadata"]["labels"];
  if (labels.is_null()) {
    metadata.RemoveField("labels");
  } else {
    metadata.SetField("labels", labels);
  }
}

void ValidateDeploymentStatus(const WriteScope&, const Value& object, const Value& old,
                              FieldErrors& errors) {
  static constexpr std::string_view kCounts[] = {"observedGeneration",  "replicas",
                                                 "updatedReplicas",     "readyReplicas",
                                                 "availableReplicas",   "unavailableReplicas",
                                                 "terminatingReplicas", "collisionCount"};
  static constexpr CountLimit kLimits[] = {
      {"updatedReplicas", "replicas", "cannot be greater than status.replicas"},
      {"readyReplicas", "replicas", "cannot be greater than status.replicas"},
      {"availableReplicas", "replicas", "cannot be greater than status.replicas"},
      {"availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"}};
  CheckCounts(object["status"], kCounts, kLimits, errors);
  CheckCollisions(object["status"], old["status"], errors);
}

template <typename Kind>
std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value* old) {
  std::vector<std::string> warnings;
  if (old == nullptr) WarnAboutName(object, warnings);
  if (GenerationMoved(object, old)) {
    WarnAboutTemplate(Kind(object).spec().template_(), Path("spec").Child("template"), warnings);
  }
  return warnings;
}

void ValidateReplicaSet(const WriteScope& scope, const Value& object, FieldErrors& errors) {
  const Path path("spec");
  const auto spec = ReplicaSet(object).spec();
  CheckNonnegative(spec.replicas(), path.Child("replicas"), errors);
  CheckNonnegative(spec.minReadySeconds(), path.Child("minReadySeconds"), errors);
  CheckReplicated(scope, spec.selector(), spec.template_(), path, errors);
}

void ValidateReplicaSetUpdate(const WriteScope& scope, const Value& object, const Value& old,
                              FieldErrors& errors) {
  ValidateReplicaSet(scope, object, errors);
  rest::CheckImmutable(LabelSelector::Schema(), ReplicaSet(object).spec().selector().value(),
                       ReplicaSet(old).spec().selector().value(), Path("spec").Child("selector"),
                       errors);
}

void ValidateReplicaSetStatus(const WriteScope&, const Value& object, const Value&,
                              FieldErrors& errors) {
  static constexpr std::string_view kCounts[] = {"replicas",           "fullyLabeledReplicas",
                                                 "readyReplicas",      "availableReplicas",
                                                 "observedGeneration", "terminatingReplicas"};
  static constexpr CountLimit kLimits[] = {
      {"fullyLabeledReplicas", "replicas", "cannot be greater than status.replicas"},
      {"readyReplicas", "replicas", "cannot be greater than status.replicas"},
      {"availableReplicas", "replicas", "cannot be greater than status.replicas"},
      {"availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"}};
  CheckCounts(object["status"], kCounts, kLimits, errors);
}

}  // namespace

const rest::RuleStrategy kDeployment({.counts_generation = true,
                                      .prepare_for_update = CountAnnotations,
                                      .prepare_status = KeepLabels,
                                      .validate = ValidateDeployment,
                                      .validate_update = ValidateDeploymentUpdate,
                                      .validate_status = ValidateDeploymentStatus,
                                      .warnings = Warnings<Deployment>});

const rest::RuleStrategy kReplicaSet({.counts_generation = true,
                                      .validate = ValidateReplicaSet,
                                      .validate_update = ValidateReplicaSetUpdate,
                                      .validate_status = ValidateReplicaSetStatus,
                                      .warnings = Warnings<ReplicaSet>});

}  // namespace keelson::kube::workload
