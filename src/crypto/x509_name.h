#pragma once

// Distinguished names as OpenSSL holds them, read into ours. Not included by any public header.

#include "crypto/certificate.h"
#include "crypto/openssl.h"

namespace keelson::crypto {

Result<DistinguishedName> ReadName(const X509_NAME* name);

}  // namespace keelson::crypto
