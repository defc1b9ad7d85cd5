#pragma once

// The pod template inside a workload: its own rules, and how it fits the workload around it.

#include <string>
#include <string_view>
#include <vector>

#include "api/core_v1.h"
#include "api/meta_v1.h"
#include "rest/strategy.h"
#include "schema/field_error.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::kube::workload {

// `selector` must select the pods that the template makes.
void CheckSelected(const api::meta_v1::LabelSelector& selector,
                   const api::core_v1::PodTemplateSpec& pod_template, const value::Path& path,
                   schema::FieldErrors& errors);

// Pods that are kept running restart always and have no deadline. `owner` is the kind's name in the
// message.
void CheckRunsForever(const api::core_v1::PodTemplateSpec& pod_template, std::string_view owner,
                      const value::Path& path, schema::FieldErrors& errors);

// The selector of a Deployment or ReplicaSet with everything it says about the template.
void CheckReplicated(const rest::WriteScope& scope, const api::meta_v1::LabelSelector& selector,
                     const api::core_v1::PodTemplateSpec& pod_template, const value::Path& spec,
                     schema::FieldErrors& errors);

// A name that is fine for the workload but not for its pods' host names.
void WarnAboutName(const value::Value& object, std::vector<std::string>& warnings);
// On create, and when an update changes the spec: what is odd about the template at `path`.
void WarnAboutTemplate(const api::core_v1::PodTemplateSpec& pod_template, const value::Path& path,
                       std::vector<std::string>& warnings);
// Whether the update in hand counted as a new generation.
bool GenerationMoved(const value::Value& object, const value::Value* old);

}  // namespace keelson::kube::workload
