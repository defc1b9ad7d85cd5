#include "kube/access/bootstrap_tokens.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "crypto/base64.h"
#include "crypto/digest.h"
#include "storage/object_store.h"
#include "value/json.h"
#include "value/timestamp.h"

namespace keelson::kube::access {
namespace {

using value::Value;

constexpr size_t kIdSize = 6;
constexpr size_t kSecretSize = 16;
constexpr std::string_view kNamespace = "kube-system";
constexpr std::string_view kType = "bootstrap.kubernetes.io/token";
constexpr std::string_view kGroup = "system:bootstrappers";

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool LooksLikeOne(std::string_view token) {
  return token.size() == kIdSize + 1 + kSecretSize && token[kIdSize] == '.' &&
         std::ranges::all_of(token.substr(0, kIdSize), IsLowerOrDigit) &&
         std::ranges::all_of(token.substr(kIdSize + 1), IsLowerOrDigit);
}

std::string Entry(const Value& secret, std::string_view key) {
  return crypto::Base64Decode(secret["data"][key].AsString()).value_or("");
}

// Groups of a token's own begin like the one all of them are in.
bool IsGroup(std::string_view group) {
  constexpr size_t kMaxRest = 256;
  const std::string prefix = std::string(kGroup) + ":";
  if (!group.starts_with(prefix)) return false;
  group.remove_prefix(prefix.size());
  const auto allowed = [](char c) { return IsLowerOrDigit(c) || c == ':' || c == '-'; };
  return !group.empty() && group.size() <= kMaxRest && std::ranges::all_of(group, allowed) &&
         IsLowerOrDigit(group.back());
}

bool HasExpired(std::string_view expiration, WallTime now) {
  if (expiration.empty()) return false;
  auto time = value::ParseTime(expiration);
  if (!time) return true;
  return time->seconds <= std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
}

}  // namespace

std::optional<auth::User> BootstrapUser(const Value& secret, std::string_view token, WallTime now) {
  const auto id = token.substr(0, kIdSize);
  if (secret["type"].AsString() != kType) return std::nullopt;
  if (!secret["metadata"]["deletionTimestamp"].is_null()) return std::nullopt;
  if (!crypto::ConstantTimeEqual(Entry(secret, "token-secret"), token.substr(kIdSize + 1))) {
    return std::nullopt;
  }
  if (Entry(secret, "token-id") != id) return std::nullopt;
  if (HasExpired(Entry(secret, "expiration"), now)) return std::nullopt;
  if (Entry(secret, "usage-bootstrap-authentication") != "true") return std::nullopt;
  auth::User user{.name = "system:bootstrap:" + std::string(id), .groups = {std::string(kGroup)}};
  const auto extra = Entry(secret, "auth-extra-groups");
  for (std::string_view rest = extra; !rest.empty();) {
    auto group = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), group.size() + 1));
    if (!IsGroup(group)) return std::nullopt;
    if (!user.InGroup(group)) user.groups.emplace_back(group);
  }
  std::ranges::sort(user.groups);
  user.groups.emplace_back(auth::kAuthenticatedGroup);
  return user;
}

std::optional<auth::Authentication> BootstrapTokens::TryToken(std::string_view token,
                                                              std::span<const std::string>) {
  if (!LooksLikeOne(token)) return auth::Authentication{};
  return std::nullopt;
}

Task<auth::Authentication> BootstrapTokens::CheckToken(std::string_view token,
                                                       std::span<const std::string>) {
  const auto* stores = stores_.load(std::memory_order_acquire);
  if (!LooksLikeOne(token) || stores == nullptr) co_return auth::Authentication{};
  auto* secrets = stores->FindStore("", "secrets");
  if (secrets == nullptr) co_return auth::Authentication{};
  auto found = co_await secrets->Get(std::string(kNamespace),
                                     "bootstrap-token-" + std::string(token.substr(0, kIdSize)));
  if (!found) co_return auth::Authentication{};
  auto parsed = value::ParseJson((*found)->json_view());
  if (!parsed) co_return auth::Authentication{};
  auto user = BootstrapUser(parsed->root(), token, clock_.WallNow());
  if (!user) co_return auth::Authentication{};
  co_return auth::Authentication{.user = std::make_shared<const auth::User>(*std::move(user))};
}

}  // namespace keelson::kube::access
