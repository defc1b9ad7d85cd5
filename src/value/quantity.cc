// Quantities, after upstream's rules:
//
//   quantity = [sign] digits [. digits] suffix
//   suffix   = Ki Mi Gi Ti Pi Ei (2^10n) | n u m "" k M G T P E (10^3n) | (e | E) exponent
//
// Up to 18 digits and no finer than nano, an amount is number * 10^scale in int64; all else is a
// Decimal rounded up to nano. Canonical: no fraction, largest suffix that keeps the digits whole. A
// spelling that is nearly canonical is kept as it was written (so "1500m", but also "+5").

#include "value/quantity.h"

#include <charconv>
#include <cmath>

namespace keelson::value {
namespace {

using Format = Quantity::Format;

constexpr std::string_view kFormatWrong =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffixWrong = "unable to parse quantity's suffix";
constexpr int32_t kNano = -9;
constexpr int32_t kMaxDigits = 18;

struct Suffix {
  std::string_view text;
  int32_t base;
  int32_t exponent;
};
constexpr Suffix kSuffixes[] = {
    {"", 10, 0},   {"m", 10, -3}, {"Mi", 2, 20}, {"Gi", 2, 30}, {"Ki", 2, 10}, {"k", 10, 3},
    {"M", 10, 6},  {"G", 10, 9},  {"n", 10, -9}, {"u", 10, -6}, {"T", 10, 12}, {"P", 10, 15},
    {"E", 10, 18}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60},
};

struct Interpreted {
  int32_t base = 10;
  int32_t exponent = 0;
  Format format = Format::kDecimalSI;
};

std::optional<Interpreted> Interpret(std::string_view suffix) {
  for (const Suffix& known : kSuffixes) {
    if (known.text == suffix) {
      return Interpreted{known.base, known.exponent,
                         known.base == 2 ? Format::kBinarySI : Format::kDecimalSI};
    }
  }
  if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E')) {
    std::string_view digits = suffix.substr(1);
    if (digits[0] == '+') digits.remove_prefix(1);
    int64_t exponent = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return Interpreted{10, static_cast<int32_t>(exponent), Format::kDecimalExponent};
  }
  return std::nullopt;
}

std::string_view SuffixFor(int32_t base, int32_t exponent) {
  if (exponent == 0) return "";
  for (const Suffix& known : kSuffixes) {
    if (known.base == base && known.exponent == exponent) return known.text;
  }
  return "";  // upstream writes a quantity past its suffixes without one
}

