#include "access.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "auth/token_file.h"
#include "base/gate.h"
#include "base/ids.h"
#include "base/log.h"
#include "kube/access/bootstrap_hook.h"
#include "kube/access/policy_objects.h"

namespace keelson::app {
namespace {

using kube::access::RbacResources;

bool HasMode(const Options& options, std::string_view mode) {
  return std::ranges::find(options.authorization_mode, mode) != options.authorization_mode.end();
}

// Where everything is allowed, at least somebody must ask.
bool AllowsAnonymous(const Options& options) {
  if (!options.anonymous_auth) return false;
  if (!HasMode(options, "AlwaysAllow")) return true;
  log::Warning(
      "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to "
      "false. You should use a different authorizer");
  return false;
}

Result<std::shared_ptr<auth::Authenticator>> MakeAuthenticator(const Options& options,
                                                               const std::string& loopback_token) {
  std::vector<std::shared_ptr<auth::TokenAuthenticator>> tokens;
  auto loopback = std::make_shared<auth::TokenTable>();
  loopback->Add(loopback_token, std::make_shared<auth::User>(
                                    auth::User{.name = std::string(auth::kApiServerUser),
                                               .uid = NewUuid(),
                                               .groups = {std::string(auth::kAuthenticatedGroup),
                                                          std::string(auth::kPrivilegedGroup)}}));
  tokens.push_back(std::move(loopback));
  if (!options.token_auth_file.empty()) {
    TRY(auto file, auth::ReadTokenFile(options.token_auth_file));
    tokens.push_back(std::move(file));
  }
  auto bearer = std::make_shared<auth::BearerAuthenticator>(
      std::make_shared<auth::TokenUnion>(std::move(tokens)), options.api_audiences);
  std::shared_ptr<auth::Authenticator> anonymous;
  if (AllowsAnonymous(options)) anonymous = std::make_shared<auth::AnonymousAuthenticator>();
  return std::make_shared<auth::AuthenticatorUnion>(
      std::vector<std::shared_ptr<auth::Authenticator>>{std::move(bearer)}, std::move(anonymous));
}

Task<Result<void>> BootstrapPolicyHook(RbacResources resources) {
  auto written = co_await kube::access::ReconcileBootstrapPolicy(
      resources, kube::access::AllBootstrapPolicy());
  if (!written) co_return Annotate(written.error(), "unable to initialize roles");
  co_return written;
}

}  // namespace

Access::~Access() = default;

Result<std::unique_ptr<Access>> Access::Create(const Options& options,
                                               const std::string& loopback_token) {
  std::unique_ptr<Access> access(new Access);
  TRY(access->authenticator_, MakeAuthenticator(options, loopback_token));
  std::vector<std::shared_ptr<auth::Authorizer>> members{std::make_shared<auth::PrivilegedGroup>()};
  for (const auto& mode : options.authorization_mode) {
    if (mode == "AlwaysAllow") members.push_back(std::make_shared<auth::AlwaysAllow>());
    if (mode == "AlwaysDeny") members.push_back(std::make_shared<auth::AlwaysDeny>());
    if (mode == "RBAC") {
      access->rbac_ = std::make_shared<auth::RbacAuthorizer>(access->policy_);
      members.push_back(access->rbac_);
    }
  }
  access->authorizer_ = std::make_shared<auth::AuthorizerUnion>(std::move(members));
  access->impersonator_ = std::make_shared<auth::Impersonator>(access->authorizer_);
  return access;
}

Result<std::unique_ptr<Access::Connection>> Access::Connect(server::GenericApiServer& server,
                                                            const kube::BuiltInApi& api,
                                                            Storage& storage, Clock& clock,
                                                            Executor& executor) {
  auto connection = std::make_unique<Connection>(executor);
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

Access::Connection::~Connection() {
  if (feed_ == nullptr) return;
  rbac_->SetSource(nullptr);
  Gate closing;
  closing.Spawn(&executor_, feed_->Stop());
  closing.CloseAndWait();
}

}  // namespace keelson::app
