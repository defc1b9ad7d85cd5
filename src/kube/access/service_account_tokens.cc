#include "kube/access/service_account_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "auth/service_account_name.h"
#include "base/ids.h"
#include "base/quote.h"
#include "rbac/policy.h"
#include "storage/object_store.h"
#include "value/json.h"
#include "value/timestamp.h"

namespace keelson::kube::access {
namespace {

using auth::Authentication;
using auth::Jwt;
using value::Value;

constexpr std::string_view kPrivate = "kubernetes.io";
constexpr std::string_view kExtra = "authentication.kubernetes.io/";

Authentication Bad(std::string why) { return {.error = Error{ErrorCode::kDenied, std::move(why)}}; }

std::string GoList(std::span<const std::string> texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ' ';
    AppendQuoted(out, text);
  }
  return out + "]";
}

// Claims are written in order of name, as they come out of a Go map.
class ClaimWriter {
 public:
  void Text(std::string_view name, std::string_view text) {
    Name(name);
    AppendJsonString(out_, text);
  }
  void Number(std::string_view name, int64_t number) {
    Name(name);
    out_ += std::to_string(number);
  }
  void Raw(std::string_view name, std::string_view json) {
    Name(name);
    out_ += json;
  }
  std::string Finish() && { return std::move(out_) + "}"; }

 private:
  void Name(std::string_view name) {
    if (out_.size() > 1) out_ += ',';
    AppendJsonString(out_, name);
    out_ += ':';
  }
  std::string out_ = "{";
};

std::string ReferenceJson(const BoundObject& object) {
  ClaimWriter writer;
  writer.Text("name", object.name);
  if (!object.uid.empty()) writer.Text("uid", object.uid);
  return std::move(writer).Finish();
}

std::string PrivateJson(const TokenClaims& claims, int64_t now) {
  ClaimWriter writer;
  writer.Text("namespace", claims.ns);
  if (claims.node) writer.Raw("node", ReferenceJson(*claims.node));
  if (claims.pod) writer.Raw("pod", ReferenceJson(*claims.pod));
  if (claims.secret) writer.Raw("secret", ReferenceJson(*claims.secret));
  writer.Raw("serviceaccount", ReferenceJson(claims.account));
  if (claims.warn_after_seconds != 0) writer.Number("warnafter", now + claims.warn_after_seconds);
  return std::move(writer).Finish();
}

std::string ListJson(std::span<const std::string> texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ',';
    AppendJsonString(out, text);
  }
  return out + "]";
}

// What a bound object must be: there, the same, and not on its way out for longer than clocks may
// differ.
enum class Standing : uint8_t { kGood, kGone, kOther, kDeleted };

Task<Standing> StandingOf(storage::ObjectStore* store, std::string ns, std::string name,
                          std::string uid, WallTime now, std::string* actual) {
  if (store == nullptr) co_return Standing::kGone;
  auto object = co_await store->Get(std::move(ns), std::move(name));
  if (!object) co_return Standing::kGone;
  *actual = (*object)->uid();
  if (*actual != uid) co_return Standing::kOther;
  // Hardly any object holds the word, so hardly any is parsed.
  const auto json = (*object)->json_view();
  if (json.find("\"deletionTimestamp\"") == std::string_view::npos) co_return Standing::kGood;
  auto parsed = value::ParseJson(json);
  if (!parsed) co_return Standing::kGone;
  auto deleted = value::ParseTime(parsed->root()["metadata"]["deletionTimestamp"].AsString());
  const auto limit = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count() -
                     auth::kJwtLeewaySeconds;
  co_return deleted && deleted->seconds < limit ? Standing::kDeleted : Standing::kGood;
}

