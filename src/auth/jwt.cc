#include "auth/jwt.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/status.h"
#include "crypto/base64.h"
#include "crypto/digest.h"
#include "value/json.h"

namespace keelson::auth {
namespace {

using crypto::KeyKind;
using crypto::SignatureAlgorithm;
using value::Value;

Result<value::Document> DecodeObject(std::string_view part) {
  TRY(auto text, crypto::Base64UrlDecode(part));
  std::vector<std::string> repeated;
  TRY(auto object, value::ParseJson(text, {.strict_errors = &repeated}));
  if (!object.root().is_object()) return Fail(ErrorCode::kInvalid, "not a JSON object");
  if (!repeated.empty()) return Fail(ErrorCode::kInvalid, "a member stands twice");
  return object;
}

Result<SignatureAlgorithm> UsualAlgorithm(KeyKind kind) {
  switch (kind) {
    case KeyKind::kRsa:
      return SignatureAlgorithm::kRs256;
    case KeyKind::kP256:
      return SignatureAlgorithm::kEs256;
    case KeyKind::kP384:
      return SignatureAlgorithm::kEs384;
    case KeyKind::kP521:
      return SignatureAlgorithm::kEs512;
    case KeyKind::kEd25519:
      break;
  }
  return Fail(ErrorCode::kUnsupported, "unsupported key type");
}

std::string_view CurveName(KeyKind kind) {
  return kind == KeyKind::kP256 ? "P-256" : kind == KeyKind::kP384 ? "P-384" : "P-521";
}

std::optional<KeyKind> CurveKind(std::string_view name) {
  for (auto kind : {KeyKind::kP256, KeyKind::kP384, KeyKind::kP521}) {
    if (CurveName(kind) == name) return kind;
  }
  return std::nullopt;
}

void AppendMember(std::string& out, std::string_view name, std::string_view text) {
  if (!out.ends_with('{')) out += ',';
  AppendJsonString(out, name);
  out += ':';
  AppendJsonString(out, text);
}

// Nothing for a key that is of no use here.
std::optional<JwtKey> ReadJwk(const Value& jwk) {
  if (auto use = jwk["use"].AsString(); !use.empty() && use != "sig") return std::nullopt;
  const auto decode = [&](std::string_view name) {
    return crypto::Base64UrlDecode(jwk[name].AsString()).value_or("");
  };
  crypto::KeyNumbers numbers;
  KeyKind kind = KeyKind::kRsa;
  if (jwk["kty"].AsString() == "RSA") {
    numbers.n = decode("n");
    numbers.e = decode("e");
  } else if (auto curve = CurveKind(jwk["crv"].AsString());
             curve && jwk["kty"].AsString() == "EC") {
    kind = *curve;
    numbers.x = decode("x");
    numbers.y = decode("y");
  } else {
    return std::nullopt;
  }
  auto key = crypto::PublicKey::FromNumbers(kind, numbers);
  if (!key) return std::nullopt;
  const auto named = jwk["alg"].AsString();
  auto algorithm = named.empty() ? UsualAlgorithm(kind) : crypto::ParseSignatureAlgorithm(named);
  if (!algorithm) return std::nullopt;
  return JwtKey{std::string(jwk["kid"].AsString()), *std::move(key), *algorithm};
}

}  // namespace

std::vector<std::string> Jwt::Audiences() const {
  const auto audience = claims.root()["aud"];
  if (audience.is_string()) return {std::string(audience.AsString())};
  std::vector<std::string> audiences;
  for (const auto& item : audience.items()) {
    if (item.is_string()) audiences.emplace_back(item.AsString());
  }
  return audiences;
}

std::optional<int64_t> Jwt::Time(std::string_view claim) const {
  const auto number = claims.root()[claim];
  if (number.is_int()) return number.AsInt();
  constexpr double kLimit = 1e15;
  const double seconds = number.AsDouble();
  if (!number.is_double() || !(std::abs(seconds) < kLimit)) return std::nullopt;
  return static_cast<int64_t>(std::floor(seconds));
}

Result<Jwt> ParseJwt(std::string_view token) {
  if (token.size() > kMaxJwtSize) return Fail(ErrorCode::kTooLarge, "the token is too long");
  const auto first = token.find('.');
  const auto second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) {
    return Fail(ErrorCode::kInvalid, "not a JSON Web Token of three parts");
  }
  TRY(auto header, DecodeObject(token.substr(0, first)));
  // Extensions that must be understood are not.
  if (header.root().Find("crit") != nullptr) {
    return Fail(ErrorCode::kUnsupported, "the token's header asks for extensions");
  }
  Jwt jwt{.signed_part = token.substr(0, second),
          .algorithm = std::string(header.root()["alg"].AsString()),
          .key_id = std::string(header.root()["kid"].AsString())};
  TRY(jwt.claims, DecodeObject(token.substr(first + 1, second - first - 1)));
  TRY(jwt.signature, crypto::Base64UrlDecode(token.substr(second + 1)));
  return jwt;
}

