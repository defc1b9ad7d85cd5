// What a provider may answer, and what a token of it may claim.

#include <cstdint>
#include <string_view>

#include "auth/oidc.h"
#include "value/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;  // NOLINT(google-build-using-namespace): a function of one screen
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto uri = auth::ReadDiscovery(text, "https://issuer")) {
    if (!uri->starts_with("https://")) __builtin_trap();
  }
  (void)auth::ParseJwks(text);
  auto claims = value::ParseJson(text);
  if (!claims) return 0;
  static const auth::OidcOptions options{.issuer = "https://issuer",
                                         .audiences = {"a"},
                                         .username = {"email", "p:"},
                                         .groups = auth::ClaimMapping{"groups", "g:"},
                                         .uid_claim = "sub",
                                         .required_claims = {{"hd", "example.com"}}};
  auth::Jwt token{.claims = *claims};
  if (auto user = auth::UserOfClaims(options, token, WallTime())) {
    if (!user->name.starts_with("p:")) __builtin_trap();
    if (claims->root()["hd"].AsString() != "example.com") __builtin_trap();
  }
  return 0;
}
