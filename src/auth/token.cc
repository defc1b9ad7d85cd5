#include "auth/token.h"

#include <algorithm>
#include <utility>

#include "auth/connection_memo.h"
#include "base/ids.h"
#include "crypto/base64.h"
#include "crypto/digest.h"

namespace keelson::auth {
namespace {

constexpr std::string_view kSubprotocol = "base64url.bearer.authorization.k8s.io.";

bool EqualFold(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] | 0x20) : a[i];
    if (c != lower[i]) return false;
  }
  return true;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// A browser cannot set headers on a web socket, only offer protocols: one of them may be the token.
std::optional<std::string> SubprotocolToken(const http::Request& request) {
  auto upgrade = request.headers.Get("upgrade");
  if (!upgrade || !EqualFold(Trimmed(*upgrade), "websocket")) return std::nullopt;
  for (auto list : request.headers.GetAll("sec-websocket-protocol")) {
    while (!list.empty()) {
      auto protocol = list.substr(0, list.find(','));
      list.remove_prefix(std::min(list.size(), protocol.size() + 1));
      protocol = Trimmed(protocol);
      if (!protocol.starts_with(kSubprotocol)) continue;
      auto token = crypto::Base64UrlDecode(protocol.substr(kSubprotocol.size()));
      return token ? *token : std::string();
    }
  }
  return std::nullopt;
}

// The bytes of a secret, drawn once per cache.
std::string RandomSecret() {
  std::string secret(32, '\0');
  RandomBytes({reinterpret_cast<unsigned char*>(secret.data()), secret.size()});
  return secret;
}

Authentication Invalid() { return {.error = Error{ErrorCode::kDenied, "invalid bearer token"}}; }

}  // namespace

std::optional<std::string_view> BearerToken(const http::Request& request) {
  auto header = request.headers.Get("authorization");
  if (!header) return std::nullopt;
  auto text = Trimmed(*header);
  auto space = text.find(' ');
  if (space == std::string_view::npos || !EqualFold(text.substr(0, space), "bearer")) {
    return std::nullopt;
  }
  auto token = text.substr(space + 1);
  token = token.substr(0, token.find(' '));  // as upstream: what follows a second space is ignored
  if (token.empty()) return std::nullopt;
  return token;
}

Task<Authentication> TokenAuthenticator::CheckToken(std::string_view token,
                                                    std::span<const std::string> audiences) {
  auto verdict = TryToken(token, audiences);
  KEELSON_CHECK(verdict.has_value());
  co_return *std::move(verdict);
}

void TokenTable::Add(std::string token, UserPtr user) {
  tokens_.emplace_back(std::move(token), std::move(user));
}

std::optional<Authentication> TokenTable::TryToken(std::string_view token,
                                                   std::span<const std::string>) {
  for (const auto& [known, user] : tokens_) {
    if (crypto::ConstantTimeEqual(token, known)) return Authentication{.user = user};
  }
  return Authentication{};
}

std::optional<Authentication> TokenUnion::TryToken(std::string_view token,
                                                   std::span<const std::string> audiences) {
  Authentication none;
  for (const auto& member : members_) {
    auto verdict = member->TryToken(token, audiences);
    if (!verdict || verdict->user) return verdict;
    if (!none.error) none.error = std::move(verdict->error);
  }
  return none;
}

Task<Authentication> TokenUnion::CheckToken(std::string_view token,
                                            std::span<const std::string> audiences) {
  Authentication none;
  for (const auto& member : members_) {
    auto verdict = member->TryToken(token, audiences);
    if (!verdict) verdict = co_await member->CheckToken(token, audiences);
    if (verdict->user) co_return *std::move(verdict);
    if (!none.error) none.error = std::move(verdict->error);
  }
  co_return none;
}

std::optional<std::vector<std::string>> AudienceAgnosticTokens::Common(
    std::span<const std::string> audiences) const {
  if (audiences.empty()) return std::vector<std::string>();
  std::vector<std::string> common;
  for (const auto& audience : api_audiences_) {
    if (std::ranges::find(audiences, audience) != audiences.end()) common.push_back(audience);
  }
  if (common.empty()) return std::nullopt;
  return common;
}

