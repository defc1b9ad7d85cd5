#pragma once

#include <cstddef>

#include "value/value.h"

namespace keelson::patch {

// How many bytes the compact JSON of a value takes. Stops counting somewhere above `limit`, so the
// cost of an enormous shared tree stays bounded by it.
size_t JsonSize(const value::Value& value, size_t limit);

}  // namespace keelson::patch
