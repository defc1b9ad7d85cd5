#include "kube/access/bootstrap_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/gate.h"
#include "kube/access/aggregation.h"
#include "kube/access/object_writer.h"
#include "kube/access/policy_objects.h"
#include "rbac/rules.h"
#include "value/json.h"

namespace keelson::kube::access {
namespace {

using value::Builder;
using value::Document;
using value::Ref;
using value::Value;

constexpr std::string_view kBootstrapLabel = "kubernetes.io/bootstrapping";
constexpr std::string_view kBootstrapLabelValue = "rbac-defaults";
constexpr std::string_view kAggregateTo = "rbac.authorization.k8s.io/aggregate-to-";

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels LabelsOf(const BootstrapRole& role) {
  Labels labels{{std::string(kBootstrapLabel), std::string(kBootstrapLabelValue)}};
  if (!role.part_of.empty()) labels.emplace_back(std::string(kAggregateTo) + role.part_of, "true");
  return labels;
}

// Adds what is not there; what the owner of the object has set stays. True when anything was.
bool AddMissing(Ref metadata, std::string_view field, const Labels& wanted) {
  bool added = false;
  for (const auto& [key, text] : wanted) {
    if (metadata.Get()[field].Find(key) != nullptr) continue;
    metadata.Field(field).SetField(key, metadata.builder().String(text));
    added = true;
  }
  return added;
}

bool AddMissingMetadata(Ref object, const Labels& labels) {
  Ref metadata = object.Field("metadata");
  bool changed = AddMissing(metadata, "labels", labels);
  return AddMissing(metadata, "annotations", {{std::string(kAutoUpdate), "true"}}) || changed;
}

bool IsProtected(const Value& object) {
  return object["metadata"]["annotations"][kAutoUpdate].AsString() == "false";
}

void SetHead(Ref object, std::string_view kind, std::string_view ns, std::string_view name) {
  auto& builder = object.builder();
  object.SetField("kind", Value::String(kind));
  object.SetField("apiVersion", Value::String(kRbacVersion));
  Ref metadata = object.Field("metadata");
  metadata.SetField("name", builder.String(name));
  if (!ns.empty()) metadata.SetField("namespace", builder.String(ns));
}

Value Aggregates(Builder& builder, std::string_view what) {
  const auto key = std::string(kAggregateTo) + std::string(what);
  Builder parts;
  parts.root().Field("matchLabels").SetField(key, Value::String("true"));
  return builder.Adopt(std::move(parts).Finish());
}

void SetAggregation(Ref object, std::string_view what) {
  auto& builder = object.builder();
  Value selectors[] = {Aggregates(builder, what)};
  object.Field("aggregationRule").SetField("clusterRoleSelectors", builder.List(selectors));
}

class RoleEdit final : public ObjectEdit {
 public:
  explicit RoleEdit(const BootstrapRole& role) : role_(role) {}

  bool Apply(Ref object) override {
    if (IsProtected(object.Get())) return false;
    bool changed = AddMissingMetadata(object, LabelsOf(role_));
    auto rules = ReadRules(object.Get()["rules"]);
    auto missing = rbac::Uncovered(rules, role_.rules);
    if (!missing.empty()) {
      rules.insert(rules.end(), missing.begin(), missing.end());
      object.SetField("rules", WriteRules(object.builder(), rules));
      changed = true;
    }
    return AdjustAggregation(object) || changed;
  }

 private:
  bool AdjustAggregation(Ref object) {
    const auto now = object.Get()["aggregationRule"];
    if (role_.sum_of.empty()) return now.is_object() && object.RemoveField("aggregationRule");
    auto wanted = Aggregates(object.builder(), role_.sum_of);
    auto selectors = now["clusterRoleSelectors"].items();
    if (std::ranges::find(selectors, wanted) != selectors.end()) return false;
    std::vector<Value> all;
    for (const auto& selector : selectors) all.push_back(selector.Shared());
    all.push_back(wanted);
    object.Field("aggregationRule").SetField("clusterRoleSelectors", object.builder().List(all));
    return true;
  }

