// Service account and bootstrap tokens: the good ones, and everything else that somebody might try.

#include <gtest/gtest.h>

#include "crypto/base64.h"
#include "kube/access/bootstrap_tokens.h"
#include "kube/access/service_account_tokens.h"
#include "kube/access/testing_access.h"

namespace keelson::kube::access {
namespace {

using testing::TestCluster;

constexpr std::string_view kIssuer = "https://kubernetes.default.svc";

auth::JwtSigner NewSigner() {
  return *auth::JwtSigner::Create(*crypto::PrivateKey::Generate(crypto::KeyKind::kP256));
}

class Stores final : public rest::ObjectStores {
 public:
  explicit Stores(TestCluster& cluster) : cluster_(cluster) {}
  storage::ObjectStore* FindStore(std::string_view, std::string_view resource) const override {
    return cluster_.spec(resource).store;
  }

 private:
  TestCluster& cluster_;
};

class ServiceAccountTokensTest : public ::testing::Test {
 protected:
  ServiceAccountTokensTest()
      : stores_(cluster_),
        signer_(NewSigner()),
        tokens_({.issuers = {std::string(kIssuer)}, .api_audiences = {std::string(kIssuer)}},
                signer_, {signer_.key()}, cluster_.clock()) {
    for (auto plural : {"serviceaccounts", "pods", "secrets", "nodes"}) {
      cluster_.AddResource("", plural);
    }
    cluster_.Put("serviceaccounts", R"({"kind":"ServiceAccount","apiVersion":"v1","metadata":)"
                                    R"({"name":"a","namespace":"n","uid":"u1"}})");
    tokens_.SetStores(&stores_);
  }

  TokenClaims Claims() {
    return {.ns = "n", .account = {"a", "u1"}, .audiences = {std::string(kIssuer)}};
  }
  auth::Authentication Check(const std::string& token, std::vector<std::string> audiences = {}) {
    auto verdict = tokens_.TryToken(token, audiences);
    if (!verdict) verdict = cluster_.Run(tokens_.CheckToken(token, audiences));
    return *std::move(verdict);
  }
  std::string Refusal(const std::string& token) {
    auto verdict = Check(token);
    EXPECT_EQ(verdict.user, nullptr);
    return verdict.error ? verdict.error->message : "";
  }
  int64_t Now() {
    return std::chrono::floor<std::chrono::seconds>(cluster_.clock().WallNow().time_since_epoch())
        .count();
  }

  TestCluster cluster_;
  Stores stores_;
  auth::JwtSigner signer_;
  ServiceAccountTokens tokens_;
};

TEST_F(ServiceAccountTokensTest, LetTheAccountIn) {
  auto verdict = Check(*tokens_.Issue(Claims()));
  ASSERT_NE(verdict.user, nullptr) << verdict.error->message;
  EXPECT_EQ(verdict.user->name, "system:serviceaccount:n:a");
  EXPECT_EQ(verdict.user->uid, "u1");
  EXPECT_EQ(verdict.user->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:n",
                                      "system:authenticated"}));
  EXPECT_TRUE(
      verdict.user->extra.at("authentication.kubernetes.io/credential-id")[0].starts_with("JTI="));
  EXPECT_EQ(verdict.audiences, std::vector<std::string>{std::string(kIssuer)});
}

TEST_F(ServiceAccountTokensTest, EndWithWhatTheyAreBoundTo) {
  cluster_.Put("pods", R"({"kind":"Pod","apiVersion":"v1","metadata":)"
                       R"({"name":"p","namespace":"n","uid":"pu"},"spec":{"nodeName":"node"}})");
  auto claims = Claims();
  claims.pod = BoundObject{"p", "pu"};
  claims.node = BoundObject{"node", "nu"};
  auto token = *tokens_.Issue(claims);
  auto verdict = Check(token);
  ASSERT_NE(verdict.user, nullptr) << verdict.error->message;
  EXPECT_EQ(verdict.user->extra.at("authentication.kubernetes.io/pod-name")[0], "p");
  EXPECT_EQ(verdict.user->extra.at("authentication.kubernetes.io/node-name")[0], "node");
  cluster_.Delete("pods", "n", "p");
  EXPECT_EQ(Refusal(token), "service account token has been invalidated");
  cluster_.Put("pods", R"({"kind":"Pod","apiVersion":"v1","metadata":)"
                       R"({"name":"p","namespace":"n","uid":"other"}})");
  EXPECT_EQ(Refusal(token), "pod UID (other) does not match service account pod ref claim (pu)");
  auto plain = *tokens_.Issue(Claims());
  cluster_.Delete("serviceaccounts", "n", "a");
  EXPECT_EQ(Refusal(plain), "serviceaccounts \"a\" not found");
}

