#include "kube/core/volume_spec.h"

#include <algorithm>

#include "schema/equality.h"
#include "schema/internal_form.h"

namespace keelson::kube::core {
namespace {

constexpr std::string_view kAccessModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                             "ReadWriteOncePod"};

// The members of a PersistentVolumeSpec that are not its source.
bool IsSource(std::string_view field) {
  constexpr std::string_view kOthers[] = {"capacity",
                                          "accessModes",
                                          "claimRef",
                                          "persistentVolumeReclaimPolicy",
                                          "storageClassName",
                                          "mountOptions",
                                          "volumeMode",
                                          "nodeAffinity",
                                          "volumeAttributesClassName"};
  return std::ranges::find(kOthers, field) == std::end(kOthers);
}

}  // namespace

void CheckAccessModes(schema::ListView<std::string_view> modes, const Path& path,
                      FieldErrors& errors) {
  bool alone = false;
  bool others = false;
  for (const auto mode : modes) {
    rest::CheckSupported(mode, kAccessModes, path, errors);
    if (mode == "ReadWriteOncePod") {
      alone = true;
    } else if (std::ranges::find(kAccessModes, mode) != std::end(kAccessModes)) {
      others = true;
    }
  }
  if (alone && others) {
    errors.push_back(Forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  }
}

void CheckSourceUnchanged(const Value& spec, const Value& old, FieldErrors& errors) {
  const auto& type = v1::PersistentVolumeSpec::Schema();
  for (const auto& field : type.fields()) {
    if (!IsSource(field.text())) continue;
    Value now = spec[*field.name];
    const Value before = old[*field.name];
    value::Builder builder;
    if (field.text() == "csi" && before.is_object() &&
        before["controllerExpandSecretRef"].is_null() && now.is_object()) {
      builder.root().Set(now);
      builder.root().RemoveField("controllerExpandSecretRef");
      now = builder.root().Get();
    }
    if (schema::EqualByMeaning(*field.type, now, before)) continue;
    errors.push_back(
        Forbidden(Path("spec").Child("persistentvolumesource"),
                  "spec.persistentvolumesource is immutable after creation\n" +
                      schema::InternalDiff(v1::PersistentVolumeSource::Schema(), old, spec)));
    return;
  }
}

void CheckClaimUnchanged(const Value& spec, const Value& old, FieldErrors& errors) {
  if (schema::EqualByMeaning(v1::PersistentVolumeClaimSpec::Schema(), spec, old)) return;
  errors.push_back(
      Forbidden(Path("spec"),
                "spec is immutable after creation except resources.requests and "
                "volumeAttributesClassName for bound claims\n" +
                    schema::InternalDiff(v1::PersistentVolumeClaimSpec::Schema(), old, spec)));
}

}  // namespace keelson::kube::core
