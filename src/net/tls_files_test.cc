#include "net/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "net/testing/certificates.h"

namespace keelson::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFilesTest() {
    char pattern[] = "/tmp/tls_files_XXXXXX";
    folder_ = mkdtemp(pattern);
    Write(ca_.Issue("one"));
  }
  ~TlsFilesTest() override { std::filesystem::remove_all(folder_); }

  void WriteFile(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  void Write(const TlsKeyPair& pair) {
    WriteFile("tls.crt", pair.certificate_pem);
    WriteFile("tls.key", pair.key_pem);
  }
  TlsFileSet Set() {
    return {.certificate_file = folder_ / "tls.crt", .key_file = folder_ / "tls.key"};
  }

  testing::TestCa ca_;
  std::filesystem::path folder_;
  FakeClock clock_;
};

TEST_F(TlsFilesTest, TakesOverAChangedPair) {
  auto files = *TlsFiles::Create(Set(), clock_);
  files->Start();
  auto first = files->holder()->Get();
  clock_.Advance(TlsFiles::kInterval);
  EXPECT_EQ(files->holder()->Get(), first);
  Write(ca_.Issue("two"));
  clock_.Advance(TlsFiles::kInterval);
  EXPECT_NE(files->holder()->Get(), first);
  files->Stop();
  EXPECT_EQ(clock_.pending(), 0);
}

TEST_F(TlsFilesTest, KeepsTheOldContextAndLogsABadChangeOnce) {
  auto files = *TlsFiles::Create(Set(), clock_);
  files->Start();
  auto first = files->holder()->Get();
  log::Capture capture;
  WriteFile("tls.key", "garbage");
  clock_.Advance(TlsFiles::kInterval);
  EXPECT_EQ(files->holder()->Get(), first);
  EXPECT_THAT(capture.text(), HasSubstr("not usable"));
  auto size = capture.text().size();
  clock_.Advance(TlsFiles::kInterval);
  EXPECT_EQ(capture.text().size(), size);
  Write(ca_.Issue("three"));
  clock_.Advance(TlsFiles::kInterval);
  EXPECT_NE(files->holder()->Get(), first);
}

TEST_F(TlsFilesTest, FollowsTheClientCa) {
  WriteFile("ca.crt", ca_.pem());
  auto set = Set();
  set.client_ca_files = {folder_ / "ca.crt"};
  auto files = *TlsFiles::Create(set, clock_);
  auto first = files->holder()->Get();
  WriteFile("ca.crt", testing::TestCa("new").pem());
  EXPECT_TRUE(files->Refresh());
  EXPECT_NE(files->holder()->Get(), first);
}

TEST_F(TlsFilesTest, AMissingFileAtStartIsAnError) {
  auto set = Set();
  set.key_file = folder_ / "absent";
  auto files = TlsFiles::Create(set, clock_);
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message, HasSubstr("absent"));
}

}  // namespace
}  // namespace keelson::net
