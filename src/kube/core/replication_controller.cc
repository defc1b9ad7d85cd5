// ReplicationController and PodTemplate, the two kinds of this group that hold a pod template.

#include "kube/core/kinds.h"
#include "kube/pod/validate_template.h"

namespace keelson::kube::core {
namespace {

bool Selects(const Value& selector, const Value& labels) {
  for (const auto& member : selector.members()) {
    const Value* label = labels.Find(*member.name);
    if (label == nullptr || label->AsString() != member.value.AsString()) return false;
  }
  return true;
}

void CheckTemplate(const WriteScope& scope, const v1::ReplicationControllerSpec& spec,
                   FieldErrors& errors) {
  const Path spec_path("spec");
  const Path path = spec_path.Child("template");
  const auto pod_template = spec.template_();
  if (!pod_template) {
    errors.push_back(Required(path, ""));
    return;
  }
  const auto labels = pod_template.metadata().labels();
  if (!Selects(spec.selector().value(), labels.value())) {
    errors.push_back(Invalid(path.Child("metadata").Child("labels"),
                             labels.empty() ? Value() : labels.value(),
                             "`selector` does not match template `labels`"));
  }
  pod::ValidatePodTemplateSpec(pod_template.value(), path, errors, pod::TemplateRules(scope));
  const auto policy = pod_template.spec().restartPolicy();
  constexpr std::string_view kAlways[] = {"Always"};
  if (policy != "Always") {
    errors.push_back(
        schema::NotSupported(path.Child("spec").Child("restartPolicy"), policy, kAlways));
  }
  if (pod_template.spec().activeDeadlineSeconds()) {
    errors.push_back(Forbidden(path.Child("spec").Child("activeDeadlineSeconds"),
                               "activeDeadlineSeconds in ReplicationController is not Supported"));
  }
}

void Validate(const WriteScope& scope, const Value& object, FieldErrors& errors) {
  const auto spec = v1::ReplicationController(object).spec();
  const Path path("spec");
  rest::CheckNonnegative(spec.minReadySeconds(), path.Child("minReadySeconds"), errors);
  if (spec.selector().empty()) errors.push_back(Required(path.Child("selector"), ""));
  if (!spec.replicas()) {
    errors.push_back(Required(path.Child("replicas"), ""));
  } else {
    rest::CheckNonnegative(*spec.replicas(), path.Child("replicas"), errors);
  }
  CheckTemplate(scope, spec, errors);
}

void ValidateStatus(const WriteScope&, const Value& object, const Value&, FieldErrors& errors) {
  const auto status = v1::ReplicationController(object).status();
  const Path path("status");
  rest::CheckNonnegative(status.replicas(), path.Child("replicas"), errors);
  rest::CheckNonnegative(status.fullyLabeledReplicas(), path.Child("fullyLabeledReplicas"), errors);
  rest::CheckNonnegative(status.readyReplicas(), path.Child("readyReplicas"), errors);
  rest::CheckNonnegative(status.availableReplicas(), path.Child("availableReplicas"), errors);
  rest::CheckNonnegative(status.observedGeneration(), path.Child("observedGeneration"), errors);
  auto at_most_replicas = [&](std::string_view field, int32_t count) {
    if (count > status.replicas()) {
      errors.push_back(Invalid(path.Child(field), count, "cannot be greater than status.replicas"));
    }
  };
  at_most_replicas("fullyLabeledReplicas", status.fullyLabeledReplicas());
  at_most_replicas("readyReplicas", status.readyReplicas());
  at_most_replicas("availableReplicas", status.availableReplicas());
  if (status.availableReplicas() > status.readyReplicas()) {
    errors.push_back(Invalid(path.Child("availableReplicas"), status.availableReplicas(),
                             "cannot be greater than readyReplicas"));
  }
}

std::vector<std::string> ControllerWarnings(const WriteScope&, const Value& object,
                                            const Value* old) {
  std::vector<std::string> warnings;
  const v1::ReplicationController controller(object);
  if (old == nullptr) {
    const auto complaints = names::CheckDns1123Label(controller.metadata().name());
    if (!complaints.empty()) {
      warnings.push_back(fmt::format(
          "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
          "behavior; a DNS label is recommended: [{}]",
          fmt::join(complaints, " ")));
    }
  }
  const auto pod_template = controller.spec().template_();
  const bool unchanged =
      old != nullptr &&
      v1::ReplicationController(*old).metadata().generation() == controller.metadata().generation();
  if (pod_template && !unchanged) {
    pod::WarnAboutPodTemplate(pod_template.value(), Path("spec").Child("template"), warnings);
  }
  return warnings;
}

void ValidateTemplate(const WriteScope& scope, const Value& object, FieldErrors& errors) {
  pod::ValidatePodTemplateSpec(v1::PodTemplate(object).template_().value(), Path("template"),
                               errors, pod::TemplateRules(scope));
}

std::vector<std::string> TemplateWarnings(const WriteScope&, const Value& object,
                                          const Value* old) {
  const v1::PodTemplate kind(object);
  std::vector<std::string> warnings;
  if (old == nullptr ||
      v1::PodTemplate(*old).metadata().generation() != kind.metadata().generation()) {
    pod::WarnAboutPodTemplate(kind.template_().value(), Path("template"), warnings);
  }
  return warnings;
}

}  // namespace

// The labels of the template serve as selector and labels where none are given.
void DefaultReplicationController(schema::StructEditor& object) {
  using Names = v1::ReplicationController::Names;
  using SpecNames = v1::ReplicationControllerSpec::Names;
  const Value spec = object.Get(Names::spec);
  const Value labels = v1::ReplicationControllerSpec(spec).template_().metadata().labels().value();
  if (labels.members().empty()) return;
  schema::StructEditor spec_editor(v1::ReplicationControllerSpec::Schema(), spec, object.arena());
  if (spec_editor.SetDefault(SpecNames::selector, labels)) {
    object.Set(Names::spec, spec_editor.value());
  }
  schema::StructEditor metadata(api::meta_v1::ObjectMeta::Schema(), object.Get(Names::metadata),
                                object.arena());
  if (metadata.SetDefault(api::meta_v1::ObjectMeta::Names::labels, labels)) {
    object.Set(Names::metadata, metadata.value());
  }
}

constinit const KindRules kReplicationControllerRules = {
    .counts_generation = true,
    // From before there was a collector.
    .garbage_collection = rest::GarbageCollection::kOrphan,
    .validate = Validate,
    .validate_status = ValidateStatus,
    .warnings = ControllerWarnings,
};

constinit const KindRules kPodTemplateRules = {
    .counts_generation = true,
    .validate = ValidateTemplate,
    .warnings = TemplateWarnings,
};

}  // namespace keelson::kube::core
