#pragma once

// Whether the schema in a CustomResourceDefinition is structural: every value in it has one type
// that is written down. Internal.

#include "schema/field_error.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::apiextensions {

// `schema` is openAPIV3Schema; an absent one is fine.
void CheckDefinitionSchema(const value::Value& schema, const value::Path& path,
                           schema::FieldErrors& errors);

}  // namespace keelson::apiextensions
