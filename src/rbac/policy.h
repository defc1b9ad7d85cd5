#pragma once

// The policy objects of role-based access control, as plain values, and the set of them.
//
// A Policy is an immutable snapshot; PolicySet is where the objects are kept and from where
// snapshots are published. Writers are serialised by the set; readers take the current snapshot
// without a lock and never see half of a change.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace keelson::rbac {

struct PolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> api_groups;
  std::vector<std::string> resources;
  std::vector<std::string> resource_names;
  std::vector<std::string> non_resource_urls;
  bool operator==(const PolicyRule&) const = default;
};

using Rules = std::vector<PolicyRule>;

enum class SubjectKind : uint8_t { kUser, kGroup, kServiceAccount };

struct Subject {
  SubjectKind kind = SubjectKind::kUser;
  std::string name;
  std::string ns;  // service accounts only; the binding's when empty
  bool operator==(const Subject&) const = default;
};

// A ClusterRole (`ns` empty) or a Role.
struct RoleKey {
  std::string ns;
  std::string name;
  auto operator<=>(const RoleKey&) const = default;
};

struct RoleRef {
  bool cluster = true;
  std::string name;
  bool operator==(const RoleRef&) const = default;
};

// A ClusterRoleBinding (`ns` empty) or a RoleBinding.
struct Binding {
  std::string ns;
  std::string name;
  RoleRef role;
  std::vector<Subject> subjects;

  // The role meant: a RoleBinding may name a Role of its own namespace or a ClusterRole.
  RoleKey role_key() const { return {role.cluster ? "" : ns, role.name}; }
};

// One binding as found from one of its subjects.
struct Grant {
  std::shared_ptr<const Binding> binding;
  uint32_t subject = 0;

  // `ClusterRoleBinding "x" of ClusterRole "y" to Group "z"`, as decisions are explained.
  std::string Describe() const;
};

class Policy {
 public:
  uint64_t version() const { return version_; }
  // Null when there is no such role.
  std::shared_ptr<const Rules> FindRole(const RoleKey& key) const;
  // What is granted to a subject, cluster-wide bindings first, each part in order of name.
  // Service accounts are found by their user name.
  std::span<const Grant> GrantsOf(SubjectKind kind, std::string_view name) const;

 private:
  friend class PolicySet;
  struct SubjectHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Index = std::unordered_map<std::string, std::shared_ptr<const std::vector<Grant>>,
                                   SubjectHash, std::equal_to<>>;

  using RoleMap = std::map<RoleKey, std::shared_ptr<const Rules>>;

  // Each part is shared between snapshots until it changes.
  uint64_t version_ = 0;
  std::shared_ptr<const RoleMap> roles_ = std::make_shared<const RoleMap>();
  std::shared_ptr<const Index> users_ = std::make_shared<const Index>();
  std::shared_ptr<const Index> groups_ = std::make_shared<const Index>();
};

class PolicySet {
 public:
  PolicySet();

  void SetRole(RoleKey key, Rules rules) {
    ShareRole(std::move(key), std::make_shared<const Rules>(std::move(rules)));
  }
  // The same for rules that somebody else reads too.
  void ShareRole(RoleKey key, std::shared_ptr<const Rules> rules);
  void RemoveRole(const RoleKey& key);
  void SetBinding(Binding binding);
  void RemoveBinding(std::string_view ns, std::string_view name);

  // Several changes that become visible together; for filling at start.
  class Batch {
   public:
    explicit Batch(PolicySet& set);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    PolicySet& set_;
  };

  std::shared_ptr<const Policy> Current() const { return current_.load(std::memory_order_acquire); }
  // The version that Current would return; cheaper.
  uint64_t version() const { return published_.load(std::memory_order_acquire); }

 private:
  Policy::Index& IndexOf(SubjectKind kind) {
    return kind == SubjectKind::kGroup ? groups_ : users_;
  }
  void Unindex(const Binding& binding);
  void Index(const std::shared_ptr<const Binding>& binding);
  void Publish();

  std::mutex mutex_;
  int batches_ = 0;
  uint64_t version_ = 0;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Binding>> bindings_;
  Policy::RoleMap roles_;
  Policy::Index users_;
  Policy::Index groups_;
  bool roles_changed_ = true;
  bool users_changed_ = true;
  bool groups_changed_ = true;
  std::atomic<std::shared_ptr<const Policy>> current_;
  std::atomic<uint64_t> published_{0};
};

// "system:serviceaccount:<namespace>:<name>"
std::string ServiceAccountUserName(std::string_view ns, std::string_view name);

}  // namespace keelson::rbac
