#pragma once

// Quantity: an exact amount of something, as resources are counted: 100m, 1.5Gi, 12e6.
//
// Parsing, rounding, the canonical spelling and the behaviour on overflow are upstream's. A
// quantity below 10^18 units is two integers; larger ones carry a Decimal.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/decimal.h"

namespace keelson::value {

class Quantity {
 public:
  enum class Format : uint8_t { kDecimalExponent, kBinarySI, kDecimalSI };

  Quantity() = default;
  // number * 10^scale
  explicit Quantity(int64_t number, Format format = Format::kDecimalSI, int32_t scale = 0)
      : number_(number), scale_(scale), format_(format) {}

  // The error's message is upstream's.
  static Result<Quantity> Parse(std::string_view text);

  Format format() const { return format_; }
  int Sign() const;
  bool IsZero() const { return Sign() == 0; }
  // The amount in units of 10^scale, rounded away from zero. What happens past int64 is what
  // happens upstream: zero or the low bits.
  int64_t ScaledValue(int32_t scale) const;
  int64_t Value() const { return ScaledValue(0); }
  int64_t MilliValue() const { return ScaledValue(-3); }
  double AsDouble() const;

  // -1, 0 or 1; the format does not matter.
  int Compare(const Quantity& other) const;
  // A zero takes over the format of what is added to it.
  void Add(const Quantity& other);
  void Sub(const Quantity& other);
  void Negate();

  // The spelling upstream writes: what was parsed when that was good enough, else canonical.
  std::string ToString() const;
  // Appends the same.
  void AppendTo(std::string& out) const;

 private:
  Decimal AsDecimal() const;
  std::string Canonical() const;

  int64_t number_ = 0;
  int32_t scale_ = 0;
  Format format_ = Format::kDecimalSI;
  std::optional<Decimal> decimal_;  // when set, stands instead of number_ and scale_
  std::string text_;                // the parsed spelling, when it is to be kept
};

// Checks `text` and returns its canonical spelling: `text` itself in the usual case, else
// `buffer`, which then holds it. Allocates only in the latter.
Result<std::string_view> CanonicalQuantity(std::string_view text, std::string& buffer);

}  // namespace keelson::value
