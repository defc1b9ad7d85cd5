#pragma once

// Durations in the text form that Kubernetes flags and query parameters use: "1m0s", "250ms",
// "1.5h".

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace keelson {

// Accepts a signed sequence of decimal numbers with units ns, us, µs, ms, s, m, h, or a plain "0".
// The error text is the one Go programs print: `time: missing unit in duration "5"`.
Result<Duration> ParseDuration(std::string_view text);

// "1m0s", "1.5s", "300ms", "0s": the shortest form Go's Duration.String prints.
std::string FormatDuration(Duration duration);

}  // namespace keelson
