#include "owner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "crypto/certificate.h"
#include "crypto/pem.h"
#include "crypto/verify.h"

namespace keelson::app {
namespace {

using std::chrono::hours;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kDay = hours(24);
constexpr std::string_view kUrl = "https://127.0.0.1:6443";

class Owner : public ::testing::Test {
 protected:
  Owner() : folder_(::testing::TempDir() + "owner-XXXXXX") {
    KEELSON_CHECK(::mkdtemp(folder_.data()) != nullptr);
  }
  ~Owner() override { std::filesystem::remove_all(folder_); }

  OwnerFiles Open(std::string public_address = {}) {
    auto files = OwnerFiles::Open({folder_, std::move(public_address), {}}, clock_);
    KEELSON_CHECK(files.has_value());
    return *std::move(files);
  }
  std::string Read(const std::string& name) {
    std::ifstream in(folder_ + "/" + name);
    return (std::stringstream() << in.rdbuf()).str();
  }
  crypto::Certificate Certificate(const std::string& name) {
    return *crypto::ParseCertificate(
        crypto::CertificateDersFromPem(Read("pki/" + name + ".crt"))->front());
  }
  crypto::CertificateTime Now() {
    return std::chrono::floor<std::chrono::seconds>(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(clock_.WallNow()));
  }

  FakeClock clock_;
  ManualExecutor executor_;
  std::string folder_;
};

TEST_F(Owner, FilesAreForTheOwnerAlone) {
  ASSERT_TRUE(Open().WriteKubeconfig(kUrl));
  int seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    struct stat status;
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, entry.is_directory() ? 0700u : 0600u) << entry.path();
    ++seen;
  }
  EXPECT_EQ(seen, 10);  // a folder, three pairs, two service account keys, a kubeconfig
  EXPECT_THAT(Certificate("admin").subject.organizations, Contains("system:masters"));
  for (auto host : {"localhost", "127.0.0.1", "::1", "kubernetes.default.svc"}) {
    EXPECT_TRUE(Certificate("apiserver").Covers(host)) << host;
  }
}

TEST_F(Owner, WhatIsThereStays) {
  ASSERT_TRUE(Open().WriteKubeconfig(kUrl));
  const auto certificate = Read("pki/apiserver.crt");
  const auto kubeconfig = Read("admin.kubeconfig");
  clock_.Advance(30 * kDay);
  ASSERT_TRUE(Open().WriteKubeconfig(kUrl));
  EXPECT_EQ(Read("pki/apiserver.crt"), certificate);
  EXPECT_EQ(Read("admin.kubeconfig"), kubeconfig);
}

TEST_F(Owner, ANewAddressGetsACertificate) {
  Open();
  EXPECT_FALSE(Certificate("apiserver").Covers("192.0.2.7"));
  Open("192.0.2.7");
  EXPECT_TRUE(Certificate("apiserver").Covers("192.0.2.7"));
}

TEST_F(Owner, CertificatesAreRenewedWhileTheServerRuns) {
  const auto files = Open();
  ASSERT_TRUE(files.WriteKubeconfig(kUrl));
  const auto serving_key = Read("pki/apiserver.key");
  const auto first = Certificate("apiserver");
  const auto first_admin = Certificate("admin");
  const auto first_kubeconfig = Read("admin.kubeconfig");
  OwnerRenewal renewal(files, std::string(kUrl), clock_, executor_);

  clock_.Advance(200 * kDay, [&] { executor_.RunUntilIdle(); });
  EXPECT_EQ(Certificate("apiserver").serial, first.serial);  // more than a third is left

  clock_.Advance(100 * kDay, [&] { executor_.RunUntilIdle(); });
  EXPECT_NE(Certificate("apiserver").serial, first.serial);
  EXPECT_NE(Certificate("admin").serial, first_admin.serial);
  EXPECT_GT(Certificate("apiserver").not_after, Now() + 200 * kDay);
  EXPECT_EQ(Read("pki/apiserver.key"), serving_key);
  EXPECT_NE(Read("admin.kubeconfig"), first_kubeconfig);
}

TEST_F(Owner, TheAuthorityGoesOnUnderItsNameAndKey) {
  const auto files = Open();
  const auto first = Certificate("ca");
  const auto key = Read("pki/ca.key");
  clock_.Advance(7 * 365 * kDay);
  ASSERT_TRUE(files.Renew());
  const auto renewed = Certificate("ca");
  EXPECT_NE(renewed.serial, first.serial);
  EXPECT_EQ(renewed.subject, first.subject);
  EXPECT_EQ(renewed.public_key_der, first.public_key_der);
  EXPECT_EQ(Read("pki/ca.key"), key);
}

TEST_F(Owner, OthersGetACertificateOfTheirOwn) {
  const auto files = Open();
  auto kubeconfig = files.NewKubeconfig(kUrl, "jane", {"dev"});
  ASSERT_TRUE(kubeconfig);
  EXPECT_THAT(*kubeconfig, HasSubstr("server: https://127.0.0.1:6443"));
  EXPECT_THAT(*kubeconfig, HasSubstr("user: \"jane\""));
  EXPECT_THAT(*kubeconfig, Not(HasSubstr("admin")));
  for (auto name : {"", "a\"b", "a\nb", "a\\b"}) {
    EXPECT_FALSE(files.NewKubeconfig(kUrl, name, {}).has_value()) << name;
  }
}

}  // namespace
}  // namespace keelson::app
