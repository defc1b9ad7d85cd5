#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "base/log.h"
#include "crypto/issue.h"
#include "crypto/verify.h"

namespace keelson::crypto {
namespace {

const CertificateTime kNow{std::chrono::seconds(1767225600)};

class SelfSigned : public ::testing::Test {
 protected:
  SelfSigned() {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    options_.cert_dir = (folder_ / "certs").string();
    options_.public_address = "192.0.2.7";
    options_.bind_address = "0.0.0.0";
    options_.alternate_dns = {"kubernetes.default.svc"};
    options_.alternate_ips = {"10.0.0.1"};
    options_.now = kNow;
  }

  log::Capture log_;
  std::filesystem::path folder_;
  SelfSignedOptions options_;
};

TEST_F(SelfSigned, MakesAPairAtFirstStart) {
  auto pair = SelfSignedServing(options_);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_TRUE(pair->generated);
  EXPECT_TRUE(pair->certificate_file.ends_with("/certs/apiserver.crt"));
  struct stat info{};
  ASSERT_EQ(::stat(pair->key_file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  auto line =
      fmt::format("Generated self-signed cert ({}, {})", pair->certificate_file, pair->key_file);
  EXPECT_NE(log_.text().find(line), std::string::npos);

  auto chain = *CertificateDersFromPem(pair->certificate_pem);
  ASSERT_EQ(chain.size(), 2u);
  auto certificate = *ParseCertificate(chain[0]);
  EXPECT_EQ(certificate.subject.common_name, "192.0.2.7@1767225600");
  EXPECT_EQ(certificate.issuer.common_name, "192.0.2.7-ca@1767225600");
  EXPECT_EQ(certificate.ip_addresses,
            (std::vector<std::string>{"192.0.2.7", "10.0.0.1", "127.0.0.1", "::1"}));
  EXPECT_EQ(certificate.dns_names,
            (std::vector<std::string>{"kubernetes.default.svc", "localhost"}));
  EXPECT_EQ(certificate.not_after, kNow - std::chrono::hours(1) + std::chrono::hours(8760));
  EXPECT_EQ(PrivateKey::FromPem(pair->key_pem)->Public().ToDer(), certificate.public_key_der);
  EXPECT_TRUE(TrustBundle::FromPem(CertificateToPem(chain[1]))
                  ->Verify(chain, ExtendedKeyUsage::kServerAuth, kNow));
}

TEST_F(SelfSigned, UsesTheSamePairAtTheNextStart) {
  auto first = *SelfSignedServing(options_);
  options_.public_address = "elsewhere";
  options_.now += std::chrono::hours(24 * 3650);  // long expired; upstream serves it all the same
  auto second = *SelfSignedServing(options_);
  EXPECT_FALSE(second.generated);
  EXPECT_EQ(second.certificate_pem, first.certificate_pem);
  EXPECT_EQ(second.key_pem, first.key_pem);
}

TEST_F(SelfSigned, RefusesHalfAPair) {
  auto pair = *SelfSignedServing(options_);
  std::filesystem::remove(pair.key_file);
  auto result = SelfSignedServing(options_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            fmt::format("error reading {}, certificate and key must be supplied as a pair",
                        pair.key_file));
}

TEST_F(SelfSigned, NamesTheBindAddressInsteadOfLocalhost) {
  options_.bind_address = "127.0.0.1";
  options_.cert_dir.clear();
  auto pair = *SelfSignedServing(options_);
  EXPECT_TRUE(pair.certificate_file.empty());
  auto certificate = *ParseCertificate((*CertificateDersFromPem(pair.certificate_pem))[0]);
  EXPECT_TRUE(certificate.Covers("127.0.0.1"));
  EXPECT_FALSE(certificate.Covers("localhost"));
}

}  // namespace
}  // namespace keelson::crypto
