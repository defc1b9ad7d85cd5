#include "access.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "auth/abac.h"
#include "auth/client_certificate.h"
#include "auth/jwt.h"
#include "auth/token.h"
#include "auth/token_file.h"
#include "base/file.h"
#include "base/gate.h"
#include "base/ids.h"
#include "base/log.h"
#include "crypto/key.h"
#include "crypto/pem.h"
#include "kube/access/bootstrap_hook.h"
#include "kube/access/policy_objects.h"
#include "server/reply.h"

namespace keelson::app {
namespace {

using kube::access::RbacResources;
using kube::access::ServiceAccountTokens;

// How long a service account token that was good is believed without another look.
constexpr Duration kTokenTrust = std::chrono::seconds(10);

// Where everything is allowed, at least somebody must ask.
bool AllowsAnonymous(const AccessOptions& options) {
  if (!options.anonymous_auth) return false;
  if (!options.AllowsEverything()) return true;
  log::Warning(
      "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to "
      "false. You should use a different authorizer");
  return false;
}

std::shared_ptr<auth::TokenTable> LoopbackToken(const std::string& token) {
  auto table = std::make_shared<auth::TokenTable>();
  table->Add(token, std::make_shared<auth::User>(
                        auth::User{.name = std::string(auth::kApiServerUser),
                                   .uid = NewUuid(),
                                   .groups = {std::string(auth::kAuthenticatedGroup),
                                              std::string(auth::kPrivilegedGroup)}}));
  return table;
}

Result<std::vector<auth::JwtKey>> ReadAccountKeys(const std::vector<std::string>& files) {
  std::vector<auth::JwtKey> keys;
  for (const auto& file : files) {
    TRY(auto pem, crypto::ReadPemFile(file));
    TRY(auto read, crypto::PublicKeysFromPem(pem));
    for (auto& key : read) {
      TRY(auto usable, auth::MakeJwtKey(std::move(key)));
      keys.push_back(std::move(usable));
    }
  }
  return keys;
}

// Null when there is nothing to verify service account tokens with.
Result<std::shared_ptr<ServiceAccountTokens>> MakeAccountTokens(const AccessOptions& options,
                                                                const Clock& clock) {
  std::optional<auth::JwtSigner> signer;
  std::vector<auth::JwtKey> keys;
  if (!options.service_account_signing_key_file.empty()) {
    TRY(auto key, crypto::PrivateKey::FromFile(options.service_account_signing_key_file));
    TRY(signer, auth::JwtSigner::Create(std::move(key)));
  }
  TRY(keys, ReadAccountKeys(options.service_account_key_files));
  const auto signs_with = [&](const auth::JwtKey& key) { return key.id == signer->key().id; };
  if (signer && std::ranges::none_of(keys, signs_with)) keys.insert(keys.begin(), signer->key());
  if (keys.empty()) return nullptr;
  return std::make_shared<ServiceAccountTokens>(
      kube::access::ServiceAccountTokenOptions{
          .issuers = options.Issuers(),
          .api_audiences = options.Audiences(),
          .lookup = options.service_account_lookup,
          .extend_expiration = options.service_account_extend_token_expiration,
          .max_expiration = options.service_account_max_token_expiration},
      std::move(signer), std::move(keys), clock);
}

// The kinds of bearer tokens, in upstream's order.
Result<std::shared_ptr<auth::TokenAuthenticator>> MakeTokens(
    const AccessOptions& options, const std::string& loopback_token,
    const std::shared_ptr<ServiceAccountTokens>& accounts,
    const std::shared_ptr<kube::access::BootstrapTokens>& bootstrap,
    const TokenProviders& providers, const Clock& clock) {
  const auto for_us = [&](std::shared_ptr<auth::TokenAuthenticator> tokens) {
    return std::make_shared<auth::AudienceAgnosticTokens>(std::move(tokens), options.Audiences());
  };
  std::vector<std::shared_ptr<auth::TokenAuthenticator>> members{
      for_us(LoopbackToken(loopback_token))};
  if (!options.token_auth_file.empty()) {
    TRY(auto file, auth::ReadTokenFile(options.token_auth_file));
    members.push_back(for_us(std::move(file)));
  }
  if (accounts != nullptr) {
    members.push_back(std::make_shared<auth::TokenCache>(accounts, clock, kTokenTrust));
  }
  if (bootstrap != nullptr) members.push_back(for_us(bootstrap));
  members.insert(members.end(), providers.members().begin(), providers.members().end());
  return std::make_shared<auth::TokenUnion>(std::move(members));
}

// In upstream's order: proxies that vouch, certificates, tokens; then nobody in particular.
Result<std::shared_ptr<auth::Authenticator>> MakeAuthenticator(
    const AccessOptions& options, std::shared_ptr<auth::TokenAuthenticator> tokens,
    std::shared_ptr<auth::Authenticator> anonymous, Clock& clock) {
  std::vector<std::shared_ptr<auth::Authenticator>> members;
  if (!options.request_header_ca_file.empty()) {
    TRY(auto trust, auth::TrustFile::Open(options.request_header_ca_file, clock));
    members.push_back(
        std::make_shared<auth::FrontProxyAuthenticator>(std::move(trust), options.request_header));
  }
  if (!options.client_ca_file.empty()) {
    TRY(auto trust, auth::TrustFile::Open(options.client_ca_file, clock));
    members.push_back(std::make_shared<auth::ClientCertificateAuthenticator>(std::move(trust)));
  }
  members.push_back(
      std::make_shared<auth::BearerAuthenticator>(std::move(tokens), options.Audiences()));
  return std::make_shared<auth::AuthenticatorUnion>(std::move(members), std::move(anonymous));
}

// What kubelets may do is also a role, which nobody is bound to.
rbac::Rules NodeRules() {
  auto policy = kube::access::AllBootstrapPolicy();
  auto role = std::ranges::find(policy.roles, "system:node",
                                [](const auto& one) { return std::string_view(one.key.name); });
  KEELSON_CHECK(role != policy.roles.end());
  return std::move(role->rules);
}

Task<Result<void>> BootstrapPolicyHook(RbacResources resources) {
  auto written = co_await kube::access::ReconcileBootstrapPolicy(
      resources, kube::access::AllBootstrapPolicy());
  if (!written) co_return Annotate(written.error(), "unable to initialize roles");
  co_return written;
}

// A document that never changes while the process runs, and may be kept by whoever asked.
void ServeDocument(server::PathMux& mux, std::string path, std::string content_type,
                   std::string text) {
  mux.Handle(std::move(path), std::make_shared<server::FunctionEndpoint>(
                                  [content_type, text](server::RequestContext& context) {
                                    context.response.headers().Set("Cache-Control",
                                                                   "public, max-age=3600");
                                    server::SendBody(context, 200, content_type, text);
                                  }));
}

}  // namespace

Access::~Access() = default;

Result<std::shared_ptr<auth::Authorizer>> Access::MakeMode(const AccessOptions& options,
                                                           std::string_view mode) {
  if (mode == "AlwaysAllow") return std::make_shared<auth::AlwaysAllow>();
  if (mode == "AlwaysDeny") return std::make_shared<auth::AlwaysDeny>();
  if (mode == "ABAC") {
    TRY(auto text, ReadWholeFile(options.authorization_policy_file));
    TRY(auto policies, auth::ParseAbacPolicies(text));
    return std::make_shared<auth::AbacAuthorizer>(std::move(policies));
  }
  if (mode == "Node") return nodes_;
  KEELSON_CHECK(mode == "RBAC");
  return rbac_;
}

Result<std::unique_ptr<Access>> Access::Create(const AccessOptions& options,
                                               const std::string& loopback_token, Outside outside) {
  std::unique_ptr<Access> access(new Access);
  auto& clock = outside.clock;
  TRY(access->accounts_, MakeAccountTokens(options, clock));
  if (options.enable_bootstrap_token_auth) {
    access->bootstrap_ = std::make_shared<kube::access::BootstrapTokens>(clock);
  }
  auto anonymous = std::make_shared<auth::ReplaceableAuthenticator>(nullptr);
  if (AllowsAnonymous(options)) anonymous->Set(std::make_shared<auth::AnonymousAuthenticator>());
  TRY(access->providers_, TokenProviders::Create(options, anonymous, outside));
  TRY(auto tokens, MakeTokens(options, loopback_token, access->accounts_, access->bootstrap_,
                              *access->providers_, clock));
  TRY(access->authenticator_, MakeAuthenticator(options, tokens, std::move(anonymous), clock));

  // A configuration file may ask for these later.
  const bool any = !options.authorization_config.empty();
  if (any || options.HasMode("Node")) {
    access->nodes_ = std::make_shared<kube::access::NodeAuthorizer>(NodeRules());
  }
  if (any || options.HasMode("RBAC")) {
    access->rbac_ = std::make_shared<auth::RbacAuthorizer>(access->policy_);
  }
  TRY(access->authorizers_, Authorizers::Create(
                                options,
                                [access = access.get(), options](const std::string& mode) {
                                  return access->MakeMode(options, mode);
                                },
                                outside));
  access->impersonator_ = std::make_shared<auth::Impersonator>(access->authorizer());
  const bool issues = access->accounts_ != nullptr && access->accounts_->can_issue();
  access->kinds_.emplace(
      kube::access::AccessKinds::Parts{.authorizer = access->authorizer(),
                                       .rbac = access->rbac_,
                                       .policy = access->policy_,
                                       .tokens = std::move(tokens),
                                       .api_audiences = options.Audiences(),
                                       .accounts = issues ? access->accounts_ : nullptr});
  return access;
}

Result<std::unique_ptr<Access::Connection>> Access::Connect(server::GenericApiServer& server,
                                                            const kube::BuiltInApi& api,
                                                            Storage& storage, Clock& clock,
                                                            Executor& executor) {
  auto connection = std::make_unique<Connection>(executor);
  connection->accounts_ = accounts_;
  connection->bootstrap_ = bootstrap_;
  connection->nodes_ = nodes_;
  if (accounts_ != nullptr) accounts_->SetStores(&api);
  if (bootstrap_ != nullptr) bootstrap_->SetStores(&api);
  if (nodes_ != nullptr) nodes_->SetStores(&api);
  if (rbac_ == nullptr) return connection;
  const auto resource = [&](std::string_view plural) {
    const auto* spec = api.Find(kube::access::kRbacGroup, plural);
    KEELSON_CHECK(spec != nullptr);
    return spec;
  };
  const RbacResources resources{resource("roles"), resource("clusterroles"),
                                resource("rolebindings"), resource("clusterrolebindings")};
  connection->rbac_ = rbac_;
  connection->feed_ = std::make_unique<kube::access::PolicyFeed>(
      resources, kube::access::PolicyFeed::Deps{.policy = policy_,
                                                .store = storage.store(),
                                                .feed = storage.feed(),
                                                .executor = executor,
                                                .clock = clock});
  rbac_->SetSource(connection->feed_.get());
  connection->feed_->Start();
  TRY_VOID(server.AddPostStartHook(
      "rbac/bootstrap-roles",
      [resources](const server::PostStartHookContext&) { return BootstrapPolicyHook(resources); }));
  return connection;
}

void Access::PublishIssuer(server::PathMux& mux, std::string_view jwks_uri) const {
  if (accounts_ == nullptr) return;
  ServeDocument(mux, "/.well-known/openid-configuration", "application/json",
                kube::access::IssuerDocument(*accounts_, jwks_uri));
  ServeDocument(mux, "/openid/v1/jwks", "application/jwk-set+json",
                auth::RenderJwks(accounts_->keys()));
}

Access::Connection::~Connection() {
  if (accounts_ != nullptr) accounts_->SetStores(nullptr);
  if (bootstrap_ != nullptr) bootstrap_->SetStores(nullptr);
  if (nodes_ != nullptr) nodes_->SetStores(nullptr);
  if (feed_ == nullptr) return;
  rbac_->SetSource(nullptr);
  Gate closing;
  closing.Spawn(&executor_, feed_->Stop());
  closing.CloseAndWait();
}

}  // namespace keelson::app
