#pragma once

// What a version of a definition says besides its schema: subresources, columns, selectable fields.
// All may be absent. Internal.

#include "schema/field_error.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::apiextensions {

void CheckSubresources(const value::Value& subresources, const value::Path& path,
                       schema::FieldErrors& errors);
void CheckColumns(const value::Value& columns, const value::Path& path,
                  schema::FieldErrors& errors);
// `schema` is that of the same version.
void CheckSelectableFields(const value::Value& fields, const value::Value& schema,
                           const value::Path& path, schema::FieldErrors& errors);

}  // namespace keelson::apiextensions
