#include "crypto/key.h"

#include <gtest/gtest.h>

#include <map>

#include "crypto/base64.h"
#include "crypto/pem.h"

namespace keelson::crypto {
namespace {

using enum SignatureAlgorithm;

// RSA keys are slow to make, so the tests share one.
const PrivateKey& RsaKey() {
  static const auto key = PrivateKey::Generate(KeyKind::kRsa);
  return *key;
}

PrivateKey KeyFor(SignatureAlgorithm algorithm) {
  switch (algorithm) {
    case kEs256:
      return *PrivateKey::Generate(KeyKind::kP256);
    case kEs384:
      return *PrivateKey::Generate(KeyKind::kP384);
    case kEs512:
      return *PrivateKey::Generate(KeyKind::kP521);
    default:
      return RsaKey();
  }
}

class Signature : public ::testing::TestWithParam<SignatureAlgorithm> {};

TEST_P(Signature, VerifiesOnlyItsOwnMessageAndKey) {
  auto key = KeyFor(GetParam());
  auto signature = key.Sign(GetParam(), "header.payload");
  ASSERT_TRUE(signature) << signature.error().message;
  auto public_key = key.Public();
  EXPECT_TRUE(public_key.Verify(GetParam(), "header.payload", *signature));
  EXPECT_FALSE(public_key.Verify(GetParam(), "header.payloaD", *signature));
  std::string altered = *signature;
  altered.back() = static_cast<char>(altered.back() ^ 1);
  EXPECT_FALSE(public_key.Verify(GetParam(), "header.payload", altered));
  EXPECT_FALSE(public_key.Verify(GetParam(), "header.payload", signature->substr(1)));
  EXPECT_FALSE(public_key.Verify(GetParam(), "header.payload", ""));
  EXPECT_FALSE(
      public_key.Verify(GetParam(), "header.payload", std::string(signature->size(), '\0')));
}

TEST_P(Signature, DoesNotVerifyUnderAnotherAlgorithm) {
  auto key = KeyFor(GetParam());
  auto signature = *key.Sign(GetParam(), "m");
  for (auto other : {kRs256, kRs384, kRs512, kPs256, kPs384, kPs512, kEs256, kEs384, kEs512}) {
    if (other != GetParam()) EXPECT_FALSE(key.Public().Verify(other, "m", signature));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Signature,
                         ::testing::Values(kRs256, kRs384, kRs512, kPs256, kPs384, kPs512, kEs256,
                                           kEs384, kEs512),
                         [](const auto& info) {
                           return std::string(SignatureAlgorithmName(info.param));
                         });

TEST(SignatureAlgorithm, NameRoundTrips) {
  EXPECT_EQ(ParseSignatureAlgorithm("PS384"), kPs384);
  EXPECT_FALSE(ParseSignatureAlgorithm("none"));
  EXPECT_FALSE(ParseSignatureAlgorithm("HS256"));
  EXPECT_FALSE(ParseSignatureAlgorithm("es256"));
}

// RFC 7515, appendix A.3: a key, a message and a signature made elsewhere.
TEST(PublicKey, VerifiesTheJwsExample) {
  auto x = *Base64UrlDecode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU");
  auto y = *Base64UrlDecode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
  // SubjectPublicKeyInfo of an uncompressed P-256 point.
  std::string der(
      "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d"
      "\x03\x01\x07\x03\x42\x00\x04",
      27);
  auto key = PublicKey::FromDer(der + x + y);
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key->kind(), KeyKind::kP256);
  EXPECT_EQ(key->Numbers().x, x);
  EXPECT_EQ(key->Numbers().y, y);
  EXPECT_TRUE(key->Verify(
      kEs256,
      "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxl"
      "LmNvbS9pc19yb290Ijp0cnVlfQ",
      *Base64UrlDecode(
          "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqP"
          "P3-Kg6NU1Q")));
}

TEST(PrivateKey, RoundTripsThroughPem) {
  for (auto kind : {KeyKind::kP256, KeyKind::kP384, KeyKind::kP521, KeyKind::kEd25519}) {
    auto key = *PrivateKey::Generate(kind);
    auto copy = PrivateKey::FromPem(key.ToPem());
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->kind(), kind);
    EXPECT_EQ(copy->Public().ToDer(), key.Public().ToDer());
  }
  EXPECT_EQ(PrivateKey::FromPem(RsaKey().ToPem())->Public().ToDer(), RsaKey().Public().ToDer());
}

TEST(PrivateKey, RefusesAlgorithmsOfOtherKeys) {
  EXPECT_FALSE(RsaKey().Sign(kEs256, "m"));
  EXPECT_FALSE(PrivateKey::Generate(KeyKind::kP256)->Sign(kEs384, "m"));
  EXPECT_FALSE(PrivateKey::Generate(KeyKind::kP256)->Sign(kRs256, "m"));
  EXPECT_FALSE(PrivateKey::Generate(KeyKind::kRsa, 1024));
}

TEST(PrivateKey, TellsMissingFromMalformed) {
  EXPECT_EQ(PrivateKey::FromPem("").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(PrivateKey::FromPem(EncodePem("CERTIFICATE", "x")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(PrivateKey::FromPem(EncodePem("PRIVATE KEY", "x")).error().code, ErrorCode::kInvalid);
}

TEST(PublicKeysFromPem, TakesEveryKindOfBlockInOrder) {
  auto first = *PrivateKey::Generate(KeyKind::kP256);
  auto second = *PrivateKey::Generate(KeyKind::kP384);
  auto keys = PublicKeysFromPem(first.Public().ToPem() + EncodePem("DH PARAMETERS", "x") +
                                second.ToPem() + RsaKey().Public().ToPem());
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->size(), 3u);
  EXPECT_EQ((*keys)[0].ToDer(), first.Public().ToDer());
  EXPECT_EQ((*keys)[1].ToDer(), second.Public().ToDer());
  EXPECT_EQ((*keys)[2].Numbers().e, std::string("\x01\x00\x01", 3));
  EXPECT_EQ(PublicKeysFromPem("").error().code, ErrorCode::kNotFound);
}

TEST(PublicKey, ComesBackFromItsNumbers) {
  for (auto kind : {KeyKind::kRsa, KeyKind::kP256, KeyKind::kP384, KeyKind::kP521}) {
    auto key = PrivateKey::Generate(kind)->Public();
    auto again = PublicKey::FromNumbers(kind, key.Numbers());
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->ToDer(), key.ToDer());
  }
  KeyNumbers off_curve{.x = std::string(32, '\1'), .y = std::string(32, '\1')};
  EXPECT_FALSE(PublicKey::FromNumbers(KeyKind::kP256, off_curve).has_value());
  EXPECT_FALSE(PublicKey::FromNumbers(KeyKind::kRsa, {.n = "short", .e = "\3"}).has_value());
}

}  // namespace
}  // namespace keelson::crypto
