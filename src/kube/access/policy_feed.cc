#include "kube/access/policy_feed.h"

#include <algorithm>

#include "base/log.h"
#include "kube/access/object_writer.h"
#include "kube/access/policy_objects.h"
#include "value/json.h"

namespace keelson::kube::access {
namespace {

using storage::ObjectRef;
using storage::WatchEvent;

constexpr Duration kRetry = std::chrono::seconds(1);

// Replaces a ClusterRole's rules by their sum as it is when the write is decided.
class SumRules final : public ObjectEdit {
 public:
  explicit SumRules(const ClusterRoles& roles) : roles_(roles) {}
  bool Apply(value::Ref object) override {
    const auto now = object.Get();
    auto name = now["metadata"]["name"].AsString();
    auto found = roles_.find(name);
    if (found == roles_.end() || !found->second.aggregates) return false;
    auto sum = AggregatedRules(roles_, name);
    if (sum == ReadRules(now["rules"])) return false;
    object.SetField("rules", WriteRules(object.builder(), sum));
    return true;
  }

 private:
  const ClusterRoles& roles_;
};

}  // namespace

PolicyFeed::PolicyFeed(const RbacResources& resources, const Deps& deps)
    : resources_{resources.roles, resources.cluster_roles, resources.role_bindings,
                 resources.cluster_role_bindings},
      deps_(deps) {}

PolicyFeed::~PolicyFeed() = default;

void PolicyFeed::Start() {
  for (size_t kind = 0; kind < kKinds; ++kind) {
    gate_.Spawn(&deps_.executor, Follow(static_cast<Kind>(kind)));
  }
}

Task<void> PolicyFeed::Stop() {
  stop_.request_stop();
  co_await gate_.Close();
}

bool PolicyFeed::Current() const {
  return caught_up_.load(std::memory_order_acquire) >= deps_.store.KnownRevision();
}

// The caches hand their changes to this feed's executor before they say that they are fresh, so
// what is posted there afterwards runs when the changes are in the policy.
Task<void> PolicyFeed::CatchUp() {
  const auto revision = deps_.store.KnownRevision();
  if (auto fresh = co_await deps_.feed.WaitUntilFresh(revision); !fresh) co_return;
  auto reached = Completion<bool>::Create();
  deps_.executor.Post([this, reached] {
    if (std::ranges::all_of(filled_, std::identity())) {
      reached->Set(true);
    } else {
      awaiting_fill_.push_back(reached);
    }
  });
  if (!co_await Completion<bool>::Wait(reached)) co_return;
  auto known = caught_up_.load(std::memory_order_relaxed);
  while (known < revision && !caught_up_.compare_exchange_weak(known, revision)) {
  }
}

Task<void> PolicyFeed::Follow(Kind kind) {
  while (!stop_.stop_requested()) {
    auto followed = co_await FollowOnce(kind);
    if (followed || stop_.stop_requested()) continue;
    log::WarningS(
        "Failed to follow the authorization policy",
        {{"resource", resources_[kind]->info->plural}, {"err", followed.error().message}});
    co_await SleepFor(deps_.clock, kRetry, stop_.get_token());
  }
  for (auto& waiting : std::exchange(awaiting_fill_, {})) waiting->Set(false);
}

Task<ApiResult<void>> PolicyFeed::FollowOnce(Kind kind) {
  auto& store = *resources_[kind]->store;
  auto list = co_await store.List({});
  if (!list) co_return std::unexpected(std::move(list).error());
  Replace(kind, list->objects);
  Filled(kind);
  storage::ListOptions from{.resource_version = std::to_string(list->revision)};
  list = storage::ListResult();
  auto watcher = co_await store.Watch(std::move(from));
  if (!watcher) co_return std::unexpected(std::move(watcher).error());
  for (;;) {
    auto events = co_await (*watcher)->Next(stop_.get_token());
    if (events.empty()) co_return ApiResult<void>();
    rbac::PolicySet::Batch batch(deps_.policy);
    for (const auto& event : events) {
      if (event.type == WatchEvent::Type::kError) co_return ApiResult<void>();
      if (!event.object) continue;
      if (event.type == WatchEvent::Type::kDeleted) {
        Remove(kind, {std::string(event.object->ns()), std::string(event.object->name())});
      } else {
        Put(kind, *event.object);
      }
    }
    if (kind == kClusterRoles) Aggregate();
  }
}

void PolicyFeed::Filled(Kind kind) {
  filled_[kind] = true;
  if (!std::ranges::all_of(filled_, std::identity())) return;
  for (auto& waiting : std::exchange(awaiting_fill_, {})) waiting->Set(true);
}

void PolicyFeed::Replace(Kind kind, const std::vector<ObjectRef>& objects) {
  rbac::PolicySet::Batch batch(deps_.policy);
  auto gone = known_[kind];
  for (const auto& object : objects) {
    gone.erase({std::string(object->ns()), std::string(object->name())});
    Put(kind, *object);
  }
  for (const auto& key : gone) Remove(kind, key);
  if (kind == kClusterRoles) Aggregate();
}

void PolicyFeed::Put(Kind kind, const storage::CachedObject& object) {
  auto parsed = value::ParseJson(object.json_view());
  if (!parsed) {
    log::ErrorS("Unreadable policy object", {{"name", object.name()}});
    return;
  }
  const auto& root = parsed->root();
  known_[kind].emplace(object.ns(), object.name());
  if (kind == kRoleBindings || kind == kClusterRoleBindings) {
    deps_.policy.SetBinding(ReadBinding(root));
    return;
  }
  auto rules = std::make_shared<const rbac::Rules>(ReadRules(root["rules"]));
  if (kind == kClusterRoles) PutClusterRole(object, root, rules);
  deps_.policy.ShareRole({std::string(object.ns()), std::string(object.name())}, std::move(rules));
}

void PolicyFeed::PutClusterRole(const storage::CachedObject& object, const value::Value& root,
                                std::shared_ptr<const rbac::Rules> rules) {
  ClusterRoleFacts facts{.aggregates = ReadAggregation(root), .rules = std::move(rules)};
  for (size_t i = 0; i < object.label_count(); ++i) {
    auto label = object.label(i);
    facts.labels.emplace(label.key, label.value);
  }
  cluster_roles_.insert_or_assign(std::string(object.name()), std::move(facts));
}

void PolicyFeed::Remove(Kind kind, const Key& key) {
  known_[kind].erase(key);
  if (kind == kRoleBindings || kind == kClusterRoleBindings) {
    deps_.policy.RemoveBinding(key.first, key.second);
    return;
  }
  if (kind == kClusterRoles) cluster_roles_.erase(key.second);
  deps_.policy.RemoveRole({key.first, key.second});
}

void PolicyFeed::Aggregate() {
  for (const auto& [name, facts] : cluster_roles_) {
    if (!facts.aggregates) continue;
    if (auto writing = being_written_.find(name); writing != being_written_.end()) {
      writing->second = true;
      continue;
    }
    if (AggregatedRules(cluster_roles_, name) == *facts.rules) continue;
    being_written_.emplace(name, false);
    if (!gate_.Spawn(&deps_.executor, WriteAggregate(name))) being_written_.erase(name);
  }
}

Task<void> PolicyFeed::WriteAggregate(std::string name) {
  SumRules edit(cluster_roles_);
  auto written = co_await EditObject(*resources_[kClusterRoles], {"", name}, edit);
  const bool failed = !written && written.error().reason != "NotFound";
  if (failed && !stop_.stop_requested()) {
    log::WarningS("Failed to aggregate a ClusterRole",
                  {{"name", name}, {"err", written.error().message}});
    co_await SleepFor(deps_.clock, kRetry, stop_.get_token());
  }
  auto writing = being_written_.extract(name);
  // A role that was not written in vain is looked at again when the feed tells of it.
  const bool again = writing.mapped() || failed;
  if (again && !stop_.stop_requested()) Aggregate();
}

}  // namespace keelson::kube::access
