#pragma once

// Custom objects, where they differ from built-in ones: how they are read, and their canonical
// form.
//
// Canonical is what upstream writes of an object it has no struct for: members sorted by name, at
// every depth, nulls included. Only metadata has a type of its own and the form that gives it.

#include <string_view>

#include "base/result.h"
#include "schema/decode_json.h"
#include "schema/type.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

// `type` is a custom object's (crd.h). Unknown fields are gone, and so are nulls that say nothing.
Result<Decoded> DecodeCustomJson(const Type& type, std::string_view text,
                                 const DecodeOptions& options);

value::Value NormalizeCustom(const Type& type, const value::Value& object, value::Arena& arena);

}  // namespace keelson::schema