std::optional<Authentication> AudienceAgnosticTokens::TryToken(
    std::string_view token, std::span<const std::string> audiences) {
  auto common = Common(audiences);
  if (!common) return Authentication{};
  auto verdict = inner_->TryToken(token, {});
  if (verdict && verdict->user) verdict->audiences = *std::move(common);
  return verdict;
}

Task<Authentication> AudienceAgnosticTokens::CheckToken(std::string_view token,
                                                        std::span<const std::string> audiences) {
  auto common = Common(audiences);
  if (!common) co_return Authentication{};
  auto verdict = co_await inner_->CheckToken(token, {});
  if (verdict.user) verdict.audiences = *std::move(common);
  co_return verdict;
}

TokenCache::TokenCache(std::shared_ptr<TokenAuthenticator> inner, const Clock& clock,
                       Duration success_ttl, Duration failure_ttl)
    : inner_(std::move(inner)),
      clock_(clock),
      success_ttl_(success_ttl),
      failure_ttl_(failure_ttl),
      secret_(RandomSecret()) {}

std::string TokenCache::KeyOf(std::string_view token,
                              std::span<const std::string> audiences) const {
  std::string text(token);
  for (const auto& audience : audiences) text.append(1, '\0').append(audience);
  return crypto::Hmac(crypto::Hash::kSha256, secret_, text);
}

std::optional<Authentication> TokenCache::Find(const std::string& key) {
  std::lock_guard lock(mutex_);
  for (auto* table : {&young_, &old_}) {
    auto found = table->find(key);
    if (found != table->end() && clock_.Now() < found->second.until) return found->second.verdict;
  }
  return std::nullopt;
}

void TokenCache::Keep(std::string key, const Authentication& verdict) {
  const auto ttl = verdict.user ? success_ttl_ : failure_ttl_;
  if (ttl <= Duration::zero()) return;
  std::lock_guard lock(mutex_);
  if (young_.size() >= kGeneration) old_ = std::exchange(young_, {});
  young_.insert_or_assign(std::move(key), Entry{verdict, clock_.Now() + ttl});
}

std::optional<Authentication> TokenCache::TryToken(std::string_view token,
                                                   std::span<const std::string> audiences) {
  auto key = KeyOf(token, audiences);
  if (auto known = Find(key)) return known;
  auto verdict = inner_->TryToken(token, audiences);
  if (verdict) Keep(std::move(key), *verdict);
  return verdict;
}

Task<Authentication> TokenCache::CheckToken(std::string_view token,
                                            std::span<const std::string> audiences) {
  auto key = KeyOf(token, audiences);
  auto verdict = co_await inner_->CheckToken(token, audiences);
  Keep(std::move(key), verdict);
  co_return verdict;
}

Authentication BearerAuthenticator::Concluded(const http::Request& request, std::string_view token,
                                              Authentication verdict) {
  if (!verdict.user) return verdict.error ? verdict : Invalid();
  if (auto* memo = ConnectionMemo::Of(request)) {
    memo->token = token;
    memo->token_user = verdict.user;
    memo->token_audiences = verdict.audiences;
    memo->token_until = request.received + kTrust;
  }
  return verdict;
}

std::optional<Authentication> BearerAuthenticator::TryAuthenticate(const http::Request& request) {
  auto token = BearerToken(request);
  std::optional<std::string> offered;
  if (!token) {
    offered = SubprotocolToken(request);
    if (!offered) return Authentication{};
    token = *offered;
  }
  if (token->empty() || token->size() > kMaxTokenSize) return Invalid();
  const auto* memo = ConnectionMemo::Of(request);
  if (memo != nullptr && memo->token_user && request.received < memo->token_until &&
      crypto::ConstantTimeEqual(memo->token, *token)) {
    return Authentication{.user = memo->token_user, .audiences = memo->token_audiences};
  }
  auto verdict = tokens_->TryToken(*token, audiences_);
  if (!verdict) return std::nullopt;
  return Concluded(request, *token, *std::move(verdict));
}

Task<Authentication> BearerAuthenticator::Authenticate(const http::Request& request) {
  std::string token;
  if (auto bearer = BearerToken(request)) {
    token = *bearer;
  } else if (auto offered = SubprotocolToken(request)) {
    token = *std::move(offered);
  }
  auto verdict = co_await tokens_->CheckToken(token, audiences_);
  co_return Concluded(request, token, std::move(verdict));
}

}  // namespace keelson::auth
