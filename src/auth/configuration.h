#pragma once

// The structured configuration files: AuthenticationConfiguration and AuthorizationConfiguration of
// apiserver.config.k8s.io, as far as they can be followed without expressions (CEL), which are
// refused by name. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/oidc.h"
#include "auth/webhook_authorizer.h"
#include "base/result.h"

namespace keelson::auth {

struct JwtAuthenticatorConfiguration {
  OidcOptions options;
  std::string ca_pem;  // whom to trust about the issuer; empty: the system's
};

struct AnonymousConfiguration {
  bool enabled = false;
  std::vector<std::string> paths;  // empty: all
};

struct AuthenticationConfiguration {
  std::vector<JwtAuthenticatorConfiguration> jwt;
  std::optional<AnonymousConfiguration> anonymous;
};

// YAML or JSON; unknown fields are refused. Errors name the field.
Result<AuthenticationConfiguration> ParseAuthenticationConfiguration(std::string_view text);

struct AuthorizerConfiguration {
  std::string type;  // Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny
  std::string name;
  // Of webhooks.
  WebhookAuthorizerOptions webhook;
  std::string kubeconfig_file;
};

struct AuthorizationConfiguration {
  std::vector<AuthorizerConfiguration> authorizers;
};

Result<AuthorizationConfiguration> ParseAuthorizationConfiguration(std::string_view text);

}  // namespace keelson::auth
