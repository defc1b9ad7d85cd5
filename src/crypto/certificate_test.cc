#include "crypto/certificate.h"

#include <gtest/gtest.h>

#include "crypto/digest.h"
#include "crypto/issue.h"

namespace keelson::crypto {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const CertificateTime kNow{seconds(1767225600)};

CertificateAuthority Ca() {
  CertificateRequest request{.common_name = "ca", .not_before = kNow, .not_after = kNow + hours(1)};
  return *CertificateAuthority::Create(request);
}

TEST(Certificate, SaysWhatWasAskedFor) {
  auto key = *PrivateKey::Generate(KeyKind::kP256);
  CertificateRequest request;
  request.common_name = "admin";
  request.organizations = {"system:masters", "Ümläute"};
  request.dns_names = {"example.com", "*.svc.cluster.local"};
  request.ip_addresses = {"10.0.0.1", "2001:db8::1"};
  request.not_before = kNow - hours(1);
  request.not_after = kNow + hours(24 * 365 * 100);
  request.extended_key_usages = {ExtendedKeyUsage::kClientAuth};
  request.serial = "\x12\x34";
  auto der = Ca().Issue(request, key.Public());
  ASSERT_TRUE(der) << der.error().message;
  auto certificate = ParseCertificate(*der);
  ASSERT_TRUE(certificate) << certificate.error().message;
  EXPECT_EQ(certificate->subject.common_name, "admin");
  EXPECT_EQ(certificate->subject.organizations, request.organizations);
  EXPECT_EQ(certificate->subject.text, "CN=admin,O=Ümläute,O=system:masters");
  EXPECT_EQ(certificate->issuer.common_name, "ca");
  EXPECT_EQ(certificate->dns_names, request.dns_names);
  EXPECT_EQ(certificate->ip_addresses, request.ip_addresses);
  EXPECT_EQ(certificate->not_before, request.not_before);
  EXPECT_EQ(certificate->not_after, request.not_after);
  EXPECT_EQ(certificate->serial, "1234");
  EXPECT_FALSE(certificate->is_ca);
  EXPECT_TRUE(certificate->has_key_usage);
  EXPECT_EQ(certificate->key_usage, kDigitalSignature | kKeyEncipherment);
  EXPECT_EQ(certificate->extended_key_usages, request.extended_key_usages);
  EXPECT_EQ(certificate->public_key_der, key.Public().ToDer());
  EXPECT_EQ(certificate->fingerprint, Digest(Hash::kSha256, *der));
  EXPECT_TRUE(certificate->ValidAt(kNow));
  EXPECT_FALSE(certificate->ValidAt(kNow - hours(2)));
}

TEST(Certificate, AuthorityIsMarkedAsOne) {
  auto certificate = *ParseCertificate(Ca().der());
  EXPECT_TRUE(certificate.is_ca);
  EXPECT_NE(certificate.key_usage & kCertSign, 0);
  EXPECT_EQ(certificate.subject, certificate.issuer);
}

TEST(Certificate, CoversItsNamesOnly) {
  Certificate certificate;
  certificate.dns_names = {"Example.com", "*.svc"};
  certificate.ip_addresses = {"10.0.0.1", "::1"};
  for (std::string_view host :
       {"example.COM", "example.com.", "a.svc", "10.0.0.1", "::1", "0:0::1"}) {
    EXPECT_TRUE(certificate.Covers(host)) << host;
  }
  for (std::string_view host :
       {"", ".", "www.example.com", "svc", ".svc", "a.b.svc", "10.0.0.2", "::2", "*.svc.x"}) {
    EXPECT_FALSE(certificate.Covers(host)) << host;
  }
}

TEST(Certificate, RefusesDamagedBytes) {
  const std::string der = Ca().der();
  EXPECT_FALSE(ParseCertificate(""));
  EXPECT_FALSE(ParseCertificate(der + "x"));
  for (size_t size = 0; size < der.size(); ++size)
    EXPECT_FALSE(ParseCertificate(der.substr(0, size)));
  EXPECT_EQ(ParseCertificate(std::string(kMaxCertificateSize + 1, '0')).error().code,
            ErrorCode::kTooLarge);
}

TEST(CertificateAuthority, LoadsOnlyWithItsOwnKey) {
  auto ca = Ca();
  auto pem = CertificateToPem(ca.der());
  EXPECT_TRUE(CertificateAuthority::Load(pem, ca.key()));
  EXPECT_FALSE(CertificateAuthority::Load(pem, *PrivateKey::Generate(KeyKind::kP256)));
  auto key = *PrivateKey::Generate(KeyKind::kP256);
  CertificateRequest request{
      .common_name = "leaf", .not_before = kNow, .not_after = kNow + hours(1)};
  EXPECT_FALSE(CertificateAuthority::Load(CertificateToPem(*ca.Issue(request, key.Public())), key));
}

TEST(CertificateAuthority, RefusesNonsense) {
  auto key = PrivateKey::Generate(KeyKind::kP256)->Public();
  CertificateRequest request{.common_name = "x", .not_before = kNow, .not_after = kNow + hours(1)};
  request.ip_addresses = {"localhost"};
  EXPECT_EQ(Ca().Issue(request, key).error().code, ErrorCode::kInvalid);
  request.ip_addresses.clear();
  request.serial = std::string(21, 'x');
  EXPECT_EQ(Ca().Issue(request, key).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace keelson::crypto
