#include "auth/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "base/duration.h"
#include "base/quote.h"
#include "value/yaml.h"

namespace keelson::auth {
namespace {

using value::Value;

constexpr size_t kMaxAuthenticators = 64;

// Reads one object, complaining of members that nobody asked for.
class Reader {
 public:
  Reader(Value object, std::string path) : object_(object), path_(std::move(path)) {}

  Result<void> Only(std::initializer_list<std::string_view> known) const {
    if (!object_.is_object()) return Fail(ErrorCode::kInvalid, "{}: must be an object", path_);
    for (const auto& member : object_.members()) {
      if (std::ranges::find(known, member.key()) == known.end()) {
        return Fail(ErrorCode::kInvalid, "{}: unknown field {}", path_, Quote(member.key()));
      }
    }
    return {};
  }
  // Expressions would be understood by upstream.
  Result<void> RefuseExpressions(std::initializer_list<std::string_view> names) const {
    for (auto name : names) {
      const auto value = object_[name];
      const bool given = !value.is_null() && !(value.is_list() && value.items().empty()) &&
                         !(value.is_string() && value.AsString().empty());
      if (given) {
        return Fail(ErrorCode::kUnsupported, "{}.{}: CEL expressions are not supported", path_,
                    name);
      }
    }
    return {};
  }
  Result<std::string> Text(std::string_view name) const {
    const auto value = object_[name];
    if (!value.is_null() && !value.is_string()) {
      return Fail(ErrorCode::kInvalid, "{}.{}: must be a string", path_, name);
    }
    return std::string(value.AsString());
  }
  Result<std::string> Required(std::string_view name) const {
    TRY(auto text, Text(name));
    if (text.empty()) return Fail(ErrorCode::kInvalid, "{}.{}: Required value", path_, name);
    return text;
  }
  Result<std::vector<std::string>> Texts(std::string_view name) const {
    std::vector<std::string> texts;
    for (const auto& item : object_[name].items()) {
      if (!item.is_string()) {
        return Fail(ErrorCode::kInvalid, "{}.{}: must be a list of strings", path_, name);
      }
      texts.emplace_back(item.AsString());
    }
    return texts;
  }
  Result<Duration> Time(std::string_view name, Duration unset) const {
    TRY(auto text, Text(name));
    if (text.empty()) return unset;
    auto read = ParseDuration(text);
    if (!read) return Fail(ErrorCode::kInvalid, "{}.{}: {}", path_, name, read.error().message);
    return *read;
  }
  Reader Part(std::string_view name) const {
    return Reader(object_[name], path_ + "." + std::string(name));
  }
  Value operator[](std::string_view name) const { return object_[name]; }
  const std::string& path() const { return path_; }

