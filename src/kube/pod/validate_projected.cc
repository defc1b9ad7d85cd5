// Projected volumes, downward API files, and claims for ephemeral ones.

#include <fmt/format.h>

#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using schema::Forbidden;
using schema::Invalid;
using schema::NotSupported;
using schema::Required;

constexpr std::string_view kVolumeFields[] = {"metadata.annotations", "metadata.labels",
                                              "metadata.name", "metadata.namespace",
                                              "metadata.uid"};

// The files of a projected volume; no two sources may make the same.
class ProjectedFiles {
 public:
  ProjectedFiles(const Path& volume, FieldErrors& errors) : volume_(volume), errors_(errors) {}

  // `culprit` is what upstream names when the path is taken.
  void Add(std::string_view path, std::string_view culprit) {
    if (!paths_.Insert(path)) {
      errors_.push_back(Invalid(volume_, culprit, "conflicting duplicate paths"));
    }
  }
  void AddItems(ListView<core::KeyToPath> items, std::string_view name, const Path& path) {
    size_t i = 0;
    for (auto item : items) {
      ValidateKeyToPath(item, path.Child("items").Index(i++), errors_);
      if (!item.path().empty()) Add(item.path(), name);
    }
  }

 private:
  const Path& volume_;
  FieldErrors& errors_;
  SeenTexts paths_;
};

void ValidateToken(core::ServiceAccountTokenProjection token, const Path& volume, const Path& path,
                   FieldErrors& errors) {
  const int64_t seconds = token.expirationSeconds().value_or(0);
  if (seconds < 10 * 60) {
    errors.push_back(Invalid(path.Child("expirationSeconds"), seconds,
                             "may not specify a duration less than 10 minutes"));
  }
  if (seconds > int64_t{1} << 32) {
    errors.push_back(Invalid(path.Child("expirationSeconds"), seconds,
                             "may not specify a duration larger than 2^32 seconds"));
  }
  if (token.path().empty()) {
    errors.push_back(Required(volume.Child("path"), ""));
  } else {
    CheckLocalPath(token.path(), volume.Child("path"), errors);
  }
}

void CheckAccessModes(core::PersistentVolumeClaimSpec spec, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                                "ReadWriteOncePod"};
  bool once_pod = false;
  bool other = false;
  for (auto mode : spec.accessModes()) {
    const bool known = OneOf(mode, kModes);
    if (!known) errors.push_back(NotSupported(path, mode, kModes));
    once_pod = once_pod || mode == "ReadWriteOncePod";
    other = other || (known && mode != "ReadWriteOncePod");
  }
  if (once_pod && other) {
    errors.push_back(Forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  }
}

void CheckStorage(const Value& requests, const Path& path, FieldErrors& errors) {
  const Value* storage = requests.Find("storage");
  if (!storage) {
    errors.push_back(Required(path, ""));
    return;
  }
  const auto quantity = QuantityOf(storage->AsString());
  if (quantity.Sign() <= 0) {
    errors.push_back(Invalid(path, quantity.ToString(), "must be greater than zero"));
  } else {
    ValidateResourceQuantity("storage", quantity, path, errors);
  }
}

