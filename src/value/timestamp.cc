#include "value/timestamp.h"

#include <array>
#include <utility>

namespace keelson::value {
namespace {

constexpr std::string_view kTimeLayout = "2006-01-02T15:04:05Z07:00";
constexpr std::string_view kMicroTimeLayout = "2006-01-02T15:04:05.000000Z07:00";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Days since 1970 of a day in the proleptic Gregorian calendar.
constexpr int64_t DaysFromCivil(int64_t year, int month, int day) {
  year -= month <= 2;
  int64_t era = (year >= 0 ? year : year - 399) / 400;
  int64_t year_of_era = year - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}
static_assert(DaysFromCivil(1, 1, 1) * 86400 == Timestamp::kZeroSeconds);

struct Civil {
  int64_t year;
  int month;
  int day;
};

Civil CivilFromDays(int64_t days) {
  days += 719468;
  int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  int64_t doe = days - era * 146097;
  int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  int64_t mp = (5 * doy + 2) / 153;
  int day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {yoe + era * 400 + (month <= 2), month, day};
}

int DaysIn(int month, int64_t year) {
  static constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[static_cast<size_t>(month - 1)];
}

// Walks the two layouts element by element, so that errors name the element upstream names.
class Parser {
 public:
  Parser(std::string_view text, bool micro)
      : text_(text), rest_(text), layout_(micro ? kMicroTimeLayout : kTimeLayout), micro_(micro) {}

  Result<Timestamp> Run() {
    bool ok = Year() && Literal("-") && Number(month_, "01", true, 1, 12, "month") &&
              Literal("-") && Number(day_, "02", true, 0, 99, "day") && Literal("T") &&
              Number(hour_, "15", false, 0, 23, "hour") && Literal(":") &&
              Number(minute_, "04", true, 0, 59, "minute") && Literal(":") &&
              Number(second_, "05", true, 0, 59, "second") && Fraction() && Zone();
    if (ok && !rest_.empty()) ok = Refuse(": extra text: " + Quote(rest_));
    if (ok && (day_ < 1 || day_ > DaysIn(month_, year_))) ok = Refuse(": day out of range");
    if (!ok) return std::unexpected(Error{ErrorCode::kInvalid, std::move(error_)});
    int64_t days = DaysFromCivil(year_, month_, day_);
    return Timestamp{days * 86400 + hour_ * 3600 + minute_ * 60 + second_ - offset_, nanos_};
  }

