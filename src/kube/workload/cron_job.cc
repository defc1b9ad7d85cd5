// CronJob: makes a job whenever a schedule says so.

#include <algorithm>

#include "api/batch_v1.h"
#include "kube/workload/cron_schedule.h"
#include "kube/workload/job.h"
#include "kube/workload/kinds.h"
#include "kube/workload/pod_template.h"
#include "rest/field_checks.h"

namespace keelson::kube::workload {
namespace {

using api::batch_v1::CronJob;
using api::batch_v1::CronJobSpec;
using rest::CheckNonnegative;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using value::Path;
using value::Value;

// The jobs are named after it with eleven characters added, and a job's name has at most 63.
constexpr size_t kMaxName = 52;

bool NamesZone(std::string_view schedule) { return schedule.contains("TZ"); }

void CheckSchedule(const CronJobSpec& spec, bool may_name_zone, const Path& path,
                   FieldErrors& errors) {
  const auto schedule = spec.schedule();
  if (schedule.empty()) {
    errors.push_back(schema::Required(path, ""));
    return;
  }
  if (auto ok = CheckCronSchedule(schedule); !ok) {
    errors.push_back(Invalid(path, schedule, ok.error().message));
  }
  if (!NamesZone(schedule)) return;
  if (!may_name_zone) {
    errors.push_back(Invalid(path, schedule,
                             "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  } else if (spec.timeZone()) {
    errors.push_back(
        Invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"));
  }
}

// One component of a zone's name: [A-Za-z.\-_0-9+]{1,14}, but neither . nor .. nor -x.
bool IsZonePart(std::string_view part) {
  if (part.empty() || part.size() > 14 || part == "." || part == ".." || part.front() == '-') {
    return false;
  }
  return std::ranges::all_of(part, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == '+';
  });
}

bool IsLocal(std::string_view zone) {
  constexpr std::string_view kLocal = "local";
  return std::ranges::equal(zone, kLocal, [](char a, char b) { return (a | 0x20) == b; });
}

void CheckZone(std::string_view zone, const Path& path, FieldErrors& errors) {
  if (zone.empty()) {
    errors.push_back(Invalid(path, zone, "timeZone must be nil or non-empty string"));
    return;
  }
  for (size_t start = 0; start <= zone.size();) {
    const auto end = std::min(zone.find('/', start), zone.size());
    if (!IsZonePart(zone.substr(start, end - start))) {
      errors.push_back(Invalid(path, zone, "unknown time zone " + std::string(zone)));
      return;
    }
    start = end + 1;
  }
  if (IsLocal(zone)) {
    errors.push_back(Invalid(path, zone,
                             "timeZone must be an explicit time zone as defined in "
                             "https://www.iana.org/time-zones"));
  }
  if (auto ok = CheckTimeZone(zone); !ok) {
    errors.push_back(Invalid(path, zone, ok.error().message));
  }
}

void CheckTemplate(const WriteScope& scope, const CronJobSpec& spec, const Path& path,
                   FieldErrors& errors) {
  static constexpr std::string_view kNotManual[] = {"nil", "false"};
  const auto job = spec.jobTemplate().spec();
  CheckJobTemplate(scope, job, path, errors);
  if (job.selector()) {
    errors.push_back(Invalid(path.Child("selector"), job.selector().value(),
                             "`selector` will be auto-generated"));
  }
  if (job.manualSelector().value_or(false)) {
    errors.push_back(schema::NotSupported(path.Child("manualSelector"), true, kNotManual));
  }
}

// `old` is false on create.
void CheckSpec(const WriteScope& scope, const CronJobSpec& spec, const CronJobSpec& old,
               FieldErrors& errors) {
  static constexpr std::string_view kPolicies[] = {"Allow", "Forbid", "Replace"};
  const Path path("spec");
  CheckSchedule(spec, NamesZone(old.schedule()), path.Child("schedule"), errors);
  CheckNonnegative(spec.startingDeadlineSeconds(), path.Child("startingDeadlineSeconds"), errors);
  if (spec.timeZone() && (!old || spec.timeZone() != old.timeZone())) {
    CheckZone(*spec.timeZone(), path.Child("timeZone"), errors);
  }
  rest::CheckRequiredChoice(spec.concurrencyPolicy(), kPolicies, path.Child("concurrencyPolicy"),
                            errors);
  CheckTemplate(scope, spec, path.Child("jobTemplate").Child("spec"), errors);
  CheckNonnegative(spec.successfulJobsHistoryLimit(), path.Child("successfulJobsHistoryLimit"),
                   errors);
  CheckNonnegative(spec.failedJobsHistoryLimit(), path.Child("failedJobsHistoryLimit"), errors);
}

void Validate(const WriteScope& scope, const Value& object, FieldErrors& errors) {
  CheckSpec(scope, CronJob(object).spec(), CronJobSpec(), errors);
  const auto name = CronJob(object).metadata().name();
  if (name.size() > kMaxName) {
    errors.push_back(
        Invalid(Path("metadata").Child("name"), name, "must be no more than 52 characters"));
  }
}

void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& old,
                    FieldErrors& errors) {
  CheckSpec(scope, CronJob(object).spec(), CronJob(old).spec(), errors);
}

std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value* old) {
  std::vector<std::string> warnings;
  if (old == nullptr) WarnAboutName(object, warnings);
  const auto spec = CronJob(object).spec();
  if (GenerationMoved(object, old)) {
    const Path path("spec");
    WarnAboutJobSpec(spec.jobTemplate().spec(), path.Child("jobTemplate").Child("spec"), warnings);
  }
  if (old != nullptr && NamesZone(spec.schedule())) {
    // The path is upstream's, doubled.
    warnings.emplace_back(
        "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details");
  }
  return warnings;
}

}  // namespace

const rest::RuleStrategy kCronJob({.counts_generation = true,
                                   .validate = Validate,
                                   .validate_update = ValidateUpdate,
                                   .warnings = Warnings});

}  // namespace keelson::kube::workload
