// Salsa20: a block of 16 words is four constants, the key, a nonce and a counter; twenty rounds of
// additions, rotations and exclusive ors stir it, and the stream is the stirred block plus the
// original one. XSalsa20 takes a nonce of 24 bytes: HSalsa20, the rounds without the last addition,
// makes a key of the first 16, Salsa20 runs under that with the other 8. secretbox takes the first
// 32 bytes of the stream as the Poly1305 key and encrypts with what follows.

#include "crypto/cipher.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>

#include "crypto/digest.h"
#include "crypto/openssl.h"

namespace keelson::crypto {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kMaxText = std::numeric_limits<int>::max() - 64;

const EVP_CIPHER* CbcFor(size_t key_size) {
  static EVP_CIPHER* const aes128 = EVP_CIPHER_fetch(nullptr, "AES-128-CBC", nullptr);
  static EVP_CIPHER* const aes192 = EVP_CIPHER_fetch(nullptr, "AES-192-CBC", nullptr);
  static EVP_CIPHER* const aes256 = EVP_CIPHER_fetch(nullptr, "AES-256-CBC", nullptr);
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

using Block = std::array<uint32_t, 16>;

// "expand 32-byte k", on the diagonal.
constexpr uint32_t kSigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

uint32_t Word(std::string_view bytes, size_t index) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + 4 * index, 4);
  return word;
}

// `input` is 16 bytes: a nonce and a counter, or all nonce.
Block Arrange(std::string_view key, std::string_view input) {
  Block block;
  for (int i = 0; i < 4; ++i) {
    block[5 * i] = kSigma[i];
    block[1 + i] = Word(key, i);
    block[6 + i] = Word(input, i);
    block[11 + i] = Word(key, 4 + i);
  }
  return block;
}

void Quarter(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
  b ^= std::rotl(a + d, 7);
  c ^= std::rotl(b + a, 9);
  d ^= std::rotl(c + b, 13);
  a ^= std::rotl(d + c, 18);
}

void Stir(Block& x) {
  for (int i = 0; i < 10; ++i) {
    Quarter(x[0], x[4], x[8], x[12]);
    Quarter(x[5], x[9], x[13], x[1]);
    Quarter(x[10], x[14], x[2], x[6]);
    Quarter(x[15], x[3], x[7], x[11]);
    Quarter(x[0], x[1], x[2], x[3]);
    Quarter(x[5], x[6], x[7], x[4]);
    Quarter(x[10], x[11], x[8], x[9]);
    Quarter(x[15], x[12], x[13], x[14]);
  }
}

std::string HSalsa20(std::string_view key, std::string_view nonce) {
  Block block = Arrange(key, nonce);
  Stir(block);
  const uint32_t words[8] = {block[0], block[5], block[10], block[15],
                             block[6], block[7], block[8],  block[9]};
  return {reinterpret_cast<const char*>(words), sizeof words};
}

// The bytes of XSalsa20's stream, in order.
class XSalsa20 {
 public:
  XSalsa20(std::string_view key, std::string_view nonce)
      : key_(HSalsa20(key, nonce.substr(0, 16))) {
    std::memcpy(input_, nonce.data() + 16, 8);
  }
  ~XSalsa20() {
    OPENSSL_cleanse(key_.data(), key_.size());
    OPENSSL_cleanse(stream_.data(), sizeof stream_);
  }

  char Next() {
    if (used_ == sizeof stream_) Refill();
    return reinterpret_cast<const char*>(stream_.data())[used_++];
  }

 private:
  void Refill() {
    std::memcpy(input_ + 8, &counter_, 8);
    ++counter_;
    const Block block = Arrange(key_, {input_, sizeof input_});
    stream_ = block;
    Stir(stream_);
    for (size_t i = 0; i < stream_.size(); ++i) stream_[i] += block[i];
    used_ = 0;
  }

  std::string key_;
  char input_[16];
  uint64_t counter_ = 0;
  Block stream_{};
  size_t used_ = sizeof(Block);
};

std::string Poly1305(std::string_view key, std::string_view text) {
  static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "POLY1305", nullptr);
  std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_new(algorithm),
                                                                    EVP_MAC_CTX_free);
  std::string tag(SecretBox::kTagSize, '\0');
  size_t size = 0;
  bool ok = EVP_MAC_init(context.get(), AsBytes(key), key.size(), nullptr) == 1 &&
            EVP_MAC_update(context.get(), AsBytes(text), text.size()) == 1 &&
            EVP_MAC_final(context.get(), AsBytes(tag), &size, tag.size()) == 1;
  KEELSON_CHECK(ok && size == tag.size());
  return tag;
}

