#pragma once

// Who gets in and what they may do: the authenticators and authorizers the flags ask for, and what
// keeps the authorization policy current.

#include <memory>
#include <optional>
#include <string>

#include "access_options.h"
#include "auth/authenticator.h"
#include "auth/authorizer.h"
#include "auth/impersonation.h"
#include "auth/rbac_authorizer.h"
#include "base/result.h"
#include "kube/access/access_kinds.h"
#include "kube/access/bootstrap_tokens.h"
#include "kube/access/node_authorizer.h"
#include "kube/access/policy_feed.h"
#include "kube/access/service_account_tokens.h"
#include "kube/built_in_api.h"
#include "providers.h"
#include "rbac/policy.h"
#include "server/generic_api_server.h"
#include "storage.h"

namespace keelson::app {

class Access {
 public:
  // `loopback_token` is what the process itself comes with.
  static Result<std::unique_ptr<Access>> Create(const AccessOptions& options,
                                                const std::string& loopback_token, Outside outside);
  ~Access();

  const std::shared_ptr<auth::Authenticator>& authenticator() const { return authenticator_; }
  const std::shared_ptr<auth::Authorizer>& authorizer() const { return authorizers_->authorizer(); }
  const std::shared_ptr<auth::Impersonator>& impersonator() const { return impersonator_; }

  // Adds the kinds that ask about identity and permission, and the checks on those that grant it.
  void AddKinds(rest::KindTable& table) const { kinds_->AddTo(table); }
  // Serves the documents by which others verify service account tokens, when there are any.
  void PublishIssuer(server::PathMux& mux, std::string_view jwks_uri) const;

  // What follows the stored policy. Ends when destroyed, which blocks; no request may be served
  // then.
  class Connection;

  // Starts following and adds the hook that writes the first policy. Before the server is prepared;
  // everything given here outlives the connection.
  Result<std::unique_ptr<Connection>> Connect(server::GenericApiServer& server,
                                              const kube::BuiltInApi& api, Storage& storage,
                                              Clock& clock, Executor& executor);

 private:
  Access() = default;
  Result<std::shared_ptr<auth::Authorizer>> MakeMode(const AccessOptions& options,
                                                     std::string_view mode);

  std::shared_ptr<auth::Authenticator> authenticator_;
  std::unique_ptr<TokenProviders> providers_;
  std::unique_ptr<Authorizers> authorizers_;
  std::shared_ptr<auth::Impersonator> impersonator_;
  std::shared_ptr<auth::RbacAuthorizer> rbac_;  // null when the mode is off
  rbac::PolicySet policy_;
  std::shared_ptr<kube::access::ServiceAccountTokens> accounts_;
  std::shared_ptr<kube::access::BootstrapTokens> bootstrap_;
  std::shared_ptr<kube::access::NodeAuthorizer> nodes_;  // null when the mode is off
  std::optional<kube::access::AccessKinds> kinds_;
};

class Access::Connection {
 public:
  explicit Connection(Executor& executor) : executor_(executor) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

 private:
  friend class Access;
  Executor& executor_;
  std::shared_ptr<kube::access::ServiceAccountTokens> accounts_;
  std::shared_ptr<kube::access::BootstrapTokens> bootstrap_;
  std::shared_ptr<kube::access::NodeAuthorizer> nodes_;
  std::shared_ptr<auth::RbacAuthorizer> rbac_;
  std::unique_ptr<kube::access::PolicyFeed> feed_;
};

}  // namespace keelson::app
