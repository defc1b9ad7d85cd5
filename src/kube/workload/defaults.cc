// Defaults of workload kinds that depend on other fields or that OpenAPI does not publish.

#include <cstdint>
#include <limits>

#include "api/apps_v1.h"
#include "api/autoscaling_v1.h"
#include "api/autoscaling_v2.h"
#include "api/batch_v1.h"
#include "api/core_v1.h"
#include "api/meta_v1.h"
#include "kube/workload/daemon_set.h"
#include "kube/workload/workload.h"

namespace keelson::kube::workload {
namespace {

using namespace keelson::api;  // NOLINT: the generated views, one namespace per group-version
using schema::FieldDefault;
using schema::StructEditor;
using value::Member;
using value::Name;
using value::Value;

constexpr Value Text(std::string_view text) { return Value::String(text, /*plain=*/true); }

// Edits the struct in `outer`'s field `name`, and puts it back when that changed it.
template <typename Inner, typename Edit>
void EditField(StructEditor& outer, const Name& name, Edit&& edit) {
  StructEditor inner(Inner::Schema(), outer.Get(name), outer.arena());
  edit(inner);
  if (inner.changed()) outer.Set(name, inner.value());
}

constexpr FieldDefault kDeploymentSpec[] = {
    {&apps_v1::DeploymentSpec::Names::replicas, Value::Int(1)},
    {&apps_v1::DeploymentSpec::Names::revisionHistoryLimit, Value::Int(10)},
    {&apps_v1::DeploymentSpec::Names::progressDeadlineSeconds, Value::Int(600)},
};
constexpr FieldDefault kReplicaSetSpec[] = {
    {&apps_v1::ReplicaSetSpec::Names::replicas, Value::Int(1)},
};
constexpr FieldDefault kDaemonSetSpec[] = {
    {&apps_v1::DaemonSetSpec::Names::revisionHistoryLimit, Value::Int(10)},
};
constexpr FieldDefault kRollingDeployment[] = {
    {&apps_v1::RollingUpdateDeployment::Names::maxUnavailable, Text("25%")},
    {&apps_v1::RollingUpdateDeployment::Names::maxSurge, Text("25%")},
};
constexpr FieldDefault kRollingDaemonSet[] = {
    {&apps_v1::RollingUpdateDaemonSet::Names::maxUnavailable, Value::Int(1)},
    {&apps_v1::RollingUpdateDaemonSet::Names::maxSurge, Value::Int(0)},
};
constexpr FieldDefault kStatefulSetSpec[] = {
    {&apps_v1::StatefulSetSpec::Names::podManagementPolicy, Text("OrderedReady")},
    {&apps_v1::StatefulSetSpec::Names::persistentVolumeClaimRetentionPolicy, Value::EmptyObject()},
    {&apps_v1::StatefulSetSpec::Names::replicas, Value::Int(1)},
    {&apps_v1::StatefulSetSpec::Names::revisionHistoryLimit, Value::Int(10)},
};
constexpr FieldDefault kClaimRetention[] = {
    {&apps_v1::StatefulSetPersistentVolumeClaimRetentionPolicy::Names::whenDeleted, Text("Retain")},
    {&apps_v1::StatefulSetPersistentVolumeClaimRetentionPolicy::Names::whenScaled, Text("Retain")},
};
constexpr FieldDefault kCronJobSpec[] = {
    {&batch_v1::CronJobSpec::Names::concurrencyPolicy, Text("Allow")},
    {&batch_v1::CronJobSpec::Names::suspend, Value::Bool(false)},
    {&batch_v1::CronJobSpec::Names::successfulJobsHistoryLimit, Value::Int(3)},
    {&batch_v1::CronJobSpec::Names::failedJobsHistoryLimit, Value::Int(1)},
};
constexpr FieldDefault kPodConditionPattern[] = {
    {&batch_v1::PodFailurePolicyOnPodConditionsPattern::Names::status, Text("True")},
};

// A strategy of type RollingUpdate, the default, has its limits filled in.
template <typename Strategy, typename Rolling, const auto& kLimits>
void DefaultRollingUpdate(StructEditor& strategy) {
  using Names = typename Strategy::Names;
  strategy.SetDefault(Names::type, Text("RollingUpdate"));
  if (strategy.Get(Names::type).AsString() != "RollingUpdate") return;
  EditField<Rolling>(strategy, Names::rollingUpdate, schema::FillDefaults<kLimits>);
}

// Unlike the others, a stateful set that names its type does not get limits it did not mention.
void DefaultStatefulSetUpdate(StructEditor& strategy) {
  using Names = apps_v1::StatefulSetUpdateStrategy::Names;
  if (strategy.SetDefault(Names::type, Text("RollingUpdate"))) {
    strategy.SetDefault(Names::rollingUpdate, Value::EmptyObject());
  }
  if (strategy.Get(Names::type).AsString() != "RollingUpdate") return;
  if (strategy.IsUnset(Names::rollingUpdate)) return;
  using Rolling = apps_v1::RollingUpdateStatefulSetStrategy;
  EditField<Rolling>(strategy, Names::rollingUpdate, [](StructEditor& rolling) {
    rolling.SetDefault(Rolling::Names::partition, Value::Int(0));
  });
}

// Claims stand in the set as objects of their own, and say what they are.
void DefaultClaimTemplates(StructEditor& spec) {
  using Claim = core_v1::PersistentVolumeClaim;
  const auto& name = apps_v1::StatefulSetSpec::Names::volumeClaimTemplates;
  const auto claims = spec.Get(name).items();
  if (claims.empty()) return;
  auto* typed = spec.arena().AllocateArray<Value>(claims.size());
  for (size_t i = 0; i < claims.size(); ++i) {
    StructEditor claim(Claim::Schema(), claims[i], spec.arena());
    claim.SetDefault(Claim::Names::kind, Text("PersistentVolumeClaim"));
    claim.SetDefault(Claim::Names::apiVersion, Text("v1"));
    typed[i] = claim.value();
  }
  spec.Set(name, Value::List({typed, claims.size()}));
}

// The template's generation is an annotation that the server counts; see daemon_set.h.
void DefaultDaemonSet(StructEditor& set) {
  using Names = apps_v1::DaemonSet::Names;
  EditField<meta_v1::ObjectMeta>(set, Names::metadata, [](StructEditor& metadata) {
    const auto& name = meta_v1::ObjectMeta::Names::annotations;
    const Value annotations = metadata.Get(name);
    if (annotations.Find(kTemplateGeneration) != nullptr) return;
    metadata.Set(name, WithTemplateGeneration(annotations, 0, metadata.arena()));
  });
}

void DefaultJobSpec(StructEditor& spec) {
  using Names = batch_v1::JobSpec::Names;
  if (spec.IsUnset(Names::parallelism)) spec.SetDefault(Names::completions, Value::Int(1));
  spec.SetDefault(Names::parallelism, Value::Int(1));
  spec.SetDefault(Names::backoffLimit,
                  Value::Int(spec.IsUnset(Names::backoffLimitPerIndex)
                                 ? 6
                                 : int64_t{std::numeric_limits<int32_t>::max()}));
  spec.SetDefault(Names::completionMode, Text("NonIndexed"));
  spec.SetDefault(Names::suspend, Value::Bool(false));
  spec.SetDefault(Names::podReplacementPolicy,
                  Text(spec.IsUnset(Names::podFailurePolicy) ? "TerminatingOrFailed" : "Failed"));
  spec.SetDefault(Names::manualSelector, Value::Bool(false));
}

// A job of its own is defaulted; the template in a CronJob is not, the jobs made from it will be.
void DefaultJob(StructEditor& job) {
  using Names = batch_v1::Job::Names;
  EditField<batch_v1::JobSpec>(job, Names::spec, DefaultJobSpec);
  const Value labels = batch_v1::Job(job.value()).spec().template_().metadata().labels().value();
  if (labels.size() == 0) return;
  EditField<meta_v1::ObjectMeta>(job, Names::metadata, [&](StructEditor& metadata) {
    metadata.SetDefault(meta_v1::ObjectMeta::Names::labels, labels);
  });
}

constexpr FieldDefault kAutoscalerV1Spec[] = {
    {&autoscaling_v1::HorizontalPodAutoscalerSpec::Names::minReplicas, Value::Int(1)},
};

// 80 % CPU is aimed at unless metrics are named, which in this version hide in an annotation.
void DefaultAutoscalerV1(StructEditor& autoscaler) {
  using Names = autoscaling_v1::HorizontalPodAutoscaler::Names;
  const auto metadata = autoscaling_v1::HorizontalPodAutoscaler(autoscaler.value()).metadata();
  if (metadata.annotations().contains("autoscaling.alpha.kubernetes.io/metrics")) return;
  using Spec = autoscaling_v1::HorizontalPodAutoscalerSpec;
  EditField<Spec>(autoscaler, Names::spec, [](StructEditor& spec) {
    spec.SetDefault(Spec::Names::targetCPUUtilizationPercentage, Value::Int(80));
  });
}

void DefaultAutoscalerV2Spec(StructEditor& spec) {
  using Target = autoscaling_v2::MetricTarget::Names;
  using Resource = autoscaling_v2::ResourceMetricSource::Names;
  using Metric = autoscaling_v2::MetricSpec::Names;
  static const Member kTarget[] = {{&Target::type, Text("Utilization")},
                                   {&Target::averageUtilization, Value::Int(80)}};
  static const Member kResource[] = {{&Resource::name, Text("cpu")},
                                     {&Resource::target, Value::Object(kTarget)}};
  static const Member kMetric[] = {{&Metric::type, Text("Resource")},
                                   {&Metric::resource, Value::Object(kResource)}};
  static const Value kMetrics[] = {Value::Object(kMetric)};
  using Names = autoscaling_v2::HorizontalPodAutoscalerSpec::Names;
  spec.SetDefault(Names::minReplicas, Value::Int(1));
  spec.SetDefault(Names::metrics, Value::List(kMetrics));
}

// Both directions get rules as soon as one has some.
void DefaultBehavior(StructEditor& behavior) {
  using Policy = autoscaling_v2::HPAScalingPolicy::Names;
  static const Member kFourPods[] = {{&Policy::type, Text("Pods")},
                                     {&Policy::value_, Value::Int(4)},
                                     {&Policy::periodSeconds, Value::Int(15)}};
  static const Member kAllPods[] = {{&Policy::type, Text("Percent")},
                                    {&Policy::value_, Value::Int(100)},
                                    {&Policy::periodSeconds, Value::Int(15)}};
  static const Value kUp[] = {Value::Object(kFourPods), Value::Object(kAllPods)};
  static const Value kDown[] = {Value::Object(kAllPods)};
  using Rules = autoscaling_v2::HPAScalingRules;
  using Names = autoscaling_v2::HorizontalPodAutoscalerBehavior::Names;
  EditField<Rules>(behavior, Names::scaleUp, [](StructEditor& rules) {
    rules.SetDefault(Rules::Names::stabilizationWindowSeconds, Value::Int(0));
    rules.SetDefault(Rules::Names::selectPolicy, Text("Max"));
    rules.SetDefault(Rules::Names::policies, Value::List(kUp));
  });
  EditField<Rules>(behavior, Names::scaleDown, [](StructEditor& rules) {
    rules.SetDefault(Rules::Names::selectPolicy, Text("Max"));
    rules.SetDefault(Rules::Names::policies, Value::List(kDown));
  });
}

}  // namespace

std::span<const schema::DefaultHook> Defaults() {
  using schema::FillDefaults;
  static const schema::DefaultHook kHooks[] = {
      {&apps_v1::DeploymentSpec::Schema(), FillDefaults<kDeploymentSpec>},
      {&apps_v1::DeploymentStrategy::Schema(),
       DefaultRollingUpdate<apps_v1::DeploymentStrategy, apps_v1::RollingUpdateDeployment,
                            kRollingDeployment>},
      {&apps_v1::ReplicaSetSpec::Schema(), FillDefaults<kReplicaSetSpec>},
      {&apps_v1::DaemonSet::Schema(), DefaultDaemonSet},
      {&apps_v1::DaemonSetSpec::Schema(), FillDefaults<kDaemonSetSpec>},
      {&apps_v1::DaemonSetUpdateStrategy::Schema(),
       DefaultRollingUpdate<apps_v1::DaemonSetUpdateStrategy, apps_v1::RollingUpdateDaemonSet,
                            kRollingDaemonSet>},
      {&apps_v1::StatefulSetSpec::Schema(), FillDefaults<kStatefulSetSpec>},
      {&apps_v1::StatefulSetSpec::Schema(), DefaultClaimTemplates},
      {&apps_v1::StatefulSetUpdateStrategy::Schema(), DefaultStatefulSetUpdate},
      {&apps_v1::StatefulSetPersistentVolumeClaimRetentionPolicy::Schema(),
       FillDefaults<kClaimRetention>},
      {&batch_v1::Job::Schema(), DefaultJob},
      {&batch_v1::CronJobSpec::Schema(), FillDefaults<kCronJobSpec>},
      {&batch_v1::PodFailurePolicyOnPodConditionsPattern::Schema(),
       FillDefaults<kPodConditionPattern>},
      {&autoscaling_v1::HorizontalPodAutoscaler::Schema(), DefaultAutoscalerV1},
      {&autoscaling_v1::HorizontalPodAutoscalerSpec::Schema(), FillDefaults<kAutoscalerV1Spec>},
      {&autoscaling_v2::HorizontalPodAutoscalerSpec::Schema(), DefaultAutoscalerV2Spec},
      {&autoscaling_v2::HorizontalPodAutoscalerBehavior::Schema(), DefaultBehavior},
  };
  return kHooks;
}

}  // namespace keelson::kube::workload
