// Plugins about where pods run and what nodes they put up with: TaintNodesByCondition,
// DefaultTolerationSeconds, RuntimeClass, PodTopologyLabels.

#include <fmt/format.h>

#include "api/core_v1.h"
#include "api/node_v1.h"
#include "base/quote.h"
#include "kube/admission/plugins.h"
#include "schema/equality.h"

namespace keelson::kube::plugins {
namespace {

namespace core = api::core_v1;
namespace node = api::node_v1;
using value::Document;
using value::Ref;
using value::Value;

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";

constexpr Value Plain(std::string_view text) { return Value::String(text, /*plain=*/true); }

Ref ListOf(Ref object, std::string_view field) {
  Ref list = object.Field(field);
  if (!list.Get().is_list()) list.Set(Value::EmptyList());
  return object.Field(field);
}

// A new node gets no pods before it is known to be ready.
class TaintNodesByCondition final : public Plugin {
 public:
  std::string_view name() const override { return "TaintNodesByCondition"; }
  bool Handles(const Request& request) const override { return Creates(request, "", "nodes"); }
  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref node) const override {
    for (auto taint : core::NodeSpec(request.object["spec"]).taints()) {
      if (taint.key() == kNotReady && taint.effect() == "NoSchedule") co_return ApiResult<void>();
    }
    Ref taint = ListOf(node.Field("spec"), "taints").Append(Value::EmptyObject());
    taint.SetField("key", Plain(kNotReady));
    taint.SetField("effect", Plain("NoSchedule"));
    co_return ApiResult<void>();
  }
};

// Pods stay five minutes on a node that seems gone, unless they say otherwise.
class DefaultTolerationSeconds final : public Plugin {
 public:
  std::string_view name() const override { return "DefaultTolerationSeconds"; }
  bool Handles(const Request& request) const override { return Writes(request, "", "pods"); }
  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref pod) const override {
    constexpr int64_t kSeconds = 300;
    for (auto key : {kNotReady, kUnreachable}) {
      if (Tolerates(core::PodSpec(request.object["spec"]), key)) continue;
      Ref toleration = ListOf(pod.Field("spec"), "tolerations").Append(Value::EmptyObject());
      toleration.SetField("key", Plain(key));
      toleration.SetField("operator", Plain("Exists"));
      toleration.SetField("effect", Plain("NoExecute"));
      toleration.SetField("tolerationSeconds", Value::Int(kSeconds));
    }
    co_return ApiResult<void>();
  }

 private:
  static bool Tolerates(core::PodSpec spec, std::string_view key) {
    for (auto toleration : spec.tolerations()) {
      if ((toleration.key() == key || toleration.key().empty()) &&
          (toleration.effect() == "NoExecute" || toleration.effect().empty())) {
        return true;
      }
    }
    return false;
  }
};

