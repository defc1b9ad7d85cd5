// What it costs to know who asks and whether they may: at most three microseconds per request, by
// client certificate or by a token that was seen before.

#include <benchmark/benchmark.h>

#include <filesystem>

#include "auth/authenticator.h"
#include "auth/client_certificate.h"
#include "auth/rbac_authorizer.h"
#include "auth/token.h"
#include "base/ids.h"
#include "crypto/issue.h"
#include "crypto/pem.h"

namespace keelson::auth {
namespace {

constexpr int kGroups = 20;

std::vector<std::string> GroupNames() {
  std::vector<std::string> groups;
  for (int i = 0; i < kGroups; ++i) groups.push_back("group-" + std::to_string(i));
  return groups;
}

void FillPolicy(rbac::PolicySet& policy) {
  rbac::PolicySet::Batch batch(policy);
  for (int i = 0; i < 1000; ++i) {
    const auto id = std::to_string(i);
    policy.SetRole({"", "role-" + id}, {{.verbs = {"get", "list", "watch"},
                                         .api_groups = {"", "apps"},
                                         .resources = {"kind-" + id, "pods", "deployments"}}});
    policy.SetBinding({i % 2 ? "ns-" + id : "",
                       "binding-" + id,
                       {true, "role-" + id},
                       {{rbac::SubjectKind::kGroup, "group-" + std::to_string(i % 40)}}});
  }
}

// Everything between a request's head and its endpoint that this module does.
class Bench {
 public:
  Bench() : folder_(std::filesystem::temp_directory_path() / ("auth-bench-" + NewUuid())) {
    std::filesystem::create_directories(folder_);
    FillPolicy(policy_);
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto authority =
        *crypto::CertificateAuthority::Create({.common_name = "ca",
                                               .not_before = now - std::chrono::hours(1),
                                               .not_after = now + std::chrono::hours(1)});
    const auto file = (folder_ / "ca.crt").string();
    KEELSON_CHECK(crypto::WriteFileAtomically(file, crypto::CertificateToPem(authority.der()),
                                              crypto::FileAccess::kPublic)
                      .has_value());
    auto key = *crypto::PrivateKey::Generate(crypto::KeyKind::kP256);
    auto peer = std::make_shared<http::PeerCertificates>();
    peer->der = {*authority.Issue({.common_name = "user",
                                   .organizations = GroupNames(),
                                   .not_before = now - std::chrono::hours(1),
                                   .not_after = now + std::chrono::hours(1),
                                   .extended_key_usages = {crypto::ExtendedKeyUsage::kClientAuth}},
                                  key.Public())};
    certificate_.peer = std::move(peer);
    auto table = std::make_shared<TokenTable>();
    table->Add(token_, std::make_shared<User>(User{.name = "user", .groups = GroupNames()}));
    auto tokens = std::make_shared<TokenCache>(table, clock_, std::chrono::seconds(10));
    std::vector<std::shared_ptr<Authenticator>> members;
    members.push_back(
        std::make_shared<ClientCertificateAuthenticator>(*TrustFile::Open(file, clock_)));
    members.push_back(
        std::make_shared<BearerAuthenticator>(tokens, std::vector<std::string>{"us"}));
    authenticator_ = std::make_unique<AuthenticatorUnion>(
        std::move(members), std::make_shared<AnonymousAuthenticator>());
    authorizer_ = std::make_unique<AuthorizerUnion>(std::vector<std::shared_ptr<Authorizer>>{
        std::make_shared<PrivilegedGroup>(), std::make_shared<RbacAuthorizer>(policy_)});
  }
  ~Bench() { std::filesystem::remove_all(folder_); }

  http::Request ByCertificate() {
    http::Request request;
    request.connection = &certificate_;
    return request;
  }
  http::Request ByToken() {
    http::Request request;
    request.connection = &plain_;
    request.headers.Add("authorization", "Bearer " + token_);
    return request;
  }

  void Decide(const http::Request& request) {
    auto who = authenticator_->TryAuthenticate(request);
    auto may = authorizer_->TryAuthorize({.user = std::move(who->user),
                                          .resource_request = true,
                                          .verb = "get",
                                          .version = "v1",
                                          .ns = "ns-1",
                                          .resource = "pods",
                                          .name = "a"});
    KEELSON_CHECK(may->decision == Decision::kAllow);
  }

 private:
  const std::string token_ = std::string(900, 't');  // as long as a service account's
  SystemClock clock_;
  std::filesystem::path folder_;
  rbac::PolicySet policy_;
  http::ConnectionInfo certificate_;
  http::ConnectionInfo plain_;
  std::unique_ptr<AuthenticatorUnion> authenticator_;
  std::unique_ptr<AuthorizerUnion> authorizer_;
};

void BM_GetByCertificate(benchmark::State& state) {
  Bench bench;
  auto request = bench.ByCertificate();
  for (auto _ : state) bench.Decide(request);
}
BENCHMARK(BM_GetByCertificate);

void BM_GetByToken(benchmark::State& state) {
  Bench bench;
  auto request = bench.ByToken();
  for (auto _ : state) bench.Decide(request);
}
BENCHMARK(BM_GetByToken);

// The first request of a connection with a token that others have shown.
void BM_GetByTokenOnNewConnection(benchmark::State& state) {
  Bench bench;
  for (auto _ : state) {
    auto request = bench.ByToken();
    request.connection = nullptr;
    bench.Decide(request);
  }
}
BENCHMARK(BM_GetByTokenOnNewConnection);

}  // namespace
}  // namespace keelson::auth
