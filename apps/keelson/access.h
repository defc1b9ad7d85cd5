#pragma once

// Who gets in and what they may do: the authenticators and authorizers the flags ask for, and what
// keeps the authorization policy current.

#include <memory>
#include <string>

#include "auth/authenticator.h"
#include "auth/authorizer.h"
#include "auth/impersonation.h"
#include "auth/rbac_authorizer.h"
#include "base/result.h"
#include "kube/access/policy_feed.h"
#include "kube/built_in_api.h"
#include "options.h"
#include "rbac/policy.h"
#include "server/generic_api_server.h"
#include "storage.h"

namespace keelson::app {

class Access {
 public:
  // `loopback_token` is what the process itself comes with.
  static Result<std::unique_ptr<Access>> Create(const Options& options,
                                                const std::string& loopback_token);
  ~Access();

  const std::shared_ptr<auth::Authenticator>& authenticator() const { return authenticator_; }
  const std::shared_ptr<auth::Authorizer>& authorizer() const { return authorizer_; }
  const std::shared_ptr<auth::Impersonator>& impersonator() const { return impersonator_; }

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

  std::shared_ptr<auth::Authenticator> authenticator_;
  std::shared_ptr<auth::Authorizer> authorizer_;
  std::shared_ptr<auth::Impersonator> impersonator_;
  std::shared_ptr<auth::RbacAuthorizer> rbac_;  // null when the mode is off
  rbac::PolicySet policy_;
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
  std::shared_ptr<auth::RbacAuthorizer> rbac_;
  std::unique_ptr<kube::access::PolicyFeed> feed_;
};

}  // namespace keelson::app
