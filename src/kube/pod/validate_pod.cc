// New pods, changed pods, and pods that get containers to look around in.

#include "kube/pod/validate_pod.h"

#include <fmt/format.h>

#include <limits>

#include "base/quote.h"
#include "kube/pod/spec_diff.h"
#include "kube/pod/validation.h"
#include "schema/equality.h"
#include "value/document.h"

namespace keelson::kube::pod {
namespace {

using schema::EqualByMeaning;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kAppArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

// What holds for every state of a pod and not for templates.
void ValidateAnyPod(const Value& pod, const SpecRules& rules, FieldErrors& errors) {
  const Value metadata = pod["metadata"];
  const core::PodSpec spec(pod["spec"]);
  const Path path("spec");
  const Path metadata_path("metadata");
  ValidatePodAnnotations(metadata["annotations"], spec, metadata_path.Child("annotations"), errors);
  ValidatePodSpec(spec.value(), &metadata, path, errors, rules);
  if (spec.serviceAccountName().empty()) {
    size_t i = 0;
    for (auto volume : spec.volumes()) {
      const Path at = path.Child("volumes").Index(i++);
      size_t j = 0;
      for (auto source : volume.projected().sources()) {
        const Path source_path = at.Child("projected").Child("sources").Index(j++);
        if (!source.serviceAccountToken()) continue;
        errors.push_back(Forbidden(source_path.Child("serviceAccountToken"),
                                   "must not be specified when serviceAccountName is not set"));
      }
    }
  }
  size_t i = 0;
  for (auto container : spec.containers()) {
    ValidateContainerForPod(container, path.Child("containers").Index(i++), errors);
  }
  i = 0;
  for (auto container : spec.initContainers()) {
    ValidateContainerForPod(container, path.Child("initContainers").Index(i++), errors);
  }
}

// Annotations that belong to whoever made the pod.
void ValidateAnnotationUpdate(const Value& pod, const Value& old, FieldErrors& errors) {
  const Value now = pod["metadata"]["annotations"];
  const Value before = old["metadata"]["annotations"];
  const Path metadata("metadata");
  const Path path = metadata.Child("annotations");
  for (const auto& member : before.members()) {
    const Value* kept = now.Find(*member.name);
    if (kept && *kept == member.value) continue;
    if (member.key().starts_with(kAppArmorPrefix)) {
      errors.push_back(
          Forbidden(path.Key(member.key()), "may not remove or update AppArmor annotations"));
    }
    if (member.key() == kMirror) {
      errors.push_back(
          Forbidden(path.Key(member.key()), "may not remove or update mirror pod annotation"));
    }
  }
  for (const auto& member : now.members()) {
    if (before.Find(*member.name)) continue;
    if (member.key().starts_with(kAppArmorPrefix)) {
      errors.push_back(Forbidden(path.Key(member.key()), "may not add AppArmor annotations"));
    }
    if (member.key() == kMirror) {
      errors.push_back(Forbidden(path.Key(member.key()), "may not add mirror pod annotation"));
    }
  }
  ValidatePodAnnotations(now, core::PodSpec(pod["spec"]), path, errors);
}

// Containers may get other images and nothing else. False when the rest cannot be compared.
bool ValidateImages(ListView<core::Container> now, ListView<core::Container> old, const Path& path,
                    FieldErrors& errors) {
  if (now.size() != old.size()) {
    errors.push_back(Forbidden(path, "pod updates may not add or remove containers"));
    return false;
  }
  size_t i = 0;
  for (auto container : now) {
    const Path at = path.Index(i++);
    RequireText(container.image(), at.Child("image"), errors);
    ValidateContainerForPod(container, at, errors);
  }
  return true;
}

// False when nothing after it is worth reporting.
bool ValidateDeadline(core::PodSpec spec, core::PodSpec old, FieldErrors& errors) {
  const Path spec_path("spec");
  const Path path = spec_path.Child("activeDeadlineSeconds");
  const auto now = spec.activeDeadlineSeconds();
  const auto before = old.activeDeadlineSeconds();
  if (!now) {
    if (before) {
      errors.push_back(Invalid(path, schema::BadValue::Json("null"),
                               "must not update from a positive integer to nil value"));
    }
    return true;
  }
  if (*now < 0 || *now > std::numeric_limits<int32_t>::max()) {
    errors.push_back(Invalid(path, *now, "must be between 0 and 2147483647, inclusive"));
    return false;
  }
  if (before && *before < *now) {
    errors.push_back(Invalid(path, *now, "must be less than or equal to previous value"));
    return false;
  }
  return true;
}

bool SameButSeconds(core::Toleration a, core::Toleration b) {
  return a.key() == b.key() && a.operator_() == b.operator_() && a.value_() == b.value_() &&
         a.effect() == b.effect();
}

void ValidateAddedTolerations(core::PodSpec spec, core::PodSpec old, FieldErrors& errors) {
  const Path spec_path("spec");
  const Path path = spec_path.Child("tolerations");
  const auto now = spec.tolerations();
  for (auto before : old.tolerations()) {
    const bool kept = std::any_of(now.begin(), now.end(), [&](core::Toleration toleration) {
      return SameButSeconds(before, toleration);
    });
    if (kept) continue;
    errors.push_back(
        Forbidden(path, "existing toleration can not be modified except its tolerationSeconds"));
    return;
  }
  ValidateTolerations(now, path, errors);
}

void ValidateRemovedGates(core::PodSpec spec, core::PodSpec old, FieldErrors& errors) {
  if (spec.schedulingGates().empty()) return;
  SeenTexts before;
  for (auto gate : old.schedulingGates()) before.Insert(gate.name());
  const Path spec_path("spec");
  size_t i = 0;
  for (auto gate : spec.schedulingGates()) {
    const Path at = spec_path.Child("schedulingGates").Index(i++);
    if (before.Contains(gate.name())) continue;
    errors.push_back(Forbidden(
        at.Child("name"),
        fmt::format("only deletion is allowed, but found new scheduling gate '{}'", gate.name())));
  }
}

// `list` with the images of `old`, which has as many containers.
Value WithOldImages(value::Builder& builder, const Value& list, const Value& old) {
  std::vector<Value> containers;
  const auto items = list.items();
  for (size_t i = 0; i < items.size(); ++i) {
    std::vector<value::Member> members(items[i].members().begin(), items[i].members().end());
    for (auto& member : members) {
      if (member.key() == "image") member = {member.name, old.At(i)["image"]};
    }
    containers.push_back(builder.Object(members));
  }
  return builder.List(containers);
}

void Take(value::Ref spec, std::string_view field, const Value& old) {
  if (const Value* before = old.Find(field)) {
    spec.SetField(field, before->Shared());
  } else {
    spec.RemoveField(field);
  }
}

bool TermOnlyGrew(core::NodeSelectorTerm now, core::NodeSelectorTerm old) {
  auto grew = [](const Value& longer, const Value& shorter) {
    if (longer.items().size() < shorter.items().size()) return false;
    for (size_t i = 0; i < shorter.items().size(); ++i) {
      if (!EqualByMeaning(core::NodeSelectorRequirement::Schema(), longer.items()[i],
                          shorter.items()[i])) {
        return false;
      }
    }
    return true;
  };
  if (old.matchExpressions().empty() && old.matchFields().empty()) {
    return now.matchExpressions().empty() && now.matchFields().empty();
  }
  return grew(now.matchExpressions().value(), old.matchExpressions().value()) &&
         grew(now.matchFields().value(), old.matchFields().value());
}

void ValidateNodeAffinityGrew(core::NodeAffinity now, core::NodeAffinity old, FieldErrors& errors) {
  const auto before = old.requiredDuringSchedulingIgnoredDuringExecution().nodeSelectorTerms();
  const auto after = now.requiredDuringSchedulingIgnoredDuringExecution().nodeSelectorTerms();
  if (before.empty()) return;
  const Path spec_path("spec");
  const Path affinity = spec_path.Child("affinity").Child("nodeAffinity");
  const Path path =
      affinity.Child("requiredDuringSchedulingIgnoredDuringExecution").Child("nodeSelectorTerms");
  if (before.size() != after.size()) {
    errors.push_back(
        Invalid(path, after.value(),
                "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
    return;
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (TermOnlyGrew(after[i], before[i])) continue;
    errors.push_back(Invalid(path.Index(i), after[i].value(),
                             "only additions are allowed (no mutations or deletions)"));
  }
}

// While a pod waits at its gates, where it may go can be narrowed.
void MaskGatedChanges(value::Ref spec, core::PodSpec old, FieldErrors& errors) {
  if (old.schedulingGates().empty()) return;
  const core::PodSpec now(spec.Get());
  const Path path("spec");
  for (auto [key, value] : old.nodeSelector()) {
    if (now.nodeSelector().contains(key) && now.nodeSelector()[key] == value) continue;
    errors.push_back(
        Invalid(path.Child("nodeSelector"), now.nodeSelector().value(),
                "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
    break;
  }
  Take(spec, "nodeSelector", old.value());
  const auto node_now = now.affinity().nodeAffinity();
  const auto node_old = old.affinity().nodeAffinity();
  if (EqualByMeaning(core::NodeAffinity::Schema(), node_now.value(), node_old.value())) return;
  ValidateNodeAffinityGrew(node_now, node_old, errors);
  const bool other_affinity = now.affinity().podAffinity() || now.affinity().podAntiAffinity();
  if (now.affinity() && !old.affinity() && !other_affinity) {
    spec.RemoveField("affinity");
  } else {
    Take(spec.Field("affinity"), "nodeAffinity", old.affinity().value());
  }
}

}  // namespace

void ValidatePodCreate(const Value& pod, const SpecRules& rules, FieldErrors& errors) {
  ValidateAnyPod(pod, rules, errors);
  const core::PodSpec spec(pod["spec"]);
  const Path path("spec");
  if (!spec.ephemeralContainers().empty()) {
    errors.push_back(Forbidden(path.Child("ephemeralContainers"), "cannot be set on create"));
  }
  if (!spec.nodeName().empty() && !spec.schedulingGates().empty()) {
    errors.push_back(Forbidden(path.Child("nodeName"),
                               "cannot be set until all schedulingGates have been cleared"));
  }
  ValidateProfileAnnotations(pod["metadata"]["annotations"], spec, path, errors);
}

void ValidatePodUpdate(const Value& pod, const Value& old_pod, const SpecRules& rules,
                       FieldErrors& errors) {
  const core::PodSpec spec(pod["spec"]);
  const core::PodSpec old(old_pod["spec"]);
  const Path path("spec");
  ValidateAnyPod(pod, rules, errors);
  ValidateAnnotationUpdate(pod, old_pod, errors);
  if (!ValidateImages(spec.containers(), old.containers(), path.Child("containers"), errors) ||
      !ValidateImages(spec.initContainers(), old.initContainers(), path.Child("initContainers"),
                      errors) ||
      !ValidateDeadline(spec, old, errors)) {
    return;
  }
  ValidateAddedTolerations(spec, old, errors);
  ValidateRemovedGates(spec, old, errors);
  const auto& type = core::PodSpec::Schema();
  if (EqualByMeaning(type, spec.value(), old.value())) return;

  // Everything that may change is put back; what differs then may not.
  value::Builder builder;
  builder.root().Set(spec.value());
  value::Ref masked = builder.root();
  masked.SetField("containers",
                  WithOldImages(builder, spec.containers().value(), old.containers().value()));
  if (!spec.initContainers().empty()) {
    masked.SetField("initContainers", WithOldImages(builder, spec.initContainers().value(),
                                                    old.initContainers().value()));
  }
  for (std::string_view field : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) {
    Take(masked, field, old.value());
  }
  if (old.terminationGracePeriodSeconds().value_or(0) < 0 &&
      spec.terminationGracePeriodSeconds() == 1) {
    Take(masked, "terminationGracePeriodSeconds", old.value());
  }
  MaskGatedChanges(masked, old, errors);
  const Value rest = builder.root().Get();
  if (EqualByMeaning(type, rest, old.value())) return;
  errors.push_back(Forbidden(
      path,
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
      "be set to 1 if it was previously negative)\n" +
          ShowChange(type, old.value(), rest)));
}

void ValidateEphemeralContainersUpdate(const Value& pod, const Value& old_pod,
                                       const SpecRules& rules, FieldErrors& errors) {
  ValidateAnyPod(pod, rules, errors);
  ValidateAnnotationUpdate(pod, old_pod, errors);
  if (old_pod["metadata"]["annotations"].Find(kMirror)) {
    errors = {Forbidden(Path(""), "static pods do not support ephemeral containers")};
    return;
  }
  const core::PodSpec spec(pod["spec"]);
  const Path spec_path("spec");
  const Path path = spec_path.Child("ephemeralContainers");
  std::unordered_map<std::string_view, core::EphemeralContainer> by_name;
  for (auto container : spec.ephemeralContainers()) by_name[container.name()] = container;
  for (auto before : core::PodSpec(old_pod["spec"]).ephemeralContainers()) {
    const auto now = by_name.find(before.name());
    if (now == by_name.end()) {
      errors.push_back(
          Forbidden(path, fmt::format("existing ephemeral containers {} may not be removed\n",
                                      Quote(before.name()))));
    } else if (!EqualByMeaning(core::EphemeralContainer::Schema(), before.value(),
                               now->second.value())) {
      errors.push_back(
          Forbidden(path, fmt::format("existing ephemeral containers {} may not be changed\n{}",
                                      Quote(before.name()),
                                      ShowChange(core::EphemeralContainer::Schema(), before.value(),
                                                 now->second.value()))));
    }
  }
}

}  // namespace keelson::kube::pod
