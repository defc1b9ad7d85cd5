#pragma once

// X.509 certificates as plain values.
//
// ParseCertificate reads bytes that any client may have sent: it allocates no more than a small
// multiple of its input and never trusts a length. It says what a certificate claims; whether the
// claims are to be believed is for verify.h. Pure, any thread.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keelson::crypto {

using CertificateTime = std::chrono::sys_seconds;

// The attributes of a subject or issuer that mean something to an API server.
struct DistinguishedName {
  std::string common_name;  // the last one, when there are several
  std::vector<std::string> organizations;
  std::vector<std::string> organizational_units;
  std::vector<std::string> uids;  // 1.3.6.1.4.1.57683.2, the Kubernetes user id
  std::string text;               // RFC 2253: "CN=admin,O=system:masters"
  bool operator==(const DistinguishedName&) const = default;
};

// Bits of the keyUsage extension, numbered as in RFC 5280.
enum KeyUsage : uint16_t {
  kDigitalSignature = 1 << 0,
  kContentCommitment = 1 << 1,
  kKeyEncipherment = 1 << 2,
  kDataEncipherment = 1 << 3,
  kKeyAgreement = 1 << 4,
  kCertSign = 1 << 5,
  kCrlSign = 1 << 6,
};

enum class ExtendedKeyUsage : uint8_t { kAny, kServerAuth, kClientAuth, kOther };

struct Certificate {
  std::string serial;  // lower-case hex, at least two digits
  DistinguishedName subject;
  DistinguishedName issuer;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;  // "10.0.0.1", "2001:db8::1"
  std::vector<std::string> email_addresses;
  std::vector<std::string> uris;
  CertificateTime not_before;
  CertificateTime not_after;
  bool is_ca = false;
  bool has_key_usage = false;
  uint16_t key_usage = 0;  // of KeyUsage; zero when the extension is absent
  std::vector<ExtendedKeyUsage> extended_key_usages;  // empty when absent: any
  std::string public_key_der;                         // SubjectPublicKeyInfo
  std::string fingerprint;                            // SHA-256 of the DER, 32 raw bytes

  bool ValidAt(CertificateTime now) const { return now >= not_before && now <= not_after; }
  // Whether the certificate is made out to this DNS name (one left-most wildcard label) or address.
  bool Covers(std::string_view host) const;
};

inline constexpr size_t kMaxCertificateSize = 64u << 10;

Result<Certificate> ParseCertificate(std::string_view der);

// The DER of each CERTIFICATE block, in order. kNotFound when there is none.
Result<std::vector<std::string>> CertificateDersFromPem(std::string_view pem);
std::string CertificateToPem(std::string_view der);

}  // namespace keelson::crypto
