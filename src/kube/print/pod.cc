// Pods. Ready, Status and Restarts tell one story, worked out together from phase, conditions and
// the states of the containers: what hinders init containers comes first, then what the last of the
// containers reports, then that the pod is being deleted.

#include <fmt/format.h>

#include <algorithm>

#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using api::core_v1::ContainerState;
using api::core_v1::ContainerStatus;
using api::core_v1::Pod;
using api::core_v1::PodStatus;
using rest::Row;
using value::Value;

// Restarts of containers and when the last of them happened. Times of one form compare as texts.
struct Restarts {
  int64_t count = 0;
  std::string_view last;

  void Add(const ContainerStatus& container) {
    count += container.restartCount();
    last = std::max(last, container.lastState().terminated().finishedAt());
  }
};

struct Story {
  int64_t containers = 0;
  int64_t ready = 0;
  std::string reason;
  Restarts restarts;
};

bool IsSidecar(const Pod& pod, std::string_view name) {
  for (const auto& container : pod.spec().initContainers()) {
    if (container.name() == name) return container.restartPolicy() == "Always";
  }
  return false;
}

bool ConditionIsTrue(const PodStatus& status, std::string_view type) {
  for (const auto& condition : status.conditions()) {
    if (condition.type() == type) return condition.status() == "True";
  }
  return false;
}

std::string ExitText(const api::core_v1::ContainerStateTerminated& terminated) {
  if (!terminated.reason().empty()) return std::string(terminated.reason());
  if (terminated.signal() != 0) return fmt::format("Signal:{}", terminated.signal());
  return fmt::format("ExitCode:{}", terminated.exitCode());
}

// What the first init container that is not done yet says; empty when all are.
std::string InitReason(const Pod& pod, const ContainerStatus& container, size_t position) {
  const auto state = container.state();
  if (state.terminated()) return "Init:" + ExitText(state.terminated());
  const auto waiting = state.waiting().reason();
  if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + std::string(waiting);
  return fmt::format("Init:{}/{}", position, pod.spec().initContainers().size());
}

// Returns whether the pod is still initializing. `sidecars` gets the restarts of those alone.
bool TellInitContainers(const Pod& pod, Story& story, Restarts& sidecars) {
  const auto statuses = pod.status().initContainerStatuses();
  for (size_t i = 0; i < statuses.size(); ++i) {
    const auto container = statuses[i];
    const bool sidecar = IsSidecar(pod, container.name());
    story.restarts.Add(container);
    if (sidecar) sidecars.Add(container);
    const auto terminated = container.state().terminated();
    if (terminated && terminated.exitCode() == 0) continue;
    if (sidecar && container.started().value_or(false)) {
      if (container.ready()) ++story.ready;
      continue;
    }
    story.reason = InitReason(pod, container, i);
    return true;
  }
  return false;
}

void TellContainers(const Pod& pod, Story& story) {
  bool running = false;
  std::string error;
  const auto statuses = pod.status().containerStatuses();
  for (size_t i = statuses.size(); i-- > 0;) {
    const auto container = statuses[i];
    const auto state = container.state();
    story.restarts.Add(container);
    if (!state.waiting().reason().empty()) {
      story.reason = state.waiting().reason();
    } else if (state.terminated()) {
      story.reason = ExitText(state.terminated());
      if (state.terminated().exitCode() != 0) error = story.reason;
    } else if (container.ready() && state.running()) {
      running = true;
      ++story.ready;
    }
  }
  if (story.reason != "Completed") return;
  if (running && ConditionIsTrue(pod.status(), "Ready")) {
    story.reason = "Running";
  } else if (!error.empty()) {
    story.reason = error;
  } else if (running) {
    story.reason = "NotReady";
  }
}

