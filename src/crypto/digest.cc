#include "crypto/digest.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include "crypto/openssl.h"

namespace keelson::crypto {
namespace {

// Fetched once: looking an algorithm up by name costs more than hashing a short text.
const EVP_MD* Algorithm(Hash hash) {
  static EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  static EVP_MD* const sha384 = EVP_MD_fetch(nullptr, "SHA2-384", nullptr);
  static EVP_MD* const sha512 = EVP_MD_fetch(nullptr, "SHA2-512", nullptr);
  switch (hash) {
    case Hash::kSha256:
      return sha256;
    case Hash::kSha384:
      return sha384;
    case Hash::kSha512:
      return sha512;
  }
  return nullptr;
}

}  // namespace

size_t DigestSize(Hash hash) {
  switch (hash) {
    case Hash::kSha256:
      return 32;
    case Hash::kSha384:
      return 48;
    case Hash::kSha512:
      return 64;
  }
  return 0;
}

std::string Digest(Hash hash, std::string_view bytes) {
  std::string out(DigestSize(hash), '\0');
  unsigned int size = 0;
  KEELSON_CHECK(
      EVP_Digest(bytes.data(), bytes.size(), AsBytes(out), &size, Algorithm(hash), nullptr) == 1);
  KEELSON_CHECK(size == out.size());
  return out;
}

std::string Hmac(Hash hash, std::string_view key, std::string_view bytes) {
  std::string out(DigestSize(hash), '\0');
  unsigned int size = 0;
  // A null key means "the one before" to OpenSSL; an empty key is a key.
  const char* key_data = key.empty() ? "" : key.data();
  KEELSON_CHECK(::HMAC(Algorithm(hash), key_data, static_cast<int>(key.size()), AsBytes(bytes),
                       bytes.size(), AsBytes(out), &size) != nullptr);
  KEELSON_CHECK(size == out.size());
  return out;
}

bool ConstantTimeEqual(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string HexEncode(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (unsigned char byte : bytes) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

}  // namespace keelson::crypto
