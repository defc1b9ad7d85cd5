// The kinds of flag values, with the parse errors of Go's strconv, time and net packages.

#include <arpa/inet.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/duration.h"
#include "base/flags.h"
#include "base/quote.h"

namespace keelson::flags {
namespace {

enum class NumberFault { kSyntax, kRange };

std::unexpected<Error> NumberError(std::string_view function, std::string_view text,
                                   NumberFault fault) {
  return Fail(ErrorCode::kInvalid, "strconv.{}: parsing {}: {}", function, Quote(text),
              fault == NumberFault::kSyntax ? "invalid syntax" : "value out of range");
}

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

// An unsigned magnitude with Go's base prefixes (0x, 0o, 0b, 0) and '_' between digits.
Result<uint64_t, NumberFault> ParseMagnitude(std::string_view text) {
  uint64_t base = 10;
  if (text.size() > 1 && text[0] == '0') {
    char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' || letter == 'b' ? (letter == 'o' ? 8 : 2) : 8;
    text.remove_prefix(letter == 'x' || letter == 'o' || letter == 'b' ? 2 : 1);
  }
  if (text.empty()) return std::unexpected(NumberFault::kSyntax);
  uint64_t value = 0;
  bool overflow = false;
  bool after_digit = base != 10;  // a prefix counts as one
  for (char c : text) {
    if (c == '_') {
      if (!after_digit) return std::unexpected(NumberFault::kSyntax);
      after_digit = false;
      continue;
    }
    auto digit = static_cast<uint64_t>(DigitOf(c));
    if (digit >= base) return std::unexpected(NumberFault::kSyntax);
    after_digit = true;
    overflow |= __builtin_mul_overflow(value, base, &value);
    overflow |= __builtin_add_overflow(value, digit, &value);
  }
  if (!after_digit) return std::unexpected(NumberFault::kSyntax);
  if (overflow) return std::unexpected(NumberFault::kRange);
  return value;
}

Result<int64_t> ParseInt(std::string_view text) {
  std::string_view rest = text;
  bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  auto magnitude = ParseMagnitude(rest);
  if (!magnitude) return NumberError("ParseInt", text, magnitude.error());
  const uint64_t limit = uint64_t{1} << 63;
  if (*magnitude > (negative ? limit : limit - 1)) {
    return NumberError("ParseInt", text, NumberFault::kRange);
  }
  return negative ? static_cast<int64_t>(0 - *magnitude) : static_cast<int64_t>(*magnitude);
}

Result<uint64_t> ParseUint(std::string_view text) {
  auto magnitude = ParseMagnitude(text);
  if (!magnitude) return NumberError("ParseUint", text, magnitude.error());
  return *magnitude;
}

Result<double> ParseFloat(std::string_view text) {
  std::string_view rest = text;
  if (!rest.empty() && rest[0] == '+') rest.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (rest.empty() || rest[0] == '+' || end != rest.data() + rest.size() ||
      error == std::errc::invalid_argument) {
    return NumberError("ParseFloat", text, NumberFault::kSyntax);
  }
  if (error == std::errc::result_out_of_range) {
    return NumberError("ParseFloat", text, NumberFault::kRange);
  }
  return value;
}

Result<bool> ParseBool(std::string_view text) {
  for (std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return NumberError("ParseBool", text, NumberFault::kSyntax);
}

// A kind whose parse and print are plain functions.
template <typename T>
class Simple : public Value {
 public:
  using ParseFunction = Result<T> (*)(std::string_view);
  using PrintFunction = std::string (*)(const T&);
  Simple(std::string_view type, T& target, ParseFunction parse, PrintFunction print)
      : type_(type), target_(target), parse_(parse), print_(print) {}
  std::string_view type() const override { return type_; }
  Result<void> Set(std::string_view text) override {
    TRY(target_, parse_(text));
    return {};
  }
  std::string Text() const override { return print_(target_); }
  std::string_view implied() const override { return type_ == "bool" ? "true" : ""; }
  bool IsZero(std::string_view text) const override { return Value::IsZero(text) || text == "0s"; }

 private:
  std::string_view type_;
  T& target_;
  ParseFunction parse_;
  PrintFunction print_;
};

class IpValue final : public Value {
 public:
  explicit IpValue(std::string& target) : target_(target) {}
  std::string_view type() const override { return "ip"; }
  Result<void> Set(std::string_view text) override {
    std::string trimmed(text);
    trimmed.erase(0, trimmed.find_first_not_of(" \t\r\n"));
    trimmed.erase(trimmed.find_last_not_of(" \t\r\n") + 1);
    unsigned char bytes[16];
    if (inet_pton(AF_INET, trimmed.c_str(), bytes) != 1 &&
        inet_pton(AF_INET6, trimmed.c_str(), bytes) != 1) {
      return Fail(ErrorCode::kInvalid, "failed to parse IP: {}", Quote(text));
    }
    target_ = std::move(trimmed);
    return {};
  }
  std::string Text() const override { return target_.empty() ? "<nil>" : target_; }

 private:
  std::string& target_;
};

class SliceValue final : public Value {
 public:
  SliceValue(std::vector<std::string>& target, bool split) : target_(target), split_(split) {}
  std::string_view type() const override { return split_ ? "stringSlice" : "stringArray"; }
  Result<void> Set(std::string_view text) override {
    std::vector<std::string> parts{std::string(text)};
    if (split_) {
      TRY(parts, SplitCsv(text));
    }
    if (!std::exchange(changed_, true)) target_.clear();
    target_.insert(target_.end(), parts.begin(), parts.end());
    return {};
  }
  std::string Text() const override { return fmt::format("[{}]", fmt::join(target_, ",")); }
  bool IsZero(std::string_view text) const override { return text == "[]"; }

 private:
  std::vector<std::string>& target_;
  bool split_;
  bool changed_ = false;
};

class MapValue final : public Value {
 public:
  explicit MapValue(StringMap& target) : target_(target) {}
  std::string_view type() const override { return "mapStringString"; }
  Result<void> Set(std::string_view text) override {
    while (!text.empty()) {
      auto comma = text.find(',');
      auto pair = text.substr(0, comma);
      text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
      if (pair.empty()) continue;
      auto equals = pair.find('=');
      if (equals == std::string_view::npos) {
        return Fail(ErrorCode::kInvalid, "malformed pair, expect string=string");
      }
      auto trim = [](std::string_view s) {
        while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
        while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
        return std::string(s);
      };
      target_[trim(pair.substr(0, equals))] = trim(pair.substr(equals + 1));
    }
    return {};
  }
  std::string Text() const override {
    std::string out;
    for (const auto& [key, value] : target_) {
      out += fmt::format("{}{}={}", out.empty() ? "" : ",", key, value);
    }
    return out;
  }

 private:
  StringMap& target_;
};

std::string Printed(const std::string& text) { return text; }

}  // namespace

Result<std::vector<std::string>> SplitCsv(std::string_view text) {
  std::vector<std::string> fields;
  if (text.empty()) return fields;
  size_t at = 0;
  auto fault = [&](std::string_view what) {
    return Fail(ErrorCode::kInvalid, "parse error on line 1, column {}: {}", at + 1, what);
  };
  for (;;) {
    std::string field;
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) return fault("extraneous or missing \" in quoted-field");
        if (text[at] != '"') {
          field += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          field += '"';
          ++at;
        } else {
          break;
        }
      }
      ++at;
      if (at < text.size() && text[at] != ',') {
        --at;
        return fault("extraneous or missing \" in quoted-field");
      }
    } else {
      for (; at < text.size() && text[at] != ','; ++at) {
        if (text[at] == '"') return fault("bare \" in non-quoted field");
        if (text[at] == '\n') return fault("more than one line");
        field += text[at];
      }
    }
    fields.push_back(std::move(field));
    if (at >= text.size()) return fields;
    ++at;  // the comma
  }
}

