#include "rbac/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/quote.h"

namespace keelson::rbac {
namespace {

// The name under which a subject is looked up: service accounts are users with a special name.
std::string LookupName(const Binding& binding, const Subject& subject) {
  if (subject.kind != SubjectKind::kServiceAccount) return subject.name;
  const auto& ns = subject.ns.empty() ? binding.ns : subject.ns;
  return ns.empty() ? "" : ServiceAccountUserName(ns, subject.name);
}

auto Order(const Grant& grant) {
  return std::tie(grant.binding->ns, grant.binding->name, grant.subject);
}

}  // namespace

std::string ServiceAccountUserName(std::string_view ns, std::string_view name) {
  return fmt::format("system:serviceaccount:{}:{}", ns, name);
}

std::string Grant::Describe() const {
  const auto& who = binding->subjects[subject];
  std::string subject_text;
  switch (who.kind) {
    case SubjectKind::kUser:
      subject_text = "User " + Quote(who.name);
      break;
    case SubjectKind::kGroup:
      subject_text = "Group " + Quote(who.name);
      break;
    case SubjectKind::kServiceAccount:
      subject_text = "ServiceAccount " +
                     Quote(fmt::format("{}/{}", who.name, who.ns.empty() ? binding->ns : who.ns));
      break;
  }
  const bool cluster = binding->ns.empty();
  return fmt::format("{} {} of {} {} to {}", cluster ? "ClusterRoleBinding" : "RoleBinding",
                     Quote(cluster ? binding->name : binding->name + "/" + binding->ns),
                     binding->role.cluster ? "ClusterRole" : "Role", Quote(binding->role.name),
                     subject_text);
}

std::shared_ptr<const Rules> Policy::FindRole(const RoleKey& key) const {
  auto found = roles_->find(key);
  return found == roles_->end() ? nullptr : found->second;
}

std::span<const Grant> Policy::GrantsOf(SubjectKind kind, std::string_view name) const {
  const auto& index = kind == SubjectKind::kGroup ? *groups_ : *users_;
  auto found = index.find(name);
  if (found == index.end()) return {};
  return *found->second;
}

PolicySet::PolicySet() { Publish(); }

void PolicySet::ShareRole(RoleKey key, std::shared_ptr<const Rules> rules) {
  std::lock_guard lock(mutex_);
  roles_[std::move(key)] = std::move(rules);
  roles_changed_ = true;
  Publish();
}

void PolicySet::RemoveRole(const RoleKey& key) {
  std::lock_guard lock(mutex_);
  roles_.erase(key);
  roles_changed_ = true;
  Publish();
}

void PolicySet::SetBinding(Binding binding) {
  std::lock_guard lock(mutex_);
  auto& slot = bindings_[{binding.ns, binding.name}];
  if (slot) Unindex(*slot);
  slot = std::make_shared<const Binding>(std::move(binding));
  Index(slot);
  Publish();
}

void PolicySet::RemoveBinding(std::string_view ns, std::string_view name) {
  std::lock_guard lock(mutex_);
  auto found = bindings_.find({std::string(ns), std::string(name)});
  if (found == bindings_.end()) return;
  Unindex(*found->second);
  bindings_.erase(found);
  Publish();
}

// Lists of grants are copied when they change: a published snapshot still reads the old ones.
void PolicySet::Index(const std::shared_ptr<const Binding>& binding) {
  for (uint32_t i = 0; i < binding->subjects.size(); ++i) {
    const auto& subject = binding->subjects[i];
    auto name = LookupName(*binding, subject);
    if (name.empty()) continue;
    auto& slot = IndexOf(subject.kind)[name];
    auto grants = slot ? *slot : std::vector<Grant>();
    Grant grant{binding, i};
    auto at = std::ranges::upper_bound(grants, Order(grant), {}, Order);
    grants.insert(at, std::move(grant));
    slot = std::make_shared<const std::vector<Grant>>(std::move(grants));
    (subject.kind == SubjectKind::kGroup ? groups_changed_ : users_changed_) = true;
  }
}

void PolicySet::Unindex(const Binding& binding) {
  for (const auto& subject : binding.subjects) {
    auto& index = IndexOf(subject.kind);
    auto found = index.find(LookupName(binding, subject));
    if (found == index.end()) continue;
    auto grants = *found->second;
    std::erase_if(grants, [&](const Grant& grant) { return grant.binding.get() == &binding; });
    if (grants.empty()) {
      index.erase(found);
    } else {
      found->second = std::make_shared<const std::vector<Grant>>(std::move(grants));
    }
    (subject.kind == SubjectKind::kGroup ? groups_changed_ : users_changed_) = true;
  }
}

void PolicySet::Publish() {
  ++version_;
  if (batches_ > 0) return;
  auto last = current_.load(std::memory_order_relaxed);
  auto next = last ? std::make_shared<Policy>(*last) : std::make_shared<Policy>();
  next->version_ = version_;
  if (std::exchange(roles_changed_, false)) {
    next->roles_ = std::make_shared<const Policy::RoleMap>(roles_);
  }
  if (std::exchange(users_changed_, false)) {
    next->users_ = std::make_shared<const Policy::Index>(users_);
  }
  if (std::exchange(groups_changed_, false)) {
    next->groups_ = std::make_shared<const Policy::Index>(groups_);
  }
  current_.store(std::move(next), std::memory_order_release);
  published_.store(version_, std::memory_order_release);
}

PolicySet::Batch::Batch(PolicySet& set) : set_(set) {
  std::lock_guard lock(set_.mutex_);
  ++set_.batches_;
}

PolicySet::Batch::~Batch() {
  std::lock_guard lock(set_.mutex_);
  --set_.batches_;
  set_.Publish();
}

}  // namespace keelson::rbac
