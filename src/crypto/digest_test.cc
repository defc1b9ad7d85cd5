#include "crypto/digest.h"

#include <gtest/gtest.h>

#include "crypto/base64.h"

namespace keelson::crypto {
namespace {

TEST(Digest, MatchesPublishedVectors) {
  EXPECT_EQ(HexEncode(Digest(Hash::kSha256, "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexEncode(Digest(Hash::kSha384, "abc")),
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
            "8086072ba1e7cc2358baeca134c825a7");
  EXPECT_EQ(HexEncode(Digest(Hash::kSha512, "abc")),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

// RFC 4231, test case 2.
TEST(Hmac, MatchesPublishedVector) {
  EXPECT_EQ(HexEncode(Hmac(Hash::kSha256, "Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, TakesAnEmptyKey) {
  EXPECT_EQ(HexEncode(Hmac(Hash::kSha256, "", "")),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(ConstantTimeEqual, ComparesContentAndLength) {
  EXPECT_TRUE(ConstantTimeEqual("", ""));
  EXPECT_TRUE(ConstantTimeEqual("secret", "secret"));
  EXPECT_FALSE(ConstantTimeEqual("secret", "secreT"));
  EXPECT_FALSE(ConstantTimeEqual("secret", "secret "));
}

// RFC 4648, section 10.
TEST(Base64, MatchesPublishedVectors) {
  const std::pair<std::string_view, std::string_view> kVectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (auto [bytes, text] : kVectors) {
    EXPECT_EQ(Base64Encode(bytes), text);
    EXPECT_EQ(Base64Decode(text), std::string(bytes));
  }
}

TEST(Base64, UrlFormHasItsOwnAlphabetAndNoPadding) {
  EXPECT_EQ(Base64UrlEncode("\xfb\xff\xfe\xff"), "-__-_w");
  EXPECT_EQ(Base64UrlDecode("-__-_w"), std::string("\xfb\xff\xfe\xff"));
  EXPECT_FALSE(Base64UrlDecode("-__-_w=="));
  EXPECT_FALSE(Base64UrlDecode("+//+/w"));
}

TEST(Base64, RefusesEverySecondSpellingOfTheSameBytes) {
  for (std::string_view text :
       {"Zg", "Zg=", "Zh==", "Zm9=", "Zm 8", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm9v-"}) {
    EXPECT_FALSE(Base64Decode(text)) << text;
  }
  for (std::string_view text : {"Z", "Zh", "Zm9vY"}) EXPECT_FALSE(Base64UrlDecode(text)) << text;
}

}  // namespace
}  // namespace keelson::crypto
