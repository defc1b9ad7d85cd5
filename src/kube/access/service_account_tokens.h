#pragma once

// Service account tokens: JSON Web Tokens that this server signs, and believes while what they are
// bound to exists.
//
// Private claims stand below "kubernetes.io": the account with its uid, its namespace and, when
// the token is bound, a pod, secret or node with its uid. A token is good while all of them are
// there under the same uid.

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/jwt.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/status.h"
#include "rest/resource.h"

namespace keelson::kube::access {

// An object that a token is bound to.
struct BoundObject {
  std::string name;
  std::string uid;
};

struct TokenClaims {
  std::string ns;
  BoundObject account;
  std::optional<BoundObject> pod;
  std::optional<BoundObject> secret;
  std::optional<BoundObject> node;
  std::vector<std::string> audiences;
  int64_t expiration_seconds = 3600;
  int64_t warn_after_seconds = 0;  // 0: never
};

struct ServiceAccountTokenOptions {
  std::vector<std::string> issuers;  // the first one signs
  std::vector<std::string> api_audiences;
  bool lookup = true;  // whether bound objects must exist
  bool extend_expiration = true;
  Duration max_expiration{};  // 0: none
};

class ServiceAccountTokens final : public auth::TokenAuthenticator {
 public:
  // `signer` may be missing: then no tokens are issued. Keys verify, the signer's own among them.
  ServiceAccountTokens(ServiceAccountTokenOptions options, std::optional<auth::JwtSigner> signer,
                       std::vector<auth::JwtKey> keys, const Clock& clock);

  // Where accounts and what tokens are bound to are found. Until then no token is believed. Null
  // ends that; `stores` outlives the requests being served.
  void SetStores(const rest::ObjectStores* stores) {
    stores_.store(stores, std::memory_order_release);
  }

  std::optional<auth::Authentication> TryToken(std::string_view token,
                                               std::span<const std::string> audiences) override;
  Task<auth::Authentication> CheckToken(std::string_view token,
                                        std::span<const std::string> audiences) override;

  bool can_issue() const { return signer_.has_value(); }
  Result<std::string> Issue(const TokenClaims& claims) const;

  const ServiceAccountTokenOptions& options() const { return options_; }
  const std::vector<auth::JwtKey>& keys() const { return keys_; }

 private:
  // Whose token it is, when it is one of ours that was signed by us, for these audiences and now.
  Result<auth::Jwt> Verify(std::string_view token) const;
  Result<std::vector<std::string>> Audiences(const auth::Jwt& token,
                                             std::span<const std::string> audiences) const;
  Task<Result<void>> CheckBinding(const rest::ObjectStores& stores, value::Value claims) const;
  bool IsOurs(const auth::Jwt& token) const;

  const ServiceAccountTokenOptions options_;
  const std::optional<auth::JwtSigner> signer_;
  const std::vector<auth::JwtKey> keys_;
  const Clock& clock_;
  std::atomic<const rest::ObjectStores*> stores_{nullptr};
};

// The documents by which others learn to verify these tokens.
std::string IssuerDocument(const ServiceAccountTokens& tokens, std::string_view jwks_uri);

}  // namespace keelson::kube::access
