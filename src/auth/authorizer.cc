#include "auth/authorizer.h"

#include <utility>

namespace keelson::auth {
namespace {

// Adds a member's lack of opinion to the union's.
void Merge(Authorization& into, Authorization from) {
  if (!from.reason.empty()) into.reason += (into.reason.empty() ? "" : "\n") + from.reason;
  if (from.error && !into.error) into.error = std::move(from.error);
}

}  // namespace

Task<Authorization> Authorizer::Authorize(Attributes attributes) {
  auto decision = TryAuthorize(attributes);
  KEELSON_CHECK(decision.has_value());
  co_return *std::move(decision);
}

std::optional<Authorization> AlwaysAllow::TryAuthorize(const Attributes&) {
  return Authorization{.decision = Decision::kAllow};
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
