// Volumes, claims and the storage that serves them.

#include <algorithm>
#include <array>
#include <utility>

#include "api/storage_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using api::core_v1::PersistentVolume;
using api::core_v1::PersistentVolumeClaim;
using rest::Row;
using value::Value;

// The way to name a class before there was a field for it.
constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

std::string AccessModes(schema::ListView<std::string_view> modes) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShort = {
      {{"ReadWriteOnce", "RWO"},
       {"ReadOnlyMany", "ROX"},
       {"ReadWriteMany", "RWX"},
       {"ReadWriteOncePod", "RWOP"}}};
  std::vector<std::string> names;
  for (const auto& [mode, name] : kShort) {
    if (std::ranges::find(modes, mode) != modes.end()) names.emplace_back(name);
  }
  return Join(names);
}

std::string_view ClassOf(schema::MapView<std::string_view> annotations, std::string_view named) {
  return annotations.contains(kClassAnnotation) ? annotations[kClassAnnotation] : named;
}

void VolumeCapacity(const Value& object, Row& row) {
  row.Text(OrElse(PersistentVolume(object).spec().capacity()["storage"], "0"));
}

void VolumeAccessModes(const Value& object, Row& row) {
  row.Text(AccessModes(PersistentVolume(object).spec().accessModes()));
}

void VolumePhase(const Value& object, Row& row) {
  const PersistentVolume volume(object);
  row.Text(volume.metadata().deletionTimestamp() ? "Terminating" : volume.status().phase());
}

void VolumeClaim(const Value& object, Row& row) {
  const auto claim = PersistentVolume(object).spec().claimRef();
  if (!claim) return row.Text("");
  row.Text(std::string(claim.namespace_()) + "/" + std::string(claim.name()));
}

void VolumeClass(const Value& object, Row& row) {
  const PersistentVolume volume(object);
  row.Text(ClassOf(volume.metadata().annotations(), volume.spec().storageClassName()));
}

constexpr rest::Cell kVolumeCells[] = {
    rest::kNameCell,
    rest::ComputedCell(VolumeCapacity, "spec.capacity"),
    rest::ComputedCell(VolumeAccessModes, "spec.accessModes"),
    rest::TextCell("spec.persistentVolumeReclaimPolicy"),
    rest::ComputedCell(VolumePhase, "status.phase metadata.deletionTimestamp"),
    rest::ComputedCell(VolumeClaim, "spec.claimRef"),
    rest::ComputedCell(VolumeClass, "spec.storageClassName metadata.annotations"),
    rest::TextCell("spec.volumeAttributesClassName", kUnset),
    rest::TextCell("status.reason"),
    rest::kAgeCell,
    rest::TextCell("spec.volumeMode", kUnset),
};

void ClaimPhase(const Value& object, Row& row) {
  const PersistentVolumeClaim claim(object);
  row.Text(claim.metadata().deletionTimestamp() ? "Terminating" : claim.status().phase());
}

// Two cells, empty until there is a volume: how much it holds, and how it may be mounted.
void ClaimedVolume(const Value& object, Row& row) {
  const PersistentVolumeClaim claim(object);
  const bool bound = !claim.spec().volumeName().empty();
  row.Text(bound ? OrElse(claim.status().capacity()["storage"], "0") : "");
  row.Text(bound ? AccessModes(claim.status().accessModes()) : "");
}

void ClaimClass(const Value& object, Row& row) {
  const PersistentVolumeClaim claim(object);
  row.Text(ClassOf(claim.metadata().annotations(), claim.spec().storageClassName().value_or("")));
}

constexpr rest::Cell kClaimCells[] = {
    rest::kNameCell,
    rest::ComputedCell(ClaimPhase, "status.phase metadata.deletionTimestamp"),
    rest::TextCell("spec.volumeName"),
    rest::ComputedCell(ClaimedVolume, "status.capacity status.accessModes spec.volumeName"),
    rest::ComputedCell(ClaimClass, "spec.storageClassName metadata.annotations"),
    rest::TextCell("spec.volumeAttributesClassName", kUnset),
    rest::kAgeCell,
    rest::TextCell("spec.volumeMode", kUnset),
};

void StorageClassName(const Value& object, Row& row) {
  const auto metadata = api::storage_v1::StorageClass(object).metadata();
  const auto annotations = metadata.annotations();
  std::string name(metadata.name());
  if (annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
      annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true") {
    name += " (default)";
  }
  row.Text(name);
}

constexpr rest::Cell kStorageClassCells[] = {
    rest::ComputedCell(StorageClassName, "metadata.name metadata.annotations"),
    rest::TextCell("provisioner"),
    rest::TextCell("reclaimPolicy", "Delete"),
    rest::TextCell("volumeBindingMode", "Immediate"),
    rest::BoolCell("allowVolumeExpansion"),
    rest::kAgeCell,
};

constexpr rest::Cell kAttributesClassCells[] = {
    rest::kNameCell,
    rest::TextCell("driverName"),
    rest::kAgeCell,
};

constexpr rest::Cell kAttachmentCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.attacher"),
    rest::TextCell("spec.source.persistentVolumeName"),
    rest::TextCell("spec.nodeName"),
    rest::BoolCell("status.attached"),
    rest::kAgeCell,
};

void TokenAudiences(const Value& object, Row& row) {
  const auto requests = api::storage_v1::CSIDriver(object).spec().tokenRequests();
  if (requests.value().is_null()) return row.Text(kUnset);
  std::vector<std::string> audiences;
  for (const auto& request : requests) audiences.emplace_back(request.audience());
  row.Text(Join(audiences));
}

void DriverModes(const Value& object, Row& row) {
  const auto modes = Join(api::storage_v1::CSIDriver(object).spec().volumeLifecycleModes());
  row.Text(OrElse(modes, kNone));
}

constexpr rest::Cell kDriverCells[] = {
    rest::kNameCell,
    rest::BoolCell("spec.attachRequired", true),
    rest::BoolCell("spec.podInfoOnMount"),
    rest::BoolCell("spec.storageCapacity"),
    rest::ComputedCell(TokenAudiences, "spec.tokenRequests"),
    rest::BoolCell("spec.requiresRepublish"),
    rest::ComputedCell(DriverModes, "spec.volumeLifecycleModes"),
    rest::kAgeCell,
};

constexpr rest::Cell kCsiNodeCells[] = {
    rest::kNameCell,
    rest::CountCell("spec.drivers"),
    rest::kAgeCell,
};

constexpr rest::TablePrinter kPrinters[] = {
    {"", "persistentvolumes", kVolumeCells},
    {"", "persistentvolumeclaims", kClaimCells},
    {"storage.k8s.io", "storageclasses", kStorageClassCells},
    {"storage.k8s.io", "volumeattributesclasses", kAttributesClassCells},
    {"storage.k8s.io", "volumeattachments", kAttachmentCells},
    {"storage.k8s.io", "csidrivers", kDriverCells},
    {"storage.k8s.io", "csinodes", kCsiNodeCells},
};

}  // namespace

std::span<const rest::TablePrinter> VolumePrinters() { return kPrinters; }

}  // namespace keelson::kube::print