TEST_F(ServiceAccountTokensTest, AreGoodForTheirTimeAndAudienceOnly) {
  auto token = *tokens_.Issue(Claims());
  EXPECT_NE(Check(token, {"other"}).user, Check(token).user);
  EXPECT_EQ(Check(token, {"other"}).error->message,
            "token audiences [\"https://kubernetes.default.svc\"] is invalid for the target "
            "audiences [\"other\"]");
  cluster_.clock().Advance(std::chrono::hours(2));
  EXPECT_EQ(Refusal(token), "service account token has expired");
  auto early = *signer_.Sign(
      fmt::format(R"({{"iss":"{}","nbf":{},"aud":["{}"]}})", kIssuer, Now() + 3600, kIssuer));
  EXPECT_EQ(Refusal(early), "service account token is not valid yet");
}

// Everything here is shaped like a token of ours. None may pass, and no refusal may repeat it.
TEST_F(ServiceAccountTokensTest, ForgeriesAreRefused) {
  auto good = *tokens_.Issue(Claims());
  const auto first = good.find('.');
  const auto second = good.rfind('.');
  const auto claims = good.substr(first + 1, second - first - 1);
  const auto encode = [](std::string_view text) { return crypto::Base64UrlEncode(text); };
  auto stranger = NewSigner();
  const std::string plain_claims = *crypto::Base64UrlDecode(claims);
  const std::string forgeries[] = {
      encode(R"({"alg":"none"})") + "." + claims + ".",
      encode(R"({"alg":"NONE","typ":"JWT"})") + "." + claims + "." + good.substr(second + 1),
      encode(R"({"alg":"HS256"})") + "." + claims + "." +
          encode("0123456789abcdef0123456789abcdef"),
      encode(fmt::format(R"({{"alg":"ES256","kid":"{}"}})", stranger.key().id)) + "." + claims +
          good.substr(second),
      encode(R"({"alg":"ES256","kid":"../../../dev/null"})") + "." + claims + good.substr(second),
      encode(R"({"alg":"ES256","jku":"https://evil/keys"})") + "." + claims + "." +
          encode("signature"),
      *stranger.Sign(plain_claims),
      good.substr(0, good.size() - 4),
      good.substr(0, second),
      good.substr(0, second + 1),
      good.substr(0, first + 1) +
          encode(
              R"({"iss":"https://kubernetes.default.svc","sub":"system:serviceaccount:n:root"})") +
          good.substr(second),
      good + "." + good,
      good + "A",
      good + std::string(auth::kMaxJwtSize, 'A'),
  };
  for (const auto& forgery : forgeries) {
    auto verdict = Check(forgery);
    EXPECT_EQ(verdict.user, nullptr) << forgery;
    if (verdict.error) {
      EXPECT_EQ(verdict.error->message.find(forgery.substr(0, 40)), std::string::npos);
    }
  }
  EXPECT_NE(Check(good).user, nullptr);
}

TEST_F(ServiceAccountTokensTest, ForeignTokensAreSomebodyElsesBusiness) {
  EXPECT_FALSE(Check("opaque").error.has_value());
  EXPECT_FALSE(Check(*signer_.Sign(R"({"iss":"https://other"})")).error.has_value());
}

std::string BootstrapSecret(std::string_view usage, std::string_view expiration,
                            std::string_view groups) {
  const auto encode = [](std::string_view text) { return crypto::Base64Encode(text); };
  return fmt::format(
      R"({{"type":"bootstrap.kubernetes.io/token","metadata":{{"name":"bootstrap-token-abcdef"}},)"
      R"("data":{{"token-id":"{}","token-secret":"{}","usage-bootstrap-authentication":"{}",)"
      R"("expiration":"{}","auth-extra-groups":"{}"}}}})",
      encode("abcdef"), encode("0123456789abcdef"), encode(usage), encode(expiration),
      encode(groups));
}

TEST(BootstrapTokens, LetNodesIntroduceThemselves) {
  const WallTime now{std::chrono::seconds(1'800'000'000)};
  const auto user = [&](std::string_view secret, std::string_view token) {
    return BootstrapUser(value::ParseJson(secret)->root(), token, now);
  };
  const auto good = BootstrapSecret("true", "", "system:bootstrappers:workers");
  const std::string_view token = "abcdef.0123456789abcdef";
  ASSERT_TRUE(user(good, token).has_value());
  EXPECT_EQ(user(good, token)->name, "system:bootstrap:abcdef");
  EXPECT_EQ(user(good, token)->groups,
            (std::vector<std::string>{"system:bootstrappers", "system:bootstrappers:workers",
                                      "system:authenticated"}));
  EXPECT_FALSE(user(good, "abcdef.0123456789abcdeg").has_value());
  EXPECT_FALSE(user(good, "abcdeg.0123456789abcdef").has_value());
  EXPECT_FALSE(user(BootstrapSecret("false", "", ""), token).has_value());
  EXPECT_FALSE(user(BootstrapSecret("true", "2020-01-01T00:00:00Z", ""), token).has_value());
  EXPECT_TRUE(user(BootstrapSecret("true", "2099-01-01T00:00:00Z", ""), token).has_value());
  EXPECT_FALSE(user(BootstrapSecret("true", "soon", ""), token).has_value());
  EXPECT_FALSE(user(BootstrapSecret("true", "", "system:masters"), token).has_value());
}

}  // namespace
}  // namespace keelson::kube::access
