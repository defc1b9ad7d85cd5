// Configuration files are written by people: whatever they say, reading ends, and what is accepted
// holds together.

#include <cstdint>
#include <string_view>

#include "auth/abac.h"
#include "auth/configuration.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto read = keelson::auth::ParseAuthenticationConfiguration(text)) {
    for (const auto& jwt : read->jwt) {
      if (jwt.options.username.claim.empty() || jwt.options.audiences.empty()) __builtin_trap();
    }
  }
  if (auto read = keelson::auth::ParseAuthorizationConfiguration(text)) {
    if (read->authorizers.empty()) __builtin_trap();
  }
  (void)keelson::auth::ParseAbacPolicies(text);
  return 0;
}
