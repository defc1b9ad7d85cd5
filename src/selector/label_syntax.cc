#include "selector/label_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace keelson::selector {
namespace {

constexpr size_t kMaxName = 63;
constexpr size_t kMaxSubdomain = 253;

constexpr std::string_view kNameFault =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueFault =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kSubdomainFault =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsName(std::string_view name) {
  return !name.empty() && IsAlphanumeric(name.front()) && IsAlphanumeric(name.back()) &&
         std::ranges::all_of(
             name, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsDnsLabel(std::string_view label) {
  auto lower = [](char c) { return IsAlphanumeric(c) && !(c >= 'A' && c <= 'Z'); };
  return !label.empty() && lower(label.front()) && lower(label.back()) &&
         std::ranges::all_of(label, [&](char c) { return lower(c) || c == '-'; });
}

bool IsSubdomain(std::string_view text) {
  for (;;) {
    size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string TooLong(size_t limit) { return fmt::format("must be no more than {} bytes", limit); }

void CheckPrefix(std::string_view prefix, std::vector<std::string>& faults) {
  constexpr std::string_view kPart = "prefix part ";
  if (prefix.empty()) {
    faults.push_back(fmt::format("{}must be non-empty", kPart));
    return;
  }
  if (prefix.size() > kMaxSubdomain) {
    faults.push_back(fmt::format("{}{}", kPart, TooLong(kMaxSubdomain)));
  }
  if (!IsSubdomain(prefix)) faults.push_back(fmt::format("{}{}", kPart, kSubdomainFault));
}

struct Rune {
  uint32_t value = 0;
  size_t length = 0;  // 0 when the bytes are no valid UTF-8
};

Rune DecodeRune(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = byte(0) < 0x80   ? 1
                  : byte(0) < 0xC2 ? 0
                  : byte(0) < 0xE0 ? 2
                  : byte(0) < 0xF0 ? 3
                  : byte(0) < 0xF5 ? 4
                                   : 0;
  if (length == 0 || length > text.size()) return {};
  uint32_t value = length == 1 ? byte(0) : byte(0) & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

// The runes above ASCII that Go does not print: controls, spaces, format characters.
bool IsPrintable(uint32_t rune) {
  if (rune < 0xA1) return false;
  if (rune == 0xAD || (rune >= 0x2000 && rune <= 0x200F) || (rune >= 0x2028 && rune <= 0x202F))
    return false;
  return !(rune >= 0x205F && rune <= 0x206F) && rune != 0x3000 && rune != 0xFEFF &&
         !(rune >= 0xE000 && rune <= 0xF8FF) && rune != 0xFFFE && rune != 0xFFFF;
}

}  // namespace

std::vector<std::string> LabelKeyFaults(std::string_view key) {
  std::vector<std::string> faults;
  size_t slash = key.find('/');
  std::string_view name = key;
  if (slash != std::string_view::npos) {
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      faults.push_back(
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      kNameFault));
      return faults;
    }
    CheckPrefix(key.substr(0, slash), faults);
  }
  if (name.empty()) {
    faults.emplace_back("name part must be non-empty");
  } else if (name.size() > kMaxName) {
    faults.push_back(fmt::format("name part {}", TooLong(kMaxName)));
  }
  if (!IsName(name)) faults.push_back(fmt::format("name part {}", kNameFault));
  return faults;
}

std::vector<std::string> LabelValueFaults(std::string_view value) {
  std::vector<std::string> faults;
  if (value.size() > kMaxName) faults.push_back(TooLong(kMaxName));
  if (!value.empty() && !IsName(value)) faults.emplace_back(kValueFault);
  return faults;
}

std::string GoQuote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    auto byte = static_cast<unsigned char>(text.front());
    Rune rune = DecodeRune(text);
    size_t length = rune.length == 0 ? 1 : rune.length;
    constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\\"";
    constexpr std::string_view kEscapes = "abfnrtv\\\"";
    if (size_t i = kEscaped.find(text.front()); i != std::string_view::npos) {
      out += '\\';
      out += kEscapes[i];
    } else if (rune.length == 0 || byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (byte < 0x80 || IsPrintable(rune.value)) {
      out += text.substr(0, length);
    } else {
      out += rune.value < 0x10000 ? fmt::format("\\u{:04x}", rune.value)
                                  : fmt::format("\\U{:08x}", rune.value);
    }
    text.remove_prefix(length);
  }
  out += '"';
  return out;
}

}  // namespace keelson::selector
