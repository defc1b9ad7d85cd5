// Identity providers and webhooks, answered by a web of our own.

#include <gtest/gtest.h>

#include <map>

#include "auth/oidc.h"
#include "auth/webhook_authorizer.h"
#include "auth/webhook_tokens.h"
#include "base/gate.h"

namespace keelson::auth {
namespace {

// Answers by URL, and remembers what it was asked.
class FakeWeb final : public WebClient {
 public:
  Task<Result<WebAnswer>> Call(WebRequest request) override {
    asked.push_back(request.url + " " + request.body);
    auto found = answers.find(request.url);
    if (found == answers.end()) co_return Fail(ErrorCode::kUnavailable, "nobody there");
    co_return found->second;
  }
  std::map<std::string, WebAnswer> answers;
  std::vector<std::string> asked;
};

template <typename T>
T Await(FakeClock& clock, Task<T> task) {
  ManualExecutor executor;
  std::optional<T> result;
  const auto keep = [](Task<T> inner, std::optional<T>* out) -> Task<void> {
    out->emplace(co_await std::move(inner));
  };
  Gate gate;
  gate.Spawn(&executor, keep(std::move(task), &result));
  for (executor.RunUntilIdle(); !result;) {
    clock.Advance(std::chrono::milliseconds(250), [&] { executor.RunUntilIdle(); });
  }
  gate.CloseAndWait();
  return *std::move(result);
}

class OidcTest : public ::testing::Test {
 protected:
  OidcTest()
      : signer_(NewSigner()),
        tokens_({.issuer = "https://i",
                 .audiences = {"client"},
                 .username = {"email", "oidc:"},
                 .groups = ClaimMapping{"groups", "g:"},
                 .signing_algorithms = {"ES256"}},
                web_, clock_) {
    web_->answers["https://i/.well-known/openid-configuration"] = {
        200, R"({"issuer":"https://i","jwks_uri":"https://i/keys"})"};
    web_->answers["https://i/keys"] = {200, RenderJwks({&signer_.key(), 1})};
  }
  static JwtSigner NewSigner() {
    return *JwtSigner::Create(*crypto::PrivateKey::Generate(crypto::KeyKind::kP256));
  }
  std::string Claims(std::string_view more = "", std::string_view audience = "client") {
    const auto now =
        std::chrono::floor<std::chrono::seconds>(clock_.WallNow().time_since_epoch()).count();
    return fmt::format(R"({{"iss":"https://i","aud":"{}","exp":{},"email":"a@b"{}}})", audience,
                       now + 60, more);
  }
  Authentication Check(const std::string& token) {
    auto verdict = tokens_.TryToken(token, {});
    if (verdict) return *verdict;
    return Await(clock_, tokens_.CheckToken(token, {}));
  }
  std::string Refusal(const std::string& token) {
    auto verdict = Check(token);
    EXPECT_EQ(verdict.user, nullptr);
    return verdict.error ? verdict.error->message : "";
  }

  FakeClock clock_;
  std::shared_ptr<FakeWeb> web_ = std::make_shared<FakeWeb>();
  JwtSigner signer_;
  OidcTokens tokens_;
};

TEST_F(OidcTest, FetchesKeysOnceAndMapsClaims) {
  auto token = *signer_.Sign(Claims(R"(,"groups":["x","y"],"email_verified":true)"));
  auto verdict = Check(token);
  ASSERT_NE(verdict.user, nullptr) << verdict.error->message;
  EXPECT_EQ(verdict.user->name, "oidc:a@b");
  EXPECT_EQ(verdict.user->groups, (std::vector<std::string>{"g:x", "g:y", "system:authenticated"}));
  Check(token);
  EXPECT_EQ(web_->asked.size(), 2u);
}

TEST_F(OidcTest, FollowsNewKeysButNotTooOften) {
  Check(*signer_.Sign(Claims()));
  auto next = NewSigner();
  const JwtKey keys[] = {signer_.key(), next.key()};
  web_->answers["https://i/keys"] = {200, RenderJwks(keys)};
  EXPECT_EQ(Refusal(*next.Sign(Claims())), "oidc: failed to verify id token signature");
  EXPECT_EQ(web_->asked.size(), 2u);
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_NE(Check(*next.Sign(Claims())).user, nullptr);
}

TEST_F(OidcTest, RefusesWhatIsNotForUs) {
  EXPECT_EQ(Refusal(*signer_.Sign(Claims("", "other"))),
            "oidc: expected audience was not found in the token");
  EXPECT_EQ(Refusal(*signer_.Sign(Claims(R"(,"email_verified":false)"))),
            "oidc: email not verified");
  EXPECT_EQ(Refusal(*signer_.Sign(R"({"iss":"https://i","aud":"client","email":"a@b"})")),
            "oidc: the token has no expiry");
  EXPECT_EQ(Refusal(*signer_.Sign(R"({"iss":"https://i","aud":"client","exp":1,"email":"a@b"})")),
            "oidc: verify token: token is expired");
  auto rsa = *JwtSigner::Create(*crypto::PrivateKey::Generate(crypto::KeyKind::kRsa));
  EXPECT_EQ(Refusal(*rsa.Sign(Claims())),
            "oidc: the token is signed in a way that is not accepted");
  EXPECT_EQ(Refusal(*NewSigner().Sign(Claims())), "oidc: failed to verify id token signature");
  EXPECT_EQ(Refusal(*signer_.Sign(R"({"iss":"https://other"})")), "");
}

TEST_F(OidcTest, DoesNotBelieveADocumentOfSomebodyElse) {
  web_->answers["https://i/.well-known/openid-configuration"].body =
      R"({"issuer":"https://evil","jwks_uri":"https://evil/keys"})";
  EXPECT_EQ(Refusal(*signer_.Sign(Claims())),
            "oidc: authenticator not initialized: issuer did not match the issuer returned by "
            "provider, expected \"https://i\" got \"https://evil\"");
}

TEST(WebhookTokens, AsksAndBelieves) {
  FakeClock clock;
  auto web = std::make_shared<FakeWeb>();
  WebhookTokens tokens(web, "https://h", "v1", {"us"}, clock);
  web->answers["https://h"] = {
      200, R"({"status":{"authenticated":true,"user":{"username":"u","groups":["g"],)"
           R"("extra":{"k":["v"]}}}})"};
  const std::vector<std::string> audiences{"us"};
  auto verdict = Await(clock, tokens.CheckToken("secret", audiences));
  ASSERT_NE(verdict.user, nullptr);
  EXPECT_EQ(*verdict.user,
            (User{.name = "u", .groups = {"g", "system:authenticated"}, .extra = {{"k", {"v"}}}}));
  EXPECT_EQ(web->asked[0],
            R"(https://h {"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1",)"
            R"("metadata":{"creationTimestamp":null},"spec":{"token":"secret",)"
            R"("audiences":["us"]},"status":{"user":{}}})");
  web->answers["https://h"] = {200, R"({"status":{"authenticated":false,"error":"no"}})"};
  EXPECT_EQ(Await(clock, tokens.CheckToken("other", {})).error->message, "no");
  web->answers.clear();
  web->asked.clear();
  auto failed = Await(clock, tokens.CheckToken("secret", {}));
  EXPECT_EQ(failed.error->message, "nobody there");
  EXPECT_EQ(web->asked.size(), 5u);
}

TEST(WebhookAuthorizer, AsksOnceAndFailsAsItIsTold) {
  FakeClock clock;
  auto web = std::make_shared<FakeWeb>();
  WebhookAuthorizer authorizer(web, {.url = "https://h", .on_failure = Decision::kDeny}, clock);
  const Attributes attributes{
      .user = std::make_shared<const User>(User{.name = "u", .groups = {"g"}}),
      .resource_request = true,
      .verb = "list",
      .group = "apps",
      .version = "v1",
      .ns = "n",
      .resource = "deployments",
      .field_selector = "metadata.name=x",
      .label_selector = "a in (b,c),!d"};
  EXPECT_EQ(ReviewSpec(attributes, "v1"),
            R"({"resourceAttributes":{"namespace":"n","verb":"list","group":"apps",)"
            R"("version":"v1","resource":"deployments","fieldSelector":{"requirements":)"
            R"([{"key":"metadata.name","operator":"In","values":["x"]}]},"labelSelector":)"
            R"({"requirements":[{"key":"a","operator":"In","values":["b","c"]},)"
            R"({"key":"d","operator":"DoesNotExist"}]}},"user":"u","groups":["g"]})");
  web->answers["https://h"] = {201, R"({"status":{"allowed":true,"reason":"because"}})"};
  EXPECT_FALSE(authorizer.TryAuthorize(attributes).has_value());
  EXPECT_EQ(Await(clock, authorizer.Authorize(attributes)).decision, Decision::kAllow);
  EXPECT_EQ(authorizer.TryAuthorize(attributes)->reason, "because");
  EXPECT_EQ(web->asked.size(), 1u);
  clock.Advance(std::chrono::minutes(6));
  web->answers["https://h"] = {200, R"({"status":{"allowed":true,"denied":true}})"};
  EXPECT_EQ(Await(clock, authorizer.Authorize(attributes)).decision, Decision::kDeny);
}

}  // namespace
}  // namespace keelson::auth