auth::UserPtr UserOf(const Jwt& token) {
  const auto claims = token.claims.root()[kPrivate];
  const auto ns = claims["namespace"].AsString();
  const auto account = claims["serviceaccount"];
  auth::User user{.name = rbac::ServiceAccountUserName(ns, account["name"].AsString()),
                  .uid = std::string(account["uid"].AsString()),
                  .groups = auth::ServiceAccountGroups(ns)};
  const auto note = [&](std::string_view key, std::string_view text) {
    if (!text.empty()) user.extra[std::string(kExtra) + std::string(key)] = {std::string(text)};
  };
  if (const auto id = token.Text("jti"); !id.empty()) {
    note("credential-id", "JTI=" + std::string(id));
  }
  note("pod-name", claims["pod"]["name"].AsString());
  note("pod-uid", claims["pod"]["uid"].AsString());
  note("node-name", claims["node"]["name"].AsString());
  note("node-uid", claims["node"]["uid"].AsString());
  user.groups.emplace_back(auth::kAuthenticatedGroup);
  return std::make_shared<const auth::User>(std::move(user));
}

}  // namespace

ServiceAccountTokens::ServiceAccountTokens(ServiceAccountTokenOptions options,
                                           std::optional<auth::JwtSigner> signer,
                                           std::vector<auth::JwtKey> keys, const Clock& clock)
    : options_(std::move(options)),
      signer_(std::move(signer)),
      keys_(std::move(keys)),
      clock_(clock) {}

Result<std::string> ServiceAccountTokens::Issue(const TokenClaims& claims) const {
  if (!signer_) return Fail(ErrorCode::kUnsupported, "no key to sign with");
  const auto now =
      std::chrono::floor<std::chrono::seconds>(clock_.WallNow().time_since_epoch()).count();
  ClaimWriter writer;
  writer.Raw("aud", ListJson(claims.audiences));
  writer.Number("exp", now + claims.expiration_seconds);
  writer.Number("iat", now);
  writer.Text("iss", options_.issuers.front());
  writer.Text("jti", NewUuid());
  writer.Raw(kPrivate, PrivateJson(claims, now));
  writer.Number("nbf", now);
  writer.Text("sub", rbac::ServiceAccountUserName(claims.ns, claims.account.name));
  return signer_->Sign(std::move(writer).Finish());
}

bool ServiceAccountTokens::IsOurs(const Jwt& token) const {
  return std::ranges::find(options_.issuers, token.Text("iss")) != options_.issuers.end();
}

// Of another issuer, or no such token at all: nothing to say about it.
std::optional<Authentication> ServiceAccountTokens::TryToken(std::string_view token,
                                                             std::span<const std::string>) {
  auto parsed = auth::ParseJwt(token);
  if (!parsed || !IsOurs(*parsed)) return Authentication{};
  return std::nullopt;
}

Result<Jwt> ServiceAccountTokens::Verify(std::string_view token) const {
  TRY(auto parsed, auth::ParseJwt(token));
  if (!IsOurs(parsed)) return Fail(ErrorCode::kNotFound, "");
  const bool verified = std::ranges::any_of(keys_, [&](const auth::JwtKey& key) {
    return (parsed.key_id.empty() || parsed.key_id == key.id) && key.Verifies(parsed);
  });
  if (!verified) return Fail(ErrorCode::kDenied, "invalid signature, no keys found");
  if (auto problem = auth::CheckTimes(parsed, clock_.WallNow())) {
    switch (*problem) {
      case auth::JwtTimeProblem::kExpired:
        return Fail(ErrorCode::kDenied, "service account token has expired");
      case auth::JwtTimeProblem::kNotValidYet:
        return Fail(ErrorCode::kDenied, "service account token is not valid yet");
      case auth::JwtTimeProblem::kIssuedInTheFuture:
        return Fail(ErrorCode::kDenied, "service account token is issued in the future");
    }
  }
  return parsed;
}

