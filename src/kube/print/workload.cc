// What keeps pods running: the apps and batch groups, replication controllers.

#include <fmt/format.h>

#include "api/apps_v1.h"
#include "api/batch_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"
#include "value/timestamp.h"

namespace keelson::kube::print {
namespace {

using rest::Row;
using value::Value;

// Two cells: names and images of the template's containers.
template <typename Kind>
void TemplateContainers(const Value& object, Row& row) {
  ContainerCells(Kind(object).spec().template_().spec().containers(), row);
}
constexpr std::string_view kTemplateReads =
    "spec.template.spec.containers.name spec.template.spec.containers.image";

template <typename Kind>
void Selector(const Value& object, Row& row) {
  row.Text(OrElse(SelectorText(Kind(object).spec().selector()), kNone));
}

template <typename Kind>
void ReadyOfDesired(const Value& object, Row& row) {
  const Kind kind(object);
  row.Text(fmt::format("{}/{}", kind.status().readyReplicas(), kind.spec().replicas().value_or(0)));
}

void ControllerSelector(const Value& object, Row& row) {
  row.Text(LabelText(api::core_v1::ReplicationController(object).spec().selector()));
}

constexpr rest::Cell kReplicationControllerCells[] = {
    rest::kNameCell,
    rest::IntCell("spec.replicas"),
    rest::IntCell("status.replicas"),
    rest::IntCell("status.readyReplicas"),
    rest::kAgeCell,
    rest::ComputedCell(TemplateContainers<api::core_v1::ReplicationController>, kTemplateReads),
    rest::ComputedCell(ControllerSelector, "spec.selector"),
};

constexpr rest::Cell kReplicaSetCells[] = {
    rest::kNameCell,
    rest::IntCell("spec.replicas"),
    rest::IntCell("status.replicas"),
    rest::IntCell("status.readyReplicas"),
    rest::kAgeCell,
    rest::ComputedCell(TemplateContainers<api::apps_v1::ReplicaSet>, kTemplateReads),
    rest::ComputedCell(Selector<api::apps_v1::ReplicaSet>, "spec.selector"),
};

void DeploymentSelector(const Value& object, Row& row) {
  row.Text(SelectorText(api::apps_v1::Deployment(object).spec().selector()));
}

constexpr rest::Cell kDeploymentCells[] = {
    rest::kNameCell,
    rest::ComputedCell(ReadyOfDesired<api::apps_v1::Deployment>,
                       "status.readyReplicas spec.replicas"),
    rest::IntCell("status.updatedReplicas"),
    rest::IntCell("status.availableReplicas"),
    rest::kAgeCell,
    rest::ComputedCell(TemplateContainers<api::apps_v1::Deployment>, kTemplateReads),
    rest::ComputedCell(DeploymentSelector, "spec.selector"),
};

constexpr rest::Cell kStatefulSetCells[] = {
    rest::kNameCell,
    rest::ComputedCell(ReadyOfDesired<api::apps_v1::StatefulSet>,
                       "status.readyReplicas spec.replicas"),
    rest::kAgeCell,
    rest::ComputedCell(TemplateContainers<api::apps_v1::StatefulSet>, kTemplateReads),
};

void DaemonNodes(const Value& object, Row& row) {
  row.Text(LabelText(api::apps_v1::DaemonSet(object).spec().template_().spec().nodeSelector()));
}

constexpr rest::Cell kDaemonSetCells[] = {
    rest::kNameCell,
    rest::IntCell("status.desiredNumberScheduled"),
    rest::IntCell("status.currentNumberScheduled"),
    rest::IntCell("status.numberReady"),
    rest::IntCell("status.updatedNumberScheduled"),
    rest::IntCell("status.numberAvailable"),
    rest::ComputedCell(DaemonNodes, "spec.template.spec.nodeSelector"),
    rest::kAgeCell,
    rest::ComputedCell(TemplateContainers<api::apps_v1::DaemonSet>, kTemplateReads),
    rest::ComputedCell(Selector<api::apps_v1::DaemonSet>, "spec.selector"),
};

// "statefulset.apps/web"
void RevisionController(const Value& object, Row& row) {
  const api::apps_v1::ControllerRevision revision(object);
  for (const auto& owner : revision.metadata().ownerReferences()) {
    if (!owner.controller().value_or(false)) continue;
    std::string kind(owner.kind());
    const auto version = owner.apiVersion();
    if (const auto slash = version.find('/'); slash != std::string_view::npos) {
      kind += "." + std::string(version.substr(0, slash));
    }
    return row.Text(LowerCase(kind) + "/" + std::string(owner.name()));
  }
  row.Text(kNone);
}

constexpr rest::Cell kRevisionCells[] = {
    rest::kNameCell,
    rest::ComputedCell(RevisionController, "metadata.ownerReferences"),
    rest::IntCell("revision"),
    rest::kAgeCell,
};

// The first of these that is so, else it runs.
void JobStatus(const Value& object, Row& row) {
  const api::batch_v1::Job job(object);
  auto holds = [&](std::string_view type) {
    for (const auto& condition : job.status().conditions()) {
      if (condition.type() == type) return condition.status() == "True";
    }
    return false;
  };
  if (holds("Complete")) return row.Text("Complete");
  if (holds("Failed")) return row.Text("Failed");
  if (job.metadata().deletionTimestamp()) return row.Text("Terminating");
  for (auto type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (holds(type)) return row.Text(type);
  }
  row.Text("Running");
}

void JobCompletions(const Value& object, Row& row) {
  const api::batch_v1::Job job(object);
  const auto done = job.status().succeeded();
  const auto parallel = job.spec().parallelism().value_or(0);
  if (auto wanted = job.spec().completions()) {
    row.Text(fmt::format("{}/{}", done, *wanted));
  } else if (parallel > 1) {
    row.Text(fmt::format("{}/1 of {}", done, parallel));
  } else {
    row.Text(fmt::format("{}/1", done));
  }
}

void JobDuration(const Value& object, Row& row) {
  const auto status = api::batch_v1::Job(object).status();
  if (!status.startTime()) return row.Text("");
  if (!status.completionTime()) return row.Age(*status.startTime());
  const auto start = value::ParseTime(*status.startTime()).value_or(value::Timestamp{});
  const auto end = value::ParseTime(*status.completionTime()).value_or(value::Timestamp{});
  row.Text(rest::HumanDuration(std::chrono::seconds(end.seconds - start.seconds)));
}

constexpr rest::Cell kJobCells[] = {
    rest::kNameCell,
    rest::ComputedCell(JobStatus,
                       "status.conditions.type status.conditions.status "
                       "metadata.deletionTimestamp"),
    rest::ComputedCell(JobCompletions, "status.succeeded spec.completions spec.parallelism"),
    rest::ComputedCell(JobDuration, "status.startTime status.completionTime"),
    rest::kAgeCell,
    rest::ComputedCell(TemplateContainers<api::batch_v1::Job>, kTemplateReads),
    rest::ComputedCell(Selector<api::batch_v1::Job>, "spec.selector"),
};

// As Go prints it, for this column declares a boolean but holds a text.
void CronJobSuspend(const Value& object, Row& row) {
  const auto suspend = api::batch_v1::CronJob(object).spec().suspend();
  row.Text(!suspend ? kUnset : *suspend ? "True" : "False");
}

void LastSchedule(const Value& object, Row& row) {
  const auto last = api::batch_v1::CronJob(object).status().lastScheduleTime();
  row.Text(last ? row.AgeText(*last) : std::string(kNone));
}

void CronJobContainers(const Value& object, Row& row) {
  ContainerCells(
      api::batch_v1::CronJob(object).spec().jobTemplate().spec().template_().spec().containers(),
      row);
}

void CronJobSelector(const Value& object, Row& row) {
  const auto job = api::batch_v1::CronJob(object).spec().jobTemplate().spec();
  row.Text(OrElse(SelectorText(job.selector()), kNone));
}

constexpr rest::Cell kCronJobCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.schedule"),
    rest::TextCell("spec.timeZone", kNone),
    rest::ComputedCell(CronJobSuspend, "spec.suspend"),
    rest::CountCell("status.active"),
    rest::ComputedCell(LastSchedule, "status.lastScheduleTime"),
    rest::kAgeCell,
    rest::ComputedCell(CronJobContainers,
                       "spec.jobTemplate.spec.template.spec.containers.name "
                       "spec.jobTemplate.spec.template.spec.containers.image"),
    rest::ComputedCell(CronJobSelector, "spec.jobTemplate.spec.selector"),
};

constexpr rest::TablePrinter kPrinters[] = {
    {"", "replicationcontrollers", kReplicationControllerCells},
    {"apps", "replicasets", kReplicaSetCells},
    {"apps", "deployments", kDeploymentCells},
    {"apps", "statefulsets", kStatefulSetCells},
    {"apps", "daemonsets", kDaemonSetCells},
    {"apps", "controllerrevisions", kRevisionCells},
    {"batch", "jobs", kJobCells},
    {"batch", "cronjobs", kCronJobCells},
};

}  // namespace

std::span<const rest::TablePrinter> WorkloadPrinters() { return kPrinters; }

}  // namespace keelson::kube::print
