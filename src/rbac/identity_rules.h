#pragma once

// Everything RBAC grants to one user and the groups it is in, compiled for lookup.
//
// Each verb × group × resource of the applicable rules is one entry of a hash table, which says
// where it is granted: everywhere, in some namespaces, or for some names. A request is a handful of
// probes, one per way a rule may have spelt it (exact or "*"), however many bindings there are.
// Rules whose product is too large to spread out are kept and read one by one. Immutable.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rbac/policy.h"
#include "rbac/rules.h"

namespace keelson::rbac {

class IdentityRules {
 public:
  IdentityRules(std::shared_ptr<const Policy> policy, std::string_view user,
                std::span<const std::string> groups);

  uint64_t version() const { return policy_->version(); }

  // The grant that allows the request; null when none does.
  const Grant* FindAllowing(const Request& request) const;

  // Roles that bindings name and that do not exist, as far as they matter in `ns`; part of the
  // explanation of a refusal.
  std::vector<std::string> MissingRoles(std::string_view ns) const;

  // All rules that apply in `ns`, cluster-wide ones included.
  Rules RulesIn(std::string_view ns) const;

 private:
  struct Entry {
    std::string_view verb;
    std::string_view group;
    std::string_view resource;
    // Where it holds; empty means everywhere.
    std::string_view ns;
    const std::vector<std::string>* names = nullptr;  // null: any name
    uint32_t grant = 0;
    uint32_t next = 0;  // 1 + index of the next entry with the same hash slot
  };
  struct Applicable {
    Grant grant;
    std::shared_ptr<const Rules> rules;
  };
  struct Unspread {
    const PolicyRule* rule;
    uint32_t grant;
  };

  static constexpr size_t kMaxSpread = 4096;

  void Collect(std::string_view user, std::span<const std::string> groups);
  void AddRule(const PolicyRule& rule, uint32_t grant);
  void AddEntry(const Entry& entry);
  static size_t SpreadSize(const PolicyRule& rule);
  const Grant* Probe(uint64_t hash, std::string_view verb, std::string_view group,
                     std::string_view resource, const Request& request) const;
  const Grant* FindResource(const Request& request) const;
  const Grant* FindUnspread(const Request& request) const;
  bool InScope(const Grant& grant, std::string_view ns) const {
    return grant.binding->ns.empty() || grant.binding->ns == ns;
  }

  std::shared_ptr<const Policy> policy_;
  std::vector<Applicable> applicable_;  // cluster-wide first
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // 1 + index of the first entry, 0 empty; a power of two
  std::vector<Unspread> unspread_;
  struct Missing {
    std::string ns;  // of the binding
    std::string text;
  };
  std::vector<Missing> missing_;
};

}  // namespace keelson::rbac
