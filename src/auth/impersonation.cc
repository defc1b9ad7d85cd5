#include "auth/impersonation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "auth/service_account_name.h"
#include "base/names.h"
#include "base/quote.h"
#include "http/query.h"

namespace keelson::auth {
namespace {

constexpr std::string_view kGroup = "authentication.k8s.io";
constexpr std::string_view kNodePrefix = "system:node:";
constexpr std::string_view kNodesGroup = "system:nodes";
constexpr std::string_view kNodeNameExtra = "authentication.kubernetes.io/node-name";
constexpr std::string_view kExtraHeader = "impersonate-extra-";
// From so many groups or extra values on, one check for all of them is tried first.
constexpr size_t kMany = 4;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

User ReadHeaders(const http::Headers& headers) {
  User wanted{.name = std::string(headers.Get("impersonate-user").value_or("")),
              .uid = std::string(headers.Get("impersonate-uid").value_or(""))};
  for (auto group : headers.GetAll("impersonate-group")) wanted.groups.emplace_back(group);
  for (const auto& field : headers.fields()) {
    if (!field.name.starts_with(kExtraHeader)) continue;
    auto raw = Lower(field.name.substr(kExtraHeader.size()));
    auto key = http::DecodePath(raw).value_or(raw);
    wanted.extra[key].emplace_back(field.value);
  }
  return wanted;
}

std::string GoStrings(const std::vector<std::string>& strings) {
  if (strings.empty()) return "[]string(nil)";
  std::string out = "[]string{";
  for (const auto& text : strings) {
    if (!out.ends_with('{')) out += ", ";
    AppendQuoted(out, text);
  }
  return out + "}";
}

// The request as upstream's message spells it out, a Go value.
Status NobodyNamed(const User& wanted) {
  std::string extra = "map[string][]string";
  if (wanted.extra.empty()) {
    extra += "(nil)";
  } else {
    extra += "{";
    for (const auto& [key, values] : wanted.extra) {
      if (!extra.ends_with('{')) extra += ", ";
      extra += Quote(key) + ":" + GoStrings(values);
    }
    extra += "}";
  }
  return BadRequestStatus(fmt::format(
      "requested &user.DefaultInfo{{Name:\"\", UID:{}, Groups:{}, Extra:{}}} without impersonating "
      "a user name",
      Quote(wanted.uid), GoStrings(wanted.groups), extra));
}

std::optional<std::string_view> NodeName(std::string_view user) {
  if (!user.starts_with(kNodePrefix)) return std::nullopt;
  user.remove_prefix(kNodePrefix.size());
  if (!names::IsDns1123Subdomain(user)) return std::nullopt;
  return user;
}

bool OnlyNamed(const User& user) {
  return user.uid.empty() && user.groups.empty() && user.extra.empty();
}

// A service account whose pod runs on the node that it wants to be.
bool RunsOn(const User& requestor, std::string_view node) {
  auto extra = requestor.extra.find(std::string(kNodeNameExtra));
  return SplitServiceAccountName(requestor.name) && extra != requestor.extra.end() &&
         extra->second.size() == 1 && extra->second[0] == node;
}

bool AppliesToOwnNode(const User& wanted, const User& requestor) {
  auto node = NodeName(wanted.name);
  return OnlyNamed(wanted) && node && RunsOn(requestor, *node);
}
bool AppliesToNode(const User& wanted, const User&) {
  return OnlyNamed(wanted) && NodeName(wanted.name);
}
bool AppliesToServiceAccount(const User& wanted, const User&) {
  return OnlyNamed(wanted) && SplitServiceAccountName(wanted.name);
}
bool AppliesToOthers(const User& wanted, const User&) {
  return !NodeName(wanted.name) && !SplitServiceAccountName(wanted.name);
}
bool AppliesAlways(const User&, const User&) { return true; }

// What is wrong with keys and values that only the constrained modes insist on.
std::optional<std::string> ExtraComplaint(const User& wanted) {
  for (const auto& [key, values] : wanted.extra) {
    if (key.empty()) return "impersonating the empty string key in extra is not allowed";
    auto slash = key.find('/');
    if (slash == std::string::npos || slash + 1 == key.size() ||
        !names::IsDns1123Subdomain(std::string_view(key).substr(0, slash))) {
      return fmt::format(
          "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {}: "
          "must "
          "be a domain-prefixed path (such as \"acme.io/foo\")",
          Quote(key));
    }
    if (std::ranges::find(values, "") != values.end()) {
      return "impersonating the empty string value in extra is not allowed";
    }
  }
  return std::nullopt;
}

UserPtr Completed(User user) {
  const auto ensure = [&](std::string_view group) {
    if (!user.InGroup(group)) user.groups.emplace_back(group);
  };
  if (user.name == kAnonymousUser) {
    ensure(kUnauthenticatedGroup);
  } else if (!user.InGroup(kUnauthenticatedGroup)) {
    ensure(kAuthenticatedGroup);
  }
  return std::make_shared<const User>(std::move(user));
}

}  // namespace

struct Impersonator::Mode {
  std::string_view name;  // empty for the older form
  std::string_view verb;  // on who is impersonated
  bool (*applies)(const User& wanted, const User& requestor);
  bool any_node = false;  // the permission must hold for all nodes

