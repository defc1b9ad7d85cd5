#pragma once

// Equality by meaning: whether an update changes anything.
//
// Quantities are equal by amount (1 and 1000m), times by instant; for built-in types an empty list
// or map equals none, and an absent value its zero. Pointers that are set differ from those that
// are not, whatever they point to.

#include "schema/type.h"
#include "value/value.h"

namespace keelson::schema {

bool EqualByMeaning(const Type& type, const value::Value& a, const value::Value& b);

}  // namespace keelson::schema