  const BootstrapRole& role_;
};

class BindingEdit final : public ObjectEdit {
 public:
  explicit BindingEdit(const rbac::Binding& binding) : binding_(binding) {}

  bool Apply(Ref object) override {
    if (IsProtected(object.Get())) return false;
    bool changed = AddMissingMetadata(
        object, {{std::string(kBootstrapLabel), std::string(kBootstrapLabelValue)}});
    const auto there = ReadBinding(object.Get()).subjects;
    std::vector<rbac::Subject> missing;
    for (const auto& subject : binding_.subjects) {
      if (std::ranges::find(there, subject) == there.end()) missing.push_back(subject);
    }
    if (missing.empty()) return changed;
    const auto added = WriteSubjects(object.builder(), missing);
    Ref subjects = object.Field("subjects");
    if (subjects.kind() != value::Kind::kList) subjects.Set(Value::EmptyList());
    for (const auto& subject : added.items()) subjects.Append(subject.Shared());
    return true;
  }

 private:
  const rbac::Binding& binding_;
};

Document NewRole(const BootstrapRole& role, const rbac::Rules& rules) {
  Builder builder;
  Ref object = builder.root();
  SetHead(object, role.key.ns.empty() ? "ClusterRole" : "Role", role.key.ns, role.key.name);
  AddMissingMetadata(object, LabelsOf(role));
  object.SetField("rules", WriteRules(builder, rules));
  if (!role.sum_of.empty()) SetAggregation(object, role.sum_of);
  return std::move(builder).Finish();
}

Document NewBinding(const rbac::Binding& binding) {
  Builder builder;
  Ref object = builder.root();
  SetHead(object, binding.ns.empty() ? "ClusterRoleBinding" : "RoleBinding", binding.ns,
          binding.name);
  AddMissingMetadata(object, {{std::string(kBootstrapLabel), std::string(kBootstrapLabelValue)}});
  if (!binding.subjects.empty()) {
    object.SetField("subjects", WriteSubjects(builder, binding.subjects));
  }
  Ref role = object.Field("roleRef");
  role.SetField("apiGroup", Value::String(kRbacGroup));
  role.SetField("kind", Value::String(binding.role.cluster ? "ClusterRole" : "Role"));
  role.SetField("name", builder.String(binding.role.name));
  return std::move(builder).Finish();
}

// What the aggregated roles will add up to, so that they need not be written twice.
std::map<std::string, rbac::Rules> Sums(const BootstrapPolicy& policy) {
  ClusterRoles roles;
  for (const auto& role : policy.roles) {
    if (!role.key.ns.empty()) continue;
    ClusterRoleFacts facts{.rules = std::make_shared<const rbac::Rules>(role.rules)};
    for (auto& [key, text] : LabelsOf(role)) facts.labels.emplace(key, text);
    if (!role.sum_of.empty()) {
      facts.aggregates = {selector::LabelSelector({{.key = std::string(kAggregateTo) + role.sum_of,
                                                    .op = selector::LabelOperator::kEquals,
                                                    .values = {"true"}}})};
    }
    roles.emplace(role.key.name, std::move(facts));
  }
  // Aggregated roles may be parts of others; once around per level settles it.
  std::map<std::string, rbac::Rules> sums;
  for (bool settled = false; !settled;) {
    settled = true;
    for (auto& [name, facts] : roles) {
      if (!facts.aggregates) continue;
      auto sum = AggregatedRules(roles, name);
      settled = settled && sum == *facts.rules;
      facts.rules = std::make_shared<const rbac::Rules>(sum);
      sums.insert_or_assign(name, std::move(sum));
    }
  }
  return sums;
}

// One run over all objects: reads what there is, then writes all that differs at once.
class Reconciliation {
 public:
  Reconciliation(const RbacResources& resources, const BootstrapPolicy& policy)
      : resources_(resources), policy_(policy) {}

