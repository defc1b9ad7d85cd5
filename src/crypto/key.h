#pragma once

// Asymmetric keys: generate, load, store, sign, verify.
//
// Keys are immutable, cheap to copy (one shared handle) and usable from several threads at once.
// Signatures of the ES family are in JOSE form (r and s side by side, fixed width), because JSON
// Web Tokens are what signs with them here; certificates are signed inside this module.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace keelson::crypto {

enum class KeyKind : uint8_t { kRsa, kP256, kP384, kP521, kEd25519 };

// The JWS algorithms (RFC 7518) that upstream accepts from token issuers.
enum class SignatureAlgorithm : uint8_t {
  kRs256,
  kRs384,
  kRs512,
  kPs256,
  kPs384,
  kPs512,
  kEs256,
  kEs384,
  kEs512,
};
std::string_view SignatureAlgorithmName(SignatureAlgorithm algorithm);  // "ES256"
Result<SignatureAlgorithm> ParseSignatureAlgorithm(std::string_view name);

// The numbers of a public key as a JWK shows them: big-endian bytes, n and e for RSA, x and y for
// curves.
struct KeyNumbers {
  std::string n, e;
  std::string x, y;
};

class PublicKey {
 public:
  // SubjectPublicKeyInfo.
  static Result<PublicKey> FromDer(std::string_view der);
  // What Numbers gives: n and e of an RSA key of 1024 to 16384 bits, x and y of a point on the
  // curve. kInvalid for anything else.
  static Result<PublicKey> FromNumbers(KeyKind kind, const KeyNumbers& numbers);

  KeyKind kind() const { return kind_; }
  std::string ToDer() const;
  std::string ToPem() const;
  KeyNumbers Numbers() const;

  // False for a wrong signature and for an algorithm that does not fit the key.
  bool Verify(SignatureAlgorithm algorithm, std::string_view message,
              std::string_view signature) const;

  evp_pkey_st* native() const { return key_.get(); }

 private:
  friend class PrivateKey;
  friend Result<PublicKey> AdoptPublicKey(evp_pkey_st* key);
  PublicKey(std::shared_ptr<evp_pkey_st> key, KeyKind kind) : key_(std::move(key)), kind_(kind) {}

  std::shared_ptr<evp_pkey_st> key_;
  KeyKind kind_;
};

class PrivateKey {
 public:
  // Curves take about 20 µs; RSA (bits >= 2048) about 100 ms.
  static Result<PrivateKey> Generate(KeyKind kind, int rsa_bits = 2048);
  // The first private key found: PKCS#8, PKCS#1 or SEC 1, unencrypted. kNotFound when there is
  // none.
  static Result<PrivateKey> FromPem(std::string_view pem);
  static Result<PrivateKey> FromFile(const std::string& path);

  KeyKind kind() const { return kind_; }
  PublicKey Public() const { return PublicKey(key_, kind_); }
  std::string ToPem() const;  // PKCS#8
  // Mode 0600, replaced in one step.
  Result<void> Save(const std::string& path) const;

  // kInvalid when the algorithm does not fit the key.
  Result<std::string> Sign(SignatureAlgorithm algorithm, std::string_view message) const;

  evp_pkey_st* native() const { return key_.get(); }

 private:
  PrivateKey(std::shared_ptr<evp_pkey_st> key, KeyKind kind) : key_(std::move(key)), kind_(kind) {}

  std::shared_ptr<evp_pkey_st> key_;
  KeyKind kind_;
};

// Every key of a file that may verify signatures, in order: PUBLIC KEY, RSA PUBLIC KEY, the public
// half of private keys and the keys of certificates. kNotFound when there is none.
Result<std::vector<PublicKey>> PublicKeysFromPem(std::string_view pem);

}  // namespace keelson::crypto
