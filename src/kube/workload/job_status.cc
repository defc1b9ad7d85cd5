// What a job's controller may say about it: the story must make sense, and may not be retold.

#include <fmt/format.h>

#include "kube/workload/job.h"
#include "rest/field_checks.h"
#include "rest/seen_texts.h"
#include "schema/internal_form.h"

namespace keelson::kube::workload {

using api::batch_v1::Job;
using api::batch_v1::JobStatus;
using rest::CheckNonnegative;
using schema::BadValue;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

bool IsConditionTrue(const Job& job, std::string_view type) {
  for (auto condition : job.status().conditions()) {
    if (condition.type() == type && condition.status() == "True") return true;
  }
  return false;
}

namespace {

// A job as its conditions tell it.
struct Story {
  explicit Story(const Job& job)
      : complete(IsConditionTrue(job, "Complete")),
        failed(IsConditionTrue(job, "Failed")),
        will_fail(IsConditionTrue(job, "FailureTarget")),
        succeeded(IsConditionTrue(job, "SuccessCriteriaMet")) {}

  bool finished() const { return complete || failed; }

  bool complete;
  bool failed;
  bool will_fail;
  bool succeeded;
};

// Which parts of the status this write changes. Rules that came late to upstream hold only for
// what a write touches.
struct Changes {
  Changes(const Job& job, const Job& old, const Story& now, const Story& before)
      : complete(now.complete != before.complete),
        failed(now.failed != before.failed),
        finished(now.finished() != before.finished()),
        will_fail(now.will_fail != before.will_fail),
        succeeded(now.succeeded != before.succeeded),
        completed_indexes(job.status().completedIndexes() != old.status().completedIndexes()),
        failed_indexes(job.status().failedIndexes() != old.status().failedIndexes()),
        active(job.status().active() != old.status().active()),
        ready(job.status().ready() != old.status().ready()),
        terminating(job.status().terminating() != old.status().terminating()),
        start_time(job.status().startTime() != old.status().startTime()),
        completion_time(job.status().completionTime() != old.status().completionTime()),
        uncounted(job.status().uncountedTerminatedPods().value() !=
                  old.status().uncountedTerminatedPods().value()) {}