  bool constrained() const { return !name.empty(); }
};

Task<ApiResult<void>> Impersonator::Check(Attributes attributes) {
  auto verdict = authorizer_->TryAuthorize(attributes);
  if (!verdict) verdict = co_await authorizer_->Authorize(attributes);
  if (verdict->decision == Decision::kAllow) co_return ApiResult<void>();
  auto why = verdict->reason;
  if (verdict->error) why = verdict->error->message + (why.empty() ? "" : ": " + why);
  co_return std::unexpected(ForbiddenStatus(attributes, why));
}

Task<ApiResult<void>> Impersonator::CheckGroups(const Mode& mode, const User& wanted,
                                                Attributes attributes) {
  if (wanted.groups.empty()) co_return ApiResult<void>();
  attributes.resource = "groups";
  if (mode.constrained()) {
    if (wanted.InGroup("")) {
      co_return std::unexpected(
          ForbiddenStatus(attributes, "impersonating the empty string group is not allowed"));
    }
    if (wanted.InGroup(kPrivilegedGroup)) {
      attributes.name = kPrivilegedGroup;
      co_return std::unexpected(
          ForbiddenStatus(attributes, "impersonating the system:masters group is not allowed"));
    }
    if (wanted.groups.size() >= kMany) {
      attributes.name = "*";
      if (co_await Check(attributes)) co_return ApiResult<void>();
    }
  }
  for (const auto& group : wanted.groups) {
    attributes.name = group;
    if (auto ok = co_await Check(attributes); !ok) co_return ok;
  }
  co_return ApiResult<void>();
}

Task<ApiResult<void>> Impersonator::CheckExtra(const Mode& mode, const User& wanted,
                                               Attributes attributes) {
  if (wanted.extra.empty()) co_return ApiResult<void>();
  attributes.group = kGroup;
  attributes.version = "v1";
  attributes.resource = "userextras";
  if (mode.constrained()) {
    if (auto complaint = ExtraComplaint(wanted)) {
      co_return std::unexpected(ForbiddenStatus(attributes, *complaint));
    }
    size_t count = 0;
    for (const auto& [key, values] : wanted.extra) count += values.size();
    if (std::max(count, wanted.extra.size()) >= kMany) {
      attributes.subresource = attributes.name = "*";
      if (co_await Check(attributes)) co_return ApiResult<void>();
    }
  }
  for (const auto& [key, values] : wanted.extra) {
    attributes.subresource = key;
    for (const auto& value : values) {
      attributes.name = value;
      if (auto ok = co_await Check(attributes); !ok) co_return ok;
    }
  }
  co_return ApiResult<void>();
}

Task<ApiResult<UserPtr>> Impersonator::TryMode(const Mode& mode, const User& wanted,
                                               Attributes attributes) {
  if (mode.constrained()) {
    auto verb = fmt::format("impersonate-on:{}:{}", mode.name, attributes.verb);
    auto on = attributes;
    on.verb = verb;
    if (auto ok = co_await Check(on); !ok) co_return std::unexpected(ok.error());
  }
  User actual = wanted;
  Attributes who{.user = attributes.user,
                 .resource_request = true,
                 .verb = mode.verb,
                 .group = mode.constrained() ? kGroup : "",
                 .version = "v1"};
  auto named = who;
  named.resource = "users";
  named.name = wanted.name;
  if (auto node = NodeName(wanted.name); node && mode.constrained()) {
    named.resource = "nodes";
    named.name = mode.any_node ? "*" : *node;
    actual.groups = {std::string(kNodesGroup)};
  }
  if (auto account = SplitServiceAccountName(wanted.name)) {
    named.resource = "serviceaccounts";
    named.ns = account->ns;
    named.name = account->name;
    if (wanted.groups.empty()) actual.groups = ServiceAccountGroups(account->ns);
  }
  if (auto ok = co_await Check(named); !ok) co_return std::unexpected(ok.error());
  if (!wanted.uid.empty()) {
    auto uid = who;
    uid.group = kGroup;
    uid.resource = "uids";
    uid.name = wanted.uid;
    if (auto ok = co_await Check(uid); !ok) co_return std::unexpected(ok.error());
  }
  if (auto ok = co_await CheckGroups(mode, wanted, who); !ok) {
    co_return std::unexpected(ok.error());
  }
  if (auto ok = co_await CheckExtra(mode, wanted, who); !ok) co_return std::unexpected(ok.error());
  co_return Completed(std::move(actual));
}

Task<ApiResult<UserPtr>> Impersonator::Impersonate(const http::Request& request,
                                                   Attributes attributes) {
  static constexpr Mode kModes[] = {
      {"associated-node", "impersonate:associated-node", AppliesToOwnNode, true},
      {"arbitrary-node", "impersonate:arbitrary-node", AppliesToNode},
      {"serviceaccount", "impersonate:serviceaccount", AppliesToServiceAccount},
      {"user-info", "impersonate:user-info", AppliesToOthers},
      {"", "impersonate", AppliesAlways},
  };
  const User wanted = ReadHeaders(request.headers);
  if (wanted.name.empty()) {
    if (OnlyNamed(wanted)) co_return attributes.user;
    co_return std::unexpected(NobodyNamed(wanted));
  }
  std::optional<Status> refusal;
  for (const auto& mode : kModes) {
    if (!mode.applies(wanted, *attributes.user)) continue;
    auto user = co_await TryMode(mode, wanted, attributes);
    if (user) co_return user;
    if (!refusal) refusal = std::move(user).error();
  }
  co_return std::unexpected(*std::move(refusal));
}

}  // namespace keelson::auth
