// Certificates sent by clients: parsing and verification never crash, and bytes that were not
// signed by the root never verify.

#include <cstdint>

#include "crypto/certificate.h"
#include "crypto/issue.h"
#include "crypto/key.h"
#include "crypto/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::crypto;
  const CertificateTime now{std::chrono::seconds(1767225600)};
  static const TrustBundle trust = [&] {
    CertificateRequest request{.common_name = "root",
                               .not_before = now - std::chrono::hours(1),
                               .not_after = now + std::chrono::hours(1)};
    return *TrustBundle::FromPem(CertificateToPem(CertificateAuthority::Create(request)->der()));
  }();
  std::string der(reinterpret_cast<const char*>(data), size);
  if (auto certificate = ParseCertificate(der)) {
    (void)certificate->Covers("example.com");
    (void)PublicKey::FromDer(certificate->public_key_der);
  }
  std::vector<std::string> chain = {der, der};
  KEELSON_CHECK(!trust.Verify(chain, ExtendedKeyUsage::kClientAuth, now));
  return 0;
}
