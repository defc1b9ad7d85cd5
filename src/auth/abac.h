#pragma once

// Attribute-based access control: a file of policies, one JSON object per line, each of which
// allows something.

#include <string>
#include <string_view>
#include <vector>

#include "auth/authorizer.h"
#include "base/result.h"

namespace keelson::auth {

// "*" stands for everything; what is empty matches nothing, except that subjects may be named by
// user, by group or by both.
struct AbacPolicy {
  std::string user;
  std::string group;
  bool readonly = false;
  std::string api_group;
  std::string resource;
  std::string ns;
  std::string non_resource_path;  // may end in *

  bool Allows(const Attributes& attributes) const;
};

// Empty lines and comments (#) are skipped. Fails with the line's number.
Result<std::vector<AbacPolicy>> ParseAbacPolicies(std::string_view text);

class AbacAuthorizer final : public Authorizer {
 public:
  explicit AbacAuthorizer(std::vector<AbacPolicy> policies) : policies_(std::move(policies)) {}
  std::optional<Authorization> TryAuthorize(const Attributes& attributes) override;
  UserRules RulesFor(const UserPtr& user, std::string_view ns) override;

 private:
  const std::vector<AbacPolicy> policies_;
};

}  // namespace keelson::auth
