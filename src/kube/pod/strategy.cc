#include "kube/pod/strategy.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/core_v1.h"
#include "base/names.h"
#include "kube/pod/prepare_spec.h"
#include "kube/pod/resources.h"
#include "kube/pod/subresources.h"
#include "kube/pod/validate_pod.h"
#include "rest/prepare.h"
#include "value/path.h"
#include "value/timestamp.h"

namespace keelson::kube::pod {
namespace {

namespace core = api::core_v1;
using rest::WriteScope;
using schema::FieldErrors;
using value::Path;
using value::Ref;
using value::Value;

SpecRules RulesFor(const WriteScope& scope) {
  return {.is_pod = true, .allow_privileged = scope.allow_privileged};
}

void SetStatus(Ref pod, WallTime now) {
  Ref status = pod.Field("status");
  status.Set(Value::EmptyObject());
  status.SetField("phase", Value::String("Pending", /*plain=*/true));
  const core::PodSpec spec(pod.Get()["spec"]);
  status.SetField("qosClass", Value::String(QosClass(spec), /*plain=*/true));
  if (spec.schedulingGates().empty()) return;
  static constexpr std::string_view kCondition[][2] = {
      {"type", "PodScheduled"},
      {"status", "False"},
      {"reason", "SchedulingGated"},
      {"message", "Scheduling is blocked due to non-empty scheduling gates"}};
  Ref condition = status.Field("conditions");
  condition.Set(Value::EmptyList());
  Ref item = condition.Append(Value::EmptyObject());
  for (const auto& [name, text] : kCondition) item.SetField(name, Value::String(text));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch();
  item.SetField("lastTransitionTime",
                pod.builder().String(value::FormatTime({.seconds = seconds.count()})));
}

// A pod is removed at once when no node knows it or it has nothing left to stop.
int64_t GraceOf(const Value& pod, std::optional<int64_t> asked) {
  const core::PodSpec spec(pod["spec"]);
  const auto phase = pod["status"]["phase"].AsString();
  if (spec.nodeName().empty() || phase == "Failed" || phase == "Succeeded") return 0;
  const int64_t grace = asked ? *asked : spec.terminationGracePeriodSeconds().value_or(0);
  return grace < 0 ? 1 : grace;
}

class PodStrategy : public rest::Strategy {
 public:
  bool CountsGeneration() const override { return true; }

  void PrepareForCreate(const WriteScope& scope, Ref pod) const override {
    SetStatus(pod, scope.now);
    MergeMatchLabelKeys(pod);
    for (auto& key : TakeOverAppArmorAnnotations(pod)) {
      const Path metadata("metadata");
      scope.Warn(
          fmt::format(R"({}: deprecated since v1.30; use the "appArmorProfile" field instead)",
                      metadata.Child("annotations").Key(key).ToString()));
    }
  }
  void Validate(const WriteScope& scope, const Value& pod, FieldErrors& errors) const override {
    ValidatePodCreate(pod, RulesFor(scope), errors);
  }
  void ValidateUpdate(const WriteScope& scope, const Value& pod, const Value& old,
                      FieldErrors& errors) const override {
    ValidatePodUpdate(pod, old, RulesFor(scope), errors);
  }
  std::vector<std::string> Warnings(const WriteScope& scope, const Value& pod,
                                    const Value* old) const override {
    std::vector<std::string> warnings;
    if (old) return warnings;  // people seldom update pods, and programs do not read warnings
    const auto name = pod["metadata"]["name"].AsString();
    if (!names::IsDns1123Label(name)) {
      warnings.push_back(fmt::format(
          "metadata.name: this is used in the Pod's hostname, which can result in surprising "
          "behavior; a DNS label is recommended: [{}]",
          fmt::join(names::CheckDns1123Label(name), " ")));
    }
    WarnAboutPodTemplate(pod, Path(), warnings);
    return warnings;
  }
  std::optional<int64_t> DeletionGrace(const Value& pod,
                                       std::optional<int64_t> asked) const override {
    return GraceOf(pod, asked);
  }
};

// What a write through a subresource leaves as it is, besides what it is about.
void KeepMetadata(Ref pod, const Value& old) {
  Ref metadata = pod.Field("metadata");
  for (std::string_view field : {"deletionTimestamp", "generation", "labels", "annotations",
                                 "finalizers", "ownerReferences"}) {
    rest::Restore(metadata, field, old["metadata"]);
  }
}

class PodStatusStrategy final : public PodStrategy {
 public:
  bool CountsGeneration() const override { return false; }
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kFields[] = {"spec", "metadata.deletionTimestamp",
                                                   "metadata.ownerReferences"};
    return kFields;
  }
  void PrepareForUpdate(const WriteScope& scope, Ref pod, const Value& old) const override {
    rest::Restore(pod, "spec", old);
    Ref metadata = pod.Field("metadata");
    metadata.RemoveField("deletionTimestamp");
    rest::Restore(metadata, "ownerReferences", old["metadata"]);
    const Value before = old["status"];
    Ref status = pod.Field("status");
    for (std::string_view field : {"qosClass", "observedGeneration"}) {
      const Value now = status.Get()[field];
      if (now.AsString().empty() && now.AsInt() == 0) rest::Restore(status, field, before);
    }
    KeepObservedGenerations(status, before);
  }
  void ValidateUpdate(const WriteScope& scope, const Value& pod, const Value& old,
                      FieldErrors& errors) const override {
    ValidatePodStatusUpdate(pod, old, errors);
  }
  std::vector<std::string> Warnings(const WriteScope&, const Value&, const Value*) const override {
    return {};
  }

