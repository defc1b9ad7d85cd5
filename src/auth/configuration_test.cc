#include "auth/configuration.h"

#include <gtest/gtest.h>

#include "auth/abac.h"

namespace keelson::auth {
namespace {

constexpr std::string_view kHead =
    "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";

std::string Refusal(std::string_view rest) {
  auto read = ParseAuthenticationConfiguration(std::string(kHead) + std::string(rest));
  return read ? "" : read.error().message;
}

TEST(AuthenticationConfiguration, NamesProvidersAndWhoIsAnonymous) {
  auto read = ParseAuthenticationConfiguration(std::string(kHead) + R"(
jwt:
- issuer: {url: "https://i", audiences: [a, b], audienceMatchPolicy: MatchAny}
  claimValidationRules: [{claim: hd, requiredValue: x}]
  claimMappings:
    username: {claim: sub, prefix: "p:"}
    groups: {claim: groups, prefix: ""}
anonymous: {enabled: true, conditions: [{path: /healthz}]}
)");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->jwt.size(), 1u);
  EXPECT_EQ(read->jwt[0].options.issuer, "https://i");
  EXPECT_EQ(read->jwt[0].options.username.prefix, "p:");
  EXPECT_EQ(read->jwt[0].options.required_claims.at("hd"), "x");
  EXPECT_EQ(read->anonymous->paths, std::vector<std::string>{"/healthz"});
}

TEST(AuthenticationConfiguration, SaysWhatIsWrong) {
  EXPECT_EQ(Refusal("jwt: [{issuer: {url: \"http://i\", audiences: [a]}}]"),
            "jwt[0].issuer.url: Invalid value: \"http://i\": URL scheme must be https");
  EXPECT_EQ(Refusal("jwt: [{issuer: {url: \"https://i\"}}]"),
            "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is "
            "required");
  EXPECT_EQ(Refusal("jwt: [{issuer: {url: \"https://i\", audiences: [a]}, claimMappings: "
                    "{username: {expression: claims.sub}}}]"),
            "jwt[0].claimMappings.username.expression: CEL expressions are not supported");
  EXPECT_EQ(Refusal("jwts: []"), "configuration: unknown field \"jwts\"");
  EXPECT_EQ(Refusal("anonymous: {enabled: false, conditions: [{path: /}]}"),
            "anonymous.conditions: Invalid value: enabled should be set to true when conditions "
            "are defined");
  EXPECT_FALSE(ParseAuthenticationConfiguration("kind: Pod\napiVersion: v1").has_value());
  EXPECT_FALSE(ParseAuthenticationConfiguration("").has_value());
}

TEST(AuthorizationConfiguration, ListsAuthorizersInOrder) {
  auto read = ParseAuthorizationConfiguration(R"(
apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- {type: Node, name: node}
- type: Webhook
  name: hook
  webhook:
    unauthorizedTTL: 1s
    subjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: /x}
)");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->authorizers.size(), 2u);
  EXPECT_EQ(read->authorizers[1].kubeconfig_file, "/x");
  EXPECT_EQ(read->authorizers[1].webhook.on_failure, Decision::kDeny);
  EXPECT_EQ(read->authorizers[1].webhook.refused_ttl, std::chrono::seconds(1));
}

bool Allowed(std::string_view policies, const User& user, std::string_view verb,
             std::string_view resource, std::string_view path = "") {
  AbacAuthorizer abac(*ParseAbacPolicies(policies));
  return abac.TryAuthorize({.user = std::make_shared<const User>(user),
                            .resource_request = path.empty(),
                            .verb = verb,
                            .path = path,
                            .ns = "n",
                            .resource = resource})
             ->decision == Decision::kAllow;
}

TEST(Abac, AllowsWhatALineSays) {
  const User alice{.name = "alice", .groups = {"system:authenticated"}};
  constexpr std::string_view kPolicies =
      "# readers\n"
      R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy",)"
      R"("spec":{"user":"alice","readonly":true,"namespace":"n","resource":"pods",)"
      R"("apiGroup":"*"}})"
      "\n\n"
      R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy",)"
      R"("spec":{"group":"system:authenticated","nonResourcePath":"/api*"}})"
      "\n";
  EXPECT_TRUE(Allowed(kPolicies, alice, "get", "pods"));
  EXPECT_FALSE(Allowed(kPolicies, alice, "create", "pods"));
  EXPECT_FALSE(Allowed(kPolicies, alice, "get", "secrets"));
  EXPECT_TRUE(Allowed(kPolicies, alice, "get", "", "/apis"));
  EXPECT_FALSE(Allowed(kPolicies, alice, "get", "", "/metrics"));
  EXPECT_FALSE(Allowed(kPolicies, {.name = "bob"}, "get", "pods"));
  EXPECT_TRUE(Allowed(R"({"user":"alice"})", alice, "delete", "secrets"));
  EXPECT_EQ(ParseAbacPolicies("\n{").error().message,
            "error reading policy file, line 2: not a JSON object");
}

}  // namespace
}  // namespace keelson::auth
