// StorageClass, VolumeAttributesClass, VolumeAttachment: what storage there is to ask for, and what
// of it is attached where.

#include <limits>
#include <string>
#include <unordered_set>

#include "api/core_v1.h"
#include "api/storage_v1.h"
#include "kube/cluster/kinds.h"
#include "kube/cluster/storage_names.h"
#include "rest/field_checks.h"
#include "rest/seen_texts.h"
#include "value/json.h"

namespace keelson::kube::cluster {

using api::core_v1::TopologySelectorTerm;
using api::storage_v1::StorageClass;
using api::storage_v1::VolumeAttachment;
using api::storage_v1::VolumeAttachmentSource;
using api::storage_v1::VolumeAttachmentSpec;
using api::storage_v1::VolumeAttributesClass;
using api::storage_v1::VolumeError;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

void CheckCsiDriverName(std::string_view name, const Path& path, FieldErrors& errors) {
  constexpr size_t kMaxDriverName = 63;
  if (name.empty()) {
    errors.push_back(Required(path, ""));
    return;
  }
  if (name.size() > kMaxDriverName) errors.push_back(schema::TooLong(path, kMaxDriverName));
  if (names::IsDns1123Subdomain(name)) return;
  schema::AddComplaints(errors, path, name, names::CheckDns1123Subdomain(LowerCase(name)));
}

namespace {

constexpr size_t kMaxParameters = 512;
constexpr size_t kMaxParameterBytes = 256 * 1024;
constexpr size_t kMaxMetadataBytes = 256 * 1024;
constexpr size_t kMaxErrorMessage = 1024;

size_t BytesOf(const Value& map) {
  size_t bytes = 0;
  for (const auto& [name, text] : map.members()) bytes += name->text().size() + text.size();
  return bytes;
}

void CheckProvisioner(std::string_view name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.push_back(Required(path, ""));
    return;
  }
  if (names::CheckQualifiedName(name).empty()) return;
  const auto lower = LowerCase(name);
  rest::CheckText(lower, names::CheckQualifiedName, path, errors);
}

void CheckParameters(const Value& parameters, bool may_be_empty, FieldErrors& errors) {
  const Path path("parameters");
  if (parameters.size() > kMaxParameters) {
    errors.push_back(schema::TooLong(path, kMaxParameters));
    return;
  }
  if (parameters.Find("") != nullptr) {
    errors.push_back(Invalid(path, "", "field can not be empty."));
  }
  if (BytesOf(parameters) > kMaxParameterBytes) {
    errors.push_back(schema::TooLong(path, kMaxParameterBytes));
  }
  if (!may_be_empty && parameters.size() == 0) {
    errors.push_back(Required(path, "must contain at least one key/value pair"));
  }
}

void CheckTopology(const TopologySelectorTerm& term, const Path& path, FieldErrors& errors) {
  rest::SeenTexts keys;
  const auto expressions = term.matchLabelExpressions();
  for (size_t i = 0; i < expressions.size(); ++i) {
    const Path at = path.Child("matchLabelExpressions").Index(i);
    const auto values = expressions[i].values();
    if (values.empty()) errors.push_back(Required(at.Child("values"), ""));
    rest::SeenTexts seen;
    for (size_t j = 0; j < values.size(); ++j) {
      if (!seen.Insert(values[j])) {
        errors.push_back(schema::Duplicate(at.Child("values").Index(j), values[j]));
      }
    }
    const auto key = expressions[i].key();
    rest::CheckText(key, names::CheckQualifiedName, at.Child("key"), errors);
    if (!keys.Insert(key)) errors.push_back(schema::Duplicate(at.Child("key"), key));
  }
}

void CheckTopologies(const StorageClass& object, FieldErrors& errors) {
  const Path path("allowedTopologies");
  const auto terms = object.allowedTopologies();
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < terms.size(); ++i) {
    CheckTopology(terms[i], path.Index(i), errors);
    if (terms.size() > 1 && !seen.insert(value::ToJson(terms[i].value())).second) {
      errors.push_back(schema::Duplicate(path.Index(i).Child("matchLabelExpressions"), ""));
    }
  }
}

void ValidateStorageClass(const WriteScope&, const Value& value, FieldErrors& errors) {
  static constexpr std::string_view kReclaim[] = {"Delete", "Retain"};
  static constexpr std::string_view kBinding[] = {"Immediate", "WaitForFirstConsumer"};
  const StorageClass object(value);
  CheckProvisioner(object.provisioner(), Path("provisioner"), errors);
  CheckParameters(object.parameters().value(), /*may_be_empty=*/true, errors);
  if (auto policy = object.reclaimPolicy(); policy && !policy->empty()) {
    rest::CheckSupported(*policy, kReclaim, Path("reclaimPolicy"), errors);
  }
  if (auto mode = object.volumeBindingMode()) {
    rest::CheckSupported(*mode, kBinding, Path("volumeBindingMode"), errors);
  } else {
    errors.push_back(Required(Path("volumeBindingMode"), ""));
  }
  CheckTopologies(object, errors);
}

