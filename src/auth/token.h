#pragma once

// Bearer tokens: who they stand for, whatever kind they are.
//
// The seam is like Authenticator's, one step further in: a token and the audiences it must be good
// for, without a request, because token reviews ask too. Thread-safe.

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "auth/authenticator.h"
#include "base/clock.h"

namespace keelson::auth {

// Longer tokens are refused before anybody looks at them.
inline constexpr size_t kMaxTokenSize = size_t{64} << 10;

class TokenAuthenticator {
 public:
  virtual ~TokenAuthenticator() = default;

  // Nothing when an answer needs waiting; then CheckToken gives it. Without user and error the
  // token is not of its kind.
  virtual std::optional<Authentication> TryToken(std::string_view token,
                                                 std::span<const std::string> audiences) = 0;
  // The arguments outlive the task.
  virtual Task<Authentication> CheckToken(std::string_view token,
                                          std::span<const std::string> audiences);
};

// Tokens known in advance, such as the loopback client's. Compared in constant time.
class TokenTable final : public TokenAuthenticator {
 public:
  // Before the first request only.
  void Add(std::string token, UserPtr user);
  std::optional<Authentication> TryToken(std::string_view token,
                                         std::span<const std::string> audiences) override;

 private:
  std::vector<std::pair<std::string, UserPtr>> tokens_;
};

// Asks each in order and takes the first user; without one, the first error.
class TokenUnion final : public TokenAuthenticator {
 public:
  explicit TokenUnion(std::vector<std::shared_ptr<TokenAuthenticator>> members)
      : members_(std::move(members)) {}
  std::optional<Authentication> TryToken(std::string_view token,
                                         std::span<const std::string> audiences) override;
  Task<Authentication> CheckToken(std::string_view token,
                                  std::span<const std::string> audiences) override;

 private:
  std::vector<std::shared_ptr<TokenAuthenticator>> members_;
};

// For tokens that know no audiences: they are good for this server, and for nobody else.
class AudienceAgnosticTokens final : public TokenAuthenticator {
 public:
  AudienceAgnosticTokens(std::shared_ptr<TokenAuthenticator> inner,
                         std::vector<std::string> api_audiences)
      : inner_(std::move(inner)), api_audiences_(std::move(api_audiences)) {}
  std::optional<Authentication> TryToken(std::string_view token,
                                         std::span<const std::string> audiences) override;
  Task<Authentication> CheckToken(std::string_view token,
                                  std::span<const std::string> audiences) override;

 private:
  // Nothing when there are audiences and none is this server's.
  std::optional<std::vector<std::string>> Common(std::span<const std::string> audiences) const;

  std::shared_ptr<TokenAuthenticator> inner_;
  const std::vector<std::string> api_audiences_;
};

// Remembers for a while whom a token stood for, so that checking it again costs a hash. Holds no
// token, only keyed digests of them, and at most 2 * kGeneration of those.
class TokenCache final : public TokenAuthenticator {
 public:
  static constexpr size_t kGeneration = 4096;

  TokenCache(std::shared_ptr<TokenAuthenticator> inner, const Clock& clock, Duration success_ttl,
             Duration failure_ttl = {});
  std::optional<Authentication> TryToken(std::string_view token,
                                         std::span<const std::string> audiences) override;
  Task<Authentication> CheckToken(std::string_view token,
                                  std::span<const std::string> audiences) override;

 private:
  struct Entry {
    Authentication verdict;
    TimePoint until;
  };
  using Table = std::unordered_map<std::string, Entry>;

  std::string KeyOf(std::string_view token, std::span<const std::string> audiences) const;
  std::optional<Authentication> Find(const std::string& key);
  void Keep(std::string key, const Authentication& verdict);

  const std::shared_ptr<TokenAuthenticator> inner_;
  const Clock& clock_;
  const Duration success_ttl_;
  const Duration failure_ttl_;
  const std::string secret_;
  std::mutex mutex_;
  Table young_;
  Table old_;
};

// The token of a request, from "Authorization: Bearer" or from the subprotocol that browsers must
// use for web sockets. A connection that shows the same token again within a moment is believed
// without asking; the moment is short, since caches behind it have theirs.
class BearerAuthenticator final : public Authenticator {
 public:
  static constexpr Duration kTrust = std::chrono::seconds(1);

  BearerAuthenticator(std::shared_ptr<TokenAuthenticator> tokens,
                      std::vector<std::string> audiences)
      : tokens_(std::move(tokens)), audiences_(std::move(audiences)) {}
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override;
  Task<Authentication> Authenticate(const http::Request& request) override;

 private:
  static Authentication Concluded(const http::Request& request, std::string_view token,
                                  Authentication verdict);

  std::shared_ptr<TokenAuthenticator> tokens_;
  const std::vector<std::string> audiences_;
};

// The token of "Authorization: Bearer <token>"; nothing when there is none.
std::optional<std::string_view> BearerToken(const http::Request& request);

}  // namespace keelson::auth
