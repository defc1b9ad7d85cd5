#include "crypto/cipher.h"

#include <gtest/gtest.h>

#include "crypto/digest.h"

namespace keelson::crypto {
namespace {

std::string Bytes(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// NIST SP 800-38A, F.2.1, the first block.
TEST(AesCbc, MatchesThePublishedExample) {
  auto cipher = AesCbc::Create(Bytes("2b7e151628aed2a6abf7158809cf4f3c")).value();
  auto iv = Bytes("000102030405060708090a0b0c0d0e0f");
  auto text = Bytes("6bc1bee22e409f96e93d7e117393172a");
  auto sealed = cipher.Encrypt(iv, text);
  EXPECT_EQ(HexEncode(sealed).substr(0, 32), "7649abac8119b246cee98e9b12e9197d");
  EXPECT_EQ(sealed.size(), 32u);  // a whole block of padding
  EXPECT_EQ(cipher.Decrypt(iv, sealed), text);
  EXPECT_FALSE(cipher.Decrypt(iv, sealed.substr(0, 16)));
  EXPECT_FALSE(cipher.Decrypt(iv, sealed.substr(0, 17)));
  EXPECT_FALSE(cipher.Decrypt(iv, ""));
  EXPECT_FALSE(AesCbc::Create("short"));
}

// The example of NaCl's own documentation.
TEST(SecretBox, MatchesThePublishedExample) {
  auto box =
      SecretBox::Create(Bytes("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389"))
          .value();
  auto nonce = Bytes("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37");
  auto text = Bytes(
      "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c"
      "61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f"
      "21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705");
  auto sealed = box.Seal(nonce, text);
  EXPECT_EQ(
      HexEncode(sealed),
      "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c5"
      "31a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8a"
      "b932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622"
      "a43d14a6599b1f654cb45a74e355a5");
  EXPECT_EQ(box.Open(nonce, sealed), text);
  for (size_t i : {0u, 15u, 16u, 100u}) {
    auto altered = sealed;
    altered[i] ^= 1;
    EXPECT_FALSE(box.Open(nonce, altered));
  }
  EXPECT_FALSE(box.Open(nonce, "short"));
  EXPECT_FALSE(SecretBox::Create("short"));
}

}  // namespace
}  // namespace keelson::crypto
