#pragma once

// Making certificates: authorities, serving and client certificates, and what a server without
// any makes for itself at first start.

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "crypto/certificate.h"
#include "crypto/key.h"

namespace keelson::crypto {

// What the new certificate shall say. Times are the caller's, so that tests own the clock.
struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  CertificateTime not_before;
  CertificateTime not_after;
  uint16_t key_usage = kDigitalSignature | kKeyEncipherment;
  std::vector<ExtendedKeyUsage> extended_key_usages;
  std::string serial;  // raw big-endian bytes; empty for a random positive 63-bit one
};

// A certificate authority: signs what Issue is asked for. Immutable, any thread.
class CertificateAuthority {
 public:
  // Self-signed, on a new P-256 key.
  static Result<CertificateAuthority> Create(CertificateRequest request);
  // Self-signed, on this key: with an old authority's key and name it continues that one.
  static Result<CertificateAuthority> Create(CertificateRequest request, PrivateKey key);
  // From a certificate and its key; kInvalid when they do not belong together or it is no CA.
  static Result<CertificateAuthority> Load(std::string_view certificate_pem, PrivateKey key);

  // The DER of a certificate for `key`.
  Result<std::string> Issue(const CertificateRequest& request, const PublicKey& key) const;
  // An authority below this one.
  Result<CertificateAuthority> Subordinate(CertificateRequest request) const;

  const std::string& der() const { return der_; }
  const PrivateKey& key() const { return key_; }

 private:
  CertificateAuthority(std::string der, PrivateKey key)
      : der_(std::move(der)), key_(std::move(key)) {}

  std::string der_;
  PrivateKey key_;
};

// A serving pair as PEM: the certificate with its issuers below it, and the private key.
struct ServingPair {
  std::string certificate_pem;
  std::string key_pem;
  std::string certificate_file;  // empty when kept in memory only
  std::string key_file;
  bool generated = false;  // made now, not read
};

struct SelfSignedOptions {
  std::string cert_dir;                 // empty: in memory
  std::string pair_name = "apiserver";  // <cert_dir>/<pair_name>.crt and .key
  std::string public_address;           // advertised host or address; first name in the certificate
  std::string bind_address;             // an address, or unspecified ("0.0.0.0", "::")
  std::vector<std::string> alternate_dns;
  std::vector<std::string> alternate_ips;
  CertificateTime now;
};

// What a server started without --tls-cert-file does. When both files exist they are used as they
// are, whatever their age; when one is missing that is an error; when both are, a throw-away CA
// signs a P-256 certificate valid for a year from an hour ago, and the pair is stored. The names
// are the public address, the alternates, and the bind address or, when unspecified, "localhost".
Result<ServingPair> SelfSignedServing(const SelfSignedOptions& options);

}  // namespace keelson::crypto
