#include "auth/rbac_authorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

namespace keelson::auth {
namespace {

std::atomic<uint64_t> next_id{1};

uint64_t HashIdentity(const User& user) {
  uint64_t hash = std::hash<std::string_view>()(user.name);
  for (const auto& group : user.groups) {
    hash = std::rotl(hash, 5) * 0x9E3779B97F4A7C15u + std::hash<std::string_view>()(group);
  }
  return hash;
}

// Several errors as upstream joins them, each once.
std::string Joined(std::vector<std::string> texts) {
  std::vector<std::string> unique;
  for (auto& text : texts) {
    if (std::ranges::find(unique, text) == unique.end()) unique.push_back(std::move(text));
  }
  if (unique.size() == 1) return unique[0];
  return fmt::format("[{}]", fmt::join(unique, ", "));
}

}  // namespace

// The identity a thread decided about last in this place. It holds the user, so that its address
// says who it is.
struct RbacAuthorizer::Slot {
  uint64_t authorizer = 0;
  UserPtr user;
  std::shared_ptr<const rbac::IdentityRules> rules;
};

RbacAuthorizer::RbacAuthorizer(const rbac::PolicySet& policy)
    : policy_(policy), id_(next_id.fetch_add(1, std::memory_order_relaxed)) {}

RbacAuthorizer::~RbacAuthorizer() = default;

RbacAuthorizer::Slot& RbacAuthorizer::SlotOf(const User* user) {
  static constexpr size_t kSlots = 64;
  thread_local std::array<Slot, kSlots> slots;
  auto address = reinterpret_cast<uintptr_t>(user);
  return slots[(address >> 4 ^ address >> 12) % kSlots];
}

RbacAuthorizer::Identity* RbacAuthorizer::Find(Table& table, uint64_t hash, const User& user) {
  auto [from, to] = table.equal_range(hash);
  for (; from != to; ++from) {
    const auto& known = *from->second.user;
    if (known.name == user.name && known.groups == user.groups) return &from->second;
  }
  return nullptr;
}

std::shared_ptr<const rbac::IdentityRules> RbacAuthorizer::RulesOf(const UserPtr& user) {
  const auto hash = HashIdentity(*user);
  const auto version = policy_.version();
  {
    std::lock_guard lock(mutex_);
    auto* found = Find(young_, hash, *user);
    if (found == nullptr) found = Find(old_, hash, *user);
    if (found != nullptr && found->rules->version() >= version) return found->rules;
  }
  auto rules =
      std::make_shared<const rbac::IdentityRules>(policy_.Current(), user->name, user->groups);
  std::lock_guard lock(mutex_);
  if (auto* found = Find(young_, hash, *user)) {
    found->rules = rules;
    return rules;
  }
  if (young_.size() >= kGeneration) old_ = std::exchange(young_, {});
  young_.emplace(hash, Identity{user, rules});
  return rules;
}

const rbac::IdentityRules& RbacAuthorizer::ThreadRules(const UserPtr& user) {
  auto& slot = SlotOf(user.get());
  if (slot.user != user || slot.authorizer != id_ || slot.rules->version() < policy_.version()) {
    slot = {id_, user, RulesOf(user)};
  }
  return *slot.rules;
}

Authorization RbacAuthorizer::Decide(const rbac::IdentityRules& rules,
                                     const Attributes& attributes) const {
  const rbac::Request request{.resource_request = attributes.resource_request,
                              .verb = attributes.verb,
                              .path = attributes.path,
                              .group = attributes.group,
                              .ns = attributes.ns,
                              .resource = attributes.resource,
                              .subresource = attributes.subresource,
                              .name = attributes.name};
  Authorization verdict;
  if (const auto* grant = rules.FindAllowing(request)) {
    verdict.decision = Decision::kAllow;
    if (attributes.explain) verdict.reason = "RBAC: allowed by " + grant->Describe();
    return verdict;
  }
  auto missing = rules.MissingRoles(attributes.resource_request ? attributes.ns : "");
  if (!missing.empty()) verdict.reason = "RBAC: " + Joined(std::move(missing));
  return verdict;
}

UserRules RbacAuthorizer::RulesFor(const UserPtr& user, std::string_view ns) {
  auto rules = RulesOf(user);
  UserRules found{.rules = rules->RulesIn(ns)};
  if (auto missing = rules->MissingRoles(ns); !missing.empty()) {
    found.error = Joined(std::move(missing));
  }
  return found;
}

std::optional<Authorization> RbacAuthorizer::TryAuthorize(const Attributes& attributes) {
  auto verdict = Decide(ThreadRules(attributes.user), attributes);
  if (verdict.decision != Decision::kAllow) {
    auto* source = source_.load(std::memory_order_acquire);
    if (source != nullptr && !source->Current()) return std::nullopt;
  }
  return verdict;
}

Task<Authorization> RbacAuthorizer::Authorize(Attributes attributes) {
  if (auto* source = source_.load(std::memory_order_acquire)) co_await source->CatchUp();
  co_return Decide(ThreadRules(attributes.user), attributes);
}

}  // namespace keelson::auth