 private:
  static std::string Quote(std::string_view text) { return QuoteForTimeError(text); }
  bool Mismatch(std::string_view element) {
    error_ = "parsing time " + Quote(text_) + " as " + Quote(layout_) + ": cannot parse " +
             Quote(rest_) + " as " + Quote(element);
    return false;
  }
  bool Refuse(const std::string& why) {
    error_ = "parsing time " + Quote(text_) + why;
    return false;
  }
  bool Literal(std::string_view literal) {
    if (!rest_.starts_with(literal)) return Mismatch(literal);
    rest_.remove_prefix(literal.size());
    return true;
  }
  bool Year() {
    if (rest_.size() < 4) return Mismatch("2006");
    for (size_t i = 0; i < 4; ++i) {
      if (!IsDigit(rest_[i])) return Mismatch("2006");
      year_ = year_ * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(4);
    return true;
  }
  // Two digits; one will do where upstream's layout element is not zero-padded.
  bool Number(int& out, std::string_view element, bool padded, int low, int high,
              std::string_view what) {
    if (rest_.empty() || !IsDigit(rest_[0])) return Mismatch(element);
    size_t digits = rest_.size() > 1 && IsDigit(rest_[1]) ? 2 : 1;
    if (digits == 1 && padded) return Mismatch(element);
    out = rest_[0] - '0';
    if (digits == 2) out = out * 10 + (rest_[1] - '0');
    rest_.remove_prefix(digits);
    if (out < low || out > high) return Refuse(fmt::format(": {} out of range", what));
    return true;
  }
  bool Fraction() {
    size_t digits = 0;
    bool point = !rest_.empty() && (rest_[0] == '.' || rest_[0] == ',');
    if (point) {
      while (digits + 1 < rest_.size() && IsDigit(rest_[digits + 1])) ++digits;
    }
    if (micro_) {
      if (digits < 6) return Mismatch(".000000");
      digits = 6;
    } else if (digits == 0) {
      return true;
    }
    int32_t place = 100000000;
    for (size_t i = 1; i <= digits; ++i, place /= 10) nanos_ += (rest_[i] - '0') * place;
    rest_.remove_prefix(digits + 1);
    return true;
  }
  bool Zone() {
    if (rest_.starts_with('Z')) {
      rest_.remove_prefix(1);
      return true;
    }
    bool shaped = rest_.size() >= 6 && (rest_[0] == '+' || rest_[0] == '-') && rest_[3] == ':' &&
                  IsDigit(rest_[1]) && IsDigit(rest_[2]) && IsDigit(rest_[4]) && IsDigit(rest_[5]);
    if (!shaped) return Mismatch("Z07:00");
    int hours = (rest_[1] - '0') * 10 + (rest_[2] - '0');
    int minutes = (rest_[4] - '0') * 10 + (rest_[5] - '0');
    if (hours > 24) return Refuse(": time zone offset hour out of range");
    if (minutes > 60) return Refuse(": time zone offset minute out of range");
    offset_ = (rest_[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    rest_.remove_prefix(6);
    return true;
  }

  std::string_view text_;
  std::string_view rest_;
  std::string_view layout_;
  bool micro_;
  int64_t year_ = 0;
  int month_ = 0;
  int day_ = 0;
  int hour_ = 0;
  int minute_ = 0;
  int second_ = 0;
  int32_t nanos_ = 0;
  int64_t offset_ = 0;
  std::string error_;
};

void AppendTwoDigits(std::string& out, int64_t number) {
  out += static_cast<char>('0' + number / 10);
  out += static_cast<char>('0' + number % 10);
}

std::string FormatSeconds(int64_t seconds) {
  int64_t days = seconds / 86400;
  int64_t of_day = seconds % 86400;
  if (of_day < 0) {
    of_day += 86400;
    --days;
  }
  Civil civil = CivilFromDays(days);
  std::string out;
  out.reserve(kMicroTimeLayout.size());
  if (civil.year >= 0 && civil.year <= 9999) {
    AppendTwoDigits(out, civil.year / 100);
    AppendTwoDigits(out, civil.year % 100);
  } else {
    out = fmt::format("{:04}", civil.year);
  }
  const std::pair<char, int64_t> parts[] = {{'-', civil.month},
                                            {'-', civil.day},
                                            {'T', of_day / 3600},
                                            {':', of_day / 60 % 60},
                                            {':', of_day % 60}};
  for (auto [separator, number] : parts) {
    out += separator;
    AppendTwoDigits(out, number);
  }
  return out;
}

}  // namespace

std::string QuoteForTimeError(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x80) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

Result<Timestamp> ParseTime(std::string_view text) { return Parser(text, false).Run(); }
Result<Timestamp> ParseMicroTime(std::string_view text) { return Parser(text, true).Run(); }

std::string FormatTime(Timestamp time) { return FormatSeconds(time.seconds) + "Z"; }

std::string FormatMicroTime(Timestamp time) {
  return FormatSeconds(time.seconds) + fmt::format(".{:06}Z", time.nanos / 1000);
}

bool IsCanonicalTime(std::string_view text) {
  static constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  if (text.size() != kShape.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (kShape[i] == '0' ? !IsDigit(text[i]) : text[i] != kShape[i]) return false;
  }
  auto two = [&](size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  int64_t year = two(0) * 100 + two(2);
  int month = two(5);
  // Year 1 may be the zero time, which is not written like this.
  return year > 1 && month >= 1 && month <= 12 && two(8) >= 1 && two(8) <= DaysIn(month, year) &&
         two(11) < 24 && two(14) < 60 && two(17) < 60;
}

}  // namespace keelson::value
