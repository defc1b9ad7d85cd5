#pragma once

// Ciphers that data at rest is kept under, in the forms that others have written it: AES in CBC
// mode with PKCS #7 padding, and NaCl's secretbox (XSalsa20 and Poly1305). Where there is a choice,
// AesGcm (aead.h) is the one to use.
//
// All may be called from several threads at once. Keys are wiped when destroyed.

#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::crypto {

class AesCbc {
 public:
  static constexpr size_t kBlockSize = 16;

  // The key's size chooses AES-128, -192 or -256; any other size is kInvalid.
  static Result<AesCbc> Create(std::string_view key);
  AesCbc(AesCbc&&) noexcept = default;
  AesCbc& operator=(AesCbc&&) noexcept = default;
  ~AesCbc();

  // `iv` is one block, never used before.
  std::string Encrypt(std::string_view iv, std::string_view plaintext) const;
  // kCorrupt when the text or its padding cannot be. Nothing else tells a wrong key.
  Result<std::string> Decrypt(std::string_view iv, std::string_view ciphertext) const;

 private:
  explicit AesCbc(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

class SecretBox {
 public:
  static constexpr size_t kKeySize = 32;
  static constexpr size_t kNonceSize = 24;  // large enough to be random
  static constexpr size_t kTagSize = 16;

  static Result<SecretBox> Create(std::string_view key);
  SecretBox(SecretBox&&) noexcept = default;
  SecretBox& operator=(SecretBox&&) noexcept = default;
  ~SecretBox();

  // The tag, then the ciphertext.
  std::string Seal(std::string_view nonce, std::string_view plaintext) const;
  // kCorrupt when key, nonce or text are not the ones sealed with.
  Result<std::string> Open(std::string_view nonce, std::string_view sealed) const;

 private:
  explicit SecretBox(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

}  // namespace keelson::crypto