std::string TakeKey(XSalsa20& stream) {
  std::string key(32, '\0');
  for (char& c : key) c = stream.Next();
  return key;
}

}  // namespace

Result<AesCbc> AesCbc::Create(std::string_view key) {
  if (CbcFor(key.size()) == nullptr) {
    return Fail(ErrorCode::kInvalid, "an AES key has 16, 24 or 32 bytes, not {}", key.size());
  }
  return AesCbc(std::string(key));
}

AesCbc::~AesCbc() { OPENSSL_cleanse(key_.data(), key_.size()); }

std::string AesCbc::Encrypt(std::string_view iv, std::string_view plaintext) const {
  KEELSON_CHECK(iv.size() == kBlockSize && plaintext.size() <= kMaxText);
  OwnedCipherContext context(EVP_CIPHER_CTX_new());
  std::string out(plaintext.size() + kBlockSize, '\0');
  int written = 0, last = 0;
  bool ok = EVP_EncryptInit_ex2(context.get(), CbcFor(key_.size()), AsBytes(key_), AsBytes(iv),
                                nullptr) == 1 &&
            EVP_EncryptUpdate(context.get(), AsBytes(out), &written, AsBytes(plaintext),
                              static_cast<int>(plaintext.size())) == 1 &&
            EVP_EncryptFinal_ex(context.get(), AsBytes(out) + written, &last) == 1;
  KEELSON_CHECK(ok);
  out.resize(written + last);
  return out;
}

Result<std::string> AesCbc::Decrypt(std::string_view iv, std::string_view ciphertext) const {
  if (iv.size() != kBlockSize || ciphertext.empty() || ciphertext.size() % kBlockSize != 0 ||
      ciphertext.size() > kMaxText) {
    return Fail(ErrorCode::kCorrupt, "the stored data is not a multiple of the block size");
  }
  OwnedCipherContext context(EVP_CIPHER_CTX_new());
  std::string out(ciphertext.size() + kBlockSize, '\0');
  int written = 0, last = 0;
  bool ok = EVP_DecryptInit_ex2(context.get(), CbcFor(key_.size()), AsBytes(key_), AsBytes(iv),
                                nullptr) == 1 &&
            EVP_DecryptUpdate(context.get(), AsBytes(out), &written, AsBytes(ciphertext),
                              static_cast<int>(ciphertext.size())) == 1;
  KEELSON_CHECK(ok);
  if (EVP_DecryptFinal_ex(context.get(), AsBytes(out) + written, &last) != 1) {
    return Fail(ErrorCode::kCorrupt, "invalid padding on input");
  }
  out.resize(written + last);
  return out;
}

Result<SecretBox> SecretBox::Create(std::string_view key) {
  if (key.size() != kKeySize) {
    return Fail(ErrorCode::kInvalid, "a secretbox key has 32 bytes, not {}", key.size());
  }
  return SecretBox(std::string(key));
}

SecretBox::~SecretBox() { OPENSSL_cleanse(key_.data(), key_.size()); }

std::string SecretBox::Seal(std::string_view nonce, std::string_view plaintext) const {
  KEELSON_CHECK(nonce.size() == kNonceSize);
  XSalsa20 stream(key_, nonce);
  const std::string mac_key = TakeKey(stream);
  std::string sealed(kTagSize, '\0');
  sealed.reserve(kTagSize + plaintext.size());
  for (char c : plaintext) sealed.push_back(static_cast<char>(c ^ stream.Next()));
  const std::string tag = Poly1305(mac_key, std::string_view(sealed).substr(kTagSize));
  sealed.replace(0, kTagSize, tag);
  return sealed;
}

Result<std::string> SecretBox::Open(std::string_view nonce, std::string_view sealed) const {
  if (nonce.size() != kNonceSize || sealed.size() < kTagSize) {
    return Fail(ErrorCode::kCorrupt, "sealed text has an impossible size");
  }
  XSalsa20 stream(key_, nonce);
  const std::string mac_key = TakeKey(stream);
  const auto text = sealed.substr(kTagSize);
  if (!ConstantTimeEqual(Poly1305(mac_key, text), sealed.substr(0, kTagSize))) {
    return Fail(ErrorCode::kCorrupt, "sealed text was altered, or the key is another");
  }
  std::string plaintext(text);
  for (char& c : plaintext) c = static_cast<char>(c ^ stream.Next());
  return plaintext;
}

}  // namespace keelson::crypto
