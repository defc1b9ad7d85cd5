#pragma once

// JSON Web Tokens (RFC 7519) in compact form, and the keys that sign them (RFC 7517).
//
//   base64url(header) "." base64url(claims) "." base64url(signature)
//
// A token is parsed before anybody knows whether to believe it, so parsing only takes it apart:
// bounded size, strict base64, JSON objects. Believing it takes a key. The algorithm is the key's,
// never the token's: a header that names another one is refused. Pure, any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "crypto/key.h"
#include "value/document.h"

namespace keelson::auth {

inline constexpr size_t kMaxJwtSize = size_t{32} << 10;
inline constexpr size_t kMaxJwksSize = size_t{1} << 20;
inline constexpr size_t kMaxJwksKeys = 256;
// How far clocks may differ.
inline constexpr int64_t kJwtLeewaySeconds = 60;

struct Jwt {
  std::string_view signed_part;  // of the token it was parsed from
  std::string signature;
  std::string algorithm;  // as the header claims
  std::string key_id;     // empty when it names none
  value::Document claims;

  std::string_view Text(std::string_view claim) const { return claims.root()[claim].AsString(); }
  // The audiences it was made for: a text or a list of them.
  std::vector<std::string> Audiences() const;
  // A time in seconds since 1970, fractions cut off; nothing when the claim is absent or no number.
  std::optional<int64_t> Time(std::string_view claim) const;
};

Result<Jwt> ParseJwt(std::string_view token);

// What is wrong with the token's times (nbf, iat, exp) at `now`; nothing when they are fine.
enum class JwtTimeProblem : uint8_t { kExpired, kNotValidYet, kIssuedInTheFuture };
std::optional<JwtTimeProblem> CheckTimes(const Jwt& token, WallTime now);

// A key that verifies, with the one algorithm it is used for.
struct JwtKey {
  std::string id;
  crypto::PublicKey key;
  crypto::SignatureAlgorithm algorithm;

  bool Verifies(const Jwt& token) const;
};

// The usual algorithm of the key's kind, and its id: a digest of the key.
Result<JwtKey> MakeJwtKey(crypto::PublicKey key);

class JwtSigner {
 public:
  static Result<JwtSigner> Create(crypto::PrivateKey key);
  // `claims` is a JSON object.
  Result<std::string> Sign(std::string_view claims) const;
  const JwtKey& key() const { return public_; }

 private:
  JwtSigner(crypto::PrivateKey key, JwtKey public_key)
      : key_(std::move(key)), public_(std::move(public_key)) {}
  crypto::PrivateKey key_;
  JwtKey public_;
};

// {"keys":[...]}: as it is published, and back. Keys of other kinds and uses are left out; none
// that can be used is kNotFound.
std::string RenderJwks(std::span<const JwtKey> keys);
Result<std::vector<JwtKey>> ParseJwks(std::string_view text);

}  // namespace keelson::auth
