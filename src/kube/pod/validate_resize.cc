// A pod's size: requests and limits of cpu and memory, which alone may change while it runs.

#include "kube/pod/resources.h"
#include "kube/pod/validate_pod.h"
#include "kube/pod/validation.h"
#include "schema/equality.h"

namespace keelson::kube::pod {
namespace {

using schema::EqualByMeaning;
using schema::Forbidden;
using schema::Invalid;

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";

bool IsResizable(std::string_view resource) { return resource == "cpu" || resource == "memory"; }

bool Removed(const Value& now, const Value& old) {
  return std::ranges::any_of(old.members(), [&](const value::Member& member) {
    return now.Find(*member.name) == nullptr;
  });
}

// Whether two lists agree on everything that may not be resized.
bool SameButSize(const Value& now, const Value& old) {
  auto covered = [](const Value& part, const Value& whole) {
    return std::ranges::all_of(part.members(), [&](const value::Member& member) {
      if (IsResizable(member.key())) return true;
      const Value* other = whole.Find(*member.name);
      return other &&
             QuantityOf(member.value.AsString()).Compare(QuantityOf(other->AsString())) == 0;
    });
  };
  return covered(now, old) && covered(old, now);
}

bool SameButSize(core::ResourceRequirements now, core::ResourceRequirements old) {
  return SameButSize(now.limits().value(), old.limits().value()) &&
         SameButSize(now.requests().value(), old.requests().value());
}

// Everything of a container but its resources; those are compared apart. Claims may not be there
// when anything is resized, as upstream rebuilds the requirements without them.
bool SameButResources(core::Container now, core::Container old) {
  for (const auto& field : core::Container::Schema().fields()) {
    if (field.text() == "resources") continue;
    if (!EqualByMeaning(*field.type, now.value()[*field.name], old.value()[*field.name])) {
      return false;
    }
  }
  return SameButSize(now.resources(), old.resources()) && old.resources().claims().empty();
}

bool ValidateOrder(ListView<core::Container> now, ListView<core::Container> old,
                   std::string_view field, const Path& spec_path, FieldErrors& errors) {
  const Path path = spec_path.Child(field);
  if (now.size() != old.size()) {
    errors.push_back(
        Forbidden(path, std::string(field) + " may not be added or removed on resize"));
    return false;
  }
  bool same = true;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].name() == old[i].name()) continue;
    errors.push_back(Forbidden(path.Index(i).Child("name"),
                               std::string(field) + " may not be renamed or reordered on resize"));
    same = false;
  }
  return same;
}

void ValidateNothingRemoved(core::ResourceRequirements now, core::ResourceRequirements old,
                            std::string_view what, const Path& path, FieldErrors& errors) {
  if (Removed(now.requests().value(), old.requests().value())) {
    errors.push_back(
        Forbidden(path.Child("requests"), std::string(what) + " requests cannot be removed"));
  }
  if (Removed(now.limits().value(), old.limits().value())) {
    errors.push_back(
        Forbidden(path.Child("limits"), std::string(what) + " limits cannot be removed"));
  }
}

bool HasAmounts(core::ResourceRequirements resources) {
  return !resources.requests().empty() || !resources.limits().empty();
}

void ValidatePodLevel(core::PodSpec spec, core::PodSpec old, const Path& path,
                      FieldErrors& errors) {
  if (!HasAmounts(spec.resources()) && !HasAmounts(old.resources())) return;
  if (old.resources() && !spec.resources()) {
    errors.push_back(Forbidden(path.Child("resources"), "pod-level resources cannot be removed"));
    return;
  }
  if (old.resources()) {
    ValidateNothingRemoved(spec.resources(), old.resources(), "pod-level resource",
                           path.Child("resources"), errors);
  }
  if (!SameButSize(spec.resources(), old.resources())) {
    errors.push_back(Forbidden(path, "only cpu and memory resources are mutable at pod-level"));
  }
}

// A node that reports what its containers have can change it.
bool NodeCanResize(core::PodStatus status) {
  for (auto container : status.containerStatuses()) {
    if (container.state().running()) return static_cast<bool>(container.resources());
  }
  return true;
}

}  // namespace

void ValidatePodResize(const Value& pod, const Value& old_pod, const SpecRules& rules,
                       FieldErrors& errors) {
  const core::PodSpec spec(pod["spec"]);
  const core::PodSpec old(old_pod["spec"]);
  const core::PodStatus status(old_pod["status"]);
  const Value metadata = pod["metadata"];
  const Path path("spec");
  const size_t before = errors.size();
  ValidatePodSpec(spec.value(), &metadata, path, errors, rules);
  if (old_pod["metadata"]["annotations"].Find(kMirror)) {
    errors = {Forbidden(Path(""), "static pods cannot be resized")};
    return;
  }
  if (old.os().name() == "windows") {
    errors = {Forbidden(Path(""), "windows pods cannot be resized")};
    return;
  }
  const auto qos = status.qosClass().empty() ? QosClass(old) : status.qosClass();
  if (qos != QosClass(spec)) {
    errors.push_back(Invalid(path, qos, "Pod QOS Class may not change as a result of resizing"));
  }
  if (!NodeCanResize(status)) {
    errors.push_back(Forbidden(path, "Pod running on node without support for resize"));
  }
  ValidatePodLevel(spec, old, path, errors);
  const bool same_containers =
      ValidateOrder(spec.containers(), old.containers(), "containers", path, errors);
  const bool same_init =
      ValidateOrder(spec.initContainers(), old.initContainers(), "initContainers", path, errors);
  if (!same_containers || !same_init) return;

  for (size_t i = 0; i < old.initContainers().size(); ++i) {
    const Path at = path.Child("initContainers").Index(i);
    ValidateNothingRemoved(spec.initContainers()[i].resources(),
                           old.initContainers()[i].resources(), "resource", at.Child("resources"),
                           errors);
  }
  for (size_t i = 0; i < old.containers().size(); ++i) {
    const Path at = path.Child("containers").Index(i);
    ValidateNothingRemoved(spec.containers()[i].resources(), old.containers()[i].resources(),
                           "resource", at.Child("resources"), errors);
  }
  for (size_t i = 0; i < old.containers().size(); ++i) {
    if (SameButResources(spec.containers()[i], old.containers()[i])) continue;
    errors.push_back(Forbidden(path, "only cpu and memory resources are mutable"));
  }
  for (size_t i = 0; i < old.initContainers().size(); ++i) {
    const auto now = spec.initContainers()[i];
    const auto was = old.initContainers()[i];
    const Path at = path.Child("initContainers").Index(i);
    if (!SameButResources(now, was)) {
      errors.push_back(Forbidden(
          at, "only cpu and memory resources for init or sidecar containers are mutable"));
    }
    if (now.restartPolicy() == "Always" ||
        EqualByMeaning(core::Container::Schema(), now.value(), was.value())) {
      continue;
    }
    for (auto policy : now.resizePolicy()) {
      if (policy.restartPolicy() != "RestartContainer") continue;
      errors.push_back(Forbidden(at,
                                 "non-sidecar init containers with a resize policy of "
                                 "RestartContainer cannot be resized"));
    }
  }
  if (errors.size() > before) return;
  for (const auto& field : core::PodSpec::Schema().fields()) {
    const auto name = field.text();
    if (name == "containers" || name == "initContainers" || name == "resources") continue;
    if (EqualByMeaning(*field.type, spec.value()[name], old.value()[name])) continue;
    errors.push_back(Forbidden(path, "only cpu and memory resources are mutable"));
    return;
  }
}

}  // namespace keelson::kube::pod
