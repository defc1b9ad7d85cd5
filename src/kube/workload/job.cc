// Job: pods that run until a number of them has succeeded.

#include "kube/workload/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/core_v1.h"
#include "base/names.h"
#include "kube/pod/validate_template.h"
#include "kube/workload/job_policies.h"
#include "kube/workload/kinds.h"
#include "kube/workload/pod_template.h"
#include "rest/field_checks.h"
#include "schema/internal_form.h"
#include "schema/struct_editor.h"

namespace keelson::kube::workload {
namespace {

using api::batch_v1::Job;
using api::batch_v1::JobSpec;
using api::core_v1::PodSpec;
using api::core_v1::PodTemplateSpec;
using api::meta_v1::LabelSelector;
using rest::CheckNonnegative;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Ref;
using value::Value;

constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";
constexpr std::string_view kLegacyJobName = "job-name";
constexpr std::string_view kLegacyControllerUid = "controller-uid";

constexpr int32_t kMaxIndexedParallelism = 100'000;
constexpr int32_t kMaxFailedIndexes = 100'000;
constexpr int32_t kManyCompletions = 100'000;
constexpr int32_t kMaxParallelismOfMany = 10'000;
constexpr int32_t kMaxFailedIndexesOfMany = 10'000;
constexpr size_t kMaxManagedBy = 63;

bool IsIndexed(const JobSpec& spec) { return spec.completionMode() == "Indexed"; }

// --- preparing -----------------------------------------------------------------------------------

void AddLabel(Ref labels, std::string_view key, std::string_view text) {
  if (!labels.Find(key)) labels.SetField(key, labels.builder().String(text));
}

void AddGeneratedLabels(Ref labels, std::string_view name, std::string_view uid) {
  for (auto key : {kLegacyJobName, kJobName}) AddLabel(labels, key, name);
  for (auto key : {kLegacyControllerUid, kControllerUid}) AddLabel(labels, key, uid);
}

// Unless the user insists, a job selects the pods that carry its uid, and its template says so. A
// job without labels has those of its template: defaulting gave it the very same ones, and upstream
// gives it the generated ones too, by sharing the map. Whether it shares it shows here as well.
void PrepareForCreate(const WriteScope&, Ref object) {
  const Job job(object.Get());
  const auto labels = job.metadata().labels().value();
  const auto template_labels = job.spec().template_().metadata().labels().value();
  const bool shared =
      labels.size() == 0 || labels.members().data() == template_labels.members().data();
  if (!job.spec().manualSelector().value_or(false)) {
    const auto name = job.metadata().name();
    const auto uid = job.metadata().uid();
    Ref spec = object.Field("spec");
    AddGeneratedLabels(spec.Field("template").Field("metadata").Field("labels"), name, uid);
    AddLabel(spec.Field("selector").Field("matchLabels"), kControllerUid, uid);
  }
  if (!shared) return;
  const Value all = Job(object.Get()).spec().template_().metadata().labels().value();
  if (all.size() > 0) object.Field("metadata").SetField("labels", all);
}

// --- the spec of a job or of a job template ------------------------------------------------------

void CheckIndexed(const JobSpec& spec, const Path& path, FieldErrors& errors) {
  const auto completions = spec.completions();
  const auto parallelism = spec.parallelism();
  const auto max_failed = spec.maxFailedIndexes();
  auto too_large = [&](std::string_view field, int32_t number, std::string text) {
    errors.push_back(Invalid(path.Child(field), number, std::move(text)));
  };
  if (!completions) {
    errors.push_back(Required(path.Child("completions"), "when completion mode is Indexed"));
  }
  if (parallelism > kMaxIndexedParallelism) {
    too_large("parallelism", *parallelism,
              fmt::format("must be less than or equal to {} when completion mode is Indexed",
                          kMaxIndexedParallelism));
  }
  if (completions && max_failed > completions) {
    too_large("maxFailedIndexes", *max_failed, "must be less than or equal to completions");
  }
  if (max_failed > kMaxFailedIndexes) {
    too_large("maxFailedIndexes", *max_failed,
              fmt::format("must be less than or equal to {}", kMaxFailedIndexes));
  }
  if (!(completions > kManyCompletions) || !spec.backoffLimitPerIndex()) return;
  const auto of_many = [](int32_t limit) {
    return fmt::format(
        "must be less than or equal to {} when completions are above {} and used with backoff "
        "limit per index",
        limit, kManyCompletions);
  };
  if (!max_failed) {
    errors.push_back(
        Required(path.Child("maxFailedIndexes"),
                 fmt::format("must be specified when completions is above {}", kManyCompletions)));
  }
  if (parallelism > kMaxParallelismOfMany) {
    too_large("parallelism", *parallelism, of_many(kMaxParallelismOfMany));
  }
  if (max_failed > kMaxFailedIndexesOfMany) {
    too_large("maxFailedIndexes", *max_failed, of_many(kMaxFailedIndexesOfMany));
  }
}

void CheckCompletionMode(const JobSpec& spec, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kModes[] = {"NonIndexed", "Indexed"};
  if (auto mode = spec.completionMode()) {
    rest::CheckSupported(*mode, kModes, path.Child("completionMode"), errors);
  }
  if (IsIndexed(spec)) CheckIndexed(spec, path, errors);
  if (spec.completionMode().value_or("NonIndexed") != "NonIndexed") return;
  if (auto limit = spec.backoffLimitPerIndex()) {
    errors.push_back(
        Invalid(path.Child("backoffLimitPerIndex"), *limit, "requires indexed completion mode"));
  }
  if (auto limit = spec.maxFailedIndexes()) {
    errors.push_back(
        Invalid(path.Child("maxFailedIndexes"), *limit, "requires indexed completion mode"));
  }
}

void CheckNumbers(const JobSpec& spec, const Path& path, FieldErrors& errors) {
  CheckNonnegative(spec.parallelism(), path.Child("parallelism"), errors);
  CheckNonnegative(spec.completions(), path.Child("completions"), errors);
  CheckNonnegative(spec.activeDeadlineSeconds(), path.Child("activeDeadlineSeconds"), errors);
  CheckNonnegative(spec.backoffLimit(), path.Child("backoffLimit"), errors);
  CheckNonnegative(spec.ttlSecondsAfterFinished(), path.Child("ttlSecondsAfterFinished"), errors);
  CheckNonnegative(spec.backoffLimitPerIndex(), path.Child("backoffLimitPerIndex"), errors);
  CheckNonnegative(spec.maxFailedIndexes(), path.Child("maxFailedIndexes"), errors);
  if (spec.maxFailedIndexes() && !spec.backoffLimitPerIndex()) {
    errors.push_back(
        Required(path.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"));
  }
}

void CheckReplacement(const JobSpec& spec, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kPolicies[] = {"Failed", "TerminatingOrFailed"};
  const std::span<const std::string_view> all(kPolicies);
  if (!spec.podReplacementPolicy()) return;
  rest::CheckSupported(*spec.podReplacementPolicy(), spec.podFailurePolicy() ? all.first(1) : all,
                       path, errors);
}

void CheckRestartPolicy(const JobSpec& spec, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kPolicies[] = {"OnFailure", "Never"};
  const auto policy = spec.template_().spec().restartPolicy();
  if (policy.empty() || policy == "Always") {
    errors.push_back(Required(path, "valid values: \"OnFailure\", \"Never\""));
  } else if (policy != "OnFailure" && policy != "Never") {
    errors.push_back(schema::NotSupported(path, policy, kPolicies));
  } else if (spec.podFailurePolicy() && policy != "Never") {
    errors.push_back(
        Invalid(path, policy, "only \"Never\" is supported when podFailurePolicy is specified"));
  }
}

// --- a job ---------------------------------------------------------------------------------------

void CheckLabel(const JobSpec& spec, std::string_view key, std::string_view wanted,
                FieldErrors& errors) {
  const auto labels = spec.template_().metadata().labels();
  const Path path("spec");
  const Path at = path.Child("template").Child("metadata").Child("labels");
  if (!labels.contains(key)) {
    errors.push_back(Required(at.Key(key), fmt::format("must be '{}'", wanted)));
  } else if (labels[key] != wanted) {
    errors.push_back(Invalid(at.Key(key), labels.value(), fmt::format("must be '{}'", wanted)));
  }
}

// Whether the selector picks the pods that carry the generated labels and nothing else.
bool SelectsGenerated(const Job& job, bool prefixed) {
  const Value name = Value::String(job.metadata().name());
  const Value uid = Value::String(job.metadata().uid());
  static constexpr auto kName = value::Name::Plain(kJobName);
  static constexpr auto kUid = value::Name::Plain(kControllerUid);
  static constexpr auto kOldName = value::Name::Plain(kLegacyJobName);
  static constexpr auto kOldUid = value::Name::Plain(kLegacyControllerUid);
  const value::Member labels[] = {{&kOldUid, uid}, {&kOldName, name}, {&kUid, uid}, {&kName, name}};
  return rest::SelectorMatches(
      job.spec().selector().value(),
      Value::Object(std::span<const value::Member>(labels).first(prefixed ? 4 : 2)));
}

void CheckGeneratedSelector(const Job& job, bool prefixed, FieldErrors& errors) {
  const auto spec = job.spec();
  if (spec.manualSelector().value_or(false) || !spec.selector()) return;
  const auto name = job.metadata().name();
  const auto uid = job.metadata().uid();
  if (uid.empty()) errors.push_back(Required(Path("metadata").Child("uid"), ""));
  CheckLabel(spec, kLegacyControllerUid, uid, errors);
  CheckLabel(spec, kLegacyJobName, name, errors);
  if (prefixed) {
    CheckLabel(spec, kControllerUid, uid, errors);
    CheckLabel(spec, kJobName, name, errors);
  }
  const Value selector = spec.selector().value();
  if (rest::IsUsableSelector(selector) && !SelectsGenerated(job, prefixed)) {
    errors.push_back(
        Invalid(Path("spec").Child("selector"), selector, "`selector` not auto-generated"));
  }
}

void CheckJobSpec(const WriteScope& scope, const JobSpec& spec, rest::SelectorLeniency leniency,
                  FieldErrors& errors) {
  const Path path("spec");
  CheckJobTemplate(scope, spec, path, errors);
  if (!spec.selector()) {
    errors.push_back(Required(path.Child("selector"), ""));
  } else {
    rest::CheckLabelSelector(spec.selector().value(), path.Child("selector"), errors, leniency);
  }
  if (rest::IsUsableSelector(spec.selector().value())) {
    CheckSelected(spec.selector(), spec.template_(), path.Child("template"), errors);
  }
}

// The pods of an indexed job are named after their index.
void CheckPodNames(const Job& job, FieldErrors& errors) {
  const auto completions = job.spec().completions().value_or(0);
  if (!IsIndexed(job.spec()) || completions <= 0) return;
  const auto name = job.metadata().name();
  // "-" and the digits of the last index.
  size_t suffix = 2;
  for (int32_t last = completions - 1; last >= 10; last /= 10) ++suffix;
  if (names::IsDns1123Label(name) && name.size() + suffix <= 63) return;
  errors.push_back(Invalid(Path("metadata").Child("name"), name,
                           fmt::format("will not able to create pod with invalid DNS label: {}-{}",
                                       name, completions - 1)));
}

void Validate(const WriteScope& scope, const Value& object, FieldErrors& errors) {
  const Job job(object);
  CheckGeneratedSelector(job, /*prefixed=*/true, errors);
  CheckJobSpec(scope, job.spec(), {}, errors);
  CheckPodNames(job, errors);
}

// --- changes of a job ----------------------------------------------------------------------------

// While a job is suspended and has no pods, its template may still be adjusted to where and with
// what they will run.
bool MayAdjustTemplate(const Job& old) {
  const bool started = old.status().startTime().has_value();
  return old.spec().suspend().value_or(false) && (!started || IsConditionTrue(old, "Suspended")) &&
         old.status().active() == 0;
}

// The containers of `old` with the resources of those in `now`, where they are the same ones.
Value WithResources(const Value& old, const Value& now, value::Arena& arena) {
  using api::core_v1::Container;
  const auto before = old.items();
  const auto after = now.items();
  if (before.size() != after.size()) return old;
  auto* merged = arena.AllocateArray<Value>(before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    schema::StructEditor container(Container::Schema(), before[i], arena);
    if (Container(before[i]).name() == Container(after[i]).name()) {
      container.Set(Container::Names::resources, after[i][Container::Names::resources]);
    }
    merged[i] = container.value();
  }
  return Value::List({merged, before.size()});
}

// The old affinity with the new node affinity; an affinity that held nothing else may go.
Value WithNodeAffinity(const Value& old, const Value& now, value::Arena& arena) {
  using api::core_v1::Affinity;
  schema::StructEditor affinity(Affinity::Schema(), old, arena);
  const Value node = now[Affinity::Names::nodeAffinity];
  if (node.is_null()) {
    affinity.Remove(Affinity::Names::nodeAffinity);
  } else {
    affinity.Set(Affinity::Names::nodeAffinity, node);
  }
  const bool empty = affinity.value().members().empty();
  if (now.is_null() && empty) return Value();
  return affinity.value().is_null() ? Value::EmptyObject() : affinity.value();
}

// The old pod spec with everything that may be adjusted taken from the new one.
Value Adjusted(const Value& old, const Value& now, value::Arena& arena) {
  using Names = PodSpec::Names;
  schema::StructEditor spec(PodSpec::Schema(), old, arena);
  auto put = [&](const value::Name& name, const Value& part) {
    if (part.is_null()) {
      spec.Remove(name);
    } else {
      spec.Set(name, part);
    }
  };
  for (const auto* name : {&Names::nodeSelector, &Names::tolerations, &Names::schedulingGates}) {
    put(*name, now[*name]);
  }
  if (!now[Names::affinity].is_null() || !old[Names::affinity].is_null()) {
    put(Names::affinity, WithNodeAffinity(old[Names::affinity], now[Names::affinity], arena));
  }
  for (const auto* name : {&Names::containers, &Names::initContainers}) {
    if (!old[*name].is_null()) put(*name, WithResources(old[*name], now[*name], arena));
  }
  return spec.value();
}

void CheckTemplateUnchanged(const Job& job, const Job& old, FieldErrors& errors) {
  const Path path("spec");
  const Value now = job.spec().template_().value();
  const Value before = old.spec().template_().value();
  if (schema::EqualByMeaning(PodTemplateSpec::Schema(), now, before)) return;
  if (!MayAdjustTemplate(old)) {
    errors.push_back(schema::Immutable(path.Child("template"),
                                       schema::InternalBadValue(PodTemplateSpec::Schema(), now)));
    return;
  }
  const auto arena = value::Arena::Make(4096);
  const Value spec = job.spec().template_().spec().value();
  rest::CheckImmutable(PodSpec::Schema(), spec,
                       Adjusted(old.spec().template_().spec().value(), spec, *arena),
                       path.Child("template.spec"), errors);
}

// Fixed, except that an indexed job may grow and shrink together with its parallelism.
void CheckCompletionsChange(const JobSpec& spec, const JobSpec& old, FieldErrors& errors) {
  const Path path("spec");
  if (!IsIndexed(spec)) {
    rest::CheckImmutableField(JobSpec::Schema(), JobSpec::Names::completions, spec.value(),
                              old.value(), path, errors);
    return;
  }
  const auto completions = spec.completions();
  if (!completions || completions == old.completions()) return;
  if (completions != spec.parallelism()) {
    errors.push_back(Invalid(path.Child("completions"), *completions,
                             "can only be modified in tandem with spec.parallelism"));
  }
}

void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& old_object,
                    FieldErrors& errors) {
  const Job job(object);
  const Job old(old_object);
  const auto old_labels = old.spec().template_().metadata().labels();
  const rest::SelectorLeniency leniency{.bad_values =
                                            rest::HasBadValues(old.spec().selector().value())};
  CheckGeneratedSelector(job, old_labels.contains(kJobName) && old_labels.contains(kControllerUid),
                         errors);
  FieldErrors spec_errors;
  CheckJobSpec(scope, job.spec(), leniency, spec_errors);
  schema::Append(errors, spec_errors);
  CheckPodNames(job, errors);
  // Upstream looks at the spec a second time and so reports its errors twice.
  schema::Append(errors, std::move(spec_errors));
  CheckCompletionsChange(job.spec(), old.spec(), errors);
  using Names = JobSpec::Names;
  const Path path("spec");
  rest::CheckImmutableField(JobSpec::Schema(), Names::selector, job.spec().value(),
                            old.spec().value(), path, errors);
  CheckTemplateUnchanged(job, old, errors);
  for (const auto* field :
       {&Names::completionMode, &Names::podFailurePolicy, &Names::backoffLimitPerIndex,
        &Names::managedBy, &Names::successPolicy}) {
    rest::CheckImmutableField(JobSpec::Schema(), *field, job.spec().value(), old.spec().value(),
                              path, errors);
  }
}

std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value* old) {
  std::vector<std::string> warnings;
  if (old == nullptr) WarnAboutName(object, warnings);
  if (GenerationMoved(object, old)) WarnAboutJobSpec(Job(object).spec(), Path("spec"), warnings);
  return warnings;
}

}  // namespace

void CheckJobTemplate(const WriteScope& scope, const JobSpec& spec, const Path& path,
                      FieldErrors& errors) {
  CheckNumbers(spec, path, errors);
  if (auto manager = spec.managedBy()) {
    rest::CheckDomainPrefixedPath(*manager, path.Child("managedBy"), errors);
    if (manager->size() > kMaxManagedBy) {
      errors.push_back(schema::TooLong(path.Child("managedBy"), kMaxManagedBy));
    }
  }
  CheckCompletionMode(spec, path, errors);
  if (spec.podFailurePolicy()) {
    CheckPodFailurePolicy(spec, path.Child("podFailurePolicy"), errors);
  }
  if (spec.successPolicy()) CheckSuccessPolicy(spec, path.Child("successPolicy"), errors);
  CheckReplacement(spec, path.Child("podReplacementPolicy"), errors);
  const Path at_template = path.Child("template");
  pod::ValidatePodTemplateSpec(spec.template_().value(), at_template, errors,
                               pod::TemplateRules(scope));
  CheckRestartPolicy(spec, at_template.Child("spec").Child("restartPolicy"), errors);
}

void WarnAboutJobSpec(const JobSpec& spec, const Path& path, std::vector<std::string>& warnings) {
  if (IsIndexed(spec) && spec.completions().value_or(0) > kManyCompletions &&
      spec.parallelism().value_or(0) > kMaxParallelismOfMany) {
    warnings.push_back(
        path.ToString() +
        ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher "
        "than 10^4, Kubernetes might not be able to track completedIndexes when a big number of "
        "indexes fail");
  }
  WarnAboutTemplate(spec.template_(), path.Child("template"), warnings);
}

// Deleting a job leaves its pods unless told otherwise, as in the days before garbage collection.
const rest::RuleStrategy kJob({.counts_generation = true,
                               .garbage_collection = rest::GarbageCollection::kOrphan,
                               .prepare_for_create = PrepareForCreate,
                               .validate = Validate,
                               .validate_update = ValidateUpdate,
                               .validate_status = ValidateJobStatus,
                               .warnings = Warnings});

}  // namespace keelson::kube::workload