Story Tell(const Pod& pod) {
  const auto status = pod.status();
  Story story;
  story.reason = OrElse(status.reason(), status.phase());
  for (const auto& condition : status.conditions()) {
    if (condition.type() == "PodScheduled" && condition.reason() == "SchedulingGated") {
      story.reason = "SchedulingGated";
    }
  }
  story.containers = static_cast<int64_t>(pod.spec().containers().size());
  for (const auto& container : pod.spec().initContainers()) {
    if (container.restartPolicy() == "Always") ++story.containers;
  }
  Restarts sidecars;
  if (!TellInitContainers(pod, story, sidecars) || ConditionIsTrue(status, "Initialized")) {
    story.restarts = sidecars;
    TellContainers(pod, story);
  }
  if (pod.metadata().deletionTimestamp()) {
    if (status.reason() == "NodeLost") {
      story.reason = "Unknown";
    } else if (status.phase() != "Succeeded" && status.phase() != "Failed") {
      story.reason = "Terminating";
    }
  }
  return story;
}

void PodState(const Value& object, Row& row) {
  const Pod pod(object);
  const auto story = Tell(pod);
  row.Text(fmt::format("{}/{}", story.ready, story.containers));
  row.Text(story.reason);
  row.Text(story.restarts.count != 0 && !story.restarts.last.empty()
               ? fmt::format("{} ({} ago)", story.restarts.count, row.AgeText(story.restarts.last))
               : std::to_string(story.restarts.count));
  if (pod.status().phase() == "Succeeded") {
    row.Completed("Succeeded", "The pod has completed successfully.");
  } else if (pod.status().phase() == "Failed") {
    row.Completed("Failed", "The pod failed.");
  }
}

void PodAddress(const Value& object, Row& row) {
  const auto addresses = Pod(object).status().podIPs();
  row.Text(addresses.empty() ? kNone : OrElse(addresses[0].ip(), kNone));
}

void ReadinessGates(const Value& object, Row& row) {
  const Pod pod(object);
  const auto gates = pod.spec().readinessGates();
  if (gates.empty()) return row.Text(kNone);
  size_t open = 0;
  for (const auto& gate : gates)
    open += ConditionIsTrue(pod.status(), gate.conditionType()) ? 1 : 0;
  row.Text(fmt::format("{}/{}", open, gates.size()));
}

constexpr std::string_view kStateReads =
    "metadata.deletionTimestamp spec.containers.name spec.initContainers.name "
    "spec.initContainers.restartPolicy status.phase status.reason status.conditions.type "
    "status.conditions.status status.conditions.reason status.initContainerStatuses.name "
    "status.initContainerStatuses.ready status.initContainerStatuses.started "
    "status.initContainerStatuses.restartCount status.initContainerStatuses.state "
    "status.initContainerStatuses.lastState.terminated.finishedAt "
    "status.containerStatuses.ready status.containerStatuses.restartCount "
    "status.containerStatuses.state status.containerStatuses.lastState.terminated.finishedAt";

constexpr rest::Cell kPodCells[] = {
    rest::kNameCell,
    rest::ComputedCell(PodState, kStateReads),
    rest::kAgeCell,
    rest::ComputedCell(PodAddress, "status.podIPs"),
    rest::TextCell("spec.nodeName", kNone),
    rest::TextCell("status.nominatedNodeName", kNone),
    rest::ComputedCell(ReadinessGates,
                       "spec.readinessGates status.conditions.type status.conditions.status"),
};

void TemplateContainers(const Value& object, Row& row) {
  ContainerCells(api::core_v1::PodTemplate(object).template_().spec().containers(), row);
}

void TemplateLabels(const Value& object, Row& row) {
  row.Text(LabelText(api::core_v1::PodTemplate(object).template_().metadata().labels()));
}

constexpr rest::Cell kPodTemplateCells[] = {
    rest::kNameCell,
    rest::ComputedCell(TemplateContainers,
                       "template.spec.containers.name template.spec.containers.image"),
    rest::ComputedCell(TemplateLabels, "template.metadata.labels"),
};

constexpr rest::TablePrinter kPrinters[] = {
    {"", "pods", kPodCells},
    {"", "podtemplates", kPodTemplateCells},
};

}  // namespace

std::span<const rest::TablePrinter> PodPrinters() { return kPrinters; }

}  // namespace keelson::kube::print