  Task<Result<void>> Run() {
    const auto sums = Sums(policy_);
    Gate gate;
    for (const auto& role : policy_.roles) {
      gate.Spawn(Executor::Current(), ReconcileRole(role, sums));
    }
    for (const auto& binding : policy_.bindings) {
      gate.Spawn(Executor::Current(), ReconcileBinding(binding));
    }
    co_await gate.Close();
    if (failure_) co_return Fail(ErrorCode::kUnavailable, "{}", failure_->message);
    co_return Result<void>();
  }

 private:
  Task<void> ReconcileRole(const BootstrapRole& role,
                           const std::map<std::string, rbac::Rules>& sums) {
    const auto& spec = role.key.ns.empty() ? *resources_.cluster_roles : *resources_.roles;
    const ObjectKey key{role.key.ns, role.key.name};
    RoleEdit edit(role);
    auto done = co_await Bring(spec, key, edit);
    if (!done && done.error().reason == "NotFound") {
      auto sum = sums.find(role.key.name);
      done = co_await CreateObject(spec, key,
                                   NewRole(role, sum == sums.end() ? role.rules : sum->second));
    }
    if (!done) Note(key, done.error());
  }

  Task<void> ReconcileBinding(const rbac::Binding& binding) {
    const auto& spec =
        binding.ns.empty() ? *resources_.cluster_role_bindings : *resources_.role_bindings;
    const ObjectKey key{binding.ns, binding.name};
    auto there = co_await Find(spec, key);
    // A binding cannot change its role: one to another role gives way.
    if (there && *there && !IsProtected((*there)->root()) &&
        ReadBinding((*there)->root()).role != binding.role) {
      auto deleted = co_await spec.store->Delete(key.ns, key.name);
      if (!deleted && deleted.error().reason != "NotFound") co_return Note(key, deleted.error());
    }
    BindingEdit edit(binding);
    auto done = co_await Bring(spec, key, edit);
    if (!done && done.error().reason == "NotFound") {
      done = co_await CreateObject(spec, key, NewBinding(binding));
    }
    if (!done) Note(key, done.error());
  }

  static Task<ApiResult<std::optional<Document>>> Find(const rest::ResourceSpec& spec,
                                                       ObjectKey key) {
    auto object = co_await spec.store->Get(key.ns, key.name, "0");
    if (!object) {
      if (object.error().reason == "NotFound") co_return std::optional<Document>();
      co_return std::unexpected(std::move(object).error());
    }
    auto parsed = value::ParseJson((*object)->json_view());
    if (!parsed) co_return std::unexpected(InternalErrorStatus(parsed.error().message));
    co_return std::optional<Document>(*std::move(parsed));
  }

  // Edits the object when that would change it; the usual case, nothing to do, writes nothing.
  static Task<ApiResult<void>> Bring(const rest::ResourceSpec& spec, ObjectKey key,
                                     ObjectEdit& edit) {
    auto there = co_await Find(spec, key);
    if (!there) co_return std::unexpected(std::move(there).error());
    if (!*there) {
      co_return std::unexpected(NotFoundStatus(spec.group_resource(), key.name));
    }
    Builder trial(**there);
    if (!edit.Apply(trial.root())) co_return ApiResult<void>();
    co_return co_await EditObject(spec, key, edit);
  }

  void Note(const ObjectKey& key, const Status& status) {
    if (failure_) return;
    failure_ = status;
    failure_->message = fmt::format("unable to reconcile {}: {}", key.name, status.message);
  }

  const RbacResources& resources_;
  const BootstrapPolicy& policy_;
  std::optional<Status> failure_;
};

}  // namespace

Task<Result<void>> ReconcileBootstrapPolicy(RbacResources resources, BootstrapPolicy policy) {
  Reconciliation reconciliation(resources, policy);
  co_return co_await reconciliation.Run();
}

}  // namespace keelson::kube::access
