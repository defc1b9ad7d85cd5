#include "value/int_or_string.h"

#include <charconv>
#include <cmath>

namespace keelson::value {

Result<int64_t> ScaledIntOrPercent(const Value& value, int64_t total, bool round_up) {
  if (value.is_int() || value.is_null()) return value.AsInt();
  std::string_view text = value.AsString();
  if (!text.ends_with('%')) {
    return Fail(ErrorCode::kInvalid,
                "invalid value for IntOrString: invalid type: string is not a percentage");
  }
  std::string_view digits = text.substr(0, text.size() - 1);
  std::string_view number = digits.starts_with('+') ? digits.substr(1) : digits;
  int64_t percent = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc() || end != number.data() + number.size()) {
    return Fail(ErrorCode::kInvalid,
                "invalid value for IntOrString: invalid value \"{}\": strconv.Atoi: parsing "
                "\"{}\": {}",
                text, digits,
                error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax");
  }
  double share = static_cast<double>(percent) * static_cast<double>(total) / 100;
  return static_cast<int64_t>(round_up ? std::ceil(share) : std::floor(share));
}

}  // namespace keelson::value
