#pragma once

// What an EncryptionConfiguration (apiserver.config.k8s.io/v1) says: which resources are encrypted
// in the store, and how. Read and checked with upstream's rules and messages. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/status.h"

namespace keelson::encryption {

struct Key {
  std::string name;
  std::string secret;  // the bytes themselves
};

struct Provider {
  enum class Type : uint8_t { kIdentity, kAesCbc, kAesGcm, kSecretBox };
  Type type = Type::kIdentity;
  std::vector<Key> keys;  // the first one writes, all read; none for kIdentity
};

// The first provider writes, all read.
struct Rule {
  std::vector<GroupResource> resources;  // "*" stands for all of a group, or for all groups
  std::vector<Provider> providers;
};

struct Configuration {
  std::vector<Rule> rules;

  // From YAML or JSON. Never repeats a secret in its error.
  static Result<Configuration> Parse(std::string_view text);

  // The providers for a resource: those of its own rules, else of its group's, else of all. Empty
  // when it is not to be encrypted.
  std::vector<Provider> ProvidersFor(const GroupResource& resource) const;
};

}  // namespace keelson::encryption
