#pragma once

// How upstream prints a struct in an error message.
//
// Validation there runs on an unversioned form of each kind whose structs have no JSON names, so a
// refused struct appears with the names of its Go fields, every one of them, zero or not:
//
//   {"Type":"Foo","RollingUpdate":null}
//
// Types of meta/v1 have no such twin and are printed as clients know them.

#include <string>

#include "schema/field_error.h"
#include "schema/type.h"
#include "value/value.h"

namespace keelson::schema {

std::string InternalForm(const Type& type, const value::Value& value);

// What differs between two of them, as messages about structs that may not change go on: a unified
// diff of their JSON with one space of indent.
std::string InternalDiff(const Type& type, const value::Value& before, const value::Value& after);

inline BadValue InternalBadValue(const Type& type, const value::Value& value) {
  return BadValue::Json(InternalForm(type, value));
}

}  // namespace keelson::schema
