// Priority: a pod's importance is that of its class, and the server fills in the number.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/core_v1.h"
#include "api/scheduling_v1.h"
#include "kube/admission/plugins.h"

namespace keelson::kube::plugins {
namespace {

namespace core = api::core_v1;
namespace scheduling = api::scheduling_v1;
using value::Document;
using value::Ref;
using value::Value;

class Priority final : public Plugin {
 public:
  explicit Priority(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "Priority"; }
  bool Handles(const Request& request) const override {
    if (request.operation == Operation::kDelete) {
      return request.IsFor("scheduling.k8s.io", "priorityclasses");
    }
    return Writes(request, "", "pods") ||
           (Writes(request, "scheduling.k8s.io", "priorityclasses") &&
            request.object["globalDefault"].AsBool());
  }

  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref pod) const override {
    if (request.resource != "pods") co_return ApiResult<void>();
    if (request.operation == Operation::kUpdate) {
      KeepOld(request, pod);
      co_return ApiResult<void>();
    }
    const core::PodSpec spec(request.object["spec"]);
    auto found = co_await FindClass(request, spec.priorityClassName());
    if (!found) co_return std::unexpected(std::move(found).error());
    // Without any class that is the default, priority is 0 and pods push out lesser ones.
    const scheduling::PriorityClass chosen(found->root());
    const int32_t value = chosen ? chosen.value_() : 0;
    const auto policy = chosen ? chosen.preemptionPolicy()
                               : std::optional<std::string_view>("PreemptLowerPriority");
    if (spec.priority() && *spec.priority() != value) {
      co_return Forbid(request,
                       fmt::format("the integer value of priority ({}) must not be provided in pod "
                                   "spec; priority admission controller computed {} from the given "
                                   "PriorityClass name",
                                   *spec.priority(), value));
    }
    if (policy && spec.preemptionPolicy() && *spec.preemptionPolicy() != *policy) {
      co_return Forbid(
          request, fmt::format("the string value of PreemptionPolicy ({}) must not be provided in "
                               "pod spec; priority admission controller computed {} from the given "
                               "PriorityClass name",
                               *spec.preemptionPolicy(), *policy));
    }
    auto& builder = pod.builder();
    Ref edited = pod.Field("spec");
    if (chosen && spec.priorityClassName().empty()) {
      edited.SetField("priorityClassName", builder.String(chosen.metadata().name()));
    }
    edited.SetField("priority", Value::Int(value));
    if (policy) edited.SetField("preemptionPolicy", builder.String(*policy));
    co_return ApiResult<void>();
  }

  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    if (request.resource != "priorityclasses") co_return ApiResult<void>();
    if (request.operation == Operation::kDelete) co_return CheckDelete(request);
    auto found = co_await FindDefault();
    if (!found) co_return std::unexpected(std::move(found).error());
    const auto other = found->root()["metadata"]["name"].AsString();
    if (found->root().is_null() || (request.operation == Operation::kUpdate &&
                                    other == request.object["metadata"]["name"].AsString())) {
      co_return ApiResult<void>();
    }
    co_return Forbid(request, fmt::format("PriorityClass {} is already marked as default. Only "
                                          "one default can exist",
                                          other));
  }

 private:
  static ApiResult<void> CheckDelete(const Request& request) {
    static constexpr std::string_view kSystem[] = {"system-node-critical",
                                                   "system-cluster-critical"};
    if (std::ranges::find(kSystem, request.name) == std::end(kSystem)) return {};
    return Forbid(request, "this is a system priority class and cannot be deleted");
  }

  static void KeepOld(const Request& request, Ref pod) {
    const Value now = request.object["spec"];
    const Value old = request.old_object["spec"];
    for (std::string_view field : {"priority", "preemptionPolicy"}) {
      if (now[field].is_null() && !old[field].is_null()) {
        pod.Field("spec").SetField(field, pod.builder().Clone(old[field]));
      }
    }
  }

  Task<ApiResult<Document>> FindClass(const Request& request, std::string_view name) const {
    if (name.empty()) co_return co_await FindDefault();
    auto found =
        co_await objects_.Get("scheduling.k8s.io", "priorityclasses", "", std::string(name));
    if (!found) co_return std::unexpected(std::move(found).error());
    if (*found) co_return **std::move(found);
    co_return Forbid(request, fmt::format("no PriorityClass with name {} was found", name));
  }

  // The default class; the least important should there be several. An empty document if none.
  Task<ApiResult<Document>> FindDefault() const {
    constexpr std::string_view kGroup = "scheduling.k8s.io";
    // Without its first quote, of which there are too many to look at each.
    constexpr std::string_view kDefault = R"(globalDefault":true)";
    Document chosen;
    // Nearly always there is none, and the cache says so at once.
    if (auto cached = objects_.CachedWith(kGroup, "priorityclasses", kDefault);
        cached && cached->empty()) {
      co_return chosen;
    }
    auto classes = co_await objects_.List(kGroup, "priorityclasses", "", kDefault);
    if (!classes) co_return std::unexpected(std::move(classes).error());
    for (auto& candidate : *classes) {
      const scheduling::PriorityClass priority(candidate.root());
      if (!priority.globalDefault()) continue;
      if (chosen.root().is_null() ||
          priority.value_() < scheduling::PriorityClass(chosen.root()).value_()) {
        chosen = std::move(candidate);
      }
    }
    co_return chosen;
  }

  const Objects& objects_;
};

}  // namespace

PluginPtr NewPriority(const Objects& objects) { return std::make_unique<Priority>(objects); }

}  // namespace keelson::kube::plugins
