#include "crypto/openssl.h"

#include <openssl/err.h>

namespace keelson::crypto {

std::unexpected<Error> FailOpenssl(ErrorCode code, std::string_view doing) {
  unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  return Fail(code, "{}: {}", doing, reason == nullptr ? "rejected" : reason);
}

Result<OwnedCertificate> DecodeCertificate(std::string_view der) {
  const unsigned char* in = AsBytes(der);
  OwnedCertificate certificate(d2i_X509(nullptr, &in, static_cast<long>(der.size())));
  if (!certificate) return FailOpenssl(ErrorCode::kInvalid, "malformed certificate");
  if (in != AsBytes(der) + der.size()) {
    return Fail(ErrorCode::kInvalid, "malformed certificate: trailing data");
  }
  return certificate;
}

}  // namespace keelson::crypto
