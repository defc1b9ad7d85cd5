// POST .../pods/a/eviction: a polite delete, refused while it would break a disruption budget.

#include <fmt/format.h>

#include <chrono>

#include "api/core_v1.h"
#include "api/policy_v1.h"
#include "kube/pod/conditions.h"
#include "kube/pod/subresources.h"
#include "rest/field_checks.h"
#include "rest/stored_edit.h"
#include "rest/write.h"
#include "schema/field_error.h"
#include "value/json.h"
#include "value/timestamp.h"

namespace keelson::kube::pod {
namespace {

namespace core = api::core_v1;
namespace policy = api::policy_v1;
using rest::Reply;
using value::Document;
using value::Ref;
using value::Value;

constexpr size_t kMaxDisruptedPods = 2000;

Status BudgetStatus(std::string why, int retry_after) {
  auto status = TooManyRequestsStatus(
      "Cannot evict pod as it would violate the pod's disruption budget.", retry_after);
  if (!status.details) status.details.emplace();
  status.details->causes.push_back({.reason = "DisruptionBudget", .message = std::move(why)});
  return status;
}

Status StillProcessing(std::string_view budget) {
  return BudgetStatus(
      fmt::format("The disruption budget {} is still being processed by the server.", budget), 10);
}

// Why a budget that allows no disruption does not.
std::string WhyNone(policy::PodDisruptionBudget budget) {
  const auto name = budget.metadata().name();
  const auto status = budget.status();
  Value condition;
  for (const Value& item : status.conditions().value().items()) {
    if (item["type"].AsString() == "DisruptionAllowed") condition = item.Shared();
  }
  const auto message = condition["message"].AsString();
  const auto reason = condition["reason"].AsString();
  const bool refused = condition["status"].AsString() == "False" && !message.empty();
  if (refused && reason == "SyncFailed") {
    return fmt::format(
        "The disruption budget {} does not allow evicting pods currently because it failed sync: "
        "{}",
        name, message);
  }
  if (status.currentHealthy() <= status.desiredHealthy()) {
    return fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                       status.desiredHealthy(), status.currentHealthy());
  }
  if (refused) {
    return fmt::format("The disruption budget {} does not allow evicting pods currently ({}): {}",
                       name, reason, message);
  }
  return fmt::format("The disruption budget {} does not allow evicting pods currently", name);
}

// Takes one disruption from a budget.
class Disruption final : public rest::StoredEdit {
 public:
  Disruption(const schema::ResourceInfo& budgets, const rest::WriteScope& scope,
             std::string_view pod, bool dry_run)
      : StoredEdit(budgets, dry_run), scope_(scope), pod_(pod) {}

  ApiResult<bool> Edit(Ref object) override {
    const policy::PodDisruptionBudget budget(object.Get());
    const auto status = budget.status();
    const auto name = budget.metadata().name();
    if (status.observedGeneration() < budget.metadata().generation()) {
      return std::unexpected(StillProcessing(name));
    }
    const GroupResource resource{"policy", "poddisruptionbudget"};
    if (status.disruptionsAllowed() < 0) {
      return std::unexpected(
          ForbiddenStatus(resource, name, "pdb disruptions allowed is negative"));
    }
    if (status.disruptedPods().size() > kMaxDisruptedPods) {
      return std::unexpected(ForbiddenStatus(
          resource, name,
          "DisruptedPods map too big - too many evictions not confirmed by PDB controller"));
    }
    if (status.disruptionsAllowed() == 0) {
      return std::unexpected(BudgetStatus(WhyNone(budget), 0));
    }
    const int64_t seconds =
        std::chrono::floor<std::chrono::seconds>(scope_.now).time_since_epoch().count();
    Ref edited = object.Field("status");
    edited.SetField("disruptionsAllowed", Value::Int(status.disruptionsAllowed() - 1));
    edited.Field("disruptedPods")
        .SetField(pod_, object.builder().String(value::FormatTime({.seconds = seconds})));
    return true;
  }

 private:
  const rest::WriteScope& scope_;
  const std::string_view pod_;
};

// Tells everybody why the pod is about to go.
class Announcement final : public rest::StoredEdit {
 public:
  Announcement(const schema::ResourceInfo& pods, const rest::WriteScope& scope,
               const rest::DeleteOptions& options)
      : StoredEdit(pods, /*dry_run=*/false), scope_(scope), options_(options) {}

