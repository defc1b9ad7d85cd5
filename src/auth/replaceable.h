#pragma once

// Parts that a changed configuration file replaces while they are in use. Whoever has begun with
// the old one ends with it. Thread-safe.

#include <memory>
#include <mutex>
#include <utility>

#include "auth/authenticator.h"
#include "auth/authorizer.h"
#include "auth/token.h"

namespace keelson::auth {

template <typename T>
class Replaceable {
 public:
  explicit Replaceable(std::shared_ptr<T> part) : part_(std::move(part)) {}
  void Set(std::shared_ptr<T> part) {
    std::lock_guard lock(mutex_);
    part_.swap(part);
  }
  std::shared_ptr<T> Get() const {
    std::lock_guard lock(mutex_);
    return part_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<T> part_;
};

class ReplaceableTokens final : public TokenAuthenticator, public Replaceable<TokenAuthenticator> {
 public:
  using Replaceable::Replaceable;
  std::optional<Authentication> TryToken(std::string_view token,
                                         std::span<const std::string> audiences) override {
    return Get()->TryToken(token, audiences);
  }
  Task<Authentication> CheckToken(std::string_view token,
                                  std::span<const std::string> audiences) override {
    auto part = Get();
    co_return co_await part->CheckToken(token, audiences);
  }
};

class ReplaceableAuthenticator final : public Authenticator, public Replaceable<Authenticator> {
 public:
  using Replaceable::Replaceable;
  // Null authenticates nobody.
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override {
    auto part = Get();
    return part ? part->TryAuthenticate(request) : Authentication{};
  }
};

class ReplaceableAuthorizer final : public Authorizer, public Replaceable<Authorizer> {
 public:
  using Replaceable::Replaceable;
  std::optional<Authorization> TryAuthorize(const Attributes& attributes) override {
    return Get()->TryAuthorize(attributes);
  }
  Task<Authorization> Authorize(Attributes attributes) override {
    auto part = Get();
    co_return co_await part->Authorize(std::move(attributes));
  }
  UserRules RulesFor(const UserPtr& user, std::string_view ns) override {
    return Get()->RulesFor(user, ns);
  }
};

}  // namespace keelson::auth
