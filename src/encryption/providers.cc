#include "encryption/providers.h"

#include "base/ids.h"
#include "crypto/aead.h"
#include "crypto/cipher.h"

namespace keelson::encryption {
namespace {

// What every encrypted value begins with.
constexpr std::string_view kMark = "k8s:enc:";

std::string Random(size_t size) {
  std::string bytes(size, '\0');
  RandomBytes({reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
  return bytes;
}

std::unexpected<Error> TooShort() {
  return Fail(ErrorCode::kCorrupt, "the stored data was shorter than the required size");
}

template <typename T>
T MustBe(Result<T> made) {
  KEELSON_CHECK(made);  // Configuration::Parse has checked the size of keys
  return *std::move(made);
}

class Cbc final : public Cipher {
 public:
  explicit Cbc(std::string_view secret) : cipher_(MustBe(crypto::AesCbc::Create(secret))) {}
  std::string Seal(std::string_view, std::string_view value) const override {
    auto iv = Random(crypto::AesCbc::kBlockSize);
    return iv + cipher_.Encrypt(iv, value);
  }
  Result<std::string> Open(std::string_view, std::string_view sealed) const override {
    constexpr size_t kIv = crypto::AesCbc::kBlockSize;
    if (sealed.size() < kIv) return TooShort();
    return cipher_.Decrypt(sealed.substr(0, kIv), sealed.substr(kIv));
  }

 private:
  crypto::AesCbc cipher_;
};

class Gcm final : public Cipher {
 public:
  explicit Gcm(std::string_view secret) : cipher_(MustBe(crypto::AesGcm::Create(secret))) {}
  std::string Seal(std::string_view key, std::string_view value) const override {
    auto nonce = Random(crypto::AesGcm::kNonceSize);
    return nonce + cipher_.Seal(nonce, value, key);
  }
  Result<std::string> Open(std::string_view key, std::string_view sealed) const override {
    constexpr size_t kNonce = crypto::AesGcm::kNonceSize;
    if (sealed.size() < kNonce) return TooShort();
    return cipher_.Open(sealed.substr(0, kNonce), sealed.substr(kNonce), key);
  }

 private:
  crypto::AesGcm cipher_;
};

class Box final : public Cipher {
 public:
  explicit Box(std::string_view secret) : cipher_(MustBe(crypto::SecretBox::Create(secret))) {}
  std::string Seal(std::string_view, std::string_view value) const override {
    auto nonce = Random(crypto::SecretBox::kNonceSize);
    return nonce + cipher_.Seal(nonce, value);
  }
  Result<std::string> Open(std::string_view, std::string_view sealed) const override {
    constexpr size_t kNonce = crypto::SecretBox::kNonceSize;
    if (sealed.size() < kNonce + crypto::SecretBox::kTagSize) return TooShort();
    return cipher_.Open(sealed.substr(0, kNonce), sealed.substr(kNonce));
  }

 private:
  crypto::SecretBox cipher_;
};

std::string_view PrefixOf(Provider::Type type) {
  switch (type) {
    case Provider::Type::kAesCbc:
      return "k8s:enc:aescbc:v1:";
    case Provider::Type::kAesGcm:
      return "k8s:enc:aesgcm:v1:";
    case Provider::Type::kSecretBox:
      return "k8s:enc:secretbox:v1:";
    case Provider::Type::kIdentity:
      break;
  }
  return "";
}

std::shared_ptr<const Cipher> MakeCipher(Provider::Type type, std::string_view secret) {
  switch (type) {
    case Provider::Type::kAesCbc:
      return std::make_shared<Cbc>(secret);
    case Provider::Type::kAesGcm:
      return std::make_shared<Gcm>(secret);
    case Provider::Type::kSecretBox:
      return std::make_shared<Box>(secret);
    case Provider::Type::kIdentity:
      break;
  }
  return nullptr;
}

}  // namespace

ProviderChain::ProviderChain(const std::vector<Provider>& providers) {
  for (const auto& provider : providers) {
    if (provider.type == Provider::Type::kIdentity) entries_.push_back({});
    for (const auto& key : provider.keys) {
      entries_.push_back({std::string(PrefixOf(provider.type)) + key.name + ":",
                          MakeCipher(provider.type, key.secret)});
    }
  }
  KEELSON_CHECK(!entries_.empty());
}

Result<storage::ValueTransformer::Read> ProviderChain::FromStorage(std::string_view key,
                                                                   const Slice& stored) const {
  std::string reasons;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto& entry = entries_[i];
    if (!stored.view().starts_with(entry.prefix)) continue;
    if (!entry.cipher) {
      if (stored.view().starts_with(kMark)) continue;
      return storage::ValueTransformer::Read{.value = stored, .stale = i != 0};
    }
    auto opened = entry.cipher->Open(key, stored.view().substr(entry.prefix.size()));
    if (opened) {
      return storage::ValueTransformer::Read{.value = Slice::Own(*std::move(opened)),
                                             .stale = i != 0};
    }
    reasons += (reasons.empty() ? "" : "; ") + opened.error().message;
  }
  if (!reasons.empty()) {
    return Fail(ErrorCode::kCorrupt, "unable to transform key \"{}\": {}", key, reasons);
  }
  return Fail(ErrorCode::kCorrupt, "unable to transform key \"{}\": no matching prefix found", key);
}

Slice ProviderChain::ToStorage(std::string_view key, const Slice& value) const {
  const auto& first = entries_.front();
  if (!first.cipher) return value;
  return Slice::Own(first.prefix + first.cipher->Seal(key, value.view()));
}

}  // namespace keelson::encryption
