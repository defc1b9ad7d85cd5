#pragma once

// The kinds through which others ask about identity and permission. They live for one request: a
// POST is answered with the same object and its status filled in.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "auth/authorizer.h"
#include "auth/token.h"
#include "rest/subresource.h"

namespace keelson::kube::access {

// Whose token is it.
class TokenReview final : public rest::Subresource {
 public:
  // `tokens` answers, for `audiences` when the review names none.
  TokenReview(std::shared_ptr<auth::TokenAuthenticator> tokens, std::vector<std::string> audiences)
      : tokens_(std::move(tokens)), audiences_(std::move(audiences)) {}
  Task<ApiResult<rest::Reply>> Create(const rest::SubresourceCall& call,
                                      value::Document object) const override;

 private:
  std::shared_ptr<auth::TokenAuthenticator> tokens_;
  const std::vector<std::string> audiences_;
};

// Who am I.
class SelfSubjectReview final : public rest::Subresource {
 public:
  Task<ApiResult<rest::Reply>> Create(const rest::SubresourceCall& call,
                                      value::Document object) const override;
};

// May they, may I, may they in this namespace.
class AccessReview final : public rest::Subresource {
 public:
  enum class Subject : uint8_t { kAnybody, kSelf, kAnybodyInNamespace };
  AccessReview(Subject subject, std::shared_ptr<auth::Authorizer> authorizer)
      : subject_(subject), authorizer_(std::move(authorizer)) {}
  Task<ApiResult<rest::Reply>> Create(const rest::SubresourceCall& call,
                                      value::Document object) const override;

 private:
  ApiResult<void> Validate(const rest::SubresourceCall& call, const value::Value& object) const;

  const Subject subject_;
  std::shared_ptr<auth::Authorizer> authorizer_;
};

// What may I.
class RulesReview final : public rest::Subresource {
 public:
  explicit RulesReview(std::shared_ptr<auth::Authorizer> authorizer)
      : authorizer_(std::move(authorizer)) {}
  Task<ApiResult<rest::Reply>> Create(const rest::SubresourceCall& call,
                                      value::Document object) const override;

 private:
  std::shared_ptr<auth::Authorizer> authorizer_;
};

}  // namespace keelson::kube::access
