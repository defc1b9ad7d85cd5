#include "value/decimal.h"

#include <algorithm>

#include "base/result.h"

namespace keelson::value {
namespace {

// Sums of numbers further apart than this keep the larger one only in upstream's practice too:
// no quantity has so many digits.
constexpr int64_t kMaxAlign = 100000;

uint32_t PowerOfTen(uint32_t n) {
  uint32_t power = 1;
  while (n-- > 0) power *= 10;
  return power;
}

}  // namespace

Decimal::Decimal(int64_t number, int32_t exponent) : exponent_(exponent), negative_(number < 0) {
  uint64_t magnitude =
      negative_ ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  for (; magnitude != 0; magnitude /= kBase) {
    limbs_.push_back(static_cast<uint32_t>(magnitude % kBase));
  }
}

Decimal Decimal::Parse(std::string_view text) {
  Decimal result;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    result.negative_ = text[0] == '-';
    text.remove_prefix(1);
  }
  uint32_t limb = 0;
  uint32_t place = 1;
  size_t fraction = 0;
  for (size_t i = text.size(); i > 0; --i) {
    if (text[i - 1] == '.') {
      fraction = text.size() - i;
      continue;
    }
    limb += static_cast<uint32_t>(text[i - 1] - '0') * place;
    place *= 10;
    if (place == kBase) {
      result.limbs_.push_back(limb);
      limb = 0;
      place = 1;
    }
  }
  if (limb != 0) result.limbs_.push_back(limb);
  result.exponent_ = -static_cast<int32_t>(fraction);
  result.Trim();
  return result;
}

void Decimal::Trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  if (limbs_.empty()) negative_ = false;
}

void Decimal::MultiplySmall(uint32_t factor) {
  uint64_t carry = 0;
  for (uint32_t& limb : limbs_) {
    uint64_t product = uint64_t{limb} * factor + carry;
    limb = static_cast<uint32_t>(product % kBase);
    carry = product / kBase;
  }
  if (carry != 0) limbs_.push_back(static_cast<uint32_t>(carry));
  Trim();
}

void Decimal::ShiftLeft(uint32_t bits) {
  for (; bits >= 30; bits -= 30) MultiplySmall(uint32_t{1} << 30);
  MultiplySmall(uint32_t{1} << bits);
}

void Decimal::Widen(uint32_t count) {
  if (is_zero()) {
    exponent_ -= static_cast<int32_t>(count);
    return;
  }
  MultiplySmall(PowerOfTen(count % 9));
  limbs_.insert(limbs_.begin(), count / 9, 0u);
  exponent_ -= static_cast<int32_t>(count);
}

size_t Decimal::DigitCount() const {
  if (limbs_.empty()) return 0;
  size_t count = (limbs_.size() - 1) * 9;
  for (uint32_t top = limbs_.back(); top != 0; top /= 10) ++count;
  return count;
}

bool Decimal::RoundUp(int32_t exponent) {
  if (exponent_ >= exponent || is_zero()) return true;
  auto drop = static_cast<uint64_t>(int64_t{exponent} - exponent_);
  exponent_ = exponent;
  if (drop >= DigitCount()) {
    // Less than one unit, or exactly 10^drop: one unit either way unless the digits say more.
    limbs_.assign(1, 1);
    return false;
  }
  bool lost = false;
  size_t whole = drop / 9;
  for (size_t i = 0; i < whole; ++i) lost |= limbs_[i] != 0;
  limbs_.erase(limbs_.begin(), limbs_.begin() + static_cast<ptrdiff_t>(whole));
  uint32_t divisor = PowerOfTen(drop % 9);
  uint64_t remainder = 0;
  for (size_t i = limbs_.size(); i > 0; --i) {
    uint64_t current = remainder * kBase + limbs_[i - 1];
    limbs_[i - 1] = static_cast<uint32_t>(current / divisor);
    remainder = current % divisor;
  }
  lost |= remainder != 0;
  Trim();
  if (lost) {
    size_t i = 0;
    while (i < limbs_.size() && limbs_[i] == kBase - 1) limbs_[i++] = 0;
    if (i == limbs_.size()) limbs_.push_back(0);
    ++limbs_[i];
  }
  return !lost;
}

