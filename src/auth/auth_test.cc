#include <gtest/gtest.h>

#include "auth/authenticator.h"
#include "auth/authorizer.h"
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

TEST(AuthenticatorUnion, AWrongTokenIsNotAnonymousUnlessAnonymousIsAsked) {
  auto tokens = std::make_shared<TokenTable>();
  tokens->Add("secret", std::make_shared<User>(User{.name = "loopback"}));
  AuthenticatorUnion strict({tokens});
  EXPECT_EQ(strict.TryAuthenticate(WithHeader("Bearer secret"))->user->name, "loopback");
  auto wrong = strict.TryAuthenticate(WithHeader("Bearer secreT"));
  EXPECT_EQ(wrong->user, nullptr);
  EXPECT_TRUE(wrong->error.has_value());
  EXPECT_FALSE(strict.TryAuthenticate(WithHeader(""))->error.has_value());
  AuthenticatorUnion open({tokens, std::make_shared<AnonymousAuthenticator>()});
  EXPECT_TRUE(open.TryAuthenticate(WithHeader(""))->user->IsAnonymous());
}

TEST(TokenFile, NamesUsersAndGroups) {
  auto table = ParseTokenFile("a,alice,1,\"x,y\"\n\nb,bob,2\n");
  ASSERT_TRUE(table.has_value());
  auto alice = (*table)->TryAuthenticate(WithHeader("Bearer a"))->user;
  EXPECT_EQ(*alice,
            (User{.name = "alice", .uid = "1", .groups = {"x", "y", "system:authenticated"}}));
  EXPECT_EQ((*table)->TryAuthenticate(WithHeader("Bearer b"))->user->name, "bob");
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
