#include "crypto/verify.h"

#include <gtest/gtest.h>

#include "crypto/issue.h"

namespace keelson::crypto {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using enum ExtendedKeyUsage;

const CertificateTime kNow{seconds(1767225600)};

CertificateRequest Named(std::string name, std::vector<ExtendedKeyUsage> usages = {}) {
  CertificateRequest request;
  request.common_name = std::move(name);
  request.not_before = kNow - hours(1);
  request.not_after = kNow + hours(1);
  request.extended_key_usages = std::move(usages);
  return request;
}

// A small world: one trusted root with an intermediate below it.
class Verify : public ::testing::Test {
 protected:
  std::string Leaf(const CertificateAuthority& ca, const CertificateRequest& request) {
    return *ca.Issue(request, key_.Public());
  }
  Result<void> Check(std::vector<std::string> chain, ExtendedKeyUsage usage = kClientAuth,
                     CertificateTime now = kNow) {
    return trust_.Verify(chain, usage, now);
  }

  PrivateKey key_ = *PrivateKey::Generate(KeyKind::kP256);
  CertificateAuthority root_ = *CertificateAuthority::Create(Named("root"));
  CertificateAuthority middle_ = *root_.Subordinate(Named("middle"));
  TrustBundle trust_ = *TrustBundle::FromPem(CertificateToPem(root_.der()));
};

TEST_F(Verify, AcceptsAChainToTheRoot) {
  EXPECT_TRUE(Check({Leaf(root_, Named("a", {kClientAuth}))}));
  EXPECT_TRUE(Check({Leaf(middle_, Named("a", {kClientAuth})), middle_.der()}));
  EXPECT_TRUE(Check({Leaf(root_, Named("a"))}));  // no usages: any
}

TEST_F(Verify, RefusesAMissingIntermediate) {
  auto result = Check({Leaf(middle_, Named("a", {kClientAuth}))});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kDenied);
  EXPECT_EQ(result.error().message, "x509: certificate signed by unknown authority");
}

TEST_F(Verify, RefusesAForeignAuthorityOfTheSameName) {
  auto impostor = *CertificateAuthority::Create(Named("root"));
  auto leaf = Leaf(impostor, Named("a", {kClientAuth}));
  EXPECT_EQ(Check({leaf}).error().message, "x509: certificate signed by unknown authority");
  EXPECT_EQ(Check({leaf, impostor.der()}).error().message,
            "x509: certificate signed by unknown authority");
}

TEST_F(Verify, RefusesAForgedCertificate) {
  const auto leaf = Leaf(root_, Named("nobody", {kClientAuth}));
  std::string renamed = leaf;
  renamed.replace(renamed.find("nobody"), 6, "admins");
  ASSERT_EQ(ParseCertificate(renamed)->subject.common_name, "admins");
  EXPECT_FALSE(Check({renamed}));
  std::string resigned = leaf;
  resigned.back() = static_cast<char>(resigned.back() ^ 1);
  EXPECT_FALSE(Check({resigned}));
}

TEST_F(Verify, RefusesALeafThatActsAsAuthority) {
  // A client signs a certificate for somebody else with its own key.
  auto client = Leaf(root_, Named("client", {kClientAuth}));
  auto impostor = *CertificateAuthority::Create(Named("client"));
  auto victim = *impostor.Issue(Named("admin", {kClientAuth}), key_.Public());
  EXPECT_FALSE(Check({victim, client}));
}

TEST_F(Verify, RefusesOutsideTheValidity) {
  auto leaf = Leaf(root_, Named("a", {kClientAuth}));
  EXPECT_EQ(Check({leaf}, kClientAuth, kNow + hours(2)).error().message,
            "x509: certificate has expired or is not yet valid: current time "
            "2026-01-01T02:00:00Z is after 2026-01-01T01:00:00Z");
  EXPECT_EQ(Check({leaf}, kClientAuth, kNow - hours(2)).error().message,
            "x509: certificate has expired or is not yet valid: current time "
            "2025-12-31T22:00:00Z is before 2025-12-31T23:00:00Z");
}

TEST_F(Verify, RefusesAWrongUsage) {
  auto serving = Leaf(root_, Named("a", {kServerAuth}));
  EXPECT_TRUE(Check({serving}, kServerAuth));
  EXPECT_EQ(Check({serving}, kClientAuth).error().message,
            "x509: certificate specifies an incompatible key usage");
  EXPECT_TRUE(Check({serving}, kAny));
  auto both = Leaf(root_, Named("a", {kServerAuth, kClientAuth}));
  EXPECT_TRUE(Check({both}, kServerAuth));
  EXPECT_TRUE(Check({both}, kClientAuth));
  EXPECT_TRUE(Check({Leaf(root_, Named("a", {kAny}))}, kAny));
}

TEST_F(Verify, TakesAnIntermediateAsAnchor) {
  auto trust = *TrustBundle::FromPem(CertificateToPem(middle_.der()));
  std::vector<std::string> chain = {Leaf(middle_, Named("a", {kClientAuth}))};
  EXPECT_TRUE(trust.Verify(chain, kClientAuth, kNow));
  EXPECT_FALSE(trust.Verify(std::vector{Leaf(root_, Named("a"))}, kClientAuth, kNow));
}

TEST_F(Verify, RefusesNothingAndTooMuch) {
  EXPECT_FALSE(Check({}));
  EXPECT_FALSE(Check({"not a certificate"}));
  EXPECT_EQ(Check(std::vector<std::string>(33, root_.der())).error().code, ErrorCode::kTooLarge);
}

TEST(TrustBundle, WantsAtLeastOneCertificate) {
  EXPECT_EQ(TrustBundle::FromPem("").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(TrustBundle::FromPem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
                .error()
                .code,
            ErrorCode::kInvalid);
}

}  // namespace
}  // namespace keelson::crypto
