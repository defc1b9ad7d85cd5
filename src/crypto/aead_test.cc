#include "crypto/aead.h"

#include <gtest/gtest.h>

#include "crypto/digest.h"

namespace keelson::crypto {
namespace {

const std::string kNonce(AesGcm::kNonceSize, '\x07');

// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 2.
TEST(AesGcm, MatchesPublishedVector) {
  auto aead = AesGcm::Create(std::string(16, '\0'));
  ASSERT_TRUE(aead);
  EXPECT_EQ(HexEncode(aead->Seal(std::string(12, '\0'), std::string(16, '\0'), "")),
            "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf");
}

TEST(AesGcm, OpensWhatItSealed) {
  for (size_t key_size : {16, 24, 32}) {
    auto aead = AesGcm::Create(std::string(key_size, 'k'));
    ASSERT_TRUE(aead);
    for (std::string_view text : {"", "a secret"}) {
      for (std::string_view additional : {"", "/registry/secrets/a"}) {
        EXPECT_EQ(aead->Open(kNonce, aead->Seal(kNonce, text, additional), additional),
                  std::string(text));
      }
    }
  }
}

TEST(AesGcm, RefusesAnyAlteredBit) {
  auto aead = AesGcm::Create(std::string(32, 'k'));
  const std::string sealed = aead->Seal(kNonce, "a secret", "context");
  for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string altered = sealed;
    altered[bit / 8] = static_cast<char>(altered[bit / 8] ^ (1 << bit % 8));
    auto opened = aead->Open(kNonce, altered, "context");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(aead->Open(kNonce, sealed, "another"));
  EXPECT_FALSE(aead->Open(std::string(12, '\x08'), sealed, "context"));
  EXPECT_FALSE(aead->Open(kNonce, sealed.substr(0, 15), "context"));
  EXPECT_FALSE(aead->Open("short", sealed, "context"));
  EXPECT_FALSE(AesGcm::Create(std::string(32, 'x'))->Open(kNonce, sealed, "context"));
}

TEST(AesGcm, RefusesOtherKeySizes) {
  for (size_t size : {0, 15, 17, 33}) EXPECT_FALSE(AesGcm::Create(std::string(size, 'k')));
}

}  // namespace
}  // namespace keelson::crypto
