#include "kube/core/namespace.h"

#include <algorithm>
#include <array>
#include <vector>

#include "api/meta_v1.h"
#include "kube/core/kinds.h"
#include "rest/object_meta.h"

namespace keelson::kube::core {
namespace {

using api::meta_v1::ObjectMeta;

constexpr std::string_view kFinalizer = "kubernetes";
constexpr auto kNameLabel = value::Name::Quoted("\"kubernetes.io/metadata.name\":");

bool NamesItself(const ObjectMeta& metadata) {
  const Value* label = metadata.labels().value().Find(kNameLabel);
  return label != nullptr && label->AsString() == metadata.name();
}

void SetPhase(Ref object, std::string_view phase) {
  object.Field(v1::Namespace::Names::status)
      .SetField(v1::NamespaceStatus::Names::phase, Value::String(phase, /*plain=*/true));
}

void CheckFinalizers(const v1::Namespace& object, bool indexed, FieldErrors& errors) {
  const auto finalizers = object.spec().finalizers();
  const Path spec("spec");
  const Path path = spec.Child("finalizers");
  for (size_t i = 0; i < finalizers.size(); ++i) {
    if (finalizers[i] == kFinalizer) continue;
    const Path item = path.Index(i);
    const Path& at = indexed ? item : path;
    rest::ValidateFinalizerName(finalizers[i], at, errors);
    CheckKubeFinalizer(finalizers[i], at, errors);
  }
}

}  // namespace

void CheckKubeFinalizer(std::string_view name, const Path& path, FieldErrors& errors) {
  if (name.find('/') != std::string_view::npos || name == kFinalizer ||
      name == rest::kFinalizerOrphan || name == rest::kFinalizerForeground) {
    return;
  }
  errors.push_back(
      Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified"));
}

// Every namespace carries its own name as a label, so that selectors can name it.
void DefaultNamespace(schema::StructEditor& object) {
  using Names = v1::Namespace::Names;
  const ObjectMeta metadata(object.Get(Names::metadata));
  if (metadata.name().empty() || NamesItself(metadata)) return;
  std::vector<value::Member> labels;
  for (const auto& member : metadata.labels().value().members()) {
    if (*member.name != kNameLabel) labels.push_back(member);
  }
  labels.emplace_back(&kNameLabel, metadata.value()[ObjectMeta::Names::name]);
  std::ranges::sort(labels, {}, &value::Member::key);
  auto* members = object.arena().AllocateArray<value::Member>(labels.size());
  std::ranges::copy(labels, members);
  schema::StructEditor editor(ObjectMeta::Schema(), metadata.value(), object.arena());
  editor.Set(ObjectMeta::Names::labels, Value::Object({members, labels.size()}));
  object.Set(Names::metadata, editor.value());
}

void DefaultNamespaceStatus(schema::StructEditor& status) {
  status.SetDefault(v1::NamespaceStatus::Names::phase, Value::String("Active", /*plain=*/true));
}

void NamespaceStrategy::PrepareForCreate(const WriteScope&, Ref object) const {
  SetPhase(object, "Active");
  const auto finalizers = v1::Namespace(object.Get()).spec().finalizers();
  if (std::ranges::find(finalizers, kFinalizer) == finalizers.end()) {
    Ref list = object.Field(v1::Namespace::Names::spec).Field(v1::NamespaceSpec::Names::finalizers);
    if (list.kind() != value::Kind::kList) list.Set(Value::EmptyList());
    list.Append(Value::String(kFinalizer, /*plain=*/true));
  }
  // A name made from generateName was not known when the label was defaulted.
  const v1::Namespace prepared(object.Get());
  if (!NamesItself(prepared.metadata())) {
    const Value name = prepared.metadata().value()[ObjectMeta::Names::name];
    object.Field(v1::Namespace::Names::metadata)
        .Field(ObjectMeta::Names::labels)
        .SetField(kNameLabel, name);
  }
}

void NamespaceStrategy::PrepareForUpdate(const WriteScope& scope, Ref object,
                                         const Value& old) const {
  if (!scope.subresource.empty()) return;
  const Value finalizers = v1::Namespace(old).spec().finalizers().value();
  Ref spec = object.Field(v1::Namespace::Names::spec);
  if (finalizers.items().empty()) {
    spec.RemoveField(v1::NamespaceSpec::Names::finalizers);
  } else {
    spec.SetField(v1::NamespaceSpec::Names::finalizers, finalizers);
  }
}

void NamespaceStrategy::Validate(const WriteScope&, const Value& object,
                                 FieldErrors& errors) const {
  CheckFinalizers(v1::Namespace(object), /*indexed=*/false, errors);
}

void NamespaceStrategy::ValidateUpdate(const WriteScope& scope, const Value& object,
                                       const Value& old, FieldErrors& errors) const {
  if (scope.subresource != "status") return Validate(scope, object, errors);
  const v1::Namespace changed(object);
  const auto phase = changed.status().phase();
  const bool dying = !changed.metadata().value()[ObjectMeta::Names::deletionTimestamp].is_null();
  if (!dying && phase != "Active") {
    errors.push_back(Invalid(Path("status").Child("Phase"), phase,
                             "may only be 'Active' if `deletionTimestamp` is empty"));
  } else if (dying && phase != "Terminating") {
    errors.push_back(Invalid(Path("status").Child("Phase"), phase,
                             "may only be 'Terminating' if `deletionTimestamp` is not empty"));
  }
}

void NamespaceStrategy::PrepareForDelete(const WriteScope&, Ref object) const {
  SetPhase(object, "Terminating");
  object.Field(v1::Namespace::Names::metadata)
      .RemoveField(ObjectMeta::Names::deletionGracePeriodSeconds);
}

bool NamespaceStrategy::AwaitsFinalization(const Value& object) const {
  return !v1::Namespace(object).spec().finalizers().empty();
}

void NamespaceFinalizeStrategy::PrepareForUpdate(const WriteScope&, Ref object,
                                                 const Value& old) const {
  object.SetField(v1::Namespace::Names::status, old[v1::Namespace::Names::status]);
}

void NamespaceFinalizeStrategy::ValidateUpdate(const WriteScope&, const Value& object, const Value&,
                                               FieldErrors& errors) const {
  CheckFinalizers(v1::Namespace(object), /*indexed=*/true, errors);
}

}  // namespace keelson::kube::core
