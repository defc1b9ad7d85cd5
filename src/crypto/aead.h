#pragma once

// AES-GCM: encryption that also proves its text was not altered.
//
// A nonce must never be used twice with one key: take it from RandomBytes and change keys well
// before 2^32 messages. Seal and Open may be called from several threads at once.

#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::crypto {

class AesGcm {
 public:
  static constexpr size_t kNonceSize = 12;
  static constexpr size_t kTagSize = 16;

  // The key's size chooses AES-128, -192 or -256; any other size is kInvalid.
  static Result<AesGcm> Create(std::string_view key);
  AesGcm(AesGcm&&) noexcept = default;
  AesGcm& operator=(AesGcm&&) noexcept = default;
  ~AesGcm();  // wipes the key

  // Ciphertext followed by the tag. `additional` is authenticated, not encrypted, and must be
  // given to Open unchanged.
  std::string Seal(std::string_view nonce, std::string_view plaintext,
                   std::string_view additional) const;

  // kCorrupt when key, nonce, text or additional data are not the ones sealed with.
  Result<std::string> Open(std::string_view nonce, std::string_view sealed,
                           std::string_view additional) const;

 private:
  explicit AesGcm(std::string key) : key_(std::move(key)) {}

  std::string key_;
};

}  // namespace keelson::crypto
