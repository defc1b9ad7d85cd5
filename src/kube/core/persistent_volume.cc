#include <algorithm>

#include "kube/core/kinds.h"
#include "kube/core/resource_names.h"
#include "kube/core/volume_source.h"
#include "kube/core/volume_spec.h"
#include "kube/pod/node_labels.h"
#include "kube/pod/validate_template.h"
#include "schema/equality.h"
#include "value/timestamp.h"

namespace keelson::kube::core {
namespace {

constexpr std::string_view kReclaimPolicies[] = {"Delete", "Recycle", "Retain"};

void CheckCapacity(const v1::PersistentVolumeSpec& spec, const Path& path, FieldErrors& errors) {
  const auto capacity = spec.capacity();
  if (capacity.empty()) errors.push_back(Required(path, ""));
  if (!capacity.contains("storage") || capacity.size() > 1) {
    constexpr std::string_view kStorage[] = {"storage"};
    errors.push_back(schema::NotSupported(path, capacity.value(), kStorage));
  }
  for (const auto [resource, text] : capacity) {
    const auto quantity = QuantityOf(text);
    const Path at = path.Key(resource);
    if (quantity.Value() < 0) {
      errors.push_back(Invalid(at, quantity.Value(), "must be a valid resource quantity"));
    }
    if (quantity.Sign() <= 0) errors.push_back(Invalid(at, text, "must be greater than zero"));
  }
}

// Whether a path, once cleaned of ".", ".." and repeated slashes, is the root.
bool IsRoot(std::string_view path) {
  if (!path.starts_with('/')) return false;
  int depth = 0;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const auto part = path.substr(0, slash);
    if (part == "..") {
      depth = std::max(0, depth - 1);
    } else if (!part.empty() && part != ".") {
      ++depth;
    }
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return depth == 0;
}

void CheckNodeAffinity(const v1::VolumeNodeAffinity& affinity, const Path& path,
                       FieldErrors& errors) {
  if (!affinity) return;
  if (!affinity.required()) {
    errors.push_back(Required(path.Child("required"), "must specify required node constraints"));
  } else {
    pod::ValidateNodeSelector(affinity.required().value(), path.Child("required"), errors);
  }
}

void CheckSpec(const v1::PersistentVolume& volume, FieldErrors& errors) {
  const auto spec = volume.spec();
  const Path path("spec");
  if (spec.accessModes().empty()) errors.push_back(Required(path.Child("accessModes"), ""));
  CheckAccessModes(spec.accessModes(), path.Child("accessModes"), errors);
  CheckCapacity(spec, path.Child("capacity"), errors);
  const auto policy = spec.persistentVolumeReclaimPolicy();
  if (!policy.empty()) {
    rest::CheckSupported(policy, kReclaimPolicies, path.Child("persistentVolumeReclaimPolicy"),
                         errors);
  }
  CheckNodeAffinity(spec.nodeAffinity(), path.Child("nodeAffinity"), errors);
  ValidateVolumeSource(spec.value(), volume.metadata().name(), path, errors);
  if (policy == "Recycle" && spec.hostPath() && IsRoot(spec.hostPath().path())) {
    errors.push_back(Forbidden(path.Child("persistentVolumeReclaimPolicy"),
                               "may not be 'recycle' for a hostPath mount of '/'"));
  }
  if (!spec.storageClassName().empty()) {
    rest::CheckText(spec.storageClassName(), names::CheckDns1123Subdomain,
                    path.Child("storageClassName"), errors);
  }
  if (auto mode = spec.volumeMode()) {
    rest::CheckSupported(*mode, kVolumeModes, path.Child("volumeMode"), errors);
  }
  if (auto attributes = spec.volumeAttributesClassName()) {
    const Path at = path.Child("volumeAttributesClassName");
    if (attributes->empty()) {
      errors.push_back(Required(at, "an empty string is disallowed"));
    } else {
      rest::CheckText(*attributes, names::CheckDns1123Subdomain, at, errors);
    }
    if (!spec.csi()) {
      errors.push_back(
          Required(path.Child("csi"), "has to be specified when using volumeAttributesClassName"));
    }
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckSpec(v1::PersistentVolume(object), errors);
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& stored,
                    FieldErrors& errors) {
  const v1::PersistentVolume volume(object);
  CheckSpec(volume, errors);
  const auto spec = volume.spec();
  const auto old = v1::PersistentVolume(stored).spec();
  CheckSourceUnchanged(spec.value(), old.value(), errors);
  if (spec.volumeMode() != old.volumeMode()) {
    errors.push_back(Immutable(Path("volumeMode"), spec.volumeMode().value_or("")));
  }
  if (old.nodeAffinity() && spec.nodeAffinity().value() != old.nodeAffinity().value()) {
    errors.push_back(Immutable(Path("nodeAffinity"), spec.nodeAffinity().value()));
  }
  if (old.volumeAttributesClassName() && !spec.volumeAttributesClassName()) {
    errors.push_back(Forbidden(Path("spec").Child("volumeAttributesClassName"),
                               "update from non-nil value to nil is forbidden"));
  }
}

std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value*) {
  struct Gone {
    const char* field;
    const char* shown;
    const char* since;
  };
  constexpr Gone kGone[] = {
      {"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
      {"photonPersistentDisk", "photonPersistentDisk",
       "deprecated in v1.11, non-functional in v1.16+"},
      {"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
      {"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
      {"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
      {"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
  };
  constexpr std::pair<const char*, const char*> kAnnotations[] = {
      {"volume.beta.kubernetes.io/storage-class",
       "deprecated since v1.8; use \"storageClassName\" attribute instead"},
      {"volume.beta.kubernetes.io/mount-options",
       "deprecated since v1.31; use \"mountOptions\" attribute instead"},
  };
  const v1::PersistentVolume volume(object);
  std::vector<std::string> warnings;
  for (const auto& [key, text] : kAnnotations) {
    if (volume.metadata().annotations().contains(key)) {
      warnings.push_back(fmt::format("metadata.annotations[{}]: {}", key, text));
    }
  }
  if (volume.spec().persistentVolumeReclaimPolicy() == "Recycle") {
    warnings.emplace_back(
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, "
        "the recommended approach is to use dynamic provisioning.");
  }
  pod::WarnAboutNodeSelector(volume.spec().nodeAffinity().required().value(),
                             Path("spec").Child("nodeAffinity").Child("required"), warnings);
  for (const auto& gone : kGone) {
    if (!volume.spec().value()[gone.field].is_object()) continue;
    warnings.push_back(fmt::format("spec.{}: {}", gone.shown, gone.since));
  }
  return warnings;
}

Value Now(Ref object, WallTime now) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return object.builder().String(value::FormatTime({.seconds = seconds}));
}

void PrepareForCreate(const WriteScope& scope, Ref object) {
  Ref status = object.Field(v1::PersistentVolume::Names::status);
  status.SetField(v1::PersistentVolumeStatus::Names::phase,
                  Value::String("Pending", /*plain=*/true));
  status.SetField(v1::PersistentVolumeStatus::Names::lastPhaseTransitionTime,
                  Now(object, scope.now));
}

// The time of the last change of phase moves with the phase.
void PrepareStatus(const WriteScope& scope, Ref object, const Value& stored) {
  using Names = v1::PersistentVolumeStatus::Names;
  const auto status = v1::PersistentVolume(object.Get()).status();
  const auto old = v1::PersistentVolume(stored).status();
  const auto time = status.lastPhaseTransitionTime();
  if (status.phase() == old.phase()) {
    if (!time && old.lastPhaseTransitionTime()) {
      object.Field(v1::PersistentVolume::Names::status)
          .SetField(Names::lastPhaseTransitionTime, old.value()[Names::lastPhaseTransitionTime]);
    }
  } else if (!time || time == old.lastPhaseTransitionTime()) {
    object.Field(v1::PersistentVolume::Names::status)
        .SetField(Names::lastPhaseTransitionTime, Now(object, scope.now));
  }
}

}  // namespace

void DefaultPersistentVolume(schema::StructEditor& object) {
  using Names = v1::PersistentVolume::Names;
  using SpecNames = v1::PersistentVolumeSpec::Names;
  schema::StructEditor status(v1::PersistentVolumeStatus::Schema(), object.Get(Names::status),
                              object.arena());
  if (status.SetDefault(v1::PersistentVolumeStatus::Names::phase,
                        Value::String("Pending", /*plain=*/true))) {
    object.Set(Names::status, status.value());
  }
  schema::StructEditor spec(v1::PersistentVolumeSpec::Schema(), object.Get(Names::spec),
                            object.arena());
  spec.SetDefault(SpecNames::persistentVolumeReclaimPolicy,
                  Value::String("Retain", /*plain=*/true));
  spec.SetDefault(SpecNames::volumeMode, Value::String("Filesystem", /*plain=*/true));
  if (spec.changed()) object.Set(Names::spec, spec.value());
}

constinit const KindRules kPersistentVolumeRules = {
    .prepare_for_create = PrepareForCreate,
    .prepare_status = PrepareStatus,
    .validate = Validate,
    .validate_update = ValidateUpdate,
    .warnings = Warnings,
};

}  // namespace keelson::kube::core