  bool complete, failed, finished, will_fail, succeeded;
  bool completed_indexes, failed_indexes, active, ready, terminating;
  bool start_time, completion_time, uncounted;
};

void CheckUncounted(const Value& uids, const Path& path, rest::SeenTexts& seen,
                    FieldErrors& errors) {
  for (size_t i = 0; i < uids.items().size(); ++i) {
    const auto uid = uids.items()[i].AsString();
    if (uid.empty()) {
      errors.push_back(Invalid(path.Index(i), uid, "must not be empty"));
    } else if (!seen.Insert(uid)) {
      errors.push_back(schema::Duplicate(path.Index(i), uid));
    }
  }
}

void CheckNumbers(const JobStatus& status, const Path& path, FieldErrors& errors) {
  CheckNonnegative(status.active(), path.Child("active"), errors);
  CheckNonnegative(status.succeeded(), path.Child("succeeded"), errors);
  CheckNonnegative(status.failed(), path.Child("failed"), errors);
  CheckNonnegative(status.ready(), path.Child("ready"), errors);
  CheckNonnegative(status.terminating(), path.Child("terminating"), errors);
  if (auto uncounted = status.uncountedTerminatedPods()) {
    const Path at = path.Child("uncountedTerminatedPods");
    rest::SeenTexts seen;
    CheckUncounted(uncounted.succeeded().value(), at.Child("succeeded"), seen, errors);
    CheckUncounted(uncounted.failed().value(), at.Child("failed"), seen, errors);
  }
}

void CheckCompletion(const JobStatus& status, const Story& now, const Changes& changed,
                     const Path& path, FieldErrors& errors) {
  const auto contradiction = [&](std::string text) {
    errors.push_back(Invalid(path.Child("conditions"), BadValue::Omitted(), std::move(text)));
  };
  const Path at = path.Child("completionTime");
  if ((changed.complete || changed.failed) && now.complete && now.failed) {
    contradiction("cannot set Complete=True and Failed=true conditions");
  }
  if ((changed.complete || changed.will_fail) && now.complete && now.will_fail) {
    contradiction("cannot set Complete=True and FailureTarget=true conditions");
  }
  const auto completion = status.completionTime();
  if (changed.complete || changed.completion_time) {
    if (completion && !now.complete) {
      errors.push_back(Invalid(
          at, *completion, "cannot set completionTime when there is no Complete=True condition"));
    }
    if (!completion && now.complete) {
      errors.push_back(Required(at, "completionTime is required for Complete jobs"));
    }
  }
  // Both are in canonical form, where earlier sorts first.
  if ((changed.start_time || changed.completion_time) && status.startTime() && completion &&
      *completion < *status.startTime()) {
    errors.push_back(Invalid(at, *completion, "must be equal to or after `startTime`"));
  }
  if ((changed.failed || changed.failed_indexes) && now.failed && !now.will_fail) {
    contradiction("cannot set Failed=True condition without the FailureTarget=true condition");
  }
  if ((changed.complete || changed.succeeded) && now.complete && !now.succeeded) {
    contradiction(
        "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
}

void CheckFinished(const Job& job, const Changes& changed, const Path& path, FieldErrors& errors) {
  const auto status = job.status();
  if ((changed.finished || changed.active) && status.active() > 0) {
    errors.push_back(
        Invalid(path.Child("active"), status.active(), "active>0 is invalid for finished job"));
  }
  const bool never_ran = job.spec().suspend().value_or(false) && job.spec().completions() == 0;
  if ((changed.finished || changed.start_time) && !never_ran && !status.startTime()) {
    errors.push_back(Required(path.Child("startTime"), "startTime is required for finished job"));
  }
  const auto uncounted = status.uncountedTerminatedPods();
  if ((changed.finished || changed.uncounted) &&
      uncounted.failed().size() + uncounted.succeeded().size() > 0) {
    errors.push_back(
        Invalid(path.Child("uncountedTerminatedPods"),
                schema::InternalBadValue(api::batch_v1::UncountedTerminatedPods::Schema(),
                                         uncounted.value()),
                "must be empty for finished job"));
  }
}

void CheckIndexes(const Job& job, const Changes& changed, const Path& path, FieldErrors& errors) {
  const auto status = job.status();
  const auto completions = job.spec().completions();
  const bool per_index = job.spec().backoffLimitPerIndex().has_value();
  const auto failed = status.failedIndexes();
  const Path at_completed = path.Child("completedIndexes");
  const Path at_failed = path.Child("failedIndexes");
  const auto check_format = [&](std::string_view list, std::string_view field, const Path& at) {
    if (auto counted = CountIndexes(list, *completions); !counted) {
      errors.push_back(
          Invalid(at, list, fmt::format("error parsing {}: {}", field, counted.error().message)));
    }
  };
  if (changed.completed_indexes && completions) {
    check_format(status.completedIndexes(), "completedIndexes", at_completed);
  }
  if (changed.failed_indexes && completions && per_index && failed) {
    check_format(*failed, "failedIndexes", at_failed);
  }
  if (changed.completed_indexes && !status.completedIndexes().empty() &&
      job.spec().completionMode() != "Indexed") {
    errors.push_back(
        Invalid(at_completed, status.completedIndexes(),
                "cannot set non-empty completedIndexes when non-indexed completion mode"));
  }
  if (changed.failed_indexes && !per_index && failed) {
    errors.push_back(Invalid(
        at_failed, *failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null"));
  }
  if ((changed.failed_indexes || changed.completed_indexes) && completions && failed) {
    if (auto ok = CheckDisjointIndexes(status.completedIndexes(), *failed, *completions); !ok) {
      errors.push_back(Invalid(at_failed, *failed, ok.error().message));
    }
  }
}

void CheckPods(const Job& job, const Story& now, const Changes& changed, const Path& path,
               FieldErrors& errors) {
  const auto status = job.status();
  const auto contradiction = [&](std::string text) {
    errors.push_back(Invalid(path.Child("conditions"), BadValue::Omitted(), std::move(text)));
  };
  if ((changed.finished || changed.terminating) && status.terminating() > 0 && now.finished()) {
    errors.push_back(Invalid(path.Child("terminating"), *status.terminating(),
                             "terminating>0 is invalid for finished job"));
  }
  if ((changed.ready || changed.active) && status.ready() > status.active()) {
    errors.push_back(
        Invalid(path.Child("ready"), *status.ready(), "cannot set more ready pods than active"));
  }
  if (now.succeeded && now.failed) {
    contradiction("cannot set SuccessCriteriaMet=True and Failed=true conditions");
  }
  if (now.succeeded && now.will_fail) {
    contradiction("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
  }
  if (job.spec().successPolicy() && !now.succeeded && now.complete) {
    contradiction(
        "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }
}

// What was once said stands.
void CheckHistory(const Job& job, const Job& old, const Changes& changed, const Path& path,
                  FieldErrors& errors) {
  const auto status = job.status();
  const auto before = old.status();
  for (std::string_view type : {"Failed", "Complete", "FailureTarget"}) {
    if (IsConditionTrue(old, type) && !IsConditionTrue(job, type)) {
      errors.push_back(Invalid(path.Child("conditions"), BadValue::Omitted(),
                               fmt::format("cannot disable the terminal {}=True condition", type)));
    }
  }
  if (status.failed() < before.failed()) {
    errors.push_back(
        Invalid(path.Child("failed"), status.failed(), "cannot decrease the failed counter"));
  }
  // An indexed job that shrinks forgets what the indexes beyond its end achieved.
  const bool elastic = job.spec().completionMode() == "Indexed" &&
                       job.spec().completions() == job.spec().parallelism();
  if (!elastic && status.succeeded() < before.succeeded()) {
    errors.push_back(Invalid(path.Child("succeeded"), status.succeeded(),
                             "cannot decrease the succeeded counter"));
  }
  if (status.completionTime() && before.completionTime() && changed.completion_time) {
    errors.push_back(
        Invalid(path.Child("completionTime"), *status.completionTime(), "field is immutable"));
  }
  bool resumes = false;
  for (auto condition : status.conditions()) {
    resumes |= condition.type() == "Suspended" && condition.status() == "False";
  }
  resumes = resumes && IsConditionTrue(old, "Suspended");
  if (changed.start_time && !resumes && before.startTime() &&
      !job.spec().suspend().value_or(false)) {
    errors.push_back(Invalid(path.Child("startTime"), status.value()["startTime"],
                             "field is immutable for unsuspended job once set"));
  }
}

}  // namespace

void ValidateJobStatus(const rest::WriteScope&, const Value& object, const Value& old_object,
                       FieldErrors& errors) {
  const Job job(object);
  const Job old(old_object);
  const Story now(job);
  const Story before(old);
  const Changes changed(job, old, now, before);
  const Path path("status");
  CheckNumbers(job.status(), path, errors);
  CheckCompletion(job.status(), now, changed, path, errors);
  if (now.finished()) CheckFinished(job, changed, path, errors);
  CheckIndexes(job, changed, path, errors);
  CheckPods(job, now, changed, path, errors);
  CheckHistory(job, old, changed, path, errors);
  if (before.succeeded && !now.succeeded) {
    errors.push_back(Invalid(path.Child("conditions"), BadValue::Omitted(),
                             "cannot disable the SuccessCriteriaMet=True condition"));
  }
  if (before.complete && !before.succeeded && now.succeeded) {
    errors.push_back(
        Invalid(path.Child("conditions"), BadValue::Omitted(),
                "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"));
  }
}

}  // namespace keelson::kube::workload
