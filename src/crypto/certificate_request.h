#pragma once

// Certificate signing requests (PKCS#10): whether one is well formed and signed by the key it
// names, and whom it is for.

#include <string_view>

#include "base/result.h"
#include "crypto/certificate.h"

namespace keelson::crypto {

// The subject asked for. The first block of `pem` must be such a request. Pure, any thread.
Result<DistinguishedName> ReadCertificateRequest(std::string_view pem);

}  // namespace keelson::crypto