// Pods of a runtime class pay its overhead and run where it is offered.
class RuntimeClass final : public Plugin {
 public:
  explicit RuntimeClass(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "RuntimeClass"; }
  bool Handles(const Request& request) const override {
    if (!Creates(request, "", "pods")) return false;
    const Value spec = request.object["spec"];
    return !spec["runtimeClassName"].is_null() || !spec["overhead"].is_null();
  }

  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref pod) const override {
    auto found = co_await Find(request);
    if (!found) co_return std::unexpected(std::move(found).error());
    const node::RuntimeClass runtime(found->root());
    if (!runtime) co_return ApiResult<void>();
    pod.builder().Adopt(*found);
    const core::PodSpec spec(request.object["spec"]);
    if (auto overhead = runtime.overhead()) {
      const Value fixed = overhead.podFixed().value();
      if (!spec.overhead().empty() && !SameAmounts(fixed, spec.overhead().value())) {
        co_return Forbid(
            request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      }
      if (!fixed.members().empty()) pod.Field("spec").SetField("overhead", fixed);
    }
    co_return ApplyScheduling(request, runtime.scheduling(), spec, pod);
  }

  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    auto found = co_await Find(request);
    if (!found) co_return std::unexpected(std::move(found).error());
    const node::RuntimeClass runtime(found->root());
    const Value overhead = request.object["spec"]["overhead"];
    if (runtime && runtime.overhead()) {
      if (!SameAmounts(runtime.overhead().podFixed().value(), overhead)) {
        co_return Forbid(
            request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      }
    } else if (!overhead.is_null()) {
      co_return Forbid(request,
                       "pod rejected: Pod Overhead set without corresponding RuntimeClass "
                       "defined Overhead");
    }
    co_return ApiResult<void>();
  }

 private:
  // An empty document when the pod names none.
  Task<ApiResult<Document>> Find(const Request& request) const {
    const auto name = core::PodSpec(request.object["spec"]).runtimeClassName();
    if (!name) co_return Document();
    if (name->empty()) {
      co_return std::unexpected(Status{.code = 500, .message = "resource name may not be empty"});
    }
    auto found = co_await objects_.Get("node.k8s.io", "runtimeclasses", "", std::string(*name));
    if (!found) co_return std::unexpected(std::move(found).error());
    if (*found) co_return **std::move(found);
    co_return Forbid(request, fmt::format("pod rejected: RuntimeClass {} not found", Quote(*name)));
  }

  static bool SameAmounts(const Value& a, const Value& b) {
    return schema::EqualByMeaning(*core::PodSpec::Schema().Find("overhead")->type, a, b);
  }

  static ApiResult<void> ApplyScheduling(const Request& request, node::Scheduling scheduling,
                                         core::PodSpec spec, Ref pod) {
    if (!scheduling) return {};
    for (auto [key, value] : scheduling.nodeSelector()) {
      const auto own = spec.nodeSelector();
      if (own.contains(key) && own[key] != value) {
        return Forbid(request,
                      fmt::format("conflict: runtimeClass.scheduling.nodeSelector[{}] = {}; "
                                  "pod.spec.nodeSelector[{}] = {}",
                                  key, value, key, own[key]));
      }
      pod.Field("spec").Field("nodeSelector").SetField(key, pod.builder().String(value));
    }
    for (const Value& toleration : scheduling.tolerations().value().items()) {
      const auto own = spec.tolerations().value().items();
      if (std::ranges::find(own, toleration) != own.end()) continue;
      ListOf(pod.Field("spec"), "tolerations").Append(toleration.Shared());
    }
    return {};
  }

  const Objects& objects_;
};

// A pod that is bound to a node learns where that is.
class PodTopologyLabels final : public Plugin {
 public:
  explicit PodTopologyLabels(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "PodTopologyLabels"; }
  bool Handles(const Request& request) const override {
    if (request.operation != Operation::kCreate || !request.info->group.empty()) return false;
    if (request.resource == "bindings") return true;
    if (request.resource != "pods") return false;
    if (request.subresource == "binding") return true;
    return request.subresource.empty() && !request.object["spec"]["nodeName"].AsString().empty();
  }
  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref object) const override {
    const bool binding = request.resource == "bindings" || request.subresource == "binding";
    const auto name = binding ? request.object["target"]["name"].AsString()
                              : request.object["spec"]["nodeName"].AsString();
    if (name.empty()) co_return ApiResult<void>();
    auto found = co_await objects_.Get("", "nodes", "", std::string(name));
    if (!found) co_return std::unexpected(std::move(found).error());
    if (!*found) co_return ApiResult<void>();
    for (std::string_view key : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
      const Value label = (*found)->root()["metadata"]["labels"][key];
      if (label.is_null()) continue;
      object.Field("metadata")
          .Field("labels")
          .SetField(key, object.builder().String(label.AsString()));
    }
    co_return ApiResult<void>();
  }

 private:
  const Objects& objects_;
};

}  // namespace

PluginPtr NewTaintNodesByCondition() { return std::make_unique<TaintNodesByCondition>(); }
PluginPtr NewDefaultTolerationSeconds() { return std::make_unique<DefaultTolerationSeconds>(); }
PluginPtr NewRuntimeClass(const Objects& objects) {
  return std::make_unique<RuntimeClass>(objects);
}
PluginPtr NewPodTopologyLabels(const Objects& objects) {
  return std::make_unique<PodTopologyLabels>(objects);
}

}  // namespace keelson::kube::plugins
