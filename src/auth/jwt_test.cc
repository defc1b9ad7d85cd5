#include "auth/jwt.h"

#include <gtest/gtest.h>

#include "crypto/base64.h"
#include "crypto/digest.h"

namespace keelson::auth {
namespace {

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

JwtSigner NewSigner(crypto::KeyKind kind = crypto::KeyKind::kP256) {
  return *JwtSigner::Create(*crypto::PrivateKey::Generate(kind));
}

std::string Token(std::string_view header, std::string_view claims, std::string_view signature) {
  return crypto::Base64UrlEncode(header) + "." + crypto::Base64UrlEncode(claims) + "." +
         crypto::Base64UrlEncode(signature);
}

TEST(Jwt, VerifiesWhatItSigned) {
  for (auto kind : {crypto::KeyKind::kRsa, crypto::KeyKind::kP256, crypto::KeyKind::kP384}) {
    auto signer = NewSigner(kind);
    auto token = *signer.Sign(R"({"iss":"me","aud":["a","b"],"exp":1800000010,"nbf":1.5})");
    auto parsed = ParseJwt(token);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_TRUE(signer.key().Verifies(*parsed));
    EXPECT_EQ(parsed->key_id, signer.key().id);
    EXPECT_EQ(parsed->Text("iss"), "me");
    EXPECT_EQ(parsed->Audiences(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(parsed->Time("nbf"), 1);
    EXPECT_FALSE(CheckTimes(*parsed, kNow).has_value());
  }
}

// The tricks of the trade. None of these may verify, whatever the header says.
TEST(Jwt, ForgedTokensDoNotVerify) {
  auto signer = NewSigner();
  auto rsa = NewSigner(crypto::KeyKind::kRsa);
  const std::string claims = R"({"iss":"me","sub":"root"})";
  auto good = *signer.Sign(claims);
  const auto dot = good.rfind('.');
  const std::string signature = *crypto::Base64UrlDecode(good.substr(dot + 1));
  const auto with_id = [&](std::string_view algorithm) {
    return fmt::format(R"({{"alg":"{}","kid":"{}"}})", algorithm, signer.key().id);
  };
  const std::string forgeries[] = {
      Token(with_id("none"), claims, ""),
      Token(with_id("None"), claims, signature),
      Token(with_id("HS256"), claims,
            crypto::Hmac(
                crypto::Hash::kSha256, signer.key().key.ToPem(),
                crypto::Base64UrlEncode(with_id("HS256")) + "." + crypto::Base64UrlEncode(claims))),
      Token(with_id("RS256"), claims, signature),
      Token(with_id("ES256"), R"({"iss":"me","sub":"other"})", signature),
      Token(with_id("ES256"), claims, ""),
      Token(with_id("ES256"), claims, std::string(64, '\0')),
      Token(with_id("ES256"), claims, signature.substr(0, 63)),
      Token(with_id("ES256"), claims, signature + "x"),
      Token(R"({"kid":"a"})", claims, signature),
      *rsa.Sign(claims),
      *NewSigner().Sign(claims),
  };
  for (const auto& forgery : forgeries) {
    auto parsed = ParseJwt(forgery);
    EXPECT_TRUE(!parsed || !signer.key().Verifies(*parsed)) << forgery;
  }
}

TEST(Jwt, WhatIsNoTokenIsNotParsed) {
  const std::string claims = R"({"iss":"me"})";
  const std::string bad[] = {
      "",
      ".",
      "..",
      "a.b",
      "a.b.c.d",
      Token("[]", claims, "x"),
      Token("{", claims, "x"),
      Token(R"({"alg":"ES256"})", "1", "x"),
      Token(R"({"alg":"ES256","alg":"none"})", claims, "x"),
      Token(R"({"alg":"ES256"})", R"({"sub":"a","sub":"b"})", "x"),
      Token(R"({"alg":"ES256","crit":["b64"],"b64":false})", claims, "x"),
      Token(R"({"alg":"ES256"})", claims, "x") + "=",
      " " + Token(R"({"alg":"ES256"})", claims, "x"),
      std::string(kMaxJwtSize + 1, 'a'),
  };
  for (const auto& text : bad) EXPECT_FALSE(ParseJwt(text).has_value()) << text;
}

TEST(Jwt, KnowsItsTime) {
  auto signer = NewSigner();
  const auto problem = [&](std::string_view claims) {
    auto token = *signer.Sign(claims);
    return CheckTimes(*ParseJwt(token), kNow);
  };
  EXPECT_EQ(problem(R"({"exp":1799999941})"), std::nullopt);  // within the leeway
  EXPECT_EQ(problem(R"({"exp":1799999939})"), JwtTimeProblem::kExpired);
  EXPECT_EQ(problem(R"({"nbf":1800000061})"), JwtTimeProblem::kNotValidYet);
  EXPECT_EQ(problem(R"({"iat":1800000061})"), JwtTimeProblem::kIssuedInTheFuture);
  EXPECT_EQ(problem(R"({"exp":1e300})"), std::nullopt);
}

TEST(Jwks, GoesOutAndComesBack) {
  const JwtKey keys[] = {NewSigner(crypto::KeyKind::kRsa).key(), NewSigner().key()};
  auto text = RenderJwks(keys);
  EXPECT_TRUE(text.starts_with(R"({"keys":[{"use":"sig","kty":"RSA","kid":")"));
  auto read = ParseJwks(text);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].id, keys[i].id);
    EXPECT_EQ((*read)[i].algorithm, keys[i].algorithm);
    EXPECT_EQ((*read)[i].key.ToDer(), keys[i].key.ToDer());
  }
  EXPECT_FALSE(ParseJwks(R"({"keys":[{"kty":"oct","k":"AAAA"}]})").has_value());
  EXPECT_FALSE(ParseJwks("[]").has_value());
}

}  // namespace
}  // namespace keelson::auth
