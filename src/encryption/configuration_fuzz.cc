// Any text as an encryption configuration; what is accepted can be used.

#include <cstdint>

#include "encryption/configuration.h"
#include "encryption/providers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;  // NOLINT(google-build-using-namespace)
  auto parsed = encryption::Configuration::Parse({reinterpret_cast<const char*>(data), size});
  if (!parsed) return 0;
  auto providers = parsed->ProvidersFor({.group = "", .resource = "secrets"});
  if (providers.empty()) return 0;
  encryption::ProviderChain chain(providers);
  auto stored = chain.ToStorage("/registry/secrets/a", Slice::Static("value"));
  auto read = chain.FromStorage("/registry/secrets/a", stored);
  KEELSON_CHECK(read && read->value.view() == "value" && !read->stale);
  return 0;
}
