#include <algorithm>

#include "kube/core/kinds.h"
#include "kube/core/resource_names.h"
#include "kube/core/volume_spec.h"
#include "kube/pod/resources.h"
#include "kube/pod/validate_template.h"

namespace keelson::kube::core {
namespace {

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kResizeStatuses[] = {
    "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress",
    "NodeResizeInfeasible", "NodeResizePending"};

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  pod::ValidateClaimSpec(v1::PersistentVolumeClaim(object).spec().value(), Path("spec"), errors);
}

// The spec as it is compared: without what may change.
value::Document Comparable(const v1::PersistentVolumeClaim& claim,
                           const v1::PersistentVolumeClaim& old) {
  using Names = v1::PersistentVolumeClaimSpec::Names;
  value::Builder builder;
  builder.root().Set(claim.spec().value());
  Ref spec = builder.root();
  auto keep_old = [&](const value::Name& name) {
    const Value before = old.spec().value()[name];
    if (before.is_null()) {
      spec.RemoveField(name);
    } else {
      spec.SetField(name, before);
    }
  };
  if (old.spec().volumeName().empty()) keep_old(Names::volumeName);
  // A class may be given once: to a claim that had none, or had it as an annotation.
  const auto annotated = old.metadata().annotations()[kClassAnnotation];
  const auto name = claim.spec().storageClassName();
  if (name && !old.spec().storageClassName() && (annotated.empty() || *name == annotated)) {
    keep_old(Names::storageClassName);
  }
  if (claim.status().phase() == "Bound") {
    keep_old(Names::volumeAttributesClassName);
    const Value size = old.spec().resources().value()["requests"]["storage"];
    if (!claim.spec().resources().requests().empty() && !size.is_null()) {
      spec.Field(Names::resources).Field("requests").SetField("storage", size);
    }
  }
  return std::move(builder).Finish();
}

void CheckSize(const v1::PersistentVolumeClaim& claim, const v1::PersistentVolumeClaim& old,
               FieldErrors& errors) {
  const auto size = QuantityOf(claim.spec().resources().requests()["storage"]);
  if (size.Compare(QuantityOf(old.spec().resources().requests()["storage"])) >= 0) return;
  // Back to what the volume has already got it may go, when growing it failed.
  if (size.Compare(QuantityOf(old.status().capacity()["storage"])) > 0) return;
  errors.push_back(Forbidden(Path("spec").Child("resources").Child("requests").Child("storage"),
                             "field can not be less than status.capacity"));
}

void CheckAttributesClass(const v1::PersistentVolumeClaim& claim,
                          const v1::PersistentVolumeClaim& old, FieldErrors& errors) {
  const auto name = claim.spec().volumeAttributesClassName();
  if (name == old.spec().volumeAttributesClassName() ||
      !old.status().currentVolumeAttributesClassName() || (name && !name->empty())) {
    return;
  }
  errors.push_back(Forbidden(Path("spec").Child("volumeAttributesClassName"),
                             name ? "update to empty string is forbidden when "
                                    "status.currentVolumeAttributesClassName is not nil"
                                  : "update to nil is forbidden when "
                                    "status.currentVolumeAttributesClassName is not nil"));
}

void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& stored,
                    FieldErrors& errors) {
  const v1::PersistentVolumeClaim claim(object);
  const v1::PersistentVolumeClaim old(stored);
  Validate(scope, object, errors);
  const auto annotation = claim.metadata().annotations()[kClassAnnotation];
  const auto annotated = old.metadata().annotations()[kClassAnnotation];
  const auto name = claim.spec().storageClassName();
  const bool moved_to_field = !annotated.empty() && !old.spec().storageClassName() &&
                              name == annotated && (annotation.empty() || annotation == annotated);
  if (!moved_to_field && annotation != annotated) {
    errors.push_back(
        Immutable(Path("metadata").Child("annotations").Child(kClassAnnotation), annotation));
  }
  const auto comparable = Comparable(claim, old);
  CheckClaimUnchanged(comparable.root(), old.spec().value(), errors);
  CheckSize(claim, old, errors);
  if (claim.spec().volumeMode() != old.spec().volumeMode()) {
    errors.push_back(Immutable(Path("volumeMode"), claim.spec().volumeMode().value_or("")));
  }
  CheckAttributesClass(claim, old, errors);
}

void CheckResourceKey(std::string_view name, const Path& path, FieldErrors& errors) {
  if (auto complaints = names::CheckQualifiedName(name); !complaints.empty()) {
    schema::AddComplaints(errors, path, name, complaints);
  } else if (pod::IsNativeResource(name) && name != "storage") {
    constexpr std::string_view kStorage[] = {"storage"};
    errors.push_back(schema::NotSupported(path, name, kStorage));
  }
}

void CheckNotNegative(schema::MapView<std::string_view> amounts, const Path& path,
                      FieldErrors& errors) {
  for (const auto [resource, text] : amounts) {
    const auto quantity = QuantityOf(text);
    if (quantity.Value() >= 0) continue;
    errors.push_back(
        Invalid(path.Key(resource), quantity.Value(), "must be a valid resource quantity"));
  }
}

