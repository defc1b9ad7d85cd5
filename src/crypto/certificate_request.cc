#include "crypto/certificate_request.h"

#include "crypto/openssl.h"
#include "crypto/pem.h"
#include "crypto/x509_name.h"

namespace keelson::crypto {

Result<DistinguishedName> ReadCertificateRequest(std::string_view pem) {
  const auto blocks = ParsePem(pem);
  if (!blocks || blocks->empty() || blocks->front().type != "CERTIFICATE REQUEST") {
    return Fail(ErrorCode::kInvalid, "PEM block type must be CERTIFICATE REQUEST");
  }
  const auto& der = blocks->front().der;
  const unsigned char* at = AsBytes(der);
  const Owned<X509_REQ, X509_REQ_free> request(
      d2i_X509_REQ(nullptr, &at, static_cast<long>(der.size())));
  if (!request || at != AsBytes(der) + der.size()) {
    return FailOpenssl(ErrorCode::kInvalid, "parsing certificate request");
  }
  if (X509_REQ_verify(request.get(), X509_REQ_get0_pubkey(request.get())) != 1) {
    return FailOpenssl(ErrorCode::kInvalid, "checking the signature of the request");
  }
  return ReadName(X509_REQ_get_subject_name(request.get()));
}

}  // namespace keelson::crypto
