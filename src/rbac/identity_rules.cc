#include "rbac/identity_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <tuple>

#include "base/quote.h"

namespace keelson::rbac {
namespace {

constexpr std::string_view kAll = "*";

uint64_t HashText(std::string_view text) { return std::hash<std::string_view>()(text); }

uint64_t Combine(uint64_t verb, uint64_t group, uint64_t resource) {
  uint64_t hash = (verb ^ std::rotl(group, 21) ^ std::rotl(resource, 42)) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

// "pods" or "pods/log" in a buffer of its own, usually without allocating.
class JoinedResource {
 public:
  JoinedResource(std::string_view resource, std::string_view subresource) {
    size_ = resource.size() + 1 + subresource.size();
    char* out = buffer_.data();
    if (size_ > buffer_.size()) {
      large_.resize(size_);
      out = large_.data();
    }
    resource.copy(out, resource.size());
    out[resource.size()] = '/';
    subresource.copy(out + resource.size() + 1, subresource.size());
    data_ = out;
  }
  std::string_view view() const { return {data_, size_}; }

 private:
  std::array<char, 96> buffer_;
  std::string large_;
  const char* data_;
  size_t size_;
};

}  // namespace

IdentityRules::IdentityRules(std::shared_ptr<const Policy> policy, std::string_view user,
                             std::span<const std::string> groups)
    : policy_(std::move(policy)) {
  Collect(user, groups);
  size_t size = 0;
  for (const auto& [grant, rules] : applicable_) {
    for (const auto& rule : *rules) size += std::min(SpreadSize(rule), kMaxSpread);
  }
  entries_.reserve(size);  // AddEntry links into it
  slots_.assign(std::bit_ceil(std::max<size_t>(8, size * 2)), 0);
  for (uint32_t i = 0; i < applicable_.size(); ++i) {
    for (const auto& rule : *applicable_[i].rules) AddRule(rule, i);
  }
}

// A binding that names this user several times counts once, through the first subject that
// matches; cluster-wide bindings come first, as upstream visits them.
void IdentityRules::Collect(std::string_view user, std::span<const std::string> groups) {
  std::vector<Grant> grants;
  auto add = [&](SubjectKind kind, std::string_view name) {
    auto found = policy_->GrantsOf(kind, name);
    grants.insert(grants.end(), found.begin(), found.end());
  };
  add(SubjectKind::kUser, user);
  for (const auto& group : groups) add(SubjectKind::kGroup, group);
  std::ranges::sort(grants, {}, [](const Grant& grant) {
    return std::tie(grant.binding->ns, grant.binding->name, grant.subject);
  });
  const Binding* last = nullptr;
  for (auto& grant : grants) {
    if (grant.binding.get() == last) continue;
    last = grant.binding.get();
    auto key = last->role_key();
    if (auto rules = policy_->FindRole(key)) {
      applicable_.push_back({std::move(grant), std::move(rules)});
    } else {
      missing_.push_back(
          {last->ns, fmt::format("{}.rbac.authorization.k8s.io {} not found",
                                 key.ns.empty() ? "clusterrole" : "role", Quote(key.name))});
    }
  }
}

size_t IdentityRules::SpreadSize(const PolicyRule& rule) {
  return rule.verbs.size() * rule.api_groups.size() * rule.resources.size();
}

void IdentityRules::AddRule(const PolicyRule& rule, uint32_t grant) {
  if (SpreadSize(rule) > kMaxSpread) {
    unspread_.push_back({&rule, grant});
    return;
  }
  if (!rule.non_resource_urls.empty()) unspread_.push_back({&rule, grant});
  for (const auto& verb : rule.verbs) {
    for (const auto& group : rule.api_groups) {
      for (const auto& resource : rule.resources) {
        AddEntry({.verb = verb,
                  .group = group,
                  .resource = resource,
                  .ns = applicable_[grant].grant.binding->ns,
                  .names = rule.resource_names.empty() ? nullptr : &rule.resource_names,
                  .grant = grant});
      }
    }
  }
}

// Chains keep the order of bindings. What holds everywhere for any name makes all that follows
// about the same thing pointless.
void IdentityRules::AddEntry(const Entry& entry) {
  auto hash = Combine(HashText(entry.verb), HashText(entry.group), HashText(entry.resource));
  uint32_t* link = &slots_[hash & (slots_.size() - 1)];
  while (*link != 0) {
    auto& there = entries_[*link - 1];
    const bool total = there.ns.empty() && there.names == nullptr;
    if (total && there.verb == entry.verb && there.group == entry.group &&
        there.resource == entry.resource) {
      return;
    }
    link = &there.next;
  }
  *link = static_cast<uint32_t>(entries_.size() + 1);
  entries_.push_back(entry);
}

const Grant* IdentityRules::Probe(uint64_t hash, std::string_view verb, std::string_view group,
                                  std::string_view resource, const Request& request) const {
  for (uint32_t at = slots_[hash & (slots_.size() - 1)]; at != 0;) {
    const auto& entry = entries_[at - 1];
    at = entry.next;
    if (entry.verb != verb || entry.group != group || entry.resource != resource) continue;
    if (!entry.ns.empty() && entry.ns != request.ns) continue;
    if (entry.names != nullptr &&
        std::ranges::find(*entry.names, request.name) == entry.names->end()) {
      continue;
    }
    return &applicable_[entry.grant].grant;
  }
  return nullptr;
}

const Grant* IdentityRules::FindResource(const Request& request) const {
  static const uint64_t kAllHash = HashText(kAll);
  const bool sub = !request.subresource.empty();
  const JoinedResource exact(request.resource, request.subresource);
  const JoinedResource any_parent(kAll, request.subresource);

  struct Spelling {
    std::string_view text;
    uint64_t hash;
  };
  const auto spell = [](std::string_view text) { return Spelling{text, HashText(text)}; };
  const Spelling all{kAll, kAllHash};
  const Spelling verbs[] = {spell(request.verb), all};
  const Spelling groups[] = {spell(request.group), all};
  Spelling resources[3] = {spell(sub ? exact.view() : request.resource), all, {}};
  if (sub) resources[2] = spell(any_parent.view());

  for (const auto& resource : std::span(resources, sub ? 3 : 2)) {
    for (const auto& group : groups) {
      for (const auto& verb : verbs) {
        auto hash = Combine(verb.hash, group.hash, resource.hash);
        if (auto* grant = Probe(hash, verb.text, group.text, resource.text, request)) return grant;
      }
    }
  }
  return nullptr;
}

const Grant* IdentityRules::FindUnspread(const Request& request) const {
  for (const auto& [rule, index] : unspread_) {
    const auto& grant = applicable_[index].grant;
    // A path has no namespace: only what is bound cluster-wide reaches it.
    if (request.resource_request ? !InScope(grant, request.ns) : !grant.binding->ns.empty()) {
      continue;
    }
    if (RuleAllows(*rule, request)) return &grant;
  }
  return nullptr;
}

const Grant* IdentityRules::FindAllowing(const Request& request) const {
  if (request.resource_request) {
    if (auto* grant = FindResource(request)) return grant;
  }
  return unspread_.empty() ? nullptr : FindUnspread(request);
}

std::vector<std::string> IdentityRules::MissingRoles(std::string_view ns) const {
  std::vector<std::string> texts;
  for (const auto& missing : missing_) {
    if (missing.ns.empty() || missing.ns == ns) texts.push_back(missing.text);
  }
  return texts;
}

Rules IdentityRules::RulesIn(std::string_view ns) const {
  Rules rules;
  for (const auto& [grant, granted] : applicable_) {
    if (InScope(grant, ns)) rules.insert(rules.end(), granted->begin(), granted->end());
  }
  return rules;
}

}  // namespace keelson::rbac