struct Parts {
  bool positive = true;
  std::string_view value;  // sign, digits and point as written
  std::string_view whole;  // without leading zeros
  std::string_view fraction;
  std::string_view suffix;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool Split(std::string_view text, Parts& parts) {
  size_t at = 0;
  size_t end = text.size();
  if (at < end && (text[0] == '-' || text[0] == '+')) {
    parts.positive = text[0] == '+';
    ++at;
  }
  while (at < end && text[at] == '0') ++at;
  if (at == end) {
    parts.whole = parts.value = "0";
    return true;
  }
  size_t start = at;
  while (at < end && IsDigit(text[at])) ++at;
  parts.whole = at > start ? text.substr(start, at - start) : "0";
  if (at < end && text[at] == '.') {
    start = ++at;
    while (at < end && IsDigit(text[at])) ++at;
    parts.fraction = text.substr(start, at - start);
  }
  parts.value = text.substr(0, at);
  parts.suffix = text.substr(at);
  while (at < end && std::string_view("eEinumkKMGTP").find(text[at]) != std::string_view::npos) {
    ++at;
  }
  if (at < end && (text[at] == '-' || text[at] == '+')) ++at;
  while (at < end && IsDigit(text[at])) ++at;
  return at == end;
}

bool MultiplyFits(int64_t a, int64_t b, int64_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}

// An amount that fits int64, and whether its spelling may stay.
struct Small {
  int64_t number = 0;
  int32_t scale = 0;
  bool keep_text = false;
};

std::optional<Small> ParseSmall(const Parts& parts, const Interpreted& suffix) {
  int32_t scale = 0;
  int32_t precision = -1;
  int64_t factor = 1;
  auto whole_size = static_cast<int32_t>(std::min<size_t>(parts.whole.size(), 1000));
  auto fraction_size = static_cast<int32_t>(std::min<size_t>(parts.fraction.size(), 1000));
  if (suffix.base == 10) {
    scale = suffix.exponent;
    precision = kMaxDigits - (whole_size + fraction_size);
  } else if (fraction_size == 0) {
    factor = int64_t{1} << suffix.exponent;
    precision = 15 - whole_size - suffix.exponent * 3 / 10 - 1;
  }
  if (precision < 0 || int64_t{scale} - fraction_size < kNano) return std::nullopt;
  scale -= fraction_size;

  int64_t number = 0;
  for (char c : parts.whole) number = number * 10 + (c - '0');
  for (char c : parts.fraction) number = number * 10 + (c - '0');
  Small small;
  if (!MultiplyFits(number, factor, small.number)) return std::nullopt;
  if (!parts.positive) small.number = -small.number;
  small.scale = scale;
  if (suffix.format == Format::kBinarySI) {
    small.keep_text = (number & 7) != 0;
  } else {
    std::string_view tail = parts.fraction.empty() ? parts.whole : parts.fraction;
    bool round =
        number != 0 && number % 1000 == 0 && parts.whole.size() + parts.fraction.size() > 2;
    small.keep_text = scale % 3 == 0 && !round && parts.whole[0] != '0' && !tail.empty();
  }
  return small;
}

Decimal ParseLarge(const Parts& parts, Interpreted& suffix) {
  Decimal amount = Decimal::Parse(parts.value);
  if (suffix.base == 10) {
    amount.set_exponent(amount.exponent() + suffix.exponent);
  } else {
    amount.ShiftLeft(static_cast<uint32_t>(suffix.exponent));
  }
  bool negative = amount.sign() < 0;
  if (negative) amount.Negate();
  // Whoever asks for some shall get some: up, not to nearest.
  amount.RoundUp(kNano);
  if (suffix.format == Format::kBinarySI) {
    Decimal most(INT64_MAX);
    if (amount.Compare(most) > 0) amount = most;
    if (!amount.is_zero() && amount.Compare(Decimal(1)) < 0) suffix.format = Format::kDecimalSI;
  }
  if (negative) amount.Negate();
  return amount;
}

// number / 10^places, away from zero.
int64_t DivideUp(int64_t number, int64_t places, bool& exact) {
  int64_t value = number;
  bool fraction = false;
  for (int64_t i = 0; i < places && value != 0; ++i) {
    fraction |= value % 10 != 0;
    value /= 10;
  }
  exact = !fraction;
  return fraction ? value + (number > 0 ? 1 : -1) : value;
}

// number * 10^places when that fits.
std::optional<int64_t> MultiplyPower(int64_t number, int64_t places) {
  if (number == 0) return 0;
  for (int64_t i = 0; i < places; ++i) {
    if (!MultiplyFits(number, 10, number)) return std::nullopt;
  }
  return number;
}

std::string JoinDecimal(bool negative, std::string digits, int64_t exponent, Format format) {
  size_t zeros = digits.size() - 1 - digits.find_last_not_of('0');
  digits.resize(digits.size() - zeros);
  exponent += static_cast<int64_t>(zeros);
  while (exponent % 3 != 0) {
    digits += '0';
    --exponent;
  }
  std::string out = negative ? "-" : "";
  out += digits;
  if (format == Format::kDecimalExponent) {
    if (exponent != 0) out += 'e' + std::to_string(exponent);
  } else {
    out += SuffixFor(10, static_cast<int32_t>(exponent));
  }
  return out;
}

// The canonical spelling without a detour over Decimal; nothing when it takes one.
std::optional<std::string> SpellSmall(int64_t number, int64_t scale, Format format) {
  if (number == 0) return "0";
  if (format == Format::kBinarySI && scale == 0 && (number >= 1024 || number <= -1024)) {
    int32_t power = 0;
    for (; number % 1024 == 0; number /= 1024) power += 10;
    return std::to_string(number).append(SuffixFor(2, power));
  }
  if (format == Format::kBinarySI && scale != 0) return std::nullopt;
  for (; number % 10 == 0; number /= 10) ++scale;
  for (; scale % 3 != 0; --scale) {
    if (!MultiplyFits(number, 10, number)) return std::nullopt;
  }
  std::string text = std::to_string(number);
  if (format == Format::kDecimalExponent) {
    if (scale != 0) text += 'e' + std::to_string(scale);
  } else {
    text += SuffixFor(10, static_cast<int32_t>(scale));
  }
  return text;
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  if (text.empty()) return Fail(ErrorCode::kInvalid, "{}", kFormatWrong);
  Quantity quantity;
  Parts parts;
  if (!Split(text, parts)) return Fail(ErrorCode::kInvalid, "{}", kFormatWrong);
  auto suffix = Interpret(parts.suffix);
  if (!suffix) return Fail(ErrorCode::kInvalid, "{}", kSuffixWrong);
  if (auto small = ParseSmall(parts, *suffix)) {
    quantity.number_ = small->number;
    quantity.scale_ = small->scale;
    if (small->keep_text) quantity.text_ = text;
  } else {
    quantity.decimal_ = ParseLarge(parts, *suffix);
  }
  quantity.format_ = suffix->format;
  return quantity;
}

Result<std::string_view> CanonicalQuantity(std::string_view text, std::string& buffer) {
  Parts parts;
  if (!text.empty() && Split(text, parts)) {
    if (auto suffix = Interpret(parts.suffix)) {
      if (auto small = ParseSmall(parts, *suffix)) {
        if (small->keep_text) return text;
        if (auto spelt = SpellSmall(small->number, small->scale, suffix->format)) {
          buffer = *std::move(spelt);
          return std::string_view(buffer);
        }
      }
    }
  }
  TRY(Quantity quantity, Quantity::Parse(text));
  buffer = quantity.ToString();
  return std::string_view(buffer);
}

int Quantity::Sign() const {
  if (decimal_) return decimal_->sign();
  return number_ == 0 ? 0 : number_ < 0 ? -1 : 1;
}

Decimal Quantity::AsDecimal() const { return decimal_ ? *decimal_ : Decimal(number_, scale_); }

int64_t Quantity::ScaledValue(int32_t scale) const {
  if (decimal_) return decimal_->Low64(scale);
  int64_t places = int64_t{scale_} - scale;
  bool exact;
  if (places < 0) return DivideUp(number_, -places, exact);
  return MultiplyPower(number_, places).value_or(0);
}

double Quantity::AsDouble() const {
  if (!decimal_) {
    return scale_ == 0 ? static_cast<double>(number_)
                       : static_cast<double>(number_) * std::pow(10.0, scale_);
  }
  double magnitude = std::strtod(decimal_->Digits().c_str(), nullptr);
  return decimal_->sign() * magnitude * std::pow(10.0, decimal_->exponent());
}

int Quantity::Compare(const Quantity& other) const {
  if (!decimal_ && !other.decimal_ && scale_ == other.scale_) {
    return number_ < other.number_ ? -1 : number_ > other.number_;
  }
  return AsDecimal().Compare(other.AsDecimal());
}

void Quantity::Add(const Quantity& other) {
  if (IsZero()) format_ = other.format_;
  text_.clear();
  if (!decimal_ && !other.decimal_) {
    if (other.number_ == 0) return;
    if (number_ == 0) {
      number_ = other.number_;
      scale_ = other.scale_;
      return;
    }
    int32_t scale = std::min(scale_, other.scale_);
    auto a = MultiplyPower(number_, int64_t{scale_} - scale);
    auto b = MultiplyPower(other.number_, int64_t{other.scale_} - scale);
    int64_t sum = 0;
    if (a && b && !__builtin_add_overflow(*a, *b, &sum)) {
      number_ = sum;
      scale_ = scale;
      return;
    }
  }
  decimal_ = AsDecimal() + other.AsDecimal();
}

void Quantity::Sub(const Quantity& other) {
  Quantity negated = other;
  negated.Negate();
  Add(negated);
}

void Quantity::Negate() {
  text_.clear();
  if (decimal_) {
    decimal_->Negate();
  } else if (number_ == INT64_MIN) {
    decimal_ = Decimal(number_, scale_);
    decimal_->Negate();
  } else {
    number_ = -number_;
  }
}

std::string Quantity::Canonical() const {
  if (IsZero()) return "0";
  if (!decimal_) {
    if (auto spelt = SpellSmall(number_, scale_, format_)) return *std::move(spelt);
  }
  Format format = format_;
  if (format == Format::kBinarySI) {
    Decimal amount = AsDecimal();
    bool small = amount.Compare(Decimal(-1024)) > 0 && amount.Compare(Decimal(1024)) < 0;
    // Binary suffixes count whole units; what has a fraction is written in decimal.
    if (small || !amount.RoundUp(0)) {
      format = Format::kDecimalSI;
    } else {
      int64_t units = amount.Low64(0);
      int32_t power = 0;
      for (; units % 1024 == 0; units /= 1024) power += 10;
      return std::to_string(units) + std::string(SuffixFor(2, power));
    }
  }
  Decimal amount = AsDecimal();
  return JoinDecimal(amount.sign() < 0, amount.Digits(), amount.exponent(), format);
}

std::string Quantity::ToString() const { return text_.empty() ? Canonical() : text_; }

void Quantity::AppendTo(std::string& out) const { out += ToString(); }

}  // namespace keelson::value
