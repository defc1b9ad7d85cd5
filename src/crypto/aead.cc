#include "crypto/aead.h"

#include <openssl/crypto.h>

#include <limits>

#include "crypto/openssl.h"

namespace keelson::crypto {
namespace {

const EVP_CIPHER* CipherFor(size_t key_size) {
  static EVP_CIPHER* const aes128 = EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr);
  static EVP_CIPHER* const aes192 = EVP_CIPHER_fetch(nullptr, "AES-192-GCM", nullptr);
  static EVP_CIPHER* const aes256 = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  switch (key_size) {
    case 16:
      return aes128;
    case 24:
      return aes192;
    case 32:
      return aes256;
    default:
      return nullptr;
  }
}

// OpenSSL counts in int.
constexpr size_t kMaxText = std::numeric_limits<int>::max() - 64;

int Size(std::string_view bytes) { return static_cast<int>(bytes.size()); }

}  // namespace

Result<AesGcm> AesGcm::Create(std::string_view key) {
  if (CipherFor(key.size()) == nullptr) {
    return Fail(ErrorCode::kInvalid, "an AES key has 16, 24 or 32 bytes, not {}", key.size());
  }
  return AesGcm(std::string(key));
}

AesGcm::~AesGcm() { OPENSSL_cleanse(key_.data(), key_.size()); }

std::string AesGcm::Seal(std::string_view nonce, std::string_view plaintext,
                         std::string_view additional) const {
  KEELSON_CHECK(nonce.size() == kNonceSize);
  KEELSON_CHECK(plaintext.size() <= kMaxText && additional.size() <= kMaxText);
  OwnedCipherContext context(EVP_CIPHER_CTX_new());
  std::string sealed(plaintext.size() + kTagSize, '\0');
  int n = 0;
  bool ok = EVP_EncryptInit_ex2(context.get(), CipherFor(key_.size()), AsBytes(key_),
                                AsBytes(nonce), nullptr) == 1;
  if (!additional.empty()) {
    ok = ok &&
         EVP_EncryptUpdate(context.get(), nullptr, &n, AsBytes(additional), Size(additional)) == 1;
  }
  ok = ok && EVP_EncryptUpdate(context.get(), AsBytes(sealed), &n, AsBytes(plaintext),
                               Size(plaintext)) == 1;
  ok = ok && EVP_EncryptFinal_ex(context.get(), AsBytes(sealed) + n, &n) == 1;
  ok = ok && EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTagSize,
                                 sealed.data() + plaintext.size()) == 1;
  KEELSON_CHECK(ok);
  return sealed;
}

Result<std::string> AesGcm::Open(std::string_view nonce, std::string_view sealed,
                                 std::string_view additional) const {
  if (nonce.size() != kNonceSize || sealed.size() < kTagSize || sealed.size() > kMaxText ||
      additional.size() > kMaxText) {
    return Fail(ErrorCode::kCorrupt, "sealed text has an impossible size");
  }
  auto text = sealed.substr(0, sealed.size() - kTagSize);
  std::string tag(sealed.substr(text.size()));
  OwnedCipherContext context(EVP_CIPHER_CTX_new());
  std::string plaintext(text.size(), '\0');
  int n = 0;
  bool ok = EVP_DecryptInit_ex2(context.get(), CipherFor(key_.size()), AsBytes(key_),
                                AsBytes(nonce), nullptr) == 1;
  if (!additional.empty()) {
    ok = ok &&
         EVP_DecryptUpdate(context.get(), nullptr, &n, AsBytes(additional), Size(additional)) == 1;
  }
  ok = ok &&
       EVP_DecryptUpdate(context.get(), AsBytes(plaintext), &n, AsBytes(text), Size(text)) == 1;
  ok = ok && EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagSize, tag.data()) == 1;
  ok = ok && EVP_DecryptFinal_ex(context.get(), AsBytes(plaintext) + n, &n) == 1;
  if (!ok) return FailOpenssl(ErrorCode::kCorrupt, "sealed text does not authenticate");
  return plaintext;
}

}  // namespace keelson::crypto