std::optional<JwtTimeProblem> CheckTimes(const Jwt& token, WallTime now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  if (auto from = token.Time("nbf"); from && seconds + kJwtLeewaySeconds < *from) {
    return JwtTimeProblem::kNotValidYet;
  }
  if (auto until = token.Time("exp"); until && seconds - kJwtLeewaySeconds > *until) {
    return JwtTimeProblem::kExpired;
  }
  if (auto issued = token.Time("iat"); issued && seconds + kJwtLeewaySeconds < *issued) {
    return JwtTimeProblem::kIssuedInTheFuture;
  }
  return std::nullopt;
}

bool JwtKey::Verifies(const Jwt& token) const {
  return token.algorithm == crypto::SignatureAlgorithmName(algorithm) &&
         key.Verify(algorithm, token.signed_part, token.signature);
}

Result<JwtKey> MakeJwtKey(crypto::PublicKey key) {
  TRY(auto algorithm, UsualAlgorithm(key.kind()));
  auto id = crypto::Base64UrlEncode(crypto::Digest(crypto::Hash::kSha256, key.ToDer()));
  return JwtKey{std::move(id), std::move(key), algorithm};
}

Result<JwtSigner> JwtSigner::Create(crypto::PrivateKey key) {
  TRY(auto public_key, MakeJwtKey(key.Public()));
  return JwtSigner(std::move(key), std::move(public_key));
}

Result<std::string> JwtSigner::Sign(std::string_view claims) const {
  std::string header = "{";
  AppendMember(header, "alg", crypto::SignatureAlgorithmName(public_.algorithm));
  AppendMember(header, "kid", public_.id);
  header += '}';
  auto token = crypto::Base64UrlEncode(header) + "." + crypto::Base64UrlEncode(claims);
  TRY(auto signature, key_.Sign(public_.algorithm, token));
  return token + "." + crypto::Base64UrlEncode(signature);
}

std::string RenderJwks(std::span<const JwtKey> keys) {
  std::string out = R"({"keys":[)";
  for (const auto& key : keys) {
    if (!out.ends_with('[')) out += ',';
    const auto numbers = key.key.Numbers();
    const bool rsa = key.key.kind() == KeyKind::kRsa;
    std::string jwk = "{";
    AppendMember(jwk, "use", "sig");
    AppendMember(jwk, "kty", rsa ? "RSA" : "EC");
    AppendMember(jwk, "kid", key.id);
    if (!rsa) AppendMember(jwk, "crv", CurveName(key.key.kind()));
    AppendMember(jwk, "alg", crypto::SignatureAlgorithmName(key.algorithm));
    if (rsa) {
      AppendMember(jwk, "n", crypto::Base64UrlEncode(numbers.n));
      AppendMember(jwk, "e", crypto::Base64UrlEncode(numbers.e));
    } else {
      AppendMember(jwk, "x", crypto::Base64UrlEncode(numbers.x));
      AppendMember(jwk, "y", crypto::Base64UrlEncode(numbers.y));
    }
    out += jwk + "}";
  }
  return out + "]}";
}

Result<std::vector<JwtKey>> ParseJwks(std::string_view text) {
  if (text.size() > kMaxJwksSize) return Fail(ErrorCode::kTooLarge, "the key set is too large");
  TRY(auto set, value::ParseJson(text));
  const auto listed = set.root()["keys"];
  if (listed.items().size() > kMaxJwksKeys) {
    return Fail(ErrorCode::kTooLarge, "the key set has more than {} keys", kMaxJwksKeys);
  }
  std::vector<JwtKey> keys;
  for (const auto& jwk : listed.items()) {
    if (auto key = ReadJwk(jwk)) keys.push_back(*std::move(key));
  }
  if (keys.empty()) return Fail(ErrorCode::kNotFound, "the key set has no key to verify with");
  return keys;
}

}  // namespace keelson::auth
