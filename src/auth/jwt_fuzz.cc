// Tokens and key sets from anywhere: whatever the bytes, parsing ends, and nothing verifies that
// was not signed.

#include <cstdint>
#include <string_view>

#include "auth/jwt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using keelson::auth::JwtKey;
  static const JwtKey* key = [] {
    auto made = keelson::crypto::PrivateKey::Generate(keelson::crypto::KeyKind::kP256);
    return new JwtKey(*keelson::auth::MakeJwtKey(made->Public()));
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto token = keelson::auth::ParseJwt(text)) {
    token->Audiences();
    token->Time("exp");
    keelson::auth::CheckTimes(*token, {});
    if (key->Verifies(*token)) __builtin_trap();
  }
  if (auto keys = keelson::auth::ParseJwks(text)) keelson::auth::RenderJwks(*keys);
  return 0;
}
