#include "auth/authenticator.h"

#include <algorithm>
#include <utility>

namespace keelson::auth {

Task<Authentication> Authenticator::Authenticate(const http::Request& request) {
  auto verdict = TryAuthenticate(request);
  KEELSON_CHECK(verdict.has_value());
  co_return *std::move(verdict);
}

AnonymousAuthenticator::AnonymousAuthenticator(std::vector<std::string> paths)
    : paths_(std::move(paths)),
      user_(std::make_shared<User>(User{.name = std::string(kAnonymousUser),
                                        .groups = {std::string(kUnauthenticatedGroup)}})) {}

std::optional<Authentication> AnonymousAuthenticator::TryAuthenticate(
    const http::Request& request) {
  if (!paths_.empty() && std::ranges::find(paths_, request.path) == paths_.end()) {
    return Authentication{};
  }
  return Authentication{.user = user_};
}

AuthenticatorUnion::AuthenticatorUnion(std::vector<std::shared_ptr<Authenticator>> members,
                                       std::shared_ptr<Authenticator> fallback)
    : members_(std::move(members)), fallback_(std::move(fallback)) {}

Authentication AuthenticatorUnion::WithoutUser(const http::Request& request,
                                               std::optional<Error> error) {
  if (error || fallback_ == nullptr) return Authentication{.error = std::move(error)};
  return fallback_->TryAuthenticate(request).value_or(Authentication{});
}

std::optional<Authentication> AuthenticatorUnion::TryAuthenticate(const http::Request& request) {
  std::optional<Error> error;
  for (const auto& member : members_) {
    auto verdict = member->TryAuthenticate(request);
    if (!verdict || verdict->user) return verdict;
    if (!error) error = std::move(verdict->error);
  }
  return WithoutUser(request, std::move(error));
}

Task<Authentication> AuthenticatorUnion::Authenticate(const http::Request& request) {
  std::optional<Error> error;
  for (const auto& member : members_) {
    auto verdict = member->TryAuthenticate(request);
    if (!verdict) verdict = co_await member->Authenticate(request);
    if (verdict->user) co_return *std::move(verdict);
    if (!error) error = std::move(verdict->error);
  }
  co_return WithoutUser(request, std::move(error));
}

}  // namespace keelson::auth