 private:
  Value object_;
  std::string path_;
};

Result<value::Document> ParseKind(std::string_view text, std::string_view kind) {
  TRY(auto parsed, value::ParseYaml(text));
  const auto version = parsed.root()["apiVersion"].AsString();
  const bool known = version == "apiserver.config.k8s.io/v1" ||
                     version == "apiserver.config.k8s.io/v1beta1" ||
                     version == "apiserver.config.k8s.io/v1alpha1";
  if (!known || parsed.root()["kind"].AsString() != kind) {
    return Fail(ErrorCode::kInvalid,
                "expected kind {} of apiserver.config.k8s.io/v1, found {} of {}", kind,
                Quote(parsed.root()["kind"].AsString()), Quote(version));
  }
  return parsed;
}

Result<ClaimMapping> ReadMapping(const Reader& reader) {
  TRY_VOID(reader.Only({"claim", "prefix", "expression"}));
  TRY_VOID(reader.RefuseExpressions({"expression"}));
  ClaimMapping mapping;
  TRY(mapping.claim, reader.Required("claim"));
  if (!reader["prefix"].is_string()) {
    return Fail(ErrorCode::kInvalid,
                "{}.prefix: Required value: prefix is required when claim is set. It can be set to "
                "an empty string to disable prefixing",
                reader.path());
  }
  TRY(mapping.prefix, reader.Text("prefix"));
  return mapping;
}

Result<void> ReadIssuer(const Reader& reader, JwtAuthenticatorConfiguration& jwt) {
  TRY_VOID(reader.Only({"url", "discoveryURL", "certificateAuthority", "audiences",
                        "audienceMatchPolicy", "egressSelectorType"}));
  auto& options = jwt.options;
  TRY(options.issuer, reader.Required("url"));
  TRY(options.discovery_url, reader.Text("discoveryURL"));
  for (const auto& url : {options.issuer, options.discovery_url}) {
    if (!url.empty() && !url.starts_with("https://")) {
      return Fail(ErrorCode::kInvalid, "{}.url: Invalid value: {}: URL scheme must be https",
                  reader.path(), Quote(url));
    }
  }
  TRY(jwt.ca_pem, reader.Text("certificateAuthority"));
  TRY(options.audiences, reader.Texts("audiences"));
  if (options.audiences.empty()) {
    return Fail(ErrorCode::kInvalid,
                "{}.audiences: Required value: at least one {}.audiences is required",
                reader.path(), reader.path());
  }
  TRY(auto policy, reader.Text("audienceMatchPolicy"));
  if ((!policy.empty() && policy != "MatchAny") ||
      (options.audiences.size() > 1 && policy != "MatchAny")) {
    return Fail(ErrorCode::kInvalid,
                "{}.audienceMatchPolicy: Invalid value: {}: audienceMatchPolicy must be MatchAny "
                "for multiple audiences",
                reader.path(), Quote(policy));
  }
  return {};
}

Result<void> ReadClaimMappings(const Reader& reader, OidcOptions& options) {
  TRY_VOID(reader.Only({"username", "groups", "uid", "extra"}));
  TRY_VOID(reader.RefuseExpressions({"extra"}));
  TRY(options.username, ReadMapping(reader.Part("username")));
  if (reader["groups"].is_object()) {
    TRY(options.groups, ReadMapping(reader.Part("groups")));
  }
  if (reader["uid"].is_object()) {
    const auto uid = reader.Part("uid");
    TRY_VOID(uid.Only({"claim", "expression"}));
    TRY_VOID(uid.RefuseExpressions({"expression"}));
    TRY(options.uid_claim, uid.Required("claim"));
  }
  return {};
}

Result<void> ReadClaimRules(const Value& rules, const std::string& path, OidcOptions& options) {
  size_t index = 0;
  for (const auto& rule : rules.items()) {
    const Reader reader(rule, fmt::format("{}[{}]", path, index++));
    TRY_VOID(reader.Only({"claim", "requiredValue", "expression", "message"}));
    TRY_VOID(reader.RefuseExpressions({"expression"}));
    TRY(auto claim, reader.Required("claim"));
    TRY(auto value, reader.Text("requiredValue"));
    if (!options.required_claims.emplace(claim, value).second) {
      return Fail(ErrorCode::kInvalid, "{}.claim: Duplicate value: {}", reader.path(),
                  Quote(claim));
    }
  }
  return {};
}

Result<JwtAuthenticatorConfiguration> ReadJwtAuthenticator(const Reader& reader) {
  TRY_VOID(reader.Only({"issuer", "claimValidationRules", "claimMappings", "userValidationRules"}));
  TRY_VOID(reader.RefuseExpressions({"userValidationRules"}));
  JwtAuthenticatorConfiguration jwt;
  // What a structured configuration accepts is not limited to RS256.
  jwt.options.signing_algorithms = {"RS256", "RS384", "RS512", "ES256", "ES384",
                                    "ES512", "PS256", "PS384", "PS512"};
  TRY_VOID(ReadIssuer(reader.Part("issuer"), jwt));
  TRY_VOID(ReadClaimRules(reader["claimValidationRules"], reader.path() + ".claimValidationRules",
                          jwt.options));
  TRY_VOID(ReadClaimMappings(reader.Part("claimMappings"), jwt.options));
  return jwt;
}

Result<AnonymousConfiguration> ReadAnonymous(const Reader& reader) {
  TRY_VOID(reader.Only({"enabled", "conditions"}));
  AnonymousConfiguration anonymous{.enabled = reader["enabled"].AsBool()};
  size_t index = 0;
  for (const auto& item : reader["conditions"].items()) {
    const Reader condition(item, fmt::format("{}.conditions[{}]", reader.path(), index++));
    TRY_VOID(condition.Only({"path"}));
    TRY(auto path, condition.Required("path"));
    anonymous.paths.push_back(std::move(path));
  }
  if (!anonymous.enabled && !anonymous.paths.empty()) {
    return Fail(ErrorCode::kInvalid,
                "{}.conditions: Invalid value: enabled should be set to true when conditions are "
                "defined",
                reader.path());
  }
  return anonymous;
}

Result<void> ReadWebhook(const Reader& reader, AuthorizerConfiguration& authorizer) {
  TRY_VOID(reader.Only({"authorizedTTL", "cacheAuthorizedRequests", "unauthorizedTTL",
                        "cacheUnauthorizedRequests", "timeout", "subjectAccessReviewVersion",
                        "matchConditionSubjectAccessReviewVersion", "failurePolicy",
                        "connectionInfo", "matchConditions"}));
  TRY_VOID(reader.RefuseExpressions({"matchConditions"}));
  auto& webhook = authorizer.webhook;
  TRY(webhook.allowed_ttl, reader.Time("authorizedTTL", std::chrono::minutes(5)));
  TRY(webhook.refused_ttl, reader.Time("unauthorizedTTL", std::chrono::seconds(30)));
  TRY(webhook.timeout, reader.Time("timeout", std::chrono::seconds(30)));
  TRY(webhook.version, reader.Required("subjectAccessReviewVersion"));
  if (webhook.version != "v1" && webhook.version != "v1beta1") {
    return Fail(ErrorCode::kInvalid,
                "{}.subjectAccessReviewVersion: Unsupported value: {}: supported values: \"v1\", "
                "\"v1beta1\"",
                reader.path(), Quote(webhook.version));
  }
  TRY(auto policy, reader.Required("failurePolicy"));
  if (policy != "Deny" && policy != "NoOpinion") {
    return Fail(ErrorCode::kInvalid,
                "{}.failurePolicy: Unsupported value: {}: supported values: \"Deny\", "
                "\"NoOpinion\"",
                reader.path(), Quote(policy));
  }
  webhook.on_failure = policy == "Deny" ? Decision::kDeny : Decision::kNoOpinion;
  const auto info = reader.Part("connectionInfo");
  TRY_VOID(info.Only({"type", "kubeConfigFile"}));
  TRY(auto type, info.Required("type"));
  if (type != "KubeConfigFile") {
    return Fail(ErrorCode::kUnsupported, "{}.type: {} is not supported", info.path(), Quote(type));
  }
  TRY(authorizer.kubeconfig_file, info.Required("kubeConfigFile"));
  return {};
}

}  // namespace

Result<AuthenticationConfiguration> ParseAuthenticationConfiguration(std::string_view text) {
  TRY(auto parsed, ParseKind(text, "AuthenticationConfiguration"));
  const Reader root(parsed.root(), "configuration");
  TRY_VOID(root.Only({"apiVersion", "kind", "jwt", "anonymous"}));
  if (root["jwt"].items().size() > kMaxAuthenticators) {
    return Fail(ErrorCode::kTooLarge, "jwt: Too many: must have at most {} items",
                kMaxAuthenticators);
  }
  AuthenticationConfiguration configuration;
  std::set<std::string> issuers;
  size_t index = 0;
  for (const auto& item : root["jwt"].items()) {
    TRY(auto jwt, ReadJwtAuthenticator(Reader(item, fmt::format("jwt[{}]", index))));
    if (!issuers.insert(jwt.options.issuer).second) {
      return Fail(ErrorCode::kInvalid, "jwt[{}].issuer.url: Duplicate value: {}", index,
                  Quote(jwt.options.issuer));
    }
    configuration.jwt.push_back(std::move(jwt));
    ++index;
  }
  if (root["anonymous"].is_object()) {
    TRY(configuration.anonymous, ReadAnonymous(Reader(root["anonymous"], "anonymous")));
  }
  return configuration;
}

Result<AuthorizationConfiguration> ParseAuthorizationConfiguration(std::string_view text) {
  static constexpr std::string_view kTypes[] = {"Node",    "RBAC",        "ABAC",
                                                "Webhook", "AlwaysAllow", "AlwaysDeny"};
  TRY(auto parsed, ParseKind(text, "AuthorizationConfiguration"));
  const Reader root(parsed.root(), "configuration");
  TRY_VOID(root.Only({"apiVersion", "kind", "authorizers"}));
  AuthorizationConfiguration configuration;
  std::set<std::string> names;
  std::set<std::string> types;
  size_t index = 0;
  for (const auto& item : root["authorizers"].items()) {
    const Reader reader(item, fmt::format("authorizers[{}]", index++));
    TRY_VOID(reader.Only({"type", "name", "webhook"}));
    AuthorizerConfiguration authorizer;
    TRY(authorizer.type, reader.Required("type"));
    TRY(authorizer.name, reader.Required("name"));
    if (std::ranges::find(kTypes, authorizer.type) == std::end(kTypes)) {
      return Fail(ErrorCode::kInvalid, "{}.type: Unsupported value: {}", reader.path(),
                  Quote(authorizer.type));
    }
    if (!names.insert(authorizer.name).second) {
      return Fail(ErrorCode::kInvalid, "{}.name: Duplicate value: {}", reader.path(),
                  Quote(authorizer.name));
    }
    if (authorizer.type == "Webhook") {
      TRY_VOID(ReadWebhook(reader.Part("webhook"), authorizer));
    } else if (!types.insert(authorizer.type).second) {
      return Fail(ErrorCode::kInvalid, "{}.type: Duplicate value: {}", reader.path(),
                  Quote(authorizer.type));
    }
    configuration.authorizers.push_back(std::move(authorizer));
  }
  if (configuration.authorizers.empty()) {
    return Fail(ErrorCode::kInvalid,
                "authorizers: Required value: at least one authorization mode must be defined");
  }
  return configuration;
}

}  // namespace keelson::auth
