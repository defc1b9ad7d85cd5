#pragma once

// The kinds of this folder that need to know who may do what: roles and bindings with their
// escalation checks, reviews, token requests. Owns their code; outlives the table it adds to.

#include <memory>
#include <string>
#include <vector>

#include "auth/authorizer.h"
#include "auth/rbac_authorizer.h"
#include "auth/token.h"
#include "kube/access/escalation.h"
#include "kube/access/service_account_tokens.h"
#include "rest/kind_table.h"
#include "rest/strategy.h"
#include "rest/subresource.h"

namespace keelson::kube::access {

class AccessKinds {
 public:
  struct Parts {
    std::shared_ptr<auth::Authorizer> authorizer;
    std::shared_ptr<auth::RbacAuthorizer> rbac;  // null when the mode is off
    const rbac::PolicySet& policy;
    std::shared_ptr<auth::TokenAuthenticator> tokens;
    std::vector<std::string> api_audiences;
    std::shared_ptr<const ServiceAccountTokens> accounts;  // null: no tokens are issued
  };

  explicit AccessKinds(Parts parts);
  ~AccessKinds();

  void AddTo(rest::KindTable& table) const;

 private:
  const Escalation escalation_;
  std::vector<std::unique_ptr<const rest::Strategy>> strategies_;
  std::vector<std::unique_ptr<const rest::Subresource>> handlers_;
  std::vector<rest::KindStrategy> strategy_rows_;
  std::vector<rest::KindSubresource> handler_rows_;
};

}  // namespace keelson::kube::access
