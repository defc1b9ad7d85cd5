#include <gtest/gtest.h>

#include "auth/authenticator.h"
#include "auth/authorizer.h"
#include "auth/token.h"
#include "auth/token_file.h"

namespace keelson::auth {
namespace {

http::Request WithHeader(std::string_view value) {
  http::Request request;
  if (!value.empty()) request.headers.Add("authorization", value);
  return request;
}

TEST(BearerToken, IsTakenAsUpstreamTakesIt) {
  EXPECT_EQ(BearerToken(WithHeader("Bearer abc")), "abc");
  EXPECT_EQ(BearerToken(WithHeader(" bEaReR abc ")), "abc");
  EXPECT_EQ(BearerToken(WithHeader("Bearer abc def")), "abc");
  EXPECT_EQ(BearerToken(WithHeader("Bearer ")), std::nullopt);
  EXPECT_EQ(BearerToken(WithHeader("Basic abc")), std::nullopt);
  EXPECT_EQ(BearerToken(WithHeader("")), std::nullopt);
}

TEST(AuthenticatorUnion, AWrongTokenIsNotAnonymous) {
  auto tokens = std::make_shared<TokenTable>();
  tokens->Add("secret", std::make_shared<User>(User{.name = "loopback"}));
  auto bearer = std::make_shared<BearerAuthenticator>(tokens, std::vector<std::string>());
  AuthenticatorUnion strict({bearer});
  EXPECT_EQ(strict.TryAuthenticate(WithHeader("Bearer secret"))->user->name, "loopback");
  EXPECT_FALSE(strict.TryAuthenticate(WithHeader(""))->error.has_value());
  AuthenticatorUnion open({bearer}, std::make_shared<AnonymousAuthenticator>());
  EXPECT_TRUE(open.TryAuthenticate(WithHeader(""))->user->IsAnonymous());
  auto wrong = open.TryAuthenticate(WithHeader("Bearer secreT"));
  EXPECT_EQ(wrong->user, nullptr);
  EXPECT_EQ(wrong->error->message, "invalid bearer token");
}

TEST(AnonymousAuthenticator, MayBeLimitedToPaths) {
  AnonymousAuthenticator anonymous({"/healthz"});
  http::Request request;
  request.path = "/healthz";
  EXPECT_NE(anonymous.TryAuthenticate(request)->user, nullptr);
  request.path = "/api";
  EXPECT_EQ(anonymous.TryAuthenticate(request)->user, nullptr);
}

TEST(BearerAuthenticator, TakesTheTokenOfAWebSocket) {
  auto tokens = std::make_shared<TokenTable>();
  tokens->Add("secret", std::make_shared<User>(User{.name = "browser"}));
  BearerAuthenticator bearer(tokens, {});
  http::Request request;
  request.headers.Add("upgrade", "websocket");
  request.headers.Add("sec-websocket-protocol",
                      "v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0");
  EXPECT_EQ(bearer.TryAuthenticate(request)->user->name, "browser");
}

// Counts how often it is asked.
class Counting final : public TokenAuthenticator {
 public:
  std::optional<Authentication> TryToken(std::string_view token,
                                         std::span<const std::string>) override {
    ++asked;
    if (token != "good") return Authentication{};
    return Authentication{.user = std::make_shared<User>(User{.name = "u"})};
  }
  int asked = 0;
};

TEST(BearerAuthenticator, BelievesAConnectionForAMoment) {
  auto tokens = std::make_shared<Counting>();
  BearerAuthenticator bearer(tokens, {});
  http::ConnectionInfo connection;
  auto request = WithHeader("Bearer good");
  request.connection = &connection;
  for (int i = 0; i < 3; ++i) EXPECT_NE(bearer.TryAuthenticate(request)->user, nullptr);
  EXPECT_EQ(tokens->asked, 1);
  request.received += BearerAuthenticator::kTrust;
  EXPECT_NE(bearer.TryAuthenticate(request)->user, nullptr);
  EXPECT_EQ(tokens->asked, 2);
  auto other = WithHeader("Bearer gooe");
  other.connection = &connection;
  EXPECT_EQ(bearer.TryAuthenticate(other)->user, nullptr);
}

TEST(TokenCache, RemembersForAWhileAndPerAudience) {
  FakeClock clock;
  auto inner = std::make_shared<Counting>();
  TokenCache cache(inner, clock, std::chrono::seconds(10));
  const std::vector<std::string> audience{"a"};
  EXPECT_NE(cache.TryToken("good", {})->user, nullptr);
  EXPECT_NE(cache.TryToken("good", {})->user, nullptr);
  EXPECT_EQ(inner->asked, 1);
  EXPECT_NE(cache.TryToken("good", audience)->user, nullptr);
  EXPECT_EQ(inner->asked, 2);
  clock.Advance(std::chrono::seconds(11));
  EXPECT_NE(cache.TryToken("good", {})->user, nullptr);
  EXPECT_EQ(inner->asked, 3);
  // What is not known is asked every time.
  cache.TryToken("bad", {});
  cache.TryToken("bad", {});
  EXPECT_EQ(inner->asked, 5);
}

TEST(TokenFile, NamesUsersAndGroups) {
  auto table = ParseTokenFile("a,alice,1,\"x,y\"\n\nb,bob,2\n");
  ASSERT_TRUE(table.has_value());
  auto alice = (*table)->TryToken("a", {})->user;
  EXPECT_EQ(*alice,
            (User{.name = "alice", .uid = "1", .groups = {"x", "y", "system:authenticated"}}));
  EXPECT_EQ((*table)->TryToken("b", {})->user->name, "bob");
  EXPECT_EQ(ParseTokenFile("a,b\n").error().message,
            "token file must have at least 3 columns (token, user name, user uid), found 2");
  EXPECT_FALSE(ReadTokenFile("/nonexistent").has_value());
}

TEST(AuthorizerUnion, FirstOpinionDecides) {
  auto masters = std::make_shared<PrivilegedGroup>();
  AuthorizerUnion both({masters, std::make_shared<AlwaysDeny>()});
  Attributes attributes;
  attributes.user = std::make_shared<User>(User{.groups = {"system:masters"}});
  EXPECT_EQ(both.TryAuthorize(attributes)->decision, Decision::kAllow);
  attributes.user = std::make_shared<User>(User{.groups = {"devs"}});
  auto refused = both.TryAuthorize(attributes);
  EXPECT_EQ(refused->decision, Decision::kNoOpinion);
  EXPECT_EQ(refused->reason, "Everything is forbidden.");
}

}  // namespace
}  // namespace keelson::auth
