#pragma once

// The seam through which the pipeline learns who asks.
//
// An authenticator either decides at once (the usual case: a cached token, a certificate, nobody)
// or says that it must wait, and is then asked again through a coroutine. Thread-safe: called from
// every io thread. Errors are for the log; the client only ever sees 401. An error never holds a
// credential.

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

// Everybody is system:anonymous; or everybody who asks for one of `paths`, when there are any.
class AnonymousAuthenticator final : public Authenticator {
 public:
  explicit AnonymousAuthenticator(std::vector<std::string> paths = {});
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override;

 private:
  const std::vector<std::string> paths_;
  UserPtr user_;
};

// Asks each in order and takes the first user. When there is none, `fallback` (may be null) is
// asked, but only for a request that brought nothing to be refused for: whoever shows a bad
// credential is not anonymous.
class AuthenticatorUnion final : public Authenticator {
 public:
  explicit AuthenticatorUnion(std::vector<std::shared_ptr<Authenticator>> members,
                              std::shared_ptr<Authenticator> fallback = nullptr);
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override;
  Task<Authentication> Authenticate(const http::Request& request) override;

 private:
  Authentication WithoutUser(const http::Request& request, std::optional<Error> error);

  std::vector<std::shared_ptr<Authenticator>> members_;
  std::shared_ptr<Authenticator> fallback_;
};

}  // namespace keelson::auth
