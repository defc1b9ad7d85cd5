#include "providers.h"

#include <utility>

#include "auth/oidc.h"
#include "auth/web_client.h"
#include "auth/webhook_authorizer.h"
#include "auth/webhook_tokens.h"
#include "base/file.h"
#include "client/kubeconfig.h"

namespace keelson::app {
namespace {

constexpr Duration kTokenTrust = std::chrono::seconds(10);

Result<std::shared_ptr<auth::TokenAuthenticator>> MakeProvider(
    const auth::JwtAuthenticatorConfiguration& jwt, const std::vector<std::string>& audiences,
    Outside outside) {
  http::ClientOptions client_options;
  client_options.tls.ca_pem = jwt.ca_pem;
  TRY(auto client, auth::HttpWebClient::Create(std::move(client_options), outside.pool));
  auto provider = std::make_shared<auth::OidcTokens>(jwt.options, std::move(client), outside.clock);
  auto cached = std::make_shared<auth::TokenCache>(std::move(provider), outside.clock, kTokenTrust);
  return std::make_shared<auth::AudienceAgnosticTokens>(std::move(cached), audiences);
}

Result<std::shared_ptr<auth::TokenAuthenticator>> MakeProviders(
    const std::vector<auth::JwtAuthenticatorConfiguration>& list,
    const std::vector<std::string>& audiences, Outside outside) {
  std::vector<std::shared_ptr<auth::TokenAuthenticator>> members;
  for (const auto& jwt : list) {
    TRY(auto provider, MakeProvider(jwt, audiences, outside));
    members.push_back(std::move(provider));
  }
  return std::make_shared<auth::TokenUnion>(std::move(members));
}

// The provider that the --oidc flags describe.
Result<auth::JwtAuthenticatorConfiguration> ProviderOfFlags(const AccessOptions& options) {
  auth::JwtAuthenticatorConfiguration jwt{
      .options = {.issuer = options.oidc_issuer_url,
                  .audiences = {options.oidc_client_id},
                  .username = {options.oidc_username_claim, options.oidc_username_prefix},
                  .signing_algorithms = options.oidc_signing_algs}};
  auto& prefix = jwt.options.username.prefix;
  if (prefix == "-") {
    prefix.clear();
  } else if (prefix.empty() && options.oidc_username_claim != "email") {
    prefix = options.oidc_issuer_url + "#";
  }
  if (!options.oidc_groups_claim.empty()) {
    jwt.options.groups = auth::ClaimMapping{options.oidc_groups_claim, options.oidc_groups_prefix};
  }
  jwt.options.required_claims.insert(options.oidc_required_claims.begin(),
                                     options.oidc_required_claims.end());
  if (!options.oidc_ca_file.empty()) {
    TRY(jwt.ca_pem, ReadWholeFile(options.oidc_ca_file));
  }
  return jwt;
}

struct Target {
  std::shared_ptr<auth::WebClient> client;
  std::string url;
};

Result<Target> OpenTarget(const std::string& kubeconfig_file, Outside outside) {
  TRY(auto target, client::ReadKubeconfigFile(kubeconfig_file));
  TRY(auto client, auth::HttpWebClient::Create(std::move(target.options), outside.pool));
  return Target{std::move(client), std::move(target.server)};
}

std::shared_ptr<auth::Authenticator> MakeAnonymous(const auth::AnonymousConfiguration& anonymous) {
  if (!anonymous.enabled) return nullptr;
  return std::make_shared<auth::AnonymousAuthenticator>(anonymous.paths);
}

Result<std::shared_ptr<auth::Authorizer>> OpenWebhook(const std::string& kubeconfig_file,
                                                      auth::WebhookAuthorizerOptions options,
                                                      Outside outside) {
  TRY(auto target, OpenTarget(kubeconfig_file, outside));
  options.url = std::move(target.url);
  return std::make_shared<auth::WebhookAuthorizer>(std::move(target.client), std::move(options),
                                                   outside.clock);
}

std::shared_ptr<auth::Authorizer> InOrder(std::vector<std::shared_ptr<auth::Authorizer>> members) {
  members.insert(members.begin(), std::make_shared<auth::PrivilegedGroup>());
  return std::make_shared<auth::AuthorizerUnion>(std::move(members));
}

Result<std::shared_ptr<auth::Authorizer>> MakeConfigured(
    const auth::AuthorizationConfiguration& configuration, const MakeAuthorizer& make,
    Outside outside) {
  std::vector<std::shared_ptr<auth::Authorizer>> members;
  for (const auto& line : configuration.authorizers) {
    auto member = line.type == "Webhook" ? OpenWebhook(line.kubeconfig_file, line.webhook, outside)
                                         : make(line.type);
    if (!member) return std::unexpected(member.error());
    members.push_back(*std::move(member));
  }
  return InOrder(std::move(members));
}

}  // namespace

Result<std::unique_ptr<TokenProviders>> TokenProviders::Create(
    const AccessOptions& options, const std::shared_ptr<auth::ReplaceableAuthenticator>& anonymous,
    Outside outside) {
  auto providers = std::make_unique<TokenProviders>();
  const auto audiences = options.Audiences();
  if (!options.authentication_config.empty()) {
    TRY(auto text, ReadWholeFile(options.authentication_config));
    TRY(auto configuration, auth::ParseAuthenticationConfiguration(text));
    TRY(auto made, MakeProviders(configuration.jwt, audiences, outside));
    auto current = std::make_shared<auth::ReplaceableTokens>(std::move(made));
    if (configuration.anonymous) anonymous->Set(MakeAnonymous(*configuration.anonymous));
    providers->members_.push_back(current);
    providers->file_ = std::make_unique<auth::FollowedFile>(
        options.authentication_config, std::move(text), outside.clock,
        [current, anonymous, audiences, outside](const std::string& changed) -> Result<void> {
          TRY(auto next, auth::ParseAuthenticationConfiguration(changed));
          TRY(auto tokens, MakeProviders(next.jwt, audiences, outside));
          current->Set(std::move(tokens));
          if (next.anonymous) anonymous->Set(MakeAnonymous(*next.anonymous));
          return {};
        });
  } else if (!options.oidc_issuer_url.empty()) {
    TRY(auto jwt, ProviderOfFlags(options));
    TRY(auto provider, MakeProvider(jwt, audiences, outside));
    providers->members_.push_back(std::move(provider));
  }
  if (!options.token_webhook_config_file.empty()) {
    TRY(auto target, OpenTarget(options.token_webhook_config_file, outside));
    auto webhook = std::make_shared<auth::WebhookTokens>(
        std::move(target.client), std::move(target.url), options.token_webhook_version, audiences,
        outside.clock);
    const auto ttl = options.token_webhook_cache_ttl;
    providers->members_.push_back(
        std::make_shared<auth::TokenCache>(std::move(webhook), outside.clock, ttl, ttl));
  }
  return providers;
}

Result<std::unique_ptr<Authorizers>> Authorizers::Create(const AccessOptions& options,
                                                         MakeAuthorizer make, Outside outside) {
  auto authorizers = std::make_unique<Authorizers>();
  if (options.authorization_config.empty()) {
    std::vector<std::shared_ptr<auth::Authorizer>> members;
    auto modes = options.authorization_mode;
    if (modes.empty()) modes = {"AlwaysAllow"};
    for (const auto& mode : modes) {
      auto member = mode == "Webhook"
                        ? OpenWebhook(options.authorization_webhook_config_file,
                                      {.version = options.authorization_webhook_version,
                                       .allowed_ttl = options.authorization_webhook_allowed_ttl,
                                       .refused_ttl = options.authorization_webhook_refused_ttl},
                                      outside)
                        : make(mode);
      if (!member) return std::unexpected(member.error());
      members.push_back(*std::move(member));
    }
    authorizers->authorizer_ = InOrder(std::move(members));
    return authorizers;
  }
  TRY(auto text, ReadWholeFile(options.authorization_config));
  TRY(auto configuration, auth::ParseAuthorizationConfiguration(text));
  TRY(auto made, MakeConfigured(configuration, make, outside));
  auto current = std::make_shared<auth::ReplaceableAuthorizer>(std::move(made));
  authorizers->authorizer_ = current;
  authorizers->file_ = std::make_unique<auth::FollowedFile>(
      options.authorization_config, std::move(text), outside.clock,
      [current, make, outside](const std::string& changed) -> Result<void> {
        TRY(auto next, auth::ParseAuthorizationConfiguration(changed));
        TRY(auto authorizer, MakeConfigured(next, make, outside));
        current->Set(std::move(authorizer));
        return {};
      });
  return authorizers;
}

}  // namespace keelson::app
