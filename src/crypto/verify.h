#pragma once

// Deciding whether a certificate chain is to be believed.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crypto/certificate.h"

struct x509_store_st;  // OpenSSL's X509_STORE

namespace keelson::crypto {

// A set of trusted authorities. Immutable after FromPem, cheap to copy, any thread. Every
// certificate of the set is an anchor of its own, also one that is not self-signed.
class TrustBundle {
 public:
  // kNotFound without any certificate, kInvalid when one does not parse.
  static Result<TrustBundle> FromPem(std::string_view pem);
  static Result<TrustBundle> FromFile(const std::string& path);

  // Checks that `chain` (DER, leaf first, issuers in any order) leads to an anchor through valid
  // signatures, that every certificate on the way is valid at `now` and allowed to sign, and that
  // the leaf and its issuers allow `usage`. Failures are kDenied in Go's words, because they end
  // up in logs that operators search.
  Result<void> Verify(std::span<const std::string> chain, ExtendedKeyUsage usage,
                      CertificateTime now) const;

  // Subjects (DER names) to offer clients in a certificate request.
  const std::vector<std::string>& subjects() const { return subjects_; }
  x509_store_st* native() const { return store_.get(); }

 private:
  TrustBundle(std::shared_ptr<x509_store_st> store, std::vector<std::string> subjects)
      : store_(std::move(store)), subjects_(std::move(subjects)) {}

  std::shared_ptr<x509_store_st> store_;
  std::vector<std::string> subjects_;
};

}  // namespace keelson::crypto
