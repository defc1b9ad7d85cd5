// The formats of OpenAPI that upstream checks in custom resources.

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "schema/decode_json.h"
#include "schema/validate.h"
#include "value/timestamp.h"

namespace keelson::schema {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
bool IsAlnum(char c) { return IsDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

bool IsDate(std::string_view text) {
  return text.size() == 10 && value::ParseTime(std::string(text) + "T00:00:00Z").has_value();
}

bool IsDateTime(std::string_view text) {
  std::string upper(text);
  if (upper.size() > 10 && upper[10] == 't') upper[10] = 'T';
  if (!upper.empty() && upper.back() == 'z') upper.back() = 'Z';
  return value::ParseTime(upper).has_value();
}

// Hyphens are optional; `version` is the required digit at its place, or 0 for any.
bool IsUuid(std::string_view text, char version) {
  std::string digits;
  size_t at = 0;
  for (size_t group : {8, 4, 4, 4, 12}) {
    if (!digits.empty() && at < text.size() && text[at] == '-') ++at;
    for (size_t i = 0; i < group; ++i, ++at) {
      if (at >= text.size() || !IsHex(text[at])) return false;
      digits += text[at];
    }
  }
  if (at != text.size()) return false;
  if (version == 0) return true;
  if (digits[12] != version) return false;
  return version == '3' || std::string_view("89abAB").find(digits[16]) != std::string_view::npos;
}

bool IsIp(std::string_view text, int family) {
  unsigned char buffer[16];
  return inet_pton(family, std::string(text).c_str(), buffer) == 1;
}

bool IsCidr(std::string_view text) {
  size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  std::string_view bits = text.substr(slash + 1);
  int length = -1;
  auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), length);
  if (error != std::errc() || end != bits.data() + bits.size() || length < 0) return false;
  std::string_view address = text.substr(0, slash);
  return (IsIp(address, AF_INET) && length <= 32) || (IsIp(address, AF_INET6) && length <= 128);
}

bool IsHostname(std::string_view text) {
  if (text.empty() || text.size() > 255) return false;
  size_t start = 0;
  while (start <= text.size()) {
    size_t dot = std::min(text.find('.', start), text.size());
    std::string_view label = text.substr(start, dot - start);
    if (label.empty() || label.size() > 63 || !IsAlnum(label[0]) || !IsAlnum(label.back()) ||
        !std::all_of(label.begin(), label.end(), [](char c) { return IsAlnum(c) || c == '-'; })) {
      return false;
    }
    start = dot + 1;
  }
  return true;
}

bool IsMac(std::string_view text) {
  if (text.size() < 17) return false;
  char separator = text[2];
  if (separator != ':' && separator != '-') return false;
  if ((text.size() + 1) % 3 != 0) return false;
  size_t bytes = (text.size() + 1) / 3;
  if (bytes != 6 && bytes != 8 && bytes != 20) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i % 3 == 2 ? text[i] != separator : !IsHex(text[i])) return false;
  }
  return true;
}

bool IsEmail(std::string_view text) {
  size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) return false;
  return text.find_first_of(" \t\r\n") == std::string_view::npos;
}

// An absolute URI or an absolute path, as a request line may hold.
bool IsUri(std::string_view text) {
  if (text.empty() || text.find_first_of(" \t\r\n\x7f") != std::string_view::npos) return false;
  if (text[0] == '/') return true;
  size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || IsDigit(text[0])) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(colon),
                     [](char c) { return IsAlnum(c) || c == '+' || c == '-' || c == '.'; });
}

bool IsKubernetesName(std::string_view text, size_t most, bool dots) {
  if (text.empty() || text.size() > most) return false;
  auto lower = [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); };
  size_t start = 0;
  while (start <= text.size()) {
    size_t dot = dots ? std::min(text.find('.', start), text.size()) : text.size();
    std::string_view label = text.substr(start, dot - start);
    if (label.empty() || !lower(label[0]) || !lower(label.back()) ||
        !std::all_of(label.begin(), label.end(), [&](char c) { return lower(c) || c == '-'; })) {
      return false;
    }
    start = dot + 1;
  }
  return true;
}

bool IsHexColor(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  return (text.size() == 3 || text.size() == 6) && std::all_of(text.begin(), text.end(), IsHex);
}

}  // namespace

bool FitsFormat(std::string_view format, std::string_view text) {
  if (format == "date-time" || format == "datetime") return IsDateTime(text);
  if (format == "date") return IsDate(text);
  if (format == "duration") return value::ParseDuration(text).has_value();
  if (format == "byte") return DecodeBase64(text).has_value();
  if (format == "uuid") return IsUuid(text, 0);
  if (format == "uuid3") return IsUuid(text, '3');
  if (format == "uuid4") return IsUuid(text, '4');
  if (format == "uuid5") return IsUuid(text, '5');
  if (format == "ipv4") return IsIp(text, AF_INET);
  if (format == "ipv6") return IsIp(text, AF_INET6);
  if (format == "cidr") return IsCidr(text);
  if (format == "hostname") return IsHostname(text);
  if (format == "mac") return IsMac(text);
  if (format == "email") return IsEmail(text);
  if (format == "uri") return IsUri(text);
  if (format == "hexcolor") return IsHexColor(text);
  if (format == "k8s-short-name") return IsKubernetesName(text, 63, false);
  if (format == "k8s-long-name") return IsKubernetesName(text, 253, true);
  return true;
}

}  // namespace keelson::schema
