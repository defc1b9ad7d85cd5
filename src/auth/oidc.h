#pragma once

// Tokens of OpenID Connect providers: signed by keys that the provider publishes, naming the user
// in claims.
//
// Nothing is fetched before somebody comes with a token of the issuer. Keys are fetched again when
// a token names one that is not known, but not more often than every ten seconds.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/jwt.h"
#include "auth/token.h"
#include "auth/web_client.h"

namespace keelson::auth {

// One claim, and what to put in front of its values.
struct ClaimMapping {
  std::string claim;
  std::string prefix;
};

struct OidcOptions {
  std::string issuer;
  std::string discovery_url;  // empty: below the issuer
  std::vector<std::string> audiences;
  ClaimMapping username;
  std::optional<ClaimMapping> groups;
  std::string uid_claim;  // empty: none
  std::map<std::string, std::string> required_claims;
  std::vector<std::string> signing_algorithms = {"RS256"};
};

// What the claims of a verified token say; kDenied when they do not let anybody in. Pure.
Result<User> UserOfClaims(const OidcOptions& options, const Jwt& token, WallTime now);

// Where the discovery document says the keys are. kInvalid when it is another issuer's. Pure.
Result<std::string> ReadDiscovery(std::string_view document, std::string_view issuer);

class OidcTokens final : public TokenAuthenticator {
 public:
  // The clock outlives it.
  OidcTokens(OidcOptions options, std::shared_ptr<WebClient> client, Clock& clock)
      : options_(std::move(options)), client_(std::move(client)), clock_(clock) {}

  std::optional<Authentication> TryToken(std::string_view token,
                                         std::span<const std::string> audiences) override;
  Task<Authentication> CheckToken(std::string_view token,
                                  std::span<const std::string> audiences) override;

 private:
  using Keys = std::shared_ptr<const std::vector<JwtKey>>;
  static constexpr Duration kRefetchAfter = std::chrono::seconds(10);

  bool IsOurs(const Jwt& token) const { return token.Text("iss") == options_.issuer; }
  bool AllowsAlgorithm(const Jwt& token) const;
  static bool Verifies(const Keys& keys, const Jwt& token);
  Keys Known();
  // Newer keys than before; the same when it is too early to ask again.
  Task<Result<Keys>> Fetch();

  const OidcOptions options_;
  const std::shared_ptr<WebClient> client_;
  Clock& clock_;
  std::mutex mutex_;
  Keys keys_;
  std::optional<TimePoint> fetched_;
};

}  // namespace keelson::auth
