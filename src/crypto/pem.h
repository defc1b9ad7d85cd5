#pragma once

// PEM (RFC 7468): base64 between BEGIN and END lines, and the files that hold it.
//
//   -----BEGIN CERTIFICATE-----
//   MIIB...
//   -----END CERTIFICATE-----
//
// Text around blocks is skipped, as OpenSSL and Go both do; a block that starts but does not parse
// is an error rather than skipped, so that a damaged bundle never silently trusts less.
// Pure, any thread; the file functions block.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keelson::crypto {

struct PemBlock {
  std::string type;  // "CERTIFICATE", "PRIVATE KEY", ...
  std::string der;
  bool operator==(const PemBlock&) const = default;
};

inline constexpr size_t kMaxPemSize = 4u << 20;  // a bundle of all public CAs is 0.2 MB
inline constexpr size_t kMaxPemBlocks = 4096;

// All blocks in order; none is not an error. kTooLarge past the limits above.
Result<std::vector<PemBlock>> ParsePem(std::string_view text);
std::string EncodePem(std::string_view type, std::string_view der);

// A file of at most kMaxPemSize bytes.
Result<std::string> ReadPemFile(const std::string& path);

enum class FileAccess { kPublic = 0644, kSecret = 0600 };

// Replaces `path` by a file of these bytes in one step: a reader, or a crash, sees the old file or
// the whole new one. Missing folders are made (0755). The bytes are on disk when this returns.
Result<void> WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 FileAccess access);

}  // namespace keelson::crypto