void ValidateStatus(const WriteScope&, const Value& object, const Value&, FieldErrors& errors) {
  const v1::PersistentVolumeClaim claim(object);
  if (claim.spec().accessModes().empty()) {
    errors.push_back(Required(Path("Spec").Child("accessModes"), ""));
  }
  const auto status = claim.status();
  const Path path("status");
  CheckNotNegative(status.capacity(), path.Child("capacity"), errors);
  const Path statuses = path.Child("allocatedResourceStatuses");
  for (const auto [resource, state] : status.allocatedResourceStatuses()) {
    CheckResourceKey(resource, statuses, errors);
    if (std::ranges::find(kResizeStatuses, state) == std::end(kResizeStatuses)) {
      errors.push_back(schema::NotSupported(statuses, resource, kResizeStatuses));
    }
  }
  const Path allocated = path.Child("allocatedResources");
  for (const auto [resource, text] : status.allocatedResources()) {
    CheckResourceKey(resource, allocated, errors);
  }
  CheckNotNegative(status.allocatedResources(), allocated, errors);
}

std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value*) {
  const v1::PersistentVolumeClaim claim(object);
  std::vector<std::string> warnings;
  if (claim.metadata().annotations().contains(kClassAnnotation)) {
    warnings.push_back(
        fmt::format("metadata.annotations[{}]: deprecated since v1.8; use \"storageClassName\" "
                    "attribute instead",
                    kClassAnnotation));
  }
  auto check = [&](const char* list, schema::MapView<std::string_view> amounts) {
    const auto size = amounts["storage"];
    if (size.empty() || QuantityOf(size).MilliValue() % 1000 == 0) return;
    warnings.push_back(
        fmt::format("spec.resources.{}[storage]: fractional byte value \"{}\" is invalid, must be "
                    "an integer",
                    list, size));
  };
  check("requests", claim.spec().resources().requests());
  check("limits", claim.spec().resources().limits());
  return warnings;
}

// What a claim may be filled from, in the old field: another claim or a snapshot.
bool IsPlainSource(const Value& source) {
  const auto group = source["apiGroup"].AsString();
  const auto kind = source["kind"].AsString();
  return (group.empty() && kind == "PersistentVolumeClaim") ||
         (group == "snapshot.storage.k8s.io" && kind == "VolumeSnapshot");
}

// dataSource and dataSourceRef say the same; whichever is missing is filled in from the other.
// Other namespaces are not reached for.
void NormalizeSources(Ref object, const Value* old) {
  using Names = v1::PersistentVolumeClaimSpec::Names;
  Ref spec = object.Field(v1::PersistentVolumeClaim::Names::spec);
  const Value before = old ? v1::PersistentVolumeClaim(*old).spec().value() : Value();
  Value source = spec.Get()[Names::dataSource];
  Value ref = spec.Get()[Names::dataSourceRef];
  if (source.is_null() && ref.is_null()) return;
  if (!ref["namespace"].is_null() && before[Names::dataSourceRef]["namespace"].is_null()) {
    spec.Field(Names::dataSourceRef).RemoveField("namespace");
    ref = spec.Get()[Names::dataSourceRef];
  }
  if (!source.is_null() && before[Names::dataSource].is_null() && ref.is_null() &&
      !IsPlainSource(source)) {
    spec.RemoveField(Names::dataSource);
    return;
  }
  if (ref.is_null()) spec.SetField(Names::dataSourceRef, source);
  if (source.is_null() && !ref.is_null()) spec.SetField(Names::dataSource, ref);
}

}  // namespace

void DefaultPersistentVolumeClaim(schema::StructEditor& object) {
  using Names = v1::PersistentVolumeClaim::Names;
  schema::StructEditor status(v1::PersistentVolumeClaimStatus::Schema(), object.Get(Names::status),
                              object.arena());
  if (status.SetDefault(v1::PersistentVolumeClaimStatus::Names::phase,
                        Value::String("Pending", /*plain=*/true))) {
    object.Set(Names::status, status.value());
  }
}

void DefaultPersistentVolumeClaimSpec(schema::StructEditor& spec) {
  spec.SetDefault(v1::PersistentVolumeClaimSpec::Names::volumeMode,
                  Value::String("Filesystem", /*plain=*/true));
}

constinit const KindRules kPersistentVolumeClaimRules = {
    .prepare_for_create =
        [](const WriteScope&, Ref object) {
          object.Field(v1::PersistentVolumeClaim::Names::status)
              .SetField(v1::PersistentVolumeClaimStatus::Names::phase,
                        Value::String("Pending", /*plain=*/true));
          NormalizeSources(object, nullptr);
        },
    .prepare_for_update = [](const WriteScope&, Ref object,
                             const Value& old) { NormalizeSources(object, &old); },
    .validate = Validate,
    .validate_update = ValidateUpdate,
    .validate_status = ValidateStatus,
    .warnings = Warnings,
};

}  // namespace keelson::kube::core
