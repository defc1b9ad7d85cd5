#include "base/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/quote.h"

namespace keelson {
namespace {

constexpr size_t kMaxText = 64;  // longer than any spelling of an address or a prefix

// Decimal digits only; upstream's parser gives up at numbers of this size.
std::optional<int> ParseNumber(std::string_view text) {
  constexpr int kTooBig = 0xFFFFFF;
  if (text.empty()) return std::nullopt;
  int number = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
    if (number >= kTooBig) return std::nullopt;
  }
  return number;
}

bool ParseOctets(std::string_view text, uint8_t* out, bool* leading_zero) {
  for (int i = 0; i < 4; ++i) {
    const auto dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return false;
    const auto octet = text.substr(0, dot);
    const auto number = ParseNumber(octet);
    if (!number || *number > 255) return false;
    if (octet.size() > 1 && octet[0] == '0') *leading_zero = true;
    out[i] = static_cast<uint8_t>(*number);
    if (i < 3) text.remove_prefix(dot + 1);
  }
  return true;
}

// What was odd about a text that could be read.
struct Oddities {
  bool leading_zero = false;
  bool mapped = false;
};

constexpr std::array<uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

}  // namespace

struct IpAddressSyntax {
  static std::optional<IpAddress> Parse(std::string_view text, Oddities& odd) {
    if (text.empty() || text.size() > kMaxText) return std::nullopt;
    IpAddress address;
    if (text.find(':') == std::string_view::npos) {
      if (!ParseOctets(text, address.bytes_.data(), &odd.leading_zero)) return std::nullopt;
      return address;
    }
    std::string spelling(text);
    // The embedded IPv4 part may have leading zeros, which inet_pton refuses.
    const auto colon = text.rfind(':');
    uint8_t octets[4];
    if (text.find('.', colon) != std::string_view::npos) {
      if (!ParseOctets(text.substr(colon + 1), octets, &odd.leading_zero)) return std::nullopt;
      spelling = fmt::format("{}{}.{}.{}.{}", text.substr(0, colon + 1), octets[0], octets[1],
                             octets[2], octets[3]);
    }
    address.family_ = IpAddress::Family::kV6;
    if (inet_pton(AF_INET6, spelling.c_str(), address.bytes_.data()) != 1) return std::nullopt;
    if (std::memcmp(address.bytes_.data(), kMappedPrefix.data(), kMappedPrefix.size()) == 0) {
      odd.mapped = true;
      IpAddress v4;
      std::memcpy(v4.bytes_.data(), address.bytes_.data() + kMappedPrefix.size(), 4);
      return v4;
    }
    return address;
  }

  static std::optional<IpPrefix> ParsePrefix(std::string_view text, Oddities& odd) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto digits = text.substr(slash + 1);
    const auto address = Parse(text.substr(0, slash), odd);
    const auto length = ParseNumber(digits);
    if (!address || !length) return std::nullopt;
    const int bits = odd.mapped ? 128 : address->bits();
    if (*length > bits) return std::nullopt;
    if (digits.size() > 1 && digits[0] == '0') odd.leading_zero = true;
    return IpPrefix{*address, odd.mapped ? std::max(0, *length - 96) : *length};
  }
};

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  Oddities odd;
  return IpAddressSyntax::Parse(text, odd);
}

bool IpAddress::IsUnspecified() const { return bytes_ == std::array<uint8_t, 16>{}; }

bool IpAddress::IsLoopback() const {
  if (is_v4()) return bytes_[0] == 127;
  std::array<uint8_t, 16> one{};
  one[15] = 1;
  return bytes_ == one;
}

bool IpAddress::IsLinkLocalUnicast() const {
  if (is_v4()) return bytes_[0] == 169 && bytes_[1] == 254;
  return bytes_[0] == 0xFE && (bytes_[1] & 0xC0) == 0x80;
}

bool IpAddress::IsLinkLocalMulticast() const {
  if (is_v4()) return bytes_[0] == 224 && bytes_[1] == 0 && bytes_[2] == 0;
  return bytes_[0] == 0xFF && (bytes_[1] & 0x0F) == 0x02;
}

IpAddress IpAddress::Plus(uint64_t offset) const {
  IpAddress sum = *this;
  for (int i = bits() / 8 - 1; i >= 0 && offset != 0; --i) {
    offset += sum.bytes_[i];
    sum.bytes_[i] = static_cast<uint8_t>(offset);
    offset >>= 8;
  }
  return sum;
}

IpAddress IpAddress::Masked(int length) const {
  IpAddress masked = *this;
  for (int bit = length; bit < bits(); ++bit) masked.bytes_[bit / 8] &= ~(0x80u >> (bit % 8));
  return masked;
}

IpAddress IpAddress::Last(int length) const {
  IpAddress last = *this;
  for (int bit = length; bit < bits(); ++bit) last.bytes_[bit / 8] |= 0x80u >> (bit % 8);
  return last;
}

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(is_v4() ? AF_INET : AF_INET6, bytes_.data(), text, sizeof text);
  // glibc writes ::1.2.3.4 and the like with dots; Go does not.
  if (is_v4() || std::strchr(text, '.') == nullptr) return text;
  return fmt::format("::{:x}:{:x}", bytes_[12] << 8 | bytes_[13], bytes_[14] << 8 | bytes_[15]);
}

std::optional<IpPrefix> IpPrefix::Parse(std::string_view text) {
  Oddities odd;
  return IpAddressSyntax::ParsePrefix(text, odd);
}

std::string IpPrefix::ToString() const {
  return fmt::format("{}/{}", address.Masked(length).ToString(), length);
}

namespace names {
namespace {

Complaints Canonical(std::string_view text, const std::string& canonical) {
  if (text == canonical) return {};
  return {fmt::format("must be in canonical form ({})", Quote(canonical))};
}

}  // namespace

Complaints CheckIp(std::string_view text) {
  Oddities odd;
  if (!IpAddressSyntax::Parse(text, odd)) {
    return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
  }
  if (odd.leading_zero) return {"must not have leading 0s"};
  if (odd.mapped) return {"must not be an IPv4-mapped IPv6 address"};
  return {};
}

Complaints CheckCanonicalIp(std::string_view text) {
  if (auto complaints = CheckIp(text); !complaints.empty()) return complaints;
  return Canonical(text, IpAddress::Parse(text)->ToString());
}

Complaints CheckCidr(std::string_view text) {
  Oddities odd;
  const auto prefix = IpAddressSyntax::ParsePrefix(text, odd);
  if (!prefix) return {"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"};
  if (odd.leading_zero) return {"must not have leading 0s in IP or prefix length"};
  if (odd.mapped) return {"must not have an IPv4-mapped IPv6 address"};
  if (prefix->address != prefix->address.Masked(prefix->length)) {
    return {"must not have bits set beyond the prefix length"};
  }
  return {};
}

Complaints CheckCanonicalCidr(std::string_view text) {
  if (auto complaints = CheckCidr(text); !complaints.empty()) return complaints;
  return Canonical(text, IpPrefix::Parse(text)->ToString());
}

Complaints CheckEndpointIp(std::string_view text) {
  const auto address = IpAddress::Parse(text);
  if (!address) return {"must be a valid IP address"};
  Complaints complaints;
  if (address->IsUnspecified()) {
    complaints.push_back(fmt::format("may not be unspecified ({})", text));
  }
  if (address->IsLoopback()) {
    complaints.emplace_back("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (address->IsLinkLocalUnicast()) {
    complaints.emplace_back("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (address->IsLinkLocalMulticast()) {
    complaints.emplace_back(
        "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
  return complaints;
}

}  // namespace names
}  // namespace keelson
