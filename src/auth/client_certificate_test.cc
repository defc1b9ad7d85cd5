// Certificates that are good, and the ones that somebody might try instead.

#include "auth/client_certificate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/ids.h"
#include "base/log.h"
#include "crypto/issue.h"
#include "crypto/pem.h"

namespace keelson::auth {
namespace {

using crypto::CertificateAuthority;
using crypto::CertificateRequest;
using crypto::ExtendedKeyUsage;

class ClientCertificateTest : public ::testing::Test {
 protected:
  ClientCertificateTest()
      : folder_(std::filesystem::temp_directory_path() / ("certificates-" + NewUuid())),
        authority_(NewAuthority()) {
    std::filesystem::create_directories(folder_);
    Trust(authority_);
    trust_ = *TrustFile::Open(File(), clock_);
  }
  ~ClientCertificateTest() override { std::filesystem::remove_all(folder_); }

  std::string File() const { return (folder_ / "ca.crt").string(); }
  void Trust(const CertificateAuthority& authority) {
    KEELSON_CHECK(crypto::WriteFileAtomically(File(), crypto::CertificateToPem(authority.der()),
                                              crypto::FileAccess::kPublic)
                      .has_value());
  }
  crypto::CertificateTime Now() const {
    return std::chrono::floor<std::chrono::seconds>(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(clock_.WallNow()));
  }
  CertificateAuthority NewAuthority() const {
    return *CertificateAuthority::Create({.common_name = "ca",
                                          .not_before = Now() - std::chrono::hours(1),
                                          .not_after = Now() + std::chrono::hours(1000)});
  }
  CertificateRequest Client(std::string name) const {
    return {.common_name = std::move(name),
            .organizations = {"dev", "ops"},
            .not_before = Now() - std::chrono::hours(1),
            .not_after = Now() + std::chrono::hours(24),
            .extended_key_usages = {ExtendedKeyUsage::kClientAuth}};
  }
  // A connection that presents a certificate of `authority`.
  static http::ConnectionInfo Connection(const CertificateAuthority& authority,
                                         const CertificateRequest& request) {
    auto key = *crypto::PrivateKey::Generate(crypto::KeyKind::kP256);
    auto peer = std::make_shared<http::PeerCertificates>();
    peer->der = {*authority.Issue(request, key.Public())};
    http::ConnectionInfo connection;
    connection.peer = std::move(peer);
    return connection;
  }
  static Authentication Ask(Authenticator& authenticator, http::ConnectionInfo& connection,
                            std::vector<std::pair<std::string, std::string>> headers = {}) {
    http::Request request;
    request.connection = &connection;
    for (const auto& [name, value] : headers) request.headers.Add(name, value);
    return *authenticator.TryAuthenticate(request);
  }