 private:
  // A writer that does not know observedGeneration does not take it away. Types may repeat, so
  // they are matched one after the other.
  static void KeepObservedGenerations(Ref status, const Value& old) {
    const Value conditions = status.Get()["conditions"];
    std::unordered_map<std::string_view, std::vector<int64_t>> before;
    const auto olds = old["conditions"].items();
    for (size_t i = olds.size(); i > 0; --i) {
      before[olds[i - 1]["type"].AsString()].push_back(olds[i - 1]["observedGeneration"].AsInt());
    }
    for (size_t i = 0; i < conditions.items().size(); ++i) {
      const Value condition = conditions.At(i);
      auto& generations = before[condition["type"].AsString()];
      if (generations.empty()) continue;
      const int64_t generation = generations.back();
      generations.pop_back();
      if (generation == 0 || condition["observedGeneration"].AsInt() != 0) continue;
      status.Field("conditions").Item(i).SetField("observedGeneration", Value::Int(generation));
    }
  }
};

class EphemeralContainersStrategy final : public PodStrategy {
 public:
  void PrepareForUpdate(const WriteScope& scope, Ref pod, const Value& old) const override {
    const Value containers = pod.Get()["spec"]["ephemeralContainers"];
    KeepMetadata(pod, old);
    rest::Restore(pod, "status", old);
    rest::Restore(pod, "spec", old);
    Ref spec = pod.Field("spec");
    if (containers.items().empty()) {
      spec.RemoveField("ephemeralContainers");
    } else {
      spec.SetField("ephemeralContainers", containers);
    }
  }
  void ValidateUpdate(const WriteScope& scope, const Value& pod, const Value& old,
                      FieldErrors& errors) const override {
    ValidateEphemeralContainersUpdate(pod, old, RulesFor(scope), errors);
  }
};

class ResizeStrategy final : public PodStrategy {
 public:
  void PrepareForUpdate(const WriteScope& scope, Ref pod, const Value& old) const override {
    const Value spec = pod.Get()["spec"];
    const Value before = old["spec"];
    for (std::string_view list : {"containers", "initContainers"}) {
      // Validation says what is wrong with it.
      if (spec[list].items().size() != before[list].items().size()) return;
    }
    KeepMetadata(pod, old);
    rest::Restore(pod, "status", old);
    rest::Restore(pod, "spec", old);
    Ref kept = pod.Field("spec");
    rest::Restore(kept, "resources", spec);
    for (std::string_view list : {"containers", "initContainers"}) {
      KeepAllButSize(kept, list, spec[list], before[list]);
    }
  }
  void ValidateUpdate(const WriteScope& scope, const Value& pod, const Value& old,
                      FieldErrors& errors) const override {
    ValidatePodResize(pod, old, RulesFor(scope), errors);
  }

 private:
  // Containers that were renamed or moved are left as they came, for validation to refuse.
  static void KeepAllButSize(Ref spec, std::string_view field, const Value& now, const Value& old) {
    for (size_t i = 0; i < now.items().size(); ++i) {
      if (now.At(i)["name"] != old.At(i)["name"]) {
        spec.SetField(field, now);
        return;
      }
    }
    for (size_t i = 0; i < now.items().size(); ++i) {
      Ref container = spec.Field(field).Item(i);
      rest::Restore(container, "resources", now.At(i));
      rest::Restore(container, "resizePolicy", now.At(i));
    }
  }
};

}  // namespace

std::span<const rest::KindStrategy> Strategies() {
  static const PodStrategy kPods;
  static const rest::KindStrategy kEntries[] = {{"", "pods", &kPods}};
  return kEntries;
}

std::span<const rest::KindSubresource> Subresources() {
  static const PodStatusStrategy kStatus;
  static const EphemeralContainersStrategy kEphemeral;
  static const ResizeStrategy kResize;
  static const BindingHandler kBinding;
  static const BindingHandler kLegacyBinding(/*legacy=*/true);
  static const EvictionHandler kEviction;
  static const rest::KindSubresource kEntries[] = {
      {.resource = "pods", .subresource = "status", .strategy = &kStatus},
      {.resource = "pods", .subresource = "ephemeralcontainers", .strategy = &kEphemeral},
      {.resource = "pods", .subresource = "resize", .strategy = &kResize},
      {.resource = "pods", .subresource = "binding", .handler = &kBinding},
      {.resource = "bindings", .handler = &kLegacyBinding},
      {.resource = "pods", .subresource = "eviction", .handler = &kEviction},
  };
  return kEntries;
}

}  // namespace keelson::kube::pod
