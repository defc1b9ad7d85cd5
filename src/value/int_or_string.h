#pragma once

// IntOrString: a count or a percentage, such as maxUnavailable: 1 or "25%".

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace keelson::value {

// The count that `value` (an int, or a string ending in %) means out of `total`. Errors carry
// upstream's messages.
Result<int64_t> ScaledIntOrPercent(const Value& value, int64_t total, bool round_up);

}  // namespace keelson::value
