#pragma once

// What outside servers and configuration files decide about identity and permission: OpenID Connect
// providers, webhooks, the structured configuration files, followed as they change.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access_options.h"
#include "auth/authenticator.h"
#include "auth/authorizer.h"
#include "auth/configuration.h"
#include "auth/followed_file.h"
#include "auth/replaceable.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/io_thread.h"

namespace keelson::app {

// Both outlive what is made with them.
struct Outside {
  Clock& clock;
  net::IoPool& pool;
};

// The providers that flags or the configuration file name. `anonymous` is replaced by what the file
// says about it, now and later.
class TokenProviders {
 public:
  static Result<std::unique_ptr<TokenProviders>> Create(
      const AccessOptions& options,
      const std::shared_ptr<auth::ReplaceableAuthenticator>& anonymous, Outside outside);

  // In upstream's order; empty when there are none.
  const std::vector<std::shared_ptr<auth::TokenAuthenticator>>& members() const { return members_; }

 private:
  std::vector<std::shared_ptr<auth::TokenAuthenticator>> members_;
  std::unique_ptr<auth::FollowedFile> file_;
};

// Makes the authorizer of one line of an AuthorizationConfiguration that is no webhook.
using MakeAuthorizer =
    std::function<Result<std::shared_ptr<auth::Authorizer>>(const std::string& type)>;

// The authorizers that flags or the configuration file name, in order, behind the privileged group.
class Authorizers {
 public:
  static Result<std::unique_ptr<Authorizers>> Create(const AccessOptions& options,
                                                     MakeAuthorizer make, Outside outside);
  const std::shared_ptr<auth::Authorizer>& authorizer() const { return authorizer_; }

 private:
  std::shared_ptr<auth::Authorizer> authorizer_;
  std::unique_ptr<auth::FollowedFile> file_;
};

}  // namespace keelson::app