void FlagSet::Bool(std::string name, bool& target, std::string usage) {
  Add(std::move(name), 0,
      std::make_unique<Simple<bool>>(
          "bool", target, ParseBool,
          [](const bool& b) { return std::string(b ? "true" : "false"); }),
      std::move(usage));
}

void FlagSet::String(std::string name, std::string& target, std::string usage) {
  Add(std::move(name), 0,
      std::make_unique<Simple<std::string>>(
          "string", target, [](std::string_view text) { return Result<std::string>(text); },
          Printed),
      std::move(usage));
}

void FlagSet::Int(std::string name, int64_t& target, std::string usage) {
  Add(std::move(name), 0,
      std::make_unique<Simple<int64_t>>("int", target, ParseInt,
                                        [](const int64_t& n) { return std::to_string(n); }),
      std::move(usage));
}

void FlagSet::Uint(std::string name, uint64_t& target, std::string usage) {
  Add(std::move(name), 0,
      std::make_unique<Simple<uint64_t>>("uint", target, ParseUint,
                                         [](const uint64_t& n) { return std::to_string(n); }),
      std::move(usage));
}

void FlagSet::Float(std::string name, double& target, std::string usage) {
  Add(std::move(name), 0,
      std::make_unique<Simple<double>>("float64", target, ParseFloat,
                                       [](const double& n) { return fmt::format("{}", n); }),
      std::move(usage));
}

void FlagSet::Duration(std::string name, keelson::Duration& target, std::string usage) {
  Add(std::move(name), 0,
      std::make_unique<Simple<keelson::Duration>>(
          "duration", target, ParseDuration,
          [](const keelson::Duration& d) { return FormatDuration(d); }),
      std::move(usage));
}

void FlagSet::Ip(std::string name, std::string& target, std::string usage) {
  Add(std::move(name), 0, std::make_unique<IpValue>(target), std::move(usage));
}

void FlagSet::StringSlice(std::string name, std::vector<std::string>& target, std::string usage) {
  Add(std::move(name), 0, std::make_unique<SliceValue>(target, true), std::move(usage));
}

void FlagSet::StringArray(std::string name, std::vector<std::string>& target, std::string usage) {
  Add(std::move(name), 0, std::make_unique<SliceValue>(target, false), std::move(usage));
}

void FlagSet::Map(std::string name, StringMap& target, std::string usage) {
  Add(std::move(name), 0, std::make_unique<MapValue>(target), std::move(usage));
}

}  // namespace keelson::flags