  FakeClock clock_;
  std::filesystem::path folder_;
  CertificateAuthority authority_;
  std::shared_ptr<TrustFile> trust_;
};

TEST_F(ClientCertificateTest, NamesTheUserAndItsGroups) {
  ClientCertificateAuthenticator authenticator(trust_);
  auto connection = Connection(authority_, Client("alice"));
  auto verdict = Ask(authenticator, connection);
  ASSERT_NE(verdict.user, nullptr) << verdict.error->message;
  EXPECT_EQ(verdict.user->name, "alice");
  EXPECT_EQ(verdict.user->groups, (std::vector<std::string>{"dev", "ops", "system:authenticated"}));
  EXPECT_TRUE(verdict.user->extra.contains("authentication.kubernetes.io/credential-id"));
  // The second time it is the same value: nothing is parsed again.
  EXPECT_EQ(Ask(authenticator, connection).user.get(), verdict.user.get());
  http::ConnectionInfo without;
  EXPECT_FALSE(Ask(authenticator, without).error.has_value());
}

TEST_F(ClientCertificateTest, RefusesEveryOtherCertificate) {
  ClientCertificateAuthenticator authenticator(trust_);
  const auto refused = [&](const CertificateAuthority& authority, CertificateRequest request) {
    auto connection = Connection(authority, request);
    auto verdict = Ask(authenticator, connection);
    return verdict.user == nullptr && verdict.error.has_value();
  };
  EXPECT_TRUE(refused(NewAuthority(), Client("alice")));  // same name, another key
  auto expired = Client("alice");
  expired.not_after = Now() - std::chrono::seconds(1);
  EXPECT_TRUE(refused(authority_, expired));
  auto early = Client("alice");
  early.not_before = Now() + std::chrono::hours(1);
  EXPECT_TRUE(refused(authority_, early));
  auto server = Client("alice");
  server.extended_key_usages = {ExtendedKeyUsage::kServerAuth};
  EXPECT_TRUE(refused(authority_, server));
  EXPECT_TRUE(refused(authority_, Client("")));
  http::ConnectionInfo garbage;
  auto peer = std::make_shared<http::PeerCertificates>();
  peer->der = {"not a certificate"};
  garbage.peer = peer;
  EXPECT_EQ(Ask(authenticator, garbage).user, nullptr);
}

TEST_F(ClientCertificateTest, IsJudgedAnewWhenTimeOrTrustChange) {
  ClientCertificateAuthenticator authenticator(trust_);
  auto connection = Connection(authority_, Client("alice"));
  EXPECT_NE(Ask(authenticator, connection).user, nullptr);
  clock_.Advance(std::chrono::hours(25));
  EXPECT_EQ(Ask(authenticator, connection).user, nullptr);

  auto next = NewAuthority();
  auto fresh = Connection(next, Client("bob"));
  EXPECT_EQ(Ask(authenticator, fresh).user, nullptr);
  Trust(next);
  clock_.Advance(FollowedFile::kInterval);
  EXPECT_NE(Ask(authenticator, fresh).user, nullptr);
}

TEST_F(ClientCertificateTest, AFrontProxyMustShowItsOwn) {
  FrontProxyAuthenticator authenticator(trust_, {.allowed_names = {"proxy"},
                                                 .username_headers = {"X-Remote-User"},
                                                 .group_headers = {"X-Remote-Group"},
                                                 .extra_header_prefixes = {"X-Remote-Extra-"}});
  const std::vector<std::pair<std::string, std::string>> headers = {
      {"x-remote-user", "root"},
      {"x-remote-group", "system:masters"},
      {"x-remote-extra-a%2Fb", "c"}};
  auto proxy = Connection(authority_, Client("proxy"));
  auto verdict = Ask(authenticator, proxy, headers);
  ASSERT_NE(verdict.user, nullptr) << verdict.error->message;
  EXPECT_EQ(*verdict.user, (User{.name = "root",
                                 .groups = {"system:masters", "system:authenticated"},
                                 .extra = {{"a/b", {"c"}}}}));
  EXPECT_EQ(Ask(authenticator, proxy).user, nullptr);

  http::ConnectionInfo nobody;
  EXPECT_EQ(Ask(authenticator, nobody, headers).user, nullptr);
  auto other = Connection(authority_, Client("alice"));
  EXPECT_EQ(Ask(authenticator, other, headers).error->message,
            "x509: subject with cn=alice is not in the allowed list");
  auto stranger = Connection(NewAuthority(), Client("proxy"));
  EXPECT_EQ(Ask(authenticator, stranger, headers).user, nullptr);
}

TEST_F(ClientCertificateTest, ABadFileLeavesTheOldAuthorities) {
  ClientCertificateAuthenticator authenticator(trust_);
  log::Capture log;
  KEELSON_CHECK(
      crypto::WriteFileAtomically(File(), "garbage", crypto::FileAccess::kPublic).has_value());
  clock_.Advance(FollowedFile::kInterval);
  auto connection = Connection(authority_, Client("alice"));
  EXPECT_NE(Ask(authenticator, connection).user, nullptr);
  EXPECT_NE(log.text().find("Failed to reload"), std::string::npos);
}

}  // namespace
}  // namespace keelson::auth
