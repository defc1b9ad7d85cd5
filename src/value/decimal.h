#pragma once

// Decimal: an exact decimal number of any size, digits * 10^exponent.
//
// Quantities fall back to it when int64 is too small. Every operation is linear in the digits, and
// the exponent is never multiplied out, so 1e1000000000 costs as much as 1.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keelson::value {

class Decimal {
 public:
  Decimal() = default;
  explicit Decimal(int64_t number, int32_t exponent = 0);
  // Digits with at most one point and an optional sign; empty counts as zero.
  static Decimal Parse(std::string_view text);

  bool is_zero() const { return limbs_.empty(); }
  int sign() const { return is_zero() ? 0 : negative_ ? -1 : 1; }
  int32_t exponent() const { return exponent_; }
  void set_exponent(int32_t exponent) { exponent_ = exponent; }

  void Negate() { negative_ = !negative_; }
  // Multiplies by 2^bits.
  void ShiftLeft(uint32_t bits);
  // Rounds away from zero to a multiple of 10^exponent. Returns whether nothing was lost.
  bool RoundUp(int32_t exponent);

  Decimal operator+(const Decimal& other) const;
  Decimal operator-(const Decimal& other) const;
  // -1, 0 or 1.
  int Compare(const Decimal& other) const;

  // The digits without sign and point.
  std::string Digits() const;
  // The low 64 bits of the number rounded up to a multiple of 10^exponent and divided by it, as
  // two's complement: what upstream's conversion to int64 yields when it overflows.
  int64_t Low64(int32_t exponent) const;

 private:
  static constexpr uint32_t kBase = 1000000000;

  void MultiplySmall(uint32_t factor);
  void Trim();
  // Appends `count` zeros to the digits and lowers the exponent by as much.
  void Widen(uint32_t count);
  size_t DigitCount() const;
  static int CompareMagnitude(const Decimal& a, const Decimal& b);
  static Decimal AddMagnitude(const Decimal& a, const Decimal& b);
  static Decimal SubtractMagnitude(const Decimal& a, const Decimal& b);
  // Both with the smaller of the two exponents.
  static void Align(Decimal& a, Decimal& b);

  std::vector<uint32_t> limbs_;  // base 10^9, lowest first, no leading zeros
  int32_t exponent_ = 0;
  bool negative_ = false;
};

}  // namespace keelson::value
