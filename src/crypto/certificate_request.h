#pragma once

// Certificate signing requests (PKCS#10): whether one is well formed and signed by the key it
// names.

#include <string_view>

#include "base/result.h"

namespace keelson::crypto {

// The first block of `pem` must be such a request. Pure, any thread.
Result<void> CheckCertificateRequest(std::string_view pem);

}  // namespace keelson::crypto
