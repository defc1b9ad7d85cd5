#pragma once

// Owning pointers for OpenSSL's types and its error queue as text. Private to this module's sources
// and tests.

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

namespace keelson::net {

template <auto kFree>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using X509Ptr = std::unique_ptr<X509, OpensslFree<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;

// The oldest queued error in words; clears the queue. Empty when there is none.
inline std::string TakeOpensslError() {
  std::string text;
  unsigned long code = ERR_get_error();
  if (code != 0) {
    if (const char* reason = ERR_reason_error_string(code)) text = reason;
    if (text.empty()) text = "error " + std::to_string(code);
  }
  ERR_clear_error();
  return text;
}

inline BioPtr ReadOnlyBio(std::string_view bytes) {
  return BioPtr(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

}  // namespace keelson::net
