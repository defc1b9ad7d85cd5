#include "access_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/quote.h"

namespace keelson::app {

void AccessOptions::AddAuthenticationFlags(flags::FlagSet& flags) {
  flags.Bool("anonymous-auth", anonymous_auth,
             "Serve requests without credentials as system:anonymous instead of refusing them.");
  flags.StringSlice("api-audiences", api_audiences,
                    "Names this server goes by in tokens; a token for others is refused. The "
                    "service account issuer when empty.");
  flags.String("client-ca-file", client_ca_file,
               "Certificates of the authorities that sign client certificates, in PEM.");
  flags.String("token-auth-file", token_auth_file,
               "A CSV file of bearer tokens: token,user,uid,\"group1,group2\".");
  flags.Bool("enable-bootstrap-token-auth", enable_bootstrap_token_auth,
             "Accept the tokens of bootstrap.kubernetes.io/token secrets in kube-system.");
  flags.String("requestheader-client-ca-file", request_header_ca_file,
               "Certificates of the authorities that sign the proxies whose headers about the user "
               "are believed, in PEM.");
  flags.StringSlice("requestheader-allowed-names", request_header.allowed_names,
                    "Common names of those proxies; all when empty.");
  flags.StringSlice("requestheader-username-headers", request_header.username_headers,
                    "Headers that name the user.");
  flags.StringSlice("requestheader-uid-headers", request_header.uid_headers,
                    "Headers with the user's id.");
  flags.StringSlice("requestheader-group-headers", request_header.group_headers,
                    "Headers that name the user's groups.");
  flags.StringSlice("requestheader-extra-headers-prefix", request_header.extra_header_prefixes,
                    "How headers with anything else about the user begin.");
  flags.StringArray("service-account-issuer", service_account_issuers,
                    "Who issues service account tokens, a URL. The first signs, all are accepted.");
  flags.StringArray("service-account-key-file", service_account_key_files,
                    "Keys that verify service account tokens, in PEM.");
  flags.String("service-account-signing-key-file", service_account_signing_key_file,
               "The private key that signs service account tokens, in PEM.");
  flags.String("service-account-jwks-uri", service_account_jwks_uri,
               "Where the published issuer document says the keys are.");
  flags.Bool("service-account-lookup", service_account_lookup,
             "Accept service account tokens only while what they are bound to exists.");
  flags.Bool("service-account-extend-token-expiration", service_account_extend_token_expiration,
             "Let the tokens of pods that do not renew them live for a year.");
  flags.Duration("service-account-max-token-expiration", service_account_max_token_expiration,
                 "The longest life a token is given; none when 0.");
}

void AccessOptions::AddProviderFlags(flags::FlagSet& flags) {
  flags.String("authentication-config", authentication_config,
               "A file with an AuthenticationConfiguration: OpenID Connect providers and who is "
               "anonymous. Followed as it changes.");
  flags.String("authentication-token-webhook-config-file", token_webhook_config_file,
               "A kubeconfig that leads to a webhook which reviews bearer tokens.");
  flags.String("authentication-token-webhook-version", token_webhook_version,
               "The version of authentication.k8s.io that the webhook speaks.");
  flags.Duration("authentication-token-webhook-cache-ttl", token_webhook_cache_ttl,
                 "How long the webhook's answers are believed.");
  flags.String("oidc-issuer-url", oidc_issuer_url, "The URL of an OpenID Connect provider.");
  flags.String("oidc-client-id", oidc_client_id, "Whom the provider's tokens are made for.");
  flags.String("oidc-ca-file", oidc_ca_file,
               "Certificates that the provider's is checked against; the system's when empty.");
  flags.String("oidc-username-claim", oidc_username_claim, "The claim that names the user.");
  flags.String("oidc-username-prefix", oidc_username_prefix,
               "What is put in front of user names: the issuer's URL and '#' when empty, unless "
               "the claim is email; nothing for '-'.");
  flags.String("oidc-groups-claim", oidc_groups_claim, "The claim that names the user's groups.");
  flags.String("oidc-groups-prefix", oidc_groups_prefix, "What is put in front of group names.");
  flags.StringSlice("oidc-signing-algs", oidc_signing_algs, "Signature algorithms accepted.");
  flags.Map("oidc-required-claim", oidc_required_claims,
            "A claim that tokens must have: key=value.");
}

void AccessOptions::AddAuthorizationFlags(flags::FlagSet& flags) {
  flags.String(
      "authorization-config", authorization_config,
      "A file with an AuthorizationConfiguration, instead of the modes and what they need. "
      "Followed as it changes.");
  flags.String("authorization-policy-file", authorization_policy_file,
               "The policies of the mode ABAC, one JSON object per line.");
  flags.String("authorization-webhook-config-file", authorization_webhook_config_file,
               "A kubeconfig that leads to the webhook of the mode Webhook.");
  flags.String("authorization-webhook-version", authorization_webhook_version,
               "The version of authorization.k8s.io that the webhook speaks.");
  flags.Duration("authorization-webhook-cache-authorized-ttl", authorization_webhook_allowed_ttl,
                 "How long the webhook's permissions are believed.");
  flags.Duration("authorization-webhook-cache-unauthorized-ttl", authorization_webhook_refused_ttl,
                 "How long its refusals are.");
  flags.StringSlice(
      "authorization-mode", authorization_mode,
      "What decides about requests, in order: Node, RBAC, ABAC, Webhook, AlwaysAllow, "
      "AlwaysDeny. "
      "AlwaysAllow when empty.");
}

std::vector<std::string> AccessOptions::Issuers() const {
  if (!service_account_issuers.empty()) return service_account_issuers;
  return {"https://kubernetes.default.svc"};
}

std::vector<std::string> AccessOptions::Audiences() const {
  return api_audiences.empty() ? Issuers() : api_audiences;
}

bool AccessOptions::HasMode(std::string_view mode) const {
  return std::ranges::find(authorization_mode, mode) != authorization_mode.end();
}

std::vector<std::string> AccessOptions::Validate() const {
  static const std::set<std::string_view> kModes = {"ABAC", "AlwaysAllow", "AlwaysDeny",
                                                    "Node", "RBAC",        "Webhook"};
  std::vector<std::string> errors;
  std::set<std::string_view> seen;
  for (const auto& mode : authorization_mode) {
    if (!kModes.contains(mode)) {
      errors.push_back(fmt::format("authorization-mode {} is not a valid mode", Quote(mode)));
    }
    if (!seen.insert(mode).second) {
      errors.push_back(fmt::format("authorization-mode {} has mode specified more than once",
                                   fmt::join(authorization_mode, ",")));
    }
  }
  const auto needs = [&](std::string_view mode, const std::string& file, std::string_view what) {
    if (HasMode(mode) && file.empty()) {
      errors.push_back(
          fmt::format("authorization-mode {}'s authorization {} file not passed", mode, what));
    }
    if (!HasMode(mode) && !file.empty()) {
      errors.push_back(
          fmt::format("cannot specify --authorization-{}-file without mode {}", what, mode));
    }
  };
  needs("ABAC", authorization_policy_file, "policy");
  needs("Webhook", authorization_webhook_config_file, "webhook-config");
  if (!authorization_config.empty() && !authorization_mode.empty()) {
    errors.emplace_back(
        "--authorization-config can not be specified when --authorization-mode or "
        "--authorization-webhook-* flags are defined");
  }
  if (!oidc_issuer_url.empty() && oidc_client_id.empty()) {
    errors.emplace_back("oidc-issuer-url and oidc-client-id must be specified together");
  }
  if (!authentication_config.empty() && !oidc_issuer_url.empty()) {
    errors.emplace_back("authentication-config file and oidc-* flags are mutually exclusive");
  }
  if (!request_header_ca_file.empty() && request_header.username_headers.empty()) {
    errors.emplace_back("requestheader-username-headers must be set");
  }
  return errors;
}

}  // namespace keelson::app
