#pragma once

// Why a tree does not fit a type, in the words of upstream's converter from untyped objects, which
// reads what a strategic merge patch made.

#include <optional>
#include <string>

#include "schema/type.h"
#include "value/value.h"

namespace keelson::rest {

// The first misfit in the order of the type's fields; nothing when the tree fits.
std::optional<std::string> RestoreError(const schema::Type& type, const value::Value& value);

}  // namespace keelson::rest
