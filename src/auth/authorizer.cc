#include "auth/authorizer.h"

#include <fmt/format.h>

#include <utility>

#include "base/quote.h"

namespace keelson::auth {
namespace {

// Adds a member's lack of opinion to the union's.
void Merge(Authorization& into, Authorization from) {
  if (!from.reason.empty()) into.reason += (into.reason.empty() ? "" : "\n") + from.reason;
  if (from.error && !into.error) into.error = std::move(from.error);
}

std::string ForbiddenMessage(const Attributes& attributes) {
  auto user = Quote(attributes.user ? attributes.user->name : "");
  if (!attributes.resource_request) {
    return fmt::format("User {} cannot {} path {}", user, attributes.verb, Quote(attributes.path));
  }
  std::string resource(attributes.resource);
  if (!attributes.subresource.empty()) resource += "/" + std::string(attributes.subresource);
  auto message = fmt::format("User {} cannot {} resource {} in API group {} ", user,
                             attributes.verb, Quote(resource), Quote(attributes.group));
  return attributes.ns.empty() ? message + "at the cluster scope"
                               : message + "in the namespace " + Quote(attributes.ns);
}

}  // namespace

Status ForbiddenStatus(const Attributes& attributes, std::string_view reason) {
  auto message = WithoutMarkup(ForbiddenMessage(attributes));
  if (!reason.empty()) message += ": " + std::string(reason);
  return keelson::ForbiddenStatus(
      {.group = std::string(attributes.group), .resource = std::string(attributes.resource)},
      attributes.name, message);
}

Task<Authorization> Authorizer::Authorize(Attributes attributes) {
  auto decision = TryAuthorize(attributes);
  KEELSON_CHECK(decision.has_value());
  co_return *std::move(decision);
}

std::optional<Authorization> AlwaysAllow::TryAuthorize(const Attributes&) {
  return Authorization{.decision = Decision::kAllow};
}

UserRules AlwaysAllow::RulesFor(const UserPtr&, std::string_view) {
  return {.rules = {{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}},
                    {.verbs = {"*"}, .non_resource_urls = {"*"}}}};
}

std::optional<Authorization> AlwaysDeny::TryAuthorize(const Attributes&) {
  return Authorization{.reason = "Everything is forbidden."};
}

std::optional<Authorization> PrivilegedGroup::TryAuthorize(const Attributes& attributes) {
  if (attributes.user && attributes.user->InGroup(kPrivilegedGroup)) {
    return Authorization{.decision = Decision::kAllow};
  }
  return Authorization{};
}

AuthorizerUnion::AuthorizerUnion(std::vector<std::shared_ptr<Authorizer>> members)
    : members_(std::move(members)) {}

std::optional<Authorization> AuthorizerUnion::TryAuthorize(const Attributes& attributes) {
  Authorization none;
  for (const auto& member : members_) {
    auto decision = member->TryAuthorize(attributes);
    if (!decision || decision->decision != Decision::kNoOpinion) return decision;
    Merge(none, *std::move(decision));
  }
  return none;
}

UserRules AuthorizerUnion::RulesFor(const UserPtr& user, std::string_view ns) {
  UserRules all;
  std::vector<std::string> errors;
  for (const auto& member : members_) {
    auto part = member->RulesFor(user, ns);
    all.rules.insert(all.rules.end(), part.rules.begin(), part.rules.end());
    all.incomplete |= part.incomplete;
    if (!part.error.empty()) errors.push_back(std::move(part.error));
  }
  all.error = fmt::format("{}", fmt::join(errors, ", "));
  if (errors.size() > 1) all.error = "[" + all.error + "]";
  return all;
}

Task<Authorization> AuthorizerUnion::Authorize(Attributes attributes) {
  Authorization none;
  for (const auto& member : members_) {
    auto decision = member->TryAuthorize(attributes);
    if (!decision) decision = co_await member->Authorize(attributes);
    if (decision->decision != Decision::kNoOpinion) co_return *std::move(decision);
    Merge(none, *std::move(decision));
  }
  co_return none;
}

}  // namespace keelson::auth
