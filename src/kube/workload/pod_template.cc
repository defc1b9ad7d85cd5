#include "kube/workload/pod_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "kube/pod/validate_template.h"
#include "rest/field_checks.h"

namespace keelson::kube::workload {

using api::core_v1::PodTemplateSpec;
using api::meta_v1::LabelSelector;
using schema::FieldErrors;
using schema::Invalid;
using value::Path;
using value::Value;

void CheckSelected(const LabelSelector& selector, const PodTemplateSpec& pod_template,
                   const Path& path, FieldErrors& errors) {
  const Value labels = pod_template.metadata().labels().value();
  if (rest::SelectorMatches(selector.value(), labels)) return;
  errors.push_back(Invalid(path.Child("metadata").Child("labels"), labels,
                           "`selector` does not match template `labels`"));
}

void CheckRunsForever(const PodTemplateSpec& pod_template, std::string_view owner, const Path& path,
                      FieldErrors& errors) {
  static constexpr std::string_view kAlways[] = {"Always"};
  const Path spec = path.Child("spec");
  rest::CheckSupported(pod_template.spec().restartPolicy(), kAlways, spec.Child("restartPolicy"),
                       errors);
  if (pod_template.spec().activeDeadlineSeconds()) {
    errors.push_back(
        schema::Forbidden(spec.Child("activeDeadlineSeconds"),
                          fmt::format("activeDeadlineSeconds in {} is not Supported", owner)));
  }
}

void CheckReplicated(const rest::WriteScope& scope, const LabelSelector& selector,
                     const PodTemplateSpec& pod_template, const Path& spec, FieldErrors& errors) {
  const Path at = spec.Child("selector");
  if (!selector) {
    errors.push_back(schema::Required(at, ""));
  } else {
    rest::CheckLabelSelector(selector.value(), at, errors);
    if (rest::IsEmptySelector(selector.value())) {
      errors.push_back(Invalid(at, selector.value(), "empty selector is invalid for deployment"));
    }
  }
  if (!rest::IsUsableSelector(selector.value())) {
    errors.push_back(Invalid(at, selector.value(), "invalid label selector"));
    return;
  }
  const Path at_template = spec.Child("template");
  CheckSelected(selector, pod_template, at_template, errors);
  pod::ValidatePodTemplateSpec(pod_template.value(), at_template, errors,
                               pod::TemplateRules(scope));
  CheckRunsForever(pod_template, "ReplicaSet", at_template, errors);
}

void WarnAboutName(const Value& object, std::vector<std::string>& warnings) {
  const auto complaints = names::CheckDns1123Label(object["metadata"]["name"].AsString());
  if (complaints.empty()) return;
  warnings.push_back(
      fmt::format("metadata.name: this is used in Pod names and hostnames, which can result in "
                  "surprising behavior; a DNS label is recommended: [{}]",
                  fmt::join(complaints, " ")));
}

void WarnAboutTemplate(const PodTemplateSpec& pod_template, const Path& path,
                       std::vector<std::string>& warnings) {
  pod::WarnAboutPodTemplate(pod_template.value(), path, warnings);
}

bool GenerationMoved(const Value& object, const Value* old) {
  if (old == nullptr) return true;
  return object["metadata"]["generation"] != (*old)["metadata"]["generation"];
}

}  // namespace keelson::kube::workload