void ValidateStorageClassUpdate(const WriteScope& scope, const Value& object, const Value& old,
                                FieldErrors& errors) {
  using Names = StorageClass::Names;
  ValidateStorageClass(scope, object, errors);
  for (const auto* field : {&Names::parameters, &Names::provisioner, &Names::reclaimPolicy,
                            &Names::volumeBindingMode}) {
    rest::CheckImmutableField(StorageClass::Schema(), *field, object, old, Path(), errors);
  }
}

void ValidateAttributesClass(const WriteScope&, const Value& value, FieldErrors& errors) {
  const VolumeAttributesClass object(value);
  CheckProvisioner(object.driverName(), Path("driverName"), errors);
  CheckParameters(object.parameters().value(), /*may_be_empty=*/false, errors);
}

void ValidateAttributesClassUpdate(const WriteScope& scope, const Value& object, const Value& old,
                                   FieldErrors& errors) {
  const VolumeAttributesClass now(object);
  const VolumeAttributesClass before(old);
  if (now.driverName() != before.driverName()) {
    errors.push_back(Forbidden(Path("driverName"), "updates to driverName are forbidden."));
  }
  if (now.parameters().value() != before.parameters().value()) {
    errors.push_back(Forbidden(Path("parameters"), "updates to parameters are forbidden."));
  }
  ValidateAttributesClass(scope, object, errors);
}

void CheckSource(const VolumeAttachmentSource& source, const Path& path, FieldErrors& errors) {
  constexpr const char* kOne =
      "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  const bool inlined = static_cast<bool>(source.inlineVolumeSpec());
  const auto name = source.persistentVolumeName();
  if (!inlined && !name) {
    errors.push_back(Required(path, kOne));
  } else if (inlined && name) {
    errors.push_back(Forbidden(path, kOne));
  } else if (name && name->empty()) {
    errors.push_back(Required(path.Child("persistentVolumeName"),
                              "must specify non empty persistentVolumeName"));
  }
}

void CheckVolumeError(const VolumeError& error, const Path& path, FieldErrors& errors) {
  if (error.message().size() > kMaxErrorMessage) {
    // The limit that upstream names is another one.
    errors.push_back(schema::TooLong(path.Child("message"), kMaxMetadataBytes));
  }
  if (auto code = error.errorCode(); code && *code < 0) {
    schema::AddComplaints(errors, path.Child("errorCode"), *code,
                          names::CheckInRange(*code, 0, std::numeric_limits<int32_t>::max()));
  }
}

void ValidateAttachment(const WriteScope&, const Value& value, FieldErrors& errors) {
  const VolumeAttachment object(value);
  const auto spec = object.spec();
  const Path path("spec");
  CheckCsiDriverName(spec.attacher(), path.Child("attacher"), errors);
  CheckSource(spec.source(), path.Child("source"), errors);
  rest::CheckName(spec.nodeName(), names::NameIsDnsSubdomain, path.Child("nodeName"), errors);
  const auto status = object.status();
  const Path at("status");
  if (BytesOf(status.attachmentMetadata().value()) > kMaxMetadataBytes) {
    errors.push_back(schema::TooLong(at.Child("attachmentMetadata"), kMaxMetadataBytes));
  }
  CheckVolumeError(status.attachError(), at.Child("attachError"), errors);
  CheckVolumeError(status.detachError(), at.Child("detachError"), errors);
  if (auto name = spec.source().persistentVolumeName()) {
    rest::CheckName(*name, names::NameIsDnsSubdomain, Path("spec.source.persistentVolumeName"),
                    errors);
  }
}

void ValidateAttachmentUpdate(const WriteScope& scope, const Value& object, const Value& old,
                              FieldErrors& errors) {
  ValidateAttachment(scope, object, errors);
  rest::CheckImmutable(VolumeAttachmentSpec::Schema(), VolumeAttachment(object).spec().value(),
                       VolumeAttachment(old).spec().value(), Path("spec"), errors);
}

}  // namespace

Rules kStorageClass({.validate = ValidateStorageClass,
                     .validate_update = ValidateStorageClassUpdate});

Rules kVolumeAttributesClass({.validate = ValidateAttributesClass,
                              .validate_update = ValidateAttributesClassUpdate});

Rules kVolumeAttachment({.unconditional_update = false,
                         .prepare_status = rest::KeepMetadata,
                         .validate = ValidateAttachment,
                         .validate_update = ValidateAttachmentUpdate,
                         .validate_status = ValidateAttachmentUpdate});

}  // namespace keelson::kube::cluster
