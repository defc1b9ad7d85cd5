#include "crypto/pem.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace keelson::crypto {
namespace {

std::filesystem::path FreshFolder() {
  auto path = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::remove_all(path);
  return path;
}

mode_t Mode(const std::string& path) {
  struct stat info{};
  ::stat(path.c_str(), &info);
  return info.st_mode & 0777;
}

TEST(Pem, WritesLinesOfSixtyFour) {
  EXPECT_EQ(EncodePem("X", std::string(49, '\0')),
            "-----BEGIN X-----\n"
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
            "AA==\n"
            "-----END X-----\n");
}

TEST(Pem, ReadsBlocksBetweenOtherText) {
  auto blocks = ParsePem(
      "subject=CN = a\n" + EncodePem("CERTIFICATE", "one") + "garbage -----BEGIN\n\n" +
      "-----BEGIN EC PRIVATE KEY-----\r\nVersion: 1\r\n\r\ndHdv\r\n-----END EC PRIVATE KEY-----");
  ASSERT_TRUE(blocks);
  EXPECT_EQ(*blocks, (std::vector<PemBlock>{{"CERTIFICATE", "one"}, {"EC PRIVATE KEY", "two"}}));
}

TEST(Pem, RefusesDamagedBlocks) {
  for (std::string_view text : {
           "-----BEGIN A-----\nAAAA\n",                   // no end
           "-----BEGIN A-----\nAAAA\n-----END B-----\n",  // another end
           "-----BEGIN A-----\nAA*A\n-----END A-----\n",  // not base64
           "-----BEGIN A-----\n-----BEGIN A-----\nAAAA\n-----END A-----\n",
       }) {
    EXPECT_FALSE(ParsePem(text)) << text;
  }
  auto encrypted = ParsePem(
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n"
      "-----END RSA PRIVATE KEY-----\n");
  ASSERT_FALSE(encrypted);
  EXPECT_EQ(encrypted.error().code, ErrorCode::kUnsupported);
}

TEST(Pem, BoundsSizeAndCount) {
  EXPECT_EQ(ParsePem(std::string(kMaxPemSize + 1, '\n')).error().code, ErrorCode::kTooLarge);
  std::string many;
  for (size_t i = 0; i <= kMaxPemBlocks; ++i) many += EncodePem("A", "");
  EXPECT_EQ(ParsePem(many).error().code, ErrorCode::kTooLarge);
}

TEST(WriteFileAtomically, MakesFoldersAndSetsTheMode) {
  auto folder = FreshFolder();
  auto path = (folder / "deep" / "a.key").string();
  ASSERT_TRUE(WriteFileAtomically(path, "secret", FileAccess::kSecret));
  EXPECT_EQ(Mode(path), 0600u);
  EXPECT_EQ(ReadPemFile(path), std::string("secret"));
  ASSERT_TRUE(WriteFileAtomically(path, "public", FileAccess::kPublic));
  EXPECT_EQ(Mode(path), 0644u);
  EXPECT_EQ(ReadPemFile(path), std::string("public"));
  // No temporary file stays behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "deep"), {}), 1);
}

TEST(WriteFileAtomically, LeavesTheOldFileWhenItFails) {
  auto folder = FreshFolder();
  std::filesystem::create_directories(folder / "target");  // a folder cannot be replaced by a file
  std::ofstream(folder / "target" / "inside") << "x";
  EXPECT_FALSE(WriteFileAtomically((folder / "target").string(), "y", FileAccess::kPublic));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST(ReadPemFile, TellsAMissingFileApart) {
  EXPECT_EQ(ReadPemFile((FreshFolder() / "none").string()).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace keelson::crypto
