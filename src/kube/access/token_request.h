#pragma once

// POST .../serviceaccounts/{name}/token: a token for the account, bound to what the request names.

#include <memory>

#include "kube/access/service_account_tokens.h"
#include "rest/subresource.h"

namespace keelson::kube::access {

class TokenRequest final : public rest::Subresource {
 public:
  explicit TokenRequest(std::shared_ptr<const ServiceAccountTokens> tokens)
      : tokens_(std::move(tokens)) {}

  Task<ApiResult<rest::Reply>> Create(const rest::SubresourceCall& call,
                                      value::Document object) const override;

 private:
  struct Asked;

  // Finds what the token is to be bound to and adds it to the claims.
  Task<ApiResult<void>> Bind(const rest::SubresourceCall& call, value::Value reference,
                             TokenClaims& claims) const;
  ApiResult<rest::Reply> Answer(const rest::SubresourceCall& call, const value::Document& request,
                                TokenClaims claims) const;

  std::shared_ptr<const ServiceAccountTokens> tokens_;
};

}  // namespace keelson::kube::access
