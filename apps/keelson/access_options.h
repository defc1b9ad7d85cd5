#pragma once

// The flags about who gets in and what they may do, with upstream's names and defaults.

#include <string>
#include <vector>

#include "auth/client_certificate.h"
#include "base/clock.h"
#include "base/flags.h"

namespace keelson::app {

struct AccessOptions {
  // Authentication
  bool anonymous_auth = true;
  std::vector<std::string> api_audiences;
  std::string client_ca_file;
  std::string token_auth_file;
  bool enable_bootstrap_token_auth = false;
  std::string request_header_ca_file;
  auth::FrontProxyOptions request_header;
  std::vector<std::string> service_account_issuers;
  std::vector<std::string> service_account_key_files;
  std::string service_account_signing_key_file;
  std::string service_account_jwks_uri;
  bool service_account_lookup = true;
  bool service_account_extend_token_expiration = true;
  Duration service_account_max_token_expiration{};

  std::string authentication_config;
  std::string token_webhook_config_file;
  std::string token_webhook_version = "v1beta1";
  Duration token_webhook_cache_ttl = std::chrono::minutes(2);
  std::string oidc_issuer_url;
  std::string oidc_client_id;
  std::string oidc_ca_file;
  std::string oidc_username_claim = "sub";
  std::string oidc_username_prefix;
  std::string oidc_groups_claim;
  std::string oidc_groups_prefix;
  std::vector<std::string> oidc_signing_algs = {"RS256"};
  flags::StringMap oidc_required_claims;

  // Authorization
  std::vector<std::string> authorization_mode;  // empty: everything is allowed
  std::string authorization_config;
  std::string authorization_policy_file;
  std::string authorization_webhook_config_file;
  std::string authorization_webhook_version = "v1beta1";
  Duration authorization_webhook_allowed_ttl = std::chrono::minutes(5);
  Duration authorization_webhook_refused_ttl = std::chrono::seconds(30);

  void AddAuthenticationFlags(flags::FlagSet& flags);
  void AddProviderFlags(flags::FlagSet& flags);
  void AddAuthorizationFlags(flags::FlagSet& flags);
  std::vector<std::string> Validate() const;

  // Who issues service account tokens, and the names this server goes by in tokens.
  std::vector<std::string> Issuers() const;
  std::vector<std::string> Audiences() const;

  bool HasMode(std::string_view mode) const;
  bool AllowsEverything() const {
    return authorization_config.empty() && (authorization_mode.empty() || HasMode("AlwaysAllow"));
  }
};

}  // namespace keelson::app
