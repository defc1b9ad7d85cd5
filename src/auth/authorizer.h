#pragma once

// The seam through which the pipeline learns whether a request may go on.
//
// Like an Authenticator, an authorizer decides at once or says that it must wait. Thread-safe.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/user.h"
#include "base/result.h"
#include "base/status.h"
#include "base/task.h"
#include "rbac/policy.h"

namespace keelson::auth {

// What is asked. Views into the request, valid until the decision is made.
struct Attributes {
  UserPtr user;
  bool resource_request = false;
  std::string_view verb;
  std::string_view path;
  std::string_view group;
  std::string_view version;
  std::string_view ns;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name;
  std::string_view field_selector;  // unparsed
  std::string_view label_selector;
  bool explain = false;  // wants to know why it is allowed, too
};

enum class Decision : uint8_t { kNoOpinion, kAllow, kDeny };

struct Authorization {
  Decision decision = Decision::kNoOpinion;
  std::string reason;          // shown to the client when refused; of an allow, when asked for
  std::optional<Error> error;  // the decision could not be made
};

// What a user may do in a namespace, as far as it can be listed.
struct UserRules {
  rbac::Rules rules;
  bool incomplete = false;
  std::string error;  // why
};

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  virtual std::optional<Authorization> TryAuthorize(const Attributes& attributes) = 0;
  virtual Task<Authorization> Authorize(Attributes attributes);
  virtual UserRules RulesFor(const UserPtr& user, std::string_view ns) { return {}; }
};

// 403, as the client is told: who cannot do what, and the reason when there is one.
Status ForbiddenStatus(const Attributes& attributes, std::string_view reason);

class AlwaysAllow final : public Authorizer {
 public:
  std::optional<Authorization> TryAuthorize(const Attributes& attributes) override;
  UserRules RulesFor(const UserPtr& user, std::string_view ns) override;
};

class AlwaysDeny final : public Authorizer {
 public:
  std::optional<Authorization> TryAuthorize(const Attributes& attributes) override;
};

// Members of system:masters may do everything; no opinion on others.
class PrivilegedGroup final : public Authorizer {
 public:
  std::optional<Authorization> TryAuthorize(const Attributes& attributes) override;
};

// The first that allows or denies decides; reasons of the others are joined.
class AuthorizerUnion final : public Authorizer {
 public:
  explicit AuthorizerUnion(std::vector<std::shared_ptr<Authorizer>> members);
  std::optional<Authorization> TryAuthorize(const Attributes& attributes) override;
  Task<Authorization> Authorize(Attributes attributes) override;
  UserRules RulesFor(const UserPtr& user, std::string_view ns) override;

 private:
  std::vector<std::shared_ptr<Authorizer>> members_;
};

}  // namespace keelson::auth
