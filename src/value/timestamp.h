#pragma once

// Time, MicroTime and Duration as the API spells them.
//
// A Time is RFC 3339 with seconds, a MicroTime always with six digits of fraction, both written in
// UTC; the zero time, year 1, is JSON null. A Duration is Go's: 1h0m0s, 1.5s, 100ms. Errors carry
// upstream's messages.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::value {

struct Timestamp {
  // Seconds of 0001-01-01T00:00:00Z since 1970.
  static constexpr int64_t kZeroSeconds = -62135596800;

  int64_t seconds = kZeroSeconds;  // since 1970
  int32_t nanos = 0;

  bool IsZero() const { return seconds == kZeroSeconds && nanos == 0; }
  auto operator<=>(const Timestamp&) const = default;
};

// A fraction of a second is accepted and kept.
Result<Timestamp> ParseTime(std::string_view text);
// The fraction must have exactly six digits.
Result<Timestamp> ParseMicroTime(std::string_view text);
// 2006-01-02T15:04:05Z; what is finer than a second is cut off.
std::string FormatTime(Timestamp time);
// 2006-01-02T15:04:05.000000Z
std::string FormatMicroTime(Timestamp time);
// True for a text that FormatTime could have written; then it needs no parsing to be re-written.
bool IsCanonicalTime(std::string_view text);

// Nanoseconds.
Result<int64_t> ParseDuration(std::string_view text);
std::string FormatDuration(int64_t nanoseconds);

// `text` in quotes as the errors above hold it: bytes that are not printable ASCII as \xNN.
std::string QuoteForTimeError(std::string_view text);

}  // namespace keelson::value