int Decimal::CompareMagnitude(const Decimal& a, const Decimal& b) {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
  for (size_t i = a.limbs_.size(); i > 0; --i) {
    if (a.limbs_[i - 1] != b.limbs_[i - 1]) return a.limbs_[i - 1] < b.limbs_[i - 1] ? -1 : 1;
  }
  return 0;
}

void Decimal::Align(Decimal& a, Decimal& b) {
  int64_t gap = int64_t{a.exponent_} - b.exponent_;
  gap = std::clamp(gap, -kMaxAlign, kMaxAlign);
  if (gap > 0) a.Widen(static_cast<uint32_t>(gap));
  if (gap < 0) b.Widen(static_cast<uint32_t>(-gap));
}

int Decimal::Compare(const Decimal& other) const {
  if (sign() != other.sign()) return sign() < other.sign() ? -1 : 1;
  if (is_zero()) return 0;
  int direction = negative_ ? -1 : 1;
  int64_t left = static_cast<int64_t>(DigitCount()) + exponent_;
  int64_t right = static_cast<int64_t>(other.DigitCount()) + other.exponent_;
  if (left != right) return left < right ? -direction : direction;
  Decimal a = *this;
  Decimal b = other;
  Align(a, b);
  return direction * CompareMagnitude(a, b);
}

Decimal Decimal::AddMagnitude(const Decimal& a, const Decimal& b) {
  Decimal sum = a;
  sum.limbs_.resize(std::max(a.limbs_.size(), b.limbs_.size()) + 1);
  uint32_t carry = 0;
  for (size_t i = 0; i < sum.limbs_.size(); ++i) {
    uint32_t limb = sum.limbs_[i] + (i < b.limbs_.size() ? b.limbs_[i] : 0) + carry;
    carry = limb >= kBase;
    sum.limbs_[i] = carry ? limb - kBase : limb;
  }
  sum.Trim();
  return sum;
}

// |a| >= |b|
Decimal Decimal::SubtractMagnitude(const Decimal& a, const Decimal& b) {
  Decimal difference = a;
  int64_t borrow = 0;
  for (size_t i = 0; i < difference.limbs_.size(); ++i) {
    int64_t limb = int64_t{difference.limbs_[i]} - (i < b.limbs_.size() ? b.limbs_[i] : 0) - borrow;
    borrow = limb < 0;
    difference.limbs_[i] = static_cast<uint32_t>(borrow ? limb + kBase : limb);
  }
  difference.Trim();
  return difference;
}

Decimal Decimal::operator+(const Decimal& other) const {
  Decimal a = *this;
  Decimal b = other;
  Align(a, b);
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (a.negative_ == b.negative_) return AddMagnitude(a, b);
  if (CompareMagnitude(a, b) >= 0) return SubtractMagnitude(a, b);
  return SubtractMagnitude(b, a);
}

Decimal Decimal::operator-(const Decimal& other) const {
  Decimal negated = other;
  negated.Negate();
  return *this + negated;
}

std::string Decimal::Digits() const {
  if (limbs_.empty()) return "0";
  std::string digits = std::to_string(limbs_.back());
  for (size_t i = limbs_.size() - 1; i > 0; --i) {
    std::string group = std::to_string(limbs_[i - 1]);
    digits.append(9 - group.size(), '0');
    digits += group;
  }
  return digits;
}

int64_t Decimal::Low64(int32_t exponent) const {
  Decimal rounded = *this;
  rounded.RoundUp(exponent);
  uint64_t low = 0;
  for (size_t i = rounded.limbs_.size(); i > 0; --i) low = low * kBase + rounded.limbs_[i - 1];
  // Past 64 factors of ten only zeros are left of the low 64 bits.
  int64_t power = std::min<int64_t>(int64_t{rounded.exponent_} - exponent, 64);
  for (int64_t i = 0; i < power; ++i) low *= 10;
  return static_cast<int64_t>(negative_ ? uint64_t{0} - low : low);
}

}  // namespace keelson::value
