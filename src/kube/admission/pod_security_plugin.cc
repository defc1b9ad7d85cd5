// PodSecurity: a namespace's labels say to which level of the pod security standards its pods must
// keep, and of what to warn.

#include <fmt/format.h>

#include <optional>

#include "base/quote.h"
#include "kube/admission/plugins.h"
#include "kube/admission/pod_security.h"

namespace keelson::kube::plugins {
namespace {

namespace core = api::core_v1;
using value::Document;
using value::Value;

struct LevelVersion {
  SecurityLevel level = SecurityLevel::kPrivileged;
  std::string_view level_name = "privileged";
  std::string_view version = "latest";

  std::string ToString() const { return fmt::format("{}:{}", level_name, version); }
};

bool IsVersion(std::string_view text) {
  if (text == "latest") return true;
  if (!text.starts_with("v1.")) return false;
  const auto minor = text.substr(3);
  if (minor.empty() || (minor.size() > 1 && minor[0] == '0')) return false;
  return minor.find_first_not_of("0123456789") == std::string_view::npos;
}

constexpr std::string_view kEnforce = "pod-security.kubernetes.io/enforce";
constexpr std::string_view kEnforceVersion = "pod-security.kubernetes.io/enforce-version";
constexpr std::string_view kWarn = "pod-security.kubernetes.io/warn";
constexpr std::string_view kWarnVersion = "pod-security.kubernetes.io/warn-version";

// Nothing for a word that is no level.
std::optional<LevelVersion> ReadLevel(std::string_view name) {
  if (name == "privileged") return LevelVersion{SecurityLevel::kPrivileged, name};
  if (name == "baseline") return LevelVersion{SecurityLevel::kBaseline, name};
  if (name == "restricted") return LevelVersion{SecurityLevel::kRestricted, name};
  return std::nullopt;
}

using Labels = storage::CachedObject::Labels;

void ReadVersion(const Labels& labels, std::string_view label, LevelVersion& mode) {
  const auto version = labels.Find(label);
  if (version && IsVersion(*version)) mode.version = *version;
}

struct Policy {
  LevelVersion enforce;
  LevelVersion warn;
};

// A bad level is enforced as the strictest and not warned of. Without a level to warn of, what is
// enforced is warned of: controllers are not stopped, their pods will be.
Policy ReadPolicy(const Labels& labels) {
  Policy policy;
  bool enforced = false;
  if (const auto level = labels.Find(kEnforce)) {
    auto read = ReadLevel(*level);
    enforced = read.has_value();
    policy.enforce = read.value_or(LevelVersion{SecurityLevel::kRestricted, "restricted"});
  }
  ReadVersion(labels, kEnforceVersion, policy.enforce);
  if (const auto level = labels.Find(kWarn)) {
    policy.warn = ReadLevel(*level).value_or(LevelVersion());
  } else if (enforced) {
    policy.warn = policy.enforce;
  }
  ReadVersion(labels, kWarnVersion, policy.warn);
  return policy;
}

bool AllowsAll(const Policy& policy) {
  return policy.enforce.level == SecurityLevel::kPrivileged &&
         policy.warn.level == SecurityLevel::kPrivileged;
}

struct PodTemplate {
  Value metadata;
  Value spec;
};

// Where a kind keeps its pod template; nothing when it has none.
constexpr std::string_view kTemplateKinds[] = {
    "apps/daemonsets", "apps/deployments", "apps/replicasets", "apps/statefulsets",
    "batch/cronjobs",  "batch/jobs",       "/podtemplates",    "/replicationcontrollers"};

bool HasTemplate(const Request& request) {
  for (auto kind : kTemplateKinds) {
    const auto slash = kind.find('/');
    if (request.IsFor(kind.substr(0, slash), kind.substr(slash + 1))) return true;
  }
  return false;
}

PodTemplate TemplateOf(const Request& request) {
  Value owner = request.object;
  if (request.resource == "cronjobs") owner = owner["spec"]["jobTemplate"];
  const Value found =
      request.resource == "podtemplates" ? owner["template"] : owner["spec"]["template"];
  return {found["metadata"], found["spec"]};
}

// Whether a change of a pod can matter: other images do not.
bool IsSignificant(const Value& pod, const Value& old) {
  static constexpr std::string_view kLists[] = {"initContainers", "containers",
                                                "ephemeralContainers"};
  for (auto list : kLists) {
    const Value now = pod["spec"][list];
    const Value before = old["spec"][list];
    if (now.items().size() != before.items().size()) return true;
    for (size_t i = 0; i < now.items().size(); ++i) {
      if (now.At(i)["name"] != before.At(i)["name"]) return true;
      if (now.At(i)["securityContext"] != before.At(i)["securityContext"]) return true;
      if (now.At(i)["ports"] != before.At(i)["ports"]) return true;
    }
  }
  return pod["metadata"]["annotations"] != old["metadata"]["annotations"];
}

class PodSecurity final : public Plugin {
 public:
  explicit PodSecurity(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "PodSecurity"; }
  bool Handles(const Request& request) const override {
    if (request.operation != Operation::kCreate && request.operation != Operation::kUpdate) {
      return false;
    }
    const bool concerned =
        request.IsFor("", "pods")
            ? request.subresource.empty() || request.subresource == "ephemeralcontainers"
            : request.subresource.empty() && HasTemplate(request);
    if (!concerned) return false;
    const auto ns = objects_.Cached("", "namespaces", "", request.ns);
    return !ns || !AllowsAll(ReadPolicy(ns->labels()));
  }

  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    auto found = co_await objects_.Find("", "namespaces", "", std::string(request.ns));
    if (!found) co_return std::unexpected(std::move(found).error());
    if (!*found) {
      co_return std::unexpected(
          InternalErrorStatus(fmt::format("failed to lookup namespace {}", Quote(request.ns))));
    }
    const bool is_pod = request.resource == "pods";
    auto policy = ReadPolicy((*found)->labels());
    if (!is_pod) policy.enforce = {};
    if (AllowsAll(policy)) co_return ApiResult<void>();
    const auto& [enforce, warn] = policy;
    if (is_pod && request.operation == Operation::kUpdate &&
        !IsSignificant(request.object, request.old_object)) {
      co_return ApiResult<void>();
    }
    const auto pod = is_pod ? PodTemplate{request.object["metadata"], request.object["spec"]}
                            : TemplateOf(request);
    const core::PodSpec spec(pod.spec);
    if (!spec) co_return ApiResult<void>();
    if (auto why = SecurityViolations(enforce.level, pod.metadata, spec); !why.empty()) {
      co_return Forbid(request,
                       fmt::format("violates PodSecurity {}: {}", Quote(enforce.ToString()), why));
    }
    if (auto why = SecurityViolations(warn.level, pod.metadata, spec);
        !why.empty() && request.warnings != nullptr) {
      request.warnings->Warn(
          fmt::format("would violate PodSecurity {}: {}", Quote(warn.ToString()), why));
    }
    co_return ApiResult<void>();
  }

 private:
  const Objects& objects_;
};

}  // namespace

PluginPtr NewPodSecurity(const Objects& objects) { return std::make_unique<PodSecurity>(objects); }

}  // namespace keelson::kube::plugins
