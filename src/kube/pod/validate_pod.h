#pragma once

// Whether a Pod may be created, or changed in each of the ways there are: as a whole, by its
// status, its ephemeral containers, or its size. Internal to the strategies.
//
// Objects are whole pods, prepared; metadata as such has been checked by the verbs.

#include "kube/pod/validate_template.h"
#include "schema/field_error.h"
#include "value/value.h"

namespace keelson::kube::pod {

void ValidatePodCreate(const value::Value& pod, const SpecRules& rules,
                       schema::FieldErrors& errors);
void ValidatePodUpdate(const value::Value& pod, const value::Value& old, const SpecRules& rules,
                       schema::FieldErrors& errors);
void ValidatePodStatusUpdate(const value::Value& pod, const value::Value& old,
                             schema::FieldErrors& errors);
void ValidateEphemeralContainersUpdate(const value::Value& pod, const value::Value& old,
                                       const SpecRules& rules, schema::FieldErrors& errors);
void ValidatePodResize(const value::Value& pod, const value::Value& old, const SpecRules& rules,
                       schema::FieldErrors& errors);

}  // namespace keelson::kube::pod