// dataSource and dataSourceRef; the latter may name a namespace.
void ValidateDataSource(const Value& source, const Path& path, FieldErrors& errors) {
  const core::TypedObjectReference ref(source);
  RequireText(ref.name(), path.Child("name"), errors);
  const auto kind = source["kind"].AsString();
  RequireText(kind, path.Child("kind"), errors);
  const auto group = ref.apiGroup().value_or("");
  if (group.empty() && kind != "PersistentVolumeClaim") {
    errors.push_back(Invalid(
        path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (!group.empty()) CheckSubdomain(group, path.Child("apiGroup"), errors);
  if (auto ns = ref.namespace_().value_or(""); !ns.empty()) {
    CheckLabel(ns, path.Child("namespace"), errors);
  }
}

bool SameSource(const Value& a, const Value& b) {
  for (std::string_view field : {"apiGroup", "kind", "name"}) {
    if (a[field] != b[field]) return false;
  }
  return true;
}

}  // namespace

void ValidateDownwardFile(core::DownwardAPIVolumeFile file, const Path& path, FieldErrors& errors) {
  RequireText(file.path(), path.Child("path"), errors);
  CheckLocalPath(file.path(), path.Child("path"), errors);
  if (auto ref = file.fieldRef()) {
    ValidateFieldRef(ref, kVolumeFields, path.Child("fieldRef"), errors);
    if (file.resourceFieldRef()) {
      errors.push_back(Invalid(path, "resource",
                               "fieldRef and resourceFieldRef can not be specified "
                               "simultaneously"));
    }
  } else if (auto resource = file.resourceFieldRef()) {
    ValidateResourceFieldRef(resource, /*in_volume=*/true, path.Child("resourceFieldRef"), errors);
  } else {
    errors.push_back(Required(path, "one of fieldRef and resourceFieldRef is required"));
  }
  CheckFileMode(file.mode(), path.Child("mode"), errors);
}

void ValidateProjected(core::ProjectedVolumeSource projected, const Path& path,
                       FieldErrors& errors) {
  CheckFileMode(projected.defaultMode(), path.Child("defaultMode"), errors);
  ProjectedFiles files(path, errors);
  size_t i = 0;
  for (auto source : projected.sources()) {
    const Path at = path.Child("sources").Index(i++);
    int count = 0;
    if (auto secret = source.secret()) {
      ++count;
      RequireText(secret.name(), at.Child("secret").Child("name"), errors);
      files.AddItems(secret.items(), secret.name(), at.Child("secret"));
    }
    if (auto map = source.configMap()) {
      ++count;
      RequireText(map.name(), at.Child("configMap").Child("name"), errors);
      files.AddItems(map.items(), map.name(), at.Child("configMap"));
    }
    if (auto downward = source.downwardAPI()) {
      ++count;
      for (auto file : downward.items()) {
        ValidateDownwardFile(file, at.Child("downwardAPI"), errors);
        if (!file.path().empty()) files.Add(file.path(), file.path());
      }
    }
    if (auto token = source.serviceAccountToken()) {
      ++count;
      ValidateToken(token, path, at.Child("serviceAccountToken"), errors);
    }
    if (count > 1) {
      errors.push_back(Forbidden(at, "may not specify more than 1 volume type per source"));
    }
  }
}

void ValidateClaimSpec(const Value& value, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kVolumeModes[] = {"Block", "Filesystem"};
  const core::PersistentVolumeClaimSpec spec(value);
  if (spec.accessModes().empty()) {
    errors.push_back(Required(path.Child("accessModes"), "at least 1 access mode is required"));
  }
  ValidateLabelSelector(spec.selector().value(), path.Child("selector"), errors);
  CheckAccessModes(spec, path.Child("accessModes"), errors);
  CheckStorage(spec.resources().requests().value(), path.Child("resources").Key("storage"), errors);
  if (auto name = spec.storageClassName().value_or(""); !name.empty()) {
    CheckSubdomain(name, path.Child("storageClassName"), errors);
  }
  if (auto mode = spec.volumeMode(); mode && !OneOf(*mode, kVolumeModes)) {
    errors.push_back(NotSupported(path.Child("volumeMode"), *mode, kVolumeModes));
  }
  const Value source = spec.dataSource().value();
  const Value ref = spec.dataSourceRef().value();
  if (source.is_object()) ValidateDataSource(source, path.Child("dataSource"), errors);
  if (ref.is_object()) ValidateDataSource(ref, path.Child("dataSourceRef"), errors);
  if (source.is_object() && ref.is_object()) {
    // Upstream hands a path over as the value, which prints as nothing but its JSON.
    const auto printed = schema::BadValue::Json(path.Child("dataSource").ToString());
    if (!ref["namespace"].AsString().empty()) {
      errors.push_back(
          Invalid(path, printed, "may not be specified when dataSourceRef.namespace is specified"));
    } else if (!SameSource(source, ref)) {
      errors.push_back(Invalid(path, printed, "must match dataSourceRef"));
    }
  }
  if (auto name = spec.volumeAttributesClassName().value_or(""); !name.empty()) {
    CheckSubdomain(name, path.Child("volumeAttributesClassName"), errors);
  }
}

}  // namespace keelson::kube::pod
