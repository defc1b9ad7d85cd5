#pragma once

// Whether a pod, or the template of one, makes sense: upstream's rules, paths and sentences.
//
// The functions look at a decoded and defaulted tree and append what is wrong with it, in the order
// upstream reports it. A valid object costs no allocation: paths live on the stack and become text
// only for an error. (Where upstream walks a Go map, whose order is random, keys come sorted.)

#include <string>
#include <vector>

#include "rest/strategy.h"
#include "schema/field_error.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::kube::pod {

// What a rule may depend on besides the object.
struct SpecRules {
  bool is_pod = false;           // a Pod itself, not a template of one
  bool allow_privileged = true;  // --allow-privileged
};

// `pod_template` is a PodTemplateSpec: metadata and spec. `path` is where it stands, usually
// spec.template.
void ValidatePodTemplateSpec(const value::Value& pod_template, const value::Path& path,
                             schema::FieldErrors& errors, const SpecRules& rules);
// What a template in a write is held to.
inline SpecRules TemplateRules(const rest::WriteScope& scope) {
  return {.allow_privileged = scope.allow_privileged};
}

// A PodSpec. `metadata` is the pod's own, null for a template's spec.
void ValidatePodSpec(const value::Value& spec, const value::Value* metadata,
                     const value::Path& path, schema::FieldErrors& errors, const SpecRules& rules);

// The spec of a claim, as it stands in a PersistentVolumeClaim, an ephemeral volume or a
// StatefulSet's claim template.
void ValidateClaimSpec(const value::Value& spec, const value::Path& path,
                       schema::FieldErrors& errors);

// A NodeSelector: the nodes a pod, or a volume, is bound to.
void ValidateNodeSelector(const value::Value& selector, const value::Path& path,
                          schema::FieldErrors& errors);

// A meta/v1 LabelSelector; nothing is wrong with an absent one.
void ValidateLabelSelector(const value::Value& selector, const value::Path& path,
                           schema::FieldErrors& errors);

// What deserves a Warning header though it is accepted. `path` is empty for a Pod, otherwise where
// the template stands.
void WarnAboutPodTemplate(const value::Value& pod_template, const value::Path& path,
                          std::vector<std::string>& warnings);

}  // namespace keelson::kube::pod
