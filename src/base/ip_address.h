#pragma once

// IP addresses and prefixes as API objects spell them. Plain values, no sockets.
//
// Parsing follows the lenient reading upstream keeps for old fields: leading zeros in IPv4 octets
// are skipped, 001.2.3.4 is 1.2.3.4, and an IPv4-mapped IPv6 address is the IPv4 one. The Check
// functions say what is wrong with a text in upstream's words (see names.h), and are strict.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/names.h"

namespace keelson {

class IpAddress {
 public:
  enum class Family : uint8_t { kV4, kV6 };

  IpAddress() = default;
  static std::optional<IpAddress> Parse(std::string_view text);

  Family family() const { return family_; }
  bool is_v4() const { return family_ == Family::kV4; }
  int bits() const { return is_v4() ? 32 : 128; }

  bool IsUnspecified() const;
  bool IsLoopback() const;
  bool IsLinkLocalUnicast() const;
  bool IsLinkLocalMulticast() const;

  // The address `offset` further on; wraps around silently at the end of the family.
  IpAddress Plus(uint64_t offset) const;
  // Everything beyond the first `length` bits cleared, or set.
  IpAddress Masked(int length) const;
  IpAddress Last(int length) const;

  // RFC 5952, as Go prints it.
  std::string ToString() const;

  auto operator<=>(const IpAddress&) const = default;

 private:
  friend struct IpAddressSyntax;
  Family family_ = Family::kV4;
  std::array<uint8_t, 16> bytes_{};  // IPv4 in the first four
};

struct IpPrefix {
  IpAddress address;  // may have bits set beyond the length
  int length = 0;

  static std::optional<IpPrefix> Parse(std::string_view text);
  bool Contains(const IpAddress& other) const {
    return other.family() == address.family() && other.Masked(length) == address.Masked(length);
  }
  // "10.0.0.0/8", the bits beyond the length cleared.
  std::string ToString() const;

  bool operator==(const IpPrefix&) const = default;
};

namespace names {

// An address in a field that predates strict checking: any spelling of IPv6 will do.
Complaints CheckIp(std::string_view text);
// An address in canonical form.
Complaints CheckCanonicalIp(std::string_view text);
// A prefix in a field that predates strict checking.
Complaints CheckCidr(std::string_view text);
// A prefix in canonical form.
Complaints CheckCanonicalCidr(std::string_view text);
// An address that endpoints and external addresses may have: one that others can reach.
Complaints CheckEndpointIp(std::string_view text);

}  // namespace names
}  // namespace keelson
