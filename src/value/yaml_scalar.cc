#include "value/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace keelson::value {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// A whole number in Go's base 0: 0x, 0o, 0b and a leading 0 for octal.
std::optional<int64_t> ParseInteger(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  auto prefix = [&](char lower) {
    return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == lower;
  };
  if (prefix('x')) {
    base = 16;
  } else if (prefix('o')) {
    base = 8;
  } else if (prefix('b')) {
    base = 2;
  }
  if (base != 10) {
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  uint64_t magnitude = 0;
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  constexpr uint64_t kMin = uint64_t{1} << 63;
  if (magnitude > kMin || (magnitude == kMin && !negative)) return std::nullopt;
  return static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t at = 0;
  auto digits = [&] {
    size_t start = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at > start;
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  } else {
    if (!digits()) return false;
    if (at < text.size() && text[at] == '.') {
      ++at;
      digits();
    }
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

std::optional<double> ParseFloat(std::string text) {
  char* end = nullptr;
  double real = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || std::isinf(real)) return std::nullopt;
  return real;
}

YamlScalar Number(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  if (auto integer = ParseInteger(plain)) return {YamlTag::kInt, Value::Int(*integer)};
  if (LooksLikeFloat(plain)) {
    if (auto real = ParseFloat(plain)) return {YamlTag::kFloat, Value::Double(*real)};
  }
  return {YamlTag::kString, Value::String(text)};
}

}  // namespace

YamlScalar ResolveYamlScalar(std::string_view text) {
  if (text.empty()) return {YamlTag::kNull, Value()};
  switch (text[0]) {
    case 'y':
    case 'Y':
    case 'n':
    case 'N':
    case 't':
    case 'T':
    case 'f':
    case 'F':
    case 'o':
    case 'O':
    case '~':
      if (IsOneOf(text, {"~", "null", "Null", "NULL"})) return {YamlTag::kNull, Value()};
      if (IsOneOf(text,
                  {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
        return {YamlTag::kBool, Value::Bool(true)};
      }
      if (IsOneOf(text,
                  {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
        return {YamlTag::kBool, Value::Bool(false)};
      }
      break;
    case '<':
      if (text == "<<") return {YamlTag::kMerge, Value::String(text)};
      break;
    case '.':
      if (IsOneOf(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF"})) {
        return {YamlTag::kFloat, Value::Double(0), false};
      }
      if (LooksLikeFloat(text)) {
        if (auto real = ParseFloat(std::string(text))) {
          return {YamlTag::kFloat, Value::Double(*real)};
        }
      }
      break;
    case '+':
    case '-':
      if (IsOneOf(text.substr(1), {".inf", ".Inf", ".INF"})) {
        return {YamlTag::kFloat, Value::Double(0), false};
      }
      return Number(text);
    default:
      if (IsDigit(text[0])) return Number(text);
  }
  return {YamlTag::kString, Value::String(text)};
}

}  // namespace keelson::value
