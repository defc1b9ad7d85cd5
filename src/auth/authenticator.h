#pragma once

// The seam through which the pipeline learns who asks.
//
// An authenticator either decides at once (the usual case: a cached token, a certificate, nobody)
// or says that it must wait, and is then asked again through a coroutine. Thread-safe: called from
// every io thread. Errors are for the log; the client only ever sees 401.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/user.h"
#include "base/result.h"
#include "base/task.h"
#include "http/exchange.h"

namespace keelson::auth {

// What one authenticator thinks. Neither user nor error: it knows nothing about this request.
struct Authentication {
  UserPtr user;
  std::vector<std::string> audiences;  // those the credential was made for; empty means any
  std::optional<Error> error;          // the credential was meant for it and is bad
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;

  // Nothing when an answer needs waiting; then Authenticate gives it.
  virtual std::optional<Authentication> TryAuthenticate(const http::Request& request) = 0;
  // `request` outlives the task.
  virtual Task<Authentication> Authenticate(const http::Request& request);
};

// Everybody is system:anonymous.
class AnonymousAuthenticator final : public Authenticator {
 public:
  AnonymousAuthenticator();
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override;

 private:
  UserPtr user_;
};

// Bearer tokens known in advance, such as the loopback client's. Compared in constant time.
class TokenTable final : public Authenticator {
 public:
  // Before the first request only.
  void Add(std::string token, UserPtr user);
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override;

 private:
  std::vector<std::pair<std::string, UserPtr>> tokens_;
};

// Asks each in order and takes the first user; without one, the first error.
class AuthenticatorUnion final : public Authenticator {
 public:
  explicit AuthenticatorUnion(std::vector<std::shared_ptr<Authenticator>> members);
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override;
  Task<Authentication> Authenticate(const http::Request& request) override;

 private:
  std::vector<std::shared_ptr<Authenticator>> members_;
};

// The token of "Authorization: Bearer <token>"; nothing when there is none.
std::optional<std::string_view> BearerToken(const http::Request& request);

}  // namespace keelson::auth