Result<std::vector<std::string>> ServiceAccountTokens::Audiences(
    const Jwt& token, std::span<const std::string> audiences) const {
  auto made_for = token.Audiences();
  if (made_for.empty()) made_for = options_.api_audiences;  // of the time before audiences
  if (audiences.empty()) audiences = options_.api_audiences;
  std::vector<std::string> common;
  for (const auto& audience : made_for) {
    if (std::ranges::find(audiences, audience) != audiences.end()) common.push_back(audience);
  }
  if (common.empty() && !options_.api_audiences.empty()) {
    return Fail(ErrorCode::kDenied, "token audiences {} is invalid for the target audiences {}",
                GoList(made_for), GoList(audiences));
  }
  return common;
}

Task<Result<void>> ServiceAccountTokens::CheckBinding(const rest::ObjectStores& stores,
                                                      Value claims) const {
  const std::string ns(claims["namespace"].AsString());
  const auto now = clock_.WallNow();
  struct Bound {
    std::string_view claim;
    std::string_view resource;
    std::string_view what;
    bool namespaced;
  };
  static constexpr Bound kBound[] = {{"serviceaccount", "serviceaccounts", "service account", true},
                                     {"secret", "secrets", "secret", true},
                                     {"pod", "pods", "pod", true},
                                     {"node", "nodes", "node", false}};
  for (const auto& bound : kBound) {
    const auto reference = claims[bound.claim];
    const bool account = bound.claim == "serviceaccount";
    if (!reference.is_object() && !account) continue;
    // A pod's token only says where the pod is.
    if (bound.claim == "node" && claims["pod"].is_object()) continue;
    const std::string name(reference["name"].AsString());
    const std::string uid(reference["uid"].AsString());
    std::string actual;
    auto standing = co_await StandingOf(stores.FindStore("", bound.resource),
                                        bound.namespaced ? ns : "", name, uid, now, &actual);
    if (standing == Standing::kGood) continue;
    if (standing == Standing::kOther) {
      co_return account
          ? Fail(ErrorCode::kDenied, "service account UID ({}) does not match claim ({})", actual,
                 uid)
          : Fail(ErrorCode::kDenied, "{} UID ({}) does not match service account {} ref claim ({})",
                 bound.what, actual, bound.what, uid);
    }
    if (!account) co_return Fail(ErrorCode::kDenied, "service account token has been invalidated");
    co_return standing == Standing::kDeleted
        ? Fail(ErrorCode::kDenied, "service account {}/{} has been deleted", ns, name)
        : Fail(ErrorCode::kDenied, "serviceaccounts {} not found", Quote(name));
  }
  co_return Result<void>();
}

Task<Authentication> ServiceAccountTokens::CheckToken(std::string_view token,
                                                      std::span<const std::string> audiences) {
  auto verified = Verify(token);
  if (!verified) {
    if (verified.error().code == ErrorCode::kNotFound) co_return Authentication{};
    co_return Bad(verified.error().message);
  }
  auto common = Audiences(*verified, audiences);
  if (!common) co_return Bad(common.error().message);
  if (options_.lookup) {
    const auto* stores = stores_.load(std::memory_order_acquire);
    if (stores == nullptr) co_return Bad("service accounts cannot be looked up yet");
    auto bound = co_await CheckBinding(*stores, verified->claims.root()[kPrivate]);
    if (!bound) co_return Bad(bound.error().message);
  }
  co_return Authentication{.user = UserOf(*verified), .audiences = *std::move(common)};
}

std::string IssuerDocument(const ServiceAccountTokens& tokens, std::string_view jwks_uri) {
  std::set<std::string> algorithms;
  for (const auto& key : tokens.keys()) {
    algorithms.emplace(crypto::SignatureAlgorithmName(key.algorithm));
  }
  std::vector<std::string> named(algorithms.begin(), algorithms.end());
  ClaimWriter writer;
  writer.Text("issuer", tokens.options().issuers.front());
  writer.Text("jwks_uri", jwks_uri);
  writer.Raw("response_types_supported", R"(["id_token"])");
  writer.Raw("subject_types_supported", R"(["public"])");
  writer.Raw("id_token_signing_alg_values_supported", ListJson(named));
  return std::move(writer).Finish();
}

}  // namespace keelson::kube::access
