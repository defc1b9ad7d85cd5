#pragma once

// Encrypting and decrypting values in upstream's forms:
//
//   k8s:enc:aescbc:v1:<key name>:     IV of 16 bytes, AES-CBC of the value with PKCS #7 padding
//   k8s:enc:aesgcm:v1:<key name>:     nonce of 12 bytes, AES-GCM of the value; its key in the store
//                                     is authenticated with it
//   k8s:enc:secretbox:v1:<key name>:  nonce of 24 bytes, NaCl secretbox of the value
//   anything else                     the value as it is
//
// Immutable; any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encryption/configuration.h"
#include "storage/resource.h"

namespace keelson::encryption {

// One key of one provider.
class Cipher {
 public:
  virtual ~Cipher() = default;
  virtual std::string Seal(std::string_view key, std::string_view value) const = 0;
  virtual Result<std::string> Open(std::string_view key, std::string_view sealed) const = 0;
};

// The providers of one resource.
class ProviderChain {
 public:
  // The keys have been checked.
  explicit ProviderChain(const std::vector<Provider>& providers);

  // Stale unless it is the first provider's first key that opens it. kCorrupt, with all reasons,
  // when none does.
  Result<storage::ValueTransformer::Read> FromStorage(std::string_view key,
                                                      const Slice& stored) const;
  Slice ToStorage(std::string_view key, const Slice& value) const;

 private:
  struct Entry {
    std::string prefix;                    // empty for values as they are
    std::shared_ptr<const Cipher> cipher;  // null for values as they are
  };
  std::vector<Entry> entries_;
};

}  // namespace keelson::encryption
