// Durations in Go's syntax: an optional sign, then numbers with a unit each, such as 1h15m30.918s.
// Written out, the largest unit that fits leads and seconds carry the fraction.

#include <optional>

#include "value/timestamp.h"

namespace keelson::value {
namespace {

constexpr uint64_t kLimit = uint64_t{1} << 63;

std::optional<uint64_t> UnitNanos(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us" || unit == "\xc2\xb5s" || unit == "\xce\xbcs") return 1000;
  if (unit == "ms") return 1000000;
  if (unit == "s") return 1000000000;
  if (unit == "m") return uint64_t{60} * 1000000000;
  if (unit == "h") return uint64_t{3600} * 1000000000;
  return std::nullopt;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::unexpected<Error> Invalid(std::string_view text) {
  return Fail(ErrorCode::kInvalid, "time: invalid duration {}", QuoteForTimeError(text));
}

}  // namespace

Result<int64_t> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return 0;
  if (rest.empty()) return Invalid(text);
  uint64_t total = 0;
  while (!rest.empty()) {
    if (rest[0] != '.' && !IsDigit(rest[0])) return Invalid(text);
    uint64_t whole = 0;
    bool any = false;
    for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1), any = true) {
      if (whole > kLimit / 10) return Invalid(text);
      whole = whole * 10 + static_cast<uint64_t>(rest[0] - '0');
      if (whole > kLimit) return Invalid(text);
    }
    uint64_t fraction = 0;
    double scale = 1;
    if (!rest.empty() && rest[0] == '.') {
      rest.remove_prefix(1);
      bool overflow = false;
      for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1), any = true) {
        if (overflow) continue;
        if (fraction > (kLimit - 1) / 10) {
          overflow = true;
          continue;
        }
        uint64_t next = fraction * 10 + static_cast<uint64_t>(rest[0] - '0');
        if (next > kLimit) {
          overflow = true;
          continue;
        }
        fraction = next;
        scale *= 10;
      }
    }
    if (!any) return Invalid(text);
    size_t size = 0;
    while (size < rest.size() && rest[size] != '.' && !IsDigit(rest[size])) ++size;
    if (size == 0) {
      return Fail(ErrorCode::kInvalid, "time: missing unit in duration {}",
                  QuoteForTimeError(text));
    }
    auto unit = UnitNanos(rest.substr(0, size));
    if (!unit) {
      return Fail(ErrorCode::kInvalid, "time: unknown unit {} in duration {}",
                  QuoteForTimeError(rest.substr(0, size)), QuoteForTimeError(text));
    }
    rest.remove_prefix(size);
    if (whole > kLimit / *unit) return Invalid(text);
    whole *= *unit;
    if (fraction > 0) {
      whole += static_cast<uint64_t>(static_cast<double>(fraction) *
                                     (static_cast<double>(*unit) / scale));
      if (whole > kLimit) return Invalid(text);
    }
    total += whole;
    if (total > kLimit) return Invalid(text);
  }
  if (negative) return static_cast<int64_t>(uint64_t{0} - total);
  if (total > kLimit - 1) return Invalid(text);
  return static_cast<int64_t>(total);
}

namespace {

// `number` / 10^digits with the fraction's trailing zeros cut.
std::string WithFraction(uint64_t number, int digits) {
  uint64_t divisor = 1;
  for (int i = 0; i < digits; ++i) divisor *= 10;
  std::string out = std::to_string(number / divisor);
  uint64_t fraction = number % divisor;
  if (fraction != 0) {
    std::string text = fmt::format(".{:0{}}", fraction, digits);
    text.resize(text.find_last_not_of('0') + 1);
    out += text;
  }
  return out;
}

}  // namespace

std::string FormatDuration(int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  bool negative = nanoseconds < 0;
  uint64_t n = negative ? uint64_t{0} - static_cast<uint64_t>(nanoseconds)
                        : static_cast<uint64_t>(nanoseconds);
  std::string out = negative ? "-" : "";
  if (n < 1000) return out + std::to_string(n) + "ns";
  if (n < 1000000) return out + WithFraction(n, 3) + "\xc2\xb5s";
  if (n < 1000000000) return out + WithFraction(n, 6) + "ms";
  uint64_t minutes = n / 60000000000;
  if (minutes >= 60) out += std::to_string(minutes / 60) + "h";
  if (minutes >= 1) out += std::to_string(minutes % 60) + "m";
  return out + WithFraction(n % 60000000000, 9) + "s";
}

}  // namespace keelson::value