  ApiResult<bool> Edit(Ref pod) override {
    if (options_.preconditions) {
      const Value metadata = pod.Get()["metadata"];
      if (auto why = Mismatch(metadata); !why.empty()) {
        return std::unexpected(
            ConflictStatus({"", "Pod"}, metadata["name"].AsString(), std::move(why)));
      }
    }
    SetCondition(pod,
                 {.type = "DisruptionTarget",
                  .status = "True",
                  .reason = "EvictionByEvictionAPI",
                  .message = "Eviction API: evicting"},
                 scope_.now);
    return true;
  }

 private:
  std::string Mismatch(const Value& metadata) const {
    const auto& [uid, version] = *options_.preconditions;
    const auto stored_uid = metadata["uid"].AsString();
    if (uid && !uid->empty() && *uid != stored_uid) {
      return fmt::format(
          "the UID in the precondition ({}) does not match the UID in record ({}). "
          "The object might have been deleted and then recreated",
          *uid, stored_uid);
    }
    const auto stored_version = metadata["resourceVersion"].AsString();
    if (version && !version->empty() && *version != stored_version) {
      return fmt::format(
          "the ResourceVersion in the precondition ({}) does not match the "
          "ResourceVersion in record ({}). The object might have been modified",
          *version, stored_version);
    }
    return {};
  }

  const rest::WriteScope& scope_;
  const rest::DeleteOptions& options_;
};

rest::DeleteOptions OptionsOf(const Value& eviction, const rest::WriteOptions& written) {
  rest::DeleteOptions options;
  const Value from = eviction["deleteOptions"];
  if (from["gracePeriodSeconds"].is_int()) {
    options.grace_period_seconds = from["gracePeriodSeconds"].AsInt();
  }
  if (from["orphanDependents"].is_bool()) {
    options.orphan_dependents = from["orphanDependents"].AsBool();
  }
  if (from["propagationPolicy"].is_string()) {
    options.propagation_policy = std::string(from["propagationPolicy"].AsString());
  }
  if (const Value conditions = from["preconditions"]; conditions.is_object()) {
    auto& preconditions = options.preconditions.emplace();
    if (conditions["uid"].is_string()) preconditions.uid = conditions["uid"].AsString();
    if (conditions["resourceVersion"].is_string()) {
      preconditions.resource_version = conditions["resourceVersion"].AsString();
    }
  }
  for (const Value& word : from["dryRun"].items()) options.dry_run.emplace_back(word.AsString());
  if (options.dry_run.empty()) options.dry_run = written.dry_run;
  return options;
}

// A pod that has ended, has not begun or is going anyway disrupts nothing.
bool IgnoresBudgets(const Value& pod) {
  const auto phase = pod["status"]["phase"].AsString();
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
         !pod["metadata"]["deletionTimestamp"].is_null();
}

bool IsReady(const Value& pod) {
  for (const Value& condition : pod["status"]["conditions"].items()) {
    if (condition["type"].AsString() == "Ready") return condition["status"].AsString() == "True";
  }
  return false;
}

// One eviction on its way.
class Eviction {
 public:
  Eviction(const rest::SubresourceCall& call, rest::DeleteOptions options)
      : call_(call), options_(std::move(options)), scope_(call.scope), pods_(call.spec) {
    scope_.dry_run = options_.is_dry_run();
    scope_.subresource = {};
    pods_.subresource = nullptr;
    pods_.handler = nullptr;
    pods_.admission = nullptr;  // the eviction itself has been admitted
  }

  Task<ApiResult<Reply>> Run() {
    auto found = co_await pods_.store->Get(std::string(scope_.ns), std::string(scope_.name));
    if (!found) co_return std::unexpected(std::move(found).error());
    auto pod = value::ParseJson((*found)->json_view());
    if (!pod) co_return std::unexpected(InternalErrorStatus(pod.error().message));
    if (IgnoresBudgets(pod->root())) co_return co_await Delete();
    auto budgets = co_await BudgetsOf(pod->root());
    if (!budgets) co_return std::unexpected(std::move(budgets).error());
    if (budgets->size() > 1) {
      Reply reply;
      reply.status = Status{.code = 500,
                            .message =
                                "This pod has more than one PodDisruptionBudget, which the "
                                "eviction subresource does not support."};
      reply.code = 500;
      co_return reply;
    }
    if (!budgets->empty()) {
      const policy::PodDisruptionBudget budget(budgets->front().root());
      if (!Spares(budget, pod->root())) {
        auto taken = co_await TakeDisruption(budget);
        if (!taken) co_return std::unexpected(std::move(taken).error());
      }
    }
    co_return co_await Delete();
  }

