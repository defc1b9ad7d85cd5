#pragma once

// Ownership of OpenSSL's objects inside this module. Not included by any public header.

#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::crypto {

template <auto kFree>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
template <typename T, auto kFree>
using Owned = std::unique_ptr<T, Freer<kFree>>;

using OwnedKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using OwnedKeyContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using OwnedDigestContext = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;
using OwnedCipherContext = Owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;
using OwnedNumber = Owned<BIGNUM, BN_free>;
using OwnedSignature = Owned<ECDSA_SIG, ECDSA_SIG_free>;
using OwnedCertificate = Owned<X509, X509_free>;

inline const unsigned char* AsBytes(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
inline unsigned char* AsBytes(std::string& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

// Encodes through one of OpenSSL's i2d functions.
template <typename T>
std::string ToDer(int (*encode)(const T*, unsigned char**), const T* object) {
  int size = encode(object, nullptr);
  KEELSON_CHECK(size > 0);
  std::string der(static_cast<size_t>(size), '\0');
  unsigned char* out = AsBytes(der);
  encode(object, &out);
  return der;
}

// The whole of `der` must be one certificate.
Result<OwnedCertificate> DecodeCertificate(std::string_view der);

// Takes OpenSSL's oldest queued error as the reason and empties the queue, so that no later call
// on this thread reports it.
std::unexpected<Error> FailOpenssl(ErrorCode code, std::string_view doing);

}  // namespace keelson::crypto
