#include "base/duration.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace keelson {
namespace {

struct Unit {
  std::string_view name;
  uint64_t nanoseconds;
};

constexpr std::array kUnits{
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"\u00b5s", 1'000},
    Unit{"\u03bcs", 1'000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
};

constexpr uint64_t kLimit = uint64_t{1} << 63;  // magnitude of the most negative duration

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<uint64_t> UnitOf(std::string_view name) {
  for (const auto& unit : kUnits) {
    if (unit.name == name) return unit.nanoseconds;
  }
  return std::nullopt;
}

// Go's quoting of the offending text inside time errors: only what would be unreadable is escaped.
std::string Quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x80) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::unexpected<Error> Invalid(std::string_view text) {
  return Fail(ErrorCode::kInvalid, "time: invalid duration {}", Quote(text));
}

struct Number {
  uint64_t whole = 0;
  uint64_t fraction = 0;
  double scale = 1;  // fraction / scale
  bool any_digit = false;
};

// Takes "12.34" off the front of `rest`; false when the whole part overflows.
bool TakeNumber(std::string_view& rest, Number& number) {
  while (!rest.empty() && IsDigit(rest[0])) {
    number.any_digit = true;
    if (number.whole > kLimit / 10) return false;
    number.whole = number.whole * 10 + static_cast<uint64_t>(rest[0] - '0');
    if (number.whole > kLimit) return false;
    rest.remove_prefix(1);
  }
  if (rest.empty() || rest[0] != '.') return true;
  rest.remove_prefix(1);
  bool overflow = false;
  while (!rest.empty() && IsDigit(rest[0])) {
    number.any_digit = true;
    if (!overflow) {
      uint64_t next = number.fraction * 10 + static_cast<uint64_t>(rest[0] - '0');
      if (number.fraction > (kLimit - 1) / 10 || next > kLimit) {
        overflow = true;  // further digits are below a nanosecond
      } else {
        number.fraction = next;
        number.scale *= 10;
      }
    }
    rest.remove_prefix(1);
  }
  return true;
}

// Appends value/10^digits without trailing zeros in its fraction.
void AppendFraction(std::string& out, uint64_t value, int digits) {
  uint64_t power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  out += std::to_string(value / power);
  uint64_t fraction = value % power;
  if (fraction == 0) return;
  std::string text = std::to_string(fraction);
  text.insert(0, static_cast<size_t>(digits) - text.size(), '0');
  text.erase(text.find_last_not_of('0') + 1);
  out += '.';
  out += text;
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return Duration::zero();
  if (rest.empty()) return Invalid(text);
  uint64_t total = 0;
  while (!rest.empty()) {
    if (rest[0] != '.' && !IsDigit(rest[0])) return Invalid(text);
    Number number;
    if (!TakeNumber(rest, number) || !number.any_digit) return Invalid(text);
    size_t length = 0;
    while (length < rest.size() && rest[length] != '.' && !IsDigit(rest[length])) ++length;
    if (length == 0) {
      return Fail(ErrorCode::kInvalid, "time: missing unit in duration {}", Quote(text));
    }
    auto name = rest.substr(0, length);
    rest.remove_prefix(length);
    auto unit = UnitOf(name);
    if (!unit) {
      return Fail(ErrorCode::kInvalid, "time: unknown unit {} in duration {}", Quote(name),
                  Quote(text));
    }
    if (number.whole > kLimit / *unit) return Invalid(text);
    uint64_t value = number.whole * *unit;
    value += static_cast<uint64_t>(static_cast<double>(number.fraction) *
                                   (static_cast<double>(*unit) / number.scale));
    if (value > kLimit || total > kLimit - value) return Invalid(text);
    total += value;
  }
  if (negative) return Duration(static_cast<int64_t>(0 - total));
  if (total > kLimit - 1) return Invalid(text);
  return Duration(static_cast<int64_t>(total));
}

std::string FormatDuration(Duration duration) {
  int64_t count = duration.count();
  if (count == 0) return "0s";
  uint64_t magnitude = count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  std::string out = count < 0 ? "-" : "";
  if (magnitude < 1'000) {
    out += std::to_string(magnitude) + "ns";
  } else if (magnitude < 1'000'000) {
    AppendFraction(out, magnitude, 3);
    out += "\u00b5s";
  } else if (magnitude < 1'000'000'000) {
    AppendFraction(out, magnitude, 6);
    out += "ms";
  } else {
    uint64_t minutes = magnitude / 60'000'000'000;
    uint64_t hours = minutes / 60;
    if (hours > 0) out += std::to_string(hours) + "h";
    if (minutes > 0) out += std::to_string(minutes % 60) + "m";
    AppendFraction(out, magnitude % 60'000'000'000, 9);
    out += "s";
  }
  return out;
}

}  // namespace keelson
