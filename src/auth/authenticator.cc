#include "auth/authenticator.h"

#include <utility>

namespace keelson::auth {
namespace {

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

bool EqualFold(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] | 0x20) : a[i];
    if (c != lower[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string_view> BearerToken(const http::Request& request) {
  auto header = request.headers.Get("authorization");
  if (!header) return std::nullopt;
  auto text = *header;
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  auto space = text.find(' ');
  if (space == std::string_view::npos || !EqualFold(text.substr(0, space), "bearer")) {
    return std::nullopt;
  }
  auto token = text.substr(space + 1);
  token = token.substr(0, token.find(' '));  // as upstream: what follows a second space is ignored
  if (token.empty()) return std::nullopt;
  return token;
}

Task<Authentication> Authenticator::Authenticate(const http::Request& request) {
  auto verdict = TryAuthenticate(request);
  KEELSON_CHECK(verdict.has_value());
  co_return *std::move(verdict);
}

AnonymousAuthenticator::AnonymousAuthenticator()
    : user_(std::make_shared<User>(User{.name = std::string(kAnonymousUser),
                                        .groups = {std::string(kUnauthenticatedGroup)}})) {}

std::optional<Authentication> AnonymousAuthenticator::TryAuthenticate(const http::Request&) {
  return Authentication{.user = user_};
}

void TokenTable::Add(std::string token, UserPtr user) {
  tokens_.emplace_back(std::move(token), std::move(user));
}

std::optional<Authentication> TokenTable::TryAuthenticate(const http::Request& request) {
  auto token = BearerToken(request);
  if (!token) return Authentication{};
  for (const auto& [known, user] : tokens_) {
    if (EqualInConstantTime(*token, known)) return Authentication{.user = user};
  }
  return Authentication{.error = Error{ErrorCode::kDenied, "invalid bearer token"}};
}

AuthenticatorUnion::AuthenticatorUnion(std::vector<std::shared_ptr<Authenticator>> members)
    : members_(std::move(members)) {}

std::optional<Authentication> AuthenticatorUnion::TryAuthenticate(const http::Request& request) {
  Authentication none;
  for (const auto& member : members_) {
    auto verdict = member->TryAuthenticate(request);
    if (!verdict || verdict->user) return verdict;
    if (!none.error) none.error = std::move(verdict->error);
  }
  return none;
}

Task<Authentication> AuthenticatorUnion::Authenticate(const http::Request& request) {
  Authentication none;
  for (const auto& member : members_) {
    auto verdict = member->TryAuthenticate(request);
    if (!verdict) verdict = co_await member->Authenticate(request);
    if (verdict->user) co_return *std::move(verdict);
    if (!none.error) none.error = std::move(verdict->error);
  }
  co_return none;
}

}  // namespace keelson::auth