 private:
  Task<ApiResult<std::vector<Document>>> BudgetsOf(const Value& pod) {
    std::vector<Document> matching;
    auto* store = call_.spec.stores->FindStore("policy", "poddisruptionbudgets");
    if (store == nullptr) co_return matching;
    storage::ListOptions options;
    options.ns = std::string(scope_.ns);
    auto list = co_await store->List(std::move(options));
    if (!list) co_return std::unexpected(std::move(list).error());
    for (const auto& object : list->objects) {
      auto budget = value::ParseJson(object->json_view());
      if (!budget) co_return std::unexpected(InternalErrorStatus(budget.error().message));
      const Value selector = budget->root()["spec"]["selector"];
      if (rest::SelectorMatches(selector, pod["metadata"]["labels"])) {
        matching.push_back(*std::move(budget));
      }
    }
    co_return matching;
  }

  // Whether an unhealthy pod may go without being counted.
  static bool Spares(policy::PodDisruptionBudget budget, const Value& pod) {
    if (IsReady(pod)) return false;
    if (budget.spec().unhealthyPodEvictionPolicy() == "AlwaysAllow") return true;
    const auto status = budget.status();
    return status.currentHealthy() >= status.desiredHealthy() && status.desiredHealthy() > 0;
  }

  Task<ApiResult<void>> TakeDisruption(policy::PodDisruptionBudget budget) {
    auto* store = call_.spec.stores->FindStore("policy", "poddisruptionbudgets");
    const auto* version = call_.spec.catalog->Find("policy", "v1");
    Disruption disruption(*version->FindResource("poddisruptionbudgets"), scope_, scope_.name,
                          scope_.dry_run);
    auto stored = co_await store->Modify(std::string(scope_.ns),
                                         std::string(budget.metadata().name()), {}, disruption);
    if (!stored) co_return std::unexpected(std::move(stored).error());
    co_return ApiResult<void>();
  }

  Task<ApiResult<Reply>> Delete() {
    if (!scope_.dry_run) {
      Announcement announcement(*call_.spec.catalog->Find("", "v1")->FindResource("pods"), scope_,
                                options_);
      auto stored = co_await pods_.store->Modify(std::string(scope_.ns), std::string(scope_.name),
                                                 {}, announcement);
      if (!stored) co_return std::unexpected(std::move(stored).error());
      if (options_.preconditions && options_.preconditions->resource_version) {
        // The announcement moved it on.
        options_.preconditions->resource_version = std::to_string((*stored)->revision());
      }
    }
    auto deleted = co_await rest::DeleteObject(pods_, scope_, options_);
    if (!deleted) co_return std::unexpected(std::move(deleted).error());
    co_return rest::SuccessReply();
  }

  const rest::SubresourceCall& call_;
  rest::DeleteOptions options_;
  rest::WriteScope scope_;
  rest::ResourceSpec pods_;
};

}  // namespace

Task<ApiResult<Reply>> EvictionHandler::Create(const rest::SubresourceCall& call,
                                               Document object) const {
  const Value eviction = object.root();
  if (eviction["metadata"]["name"].AsString() != call.request.name) {
    co_return std::unexpected(
        BadRequestStatus("name in URL does not match name in Eviction object"));
  }
  const Value unreadable =
      eviction["deleteOptions"]["ignoreStoreReadErrorWithClusterBreakingPotential"];
  if (unreadable.AsBool()) {
    const value::Path path("deleteOptions");
    co_return std::unexpected(schema::InvalidStatus(
        "policy", "Eviction", call.request.name,
        {schema::Invalid(path.Child("ignoreStoreReadErrorWithClusterBreakingPotential"), true,
                         "can not be set for pod eviction, try after removing the option")}));
  }
  Eviction run(call, OptionsOf(eviction, call.options));
  co_return co_await run.Run();
}

}  // namespace keelson::kube::pod
