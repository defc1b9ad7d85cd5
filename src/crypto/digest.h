#pragma once

// Hashes, message authentication codes and the comparison that goes with them.
//
// Pure functions over bytes, callable from any thread. Binary results are std::strings of raw
// bytes; HexEncode makes them readable.

#include <cstdint>
#include <string>
#include <string_view>

namespace keelson::crypto {

enum class Hash : uint8_t { kSha256, kSha384, kSha512 };

// 32, 48 or 64 bytes.
size_t DigestSize(Hash hash);

std::string Digest(Hash hash, std::string_view bytes);
std::string Hmac(Hash hash, std::string_view key, std::string_view bytes);

// Takes the same time wherever the two differ. The lengths are not secret.
bool ConstantTimeEqual(std::string_view a, std::string_view b);

// Lower case.
std::string HexEncode(std::string_view bytes);

}  // namespace keelson::crypto
