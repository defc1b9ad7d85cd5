#include "auth/oidc.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "value/json.h"

namespace keelson::auth {
namespace {

using value::Value;

constexpr std::string_view kDiscoveryPath = "/.well-known/openid-configuration";

Authentication Bad(std::string why) {
  return {.error = Error{ErrorCode::kDenied, "oidc: " + std::move(why)}};
}

Result<std::string> UserName(const OidcOptions& options, const Value& claims) {
  const auto& mapping = options.username;
  const auto value = claims[mapping.claim];
  if (!value.is_string()) {
    return Fail(ErrorCode::kDenied, "parse username claims {}: claim not present",
                Quote(mapping.claim));
  }
  // An address that the provider has not verified is anybody's.
  if (mapping.claim == "email") {
    const auto verified = claims["email_verified"];
    if (!verified.is_null() && !verified.AsBool()) {
      return Fail(ErrorCode::kDenied, "email not verified");
    }
  }
  if (value.AsString().empty()) {
    return Fail(ErrorCode::kDenied, "claim {} is empty", Quote(mapping.claim));
  }
  return mapping.prefix + std::string(value.AsString());
}

// A text or a list of them.
Result<std::vector<std::string>> Groups(const ClaimMapping& mapping, const Value& claims) {
  const auto value = claims[mapping.claim];
  std::vector<std::string> groups;
  if (value.is_null()) return groups;
  if (value.is_string())
    return std::vector<std::string>{mapping.prefix + std::string(value.AsString())};
  if (!value.is_list()) {
    return Fail(ErrorCode::kDenied, "parse groups claim {}: not a list", Quote(mapping.claim));
  }
  for (const auto& item : value.items()) {
    if (!item.is_string()) {
      return Fail(ErrorCode::kDenied, "parse groups claim {}: not a text", Quote(mapping.claim));
    }
    groups.push_back(mapping.prefix + std::string(item.AsString()));
  }
  return groups;
}

}  // namespace

Result<User> UserOfClaims(const OidcOptions& options, const Jwt& token, WallTime now) {
  const auto made_for = token.Audiences();
  const bool for_us = std::ranges::any_of(made_for, [&](const std::string& audience) {
    return std::ranges::find(options.audiences, audience) != options.audiences.end();
  });
  if (!for_us) return Fail(ErrorCode::kDenied, "expected audience was not found in the token");
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const auto expires = token.Time("exp");
  if (!expires) return Fail(ErrorCode::kDenied, "the token has no expiry");
  if (*expires < seconds) return Fail(ErrorCode::kDenied, "verify token: token is expired");
  // Providers' clocks may be five minutes ahead.
  constexpr int64_t kNotBeforeLeeway = 300;
  if (auto from = token.Time("nbf"); from && seconds + kNotBeforeLeeway < *from) {
    return Fail(ErrorCode::kDenied,
                "verify token: current time is before the nbf (not before) time");
  }
  const auto claims = token.claims.root();
  for (const auto& [claim, wanted] : options.required_claims) {
    if (!claims[claim].is_string()) {
      return Fail(ErrorCode::kDenied, "required claim {} not present in ID token", claim);
    }
    if (claims[claim].AsString() != wanted) {
      return Fail(ErrorCode::kDenied, "required claim {} value does not match", claim);
    }
  }
  User user;
  TRY(user.name, UserName(options, claims));
  if (options.groups) {
    TRY(user.groups, Groups(*options.groups, claims));
  }
  if (!options.uid_claim.empty()) user.uid = claims[options.uid_claim].AsString();
  if (const auto id = token.Text("jti"); !id.empty()) {
    user.extra["authentication.kubernetes.io/credential-id"] = {"JTI=" + std::string(id)};
  }
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

Result<std::string> ReadDiscovery(std::string_view document, std::string_view issuer) {
  TRY(auto parsed, value::ParseJson(document));
  const auto claimed = parsed.root()["issuer"].AsString();
  if (claimed != issuer) {
    return Fail(ErrorCode::kInvalid,
                "issuer did not match the issuer returned by provider, expected {} got {}",
                Quote(issuer), Quote(claimed));
  }
  std::string uri(parsed.root()["jwks_uri"].AsString());
  if (!uri.starts_with("https://")) {
    return Fail(ErrorCode::kInvalid, "the provider's jwks_uri is no https URL");
  }
  return uri;
}

bool OidcTokens::AllowsAlgorithm(const Jwt& token) const {
  const auto& allowed = options_.signing_algorithms;
  return std::ranges::find(allowed, token.algorithm) != allowed.end();
}

bool OidcTokens::Verifies(const Keys& keys, const Jwt& token) {
  return keys != nullptr && std::ranges::any_of(*keys, [&](const JwtKey& key) {
           return (token.key_id.empty() || key.id.empty() || token.key_id == key.id) &&
                  key.Verifies(token);
         });
}

OidcTokens::Keys OidcTokens::Known() {
  std::lock_guard lock(mutex_);
  return keys_;
}

std::optional<Authentication> OidcTokens::TryToken(std::string_view token,
                                                   std::span<const std::string>) {
  auto parsed = ParseJwt(token);
  if (!parsed || !IsOurs(*parsed)) return Authentication{};
  return std::nullopt;
}

Task<Result<OidcTokens::Keys>> OidcTokens::Fetch() {
  {
    std::lock_guard lock(mutex_);
    const auto now = clock_.Now();
    if (fetched_ && now - *fetched_ < kRefetchAfter) co_return keys_;
    fetched_ = now;
  }
  auto url = options_.discovery_url;
  if (url.empty()) {
    url = options_.issuer;
    if (url.ends_with('/')) url.pop_back();
    url += kDiscoveryPath;
  }
  CO_TRY(auto document, co_await client_->Call({.url = std::move(url)}));
  if (document.status != 200) {
    co_return Fail(ErrorCode::kUnavailable, "the provider answered {}", document.status);
  }
  CO_TRY(auto uri, ReadDiscovery(document.body, options_.issuer));
  CO_TRY(auto answer, co_await client_->Call({.url = std::move(uri)}));
  if (answer.status != 200) {
    co_return Fail(ErrorCode::kUnavailable, "the provider answered {}", answer.status);
  }
  CO_TRY(auto keys, ParseJwks(answer.body));
  auto fresh = std::make_shared<const std::vector<JwtKey>>(std::move(keys));
  std::lock_guard lock(mutex_);
  keys_ = fresh;
  co_return fresh;
}

Task<Authentication> OidcTokens::CheckToken(std::string_view token,
                                            std::span<const std::string> audiences) {
  auto parsed = ParseJwt(token);
  if (!parsed || !IsOurs(*parsed)) co_return Authentication{};
  if (!AllowsAlgorithm(*parsed)) co_return Bad("the token is signed in a way that is not accepted");
  if (!Verifies(Known(), *parsed)) {
    auto keys = co_await Fetch();
    if (!keys) co_return Bad("authenticator not initialized: " + keys.error().message);
    if (!Verifies(*keys, *parsed)) co_return Bad("failed to verify id token signature");
  }
  auto user = UserOfClaims(options_, *parsed, clock_.WallNow());
  if (!user) co_return Bad(user.error().message);
  co_return Authentication{.user = std::make_shared<const User>(*std::move(user))};
}

}  // namespace keelson::auth
