#pragma once

// Base64 (RFC 4648), the standard alphabet with padding and the URL-safe one without.
//
// Decoding is strict, as signatures need it to be: one text per byte string. White space, a wrong
// alphabet, wrong padding and non-zero trailing bits are all refused. Pure, any thread.

#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::crypto {

std::string Base64Encode(std::string_view bytes);
Result<std::string> Base64Decode(std::string_view text);

// Unpadded, as in JSON Web Tokens.
std::string Base64UrlEncode(std::string_view bytes);
Result<std::string> Base64UrlDecode(std::string_view text);

}  // namespace keelson::crypto
