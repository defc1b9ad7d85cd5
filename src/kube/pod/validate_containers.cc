// Containers of the three sorts and what holds for each of them.

#include <fmt/format.h>

#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using schema::Duplicate;
using schema::Forbidden;
using schema::Invalid;
using schema::NotFound;
using schema::NotSupported;
using schema::Required;

constexpr std::string_view kRestartPolicies[] = {"Always", "Never", "OnFailure"};
constexpr std::string_view kRuleActions[] = {"Restart", "RestartAllContainers"};
constexpr std::string_view kRuleOperators[] = {"In", "NotIn"};
constexpr std::string_view kResizeResources[] = {"cpu", "memory"};
constexpr std::string_view kResizePolicies[] = {"NotRequired", "RestartContainer"};
constexpr std::string_view kMessagePolicies[] = {"File", "FallbackToLogsOnError"};

// A value that must be given and be one of a few.
template <size_t N>
void CheckChoice(std::string_view value, const std::string_view (&choices)[N], const Path& path,
                 FieldErrors& errors) {
  if (value.empty()) {
    errors.push_back(Required(path, ""));
  } else if (!OneOf(value, choices)) {
    errors.push_back(NotSupported(path, value, choices));
  }
}

void ValidateResizePolicy(core::Container container, std::string_view pod_restart_policy,
                          const Path& path, FieldErrors& errors) {
  SeenTexts seen;
  size_t i = 0;
  for (auto policy : container.resizePolicy()) {
    if (!seen.Insert(policy.resourceName())) {
      errors.push_back(Duplicate(path.Index(i), policy.resourceName()));
    }
    ++i;
    CheckChoice(policy.resourceName(), kResizeResources, path, errors);
    CheckChoice(policy.restartPolicy(), kResizePolicies, path, errors);
    if (pod_restart_policy == "Never" && policy.restartPolicy() != "NotRequired") {
      errors.push_back(Invalid(path, policy.restartPolicy(),
                               "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  }
}

void ValidateRestartPolicy(core::Container container, const Path& path, FieldErrors& errors) {
  const auto policy = container.restartPolicy();
  const auto rules = container.restartPolicyRules();
  if (!policy) {
    if (rules.empty()) return;
    errors.push_back(Required(path.Child("restartPolicy"),
                              "must specify restartPolicy when restart rules are used"));
  } else if (!OneOf(*policy, kRestartPolicies)) {
    errors.push_back(NotSupported(path.Child("restartPolicy"), *policy, kRestartPolicies));
  }
  constexpr int64_t kMaxRules = 20;
  constexpr int64_t kMaxExitCodes = 255;
  const Path rules_path = path.Child("restartPolicyRules");
  if (rules.size() > kMaxRules) {
    errors.push_back(schema::TooMany(rules_path, static_cast<int64_t>(rules.size()), kMaxRules));
  }
  size_t i = 0;
  for (auto rule : rules) {
    const Path at = rules_path.Index(i++);
    if (!OneOf(rule.action(), kRuleActions)) {
      errors.push_back(NotSupported(at.Child("action"), rule.action(), kRuleActions));
    }
    const auto codes = rule.exitCodes();
    if (!codes) {
      errors.push_back(Required(at.Child("exitCodes"), "must be specified"));
      continue;
    }
    const Path codes_path = at.Child("exitCodes");
    if (!OneOf(codes.operator_(), kRuleOperators)) {
      errors.push_back(
          NotSupported(codes_path.Child("operator"), codes.operator_(), kRuleOperators));
    }
    if (codes.values().size() > kMaxExitCodes) {
      errors.push_back(schema::TooMany(codes_path.Child("values"),
                                       static_cast<int64_t>(codes.values().size()), kMaxExitCodes));
    }
  }
}

// What holds for every container.
void ValidateCommon(core::Container container, const PodContext& pod, const Path& path,
                    FieldErrors& errors) {
  if (container.name().empty()) {
    errors.push_back(Required(path.Child("name"), ""));
  } else {
    CheckLabel(container.name(), path.Child("name"), errors);
  }
  RequireText(container.image(), path.Child("image"), errors);
  CheckChoice(container.terminationMessagePolicy(), kMessagePolicies,
              path.Child("terminationMessagePolicy"), errors);
  ValidatePorts(container.ports(), path.Child("ports"), errors);
  ValidateEnv(container.env(), path.Child("env"), errors);
  ValidateEnvFrom(container.envFrom(), path.Child("envFrom"), errors);
  ValidateMounts(container, pod.volumes, path.Child("volumeMounts"), errors);
  ValidateDevices(container, pod.volumes, path.Child("volumeDevices"), errors);
  CheckPullPolicy(container.imagePullPolicy(), path.Child("imagePullPolicy"), errors);
  ValidateContainerResources(container.resources(), pod.claim_names, path.Child("resources"),
                             errors);
  ValidateResizePolicy(container, pod.spec.restartPolicy(), path.Child("resizePolicy"), errors);
  ValidateContainerSecurity(container.securityContext(), pod.host_users, pod.rules,
                            path.Child("securityContext"), errors);
}

// Ports of the node, each of which one container may have. `first` is where `containers` begins in
// the list that `path` names.
void CheckHostPorts(std::span<const Value> containers, const Path& path, FieldErrors& errors) {
  std::unordered_set<std::string> taken;
  for (size_t i = 0; i < containers.size(); ++i) {
    size_t j = 0;
    for (auto port : core::Container(containers[i].Shared()).ports()) {
      const size_t index = j++;
      if (port.hostPort() == 0) continue;
      auto text = fmt::format("{}/{}/{}", port.protocol(), port.hostIP(), port.hostPort());
      if (!taken.insert(text).second) {
        errors.push_back(
            Duplicate(path.Index(i).Child("ports").Index(index).Child("hostPort"), text));
      }
    }
  }
}

void ForbidInInit(const Value& part, std::string_view name, const Path& path, FieldErrors& errors) {
  if (part.is_null()) return;
  errors.push_back(Forbidden(path.Child(name),
                             "may not be set for init containers without restartPolicy=Always"));
}

// Fields that mean something only for a container the pod relies on.
constexpr std::string_view kNotEphemeral[] = {
    "ports",         "resources",      "resizePolicy", "restartPolicy", "restartPolicyRules",
    "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"};

bool IsSet(const Value& value) {
  if (value.is_null()) return false;
  return !(value.is_list() || value.is_object()) || value.size() > 0;
}

void ForbidInEphemeral(core::Container container, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kWhy = "cannot be set for an Ephemeral Container";
  for (auto field : kNotEphemeral) {
    if (IsSet(container.value()[field])) {
      errors.push_back(Forbidden(path.Child(field), std::string(kWhy)));
    }
  }
  size_t i = 0;
  for (auto mount : container.volumeMounts()) {
    const Path at = path.Child("volumeMounts").Index(i++);
    if (!mount.subPath().empty()) {
      errors.push_back(Forbidden(at.Child("subPath"), std::string(kWhy)));
    }
    if (!mount.subPathExpr().empty()) {
      errors.push_back(Forbidden(at.Child("subPathExpr"), std::string(kWhy)));
    }
  }
}

}  // namespace

void ValidateContainers(const PodContext& pod, const Path& path, FieldErrors& errors) {
  const auto containers = pod.spec.containers();
  if (containers.empty()) {
    errors.push_back(Required(path, ""));
    return;
  }
  const auto grace = pod.spec.terminationGracePeriodSeconds();
  SeenTexts names;
  for (size_t i = 0; i < containers.size(); ++i) {
    const core::Container container = containers[i];
    const Path at = path.Index(i);
    ValidateCommon(container, pod, at, errors);
    if (!names.Insert(container.name())) {
      errors.push_back(Duplicate(at.Child("name"), container.name()));
    }
    if (container.lifecycle()) {
      ValidateLifecycle(container.lifecycle(), grace, pod.spec.os(), at.Child("lifecycle"), errors);
    }
    ValidateProbes(container, grace, at, errors);
    ValidateRestartPolicy(container, at, errors);
  }
  CheckHostPorts(containers.value().items(), path, errors);
}

void ValidateInitContainers(const PodContext& pod, const Path& path, FieldErrors& errors) {
  const auto containers = pod.spec.initContainers();
  if (containers.empty()) return;
  const auto grace = pod.spec.terminationGracePeriodSeconds();
  SeenTexts names;
  for (auto container : pod.spec.containers()) names.Insert(container.name());
  for (size_t i = 0; i < containers.size(); ++i) {
    const core::Container container = containers[i];
    const Path at = path.Index(i);
    ValidateCommon(container, pod, at, errors);
    ValidateRestartPolicy(container, at, errors);
    const bool sidecar = container.restartPolicy() == "Always";
    if (container.name().empty() ? names.Contains("") : !names.Insert(container.name())) {
      errors.push_back(Duplicate(at.Child("name"), container.name()));
    }
    // They run one after the other, so each has the node's ports for itself. Upstream counts its
    // index from zero here.
    CheckHostPorts(containers.value().items().subspan(i, 1), path, errors);
    if (sidecar) {
      if (container.lifecycle()) {
        ValidateLifecycle(container.lifecycle(), grace, pod.spec.os(), at.Child("lifecycle"),
                          errors);
      }
      ValidateProbes(container, grace, at, errors);
    } else {
      for (std::string_view part :
           {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
        ForbidInInit(container.value()[part], part, at, errors);
      }
      size_t j = 0;
      for (auto policy : container.resizePolicy()) {
        const Path policy_path = at.Child("resizePolicy").Index(j++);
        if (policy.restartPolicy() != "RestartContainer") continue;
        errors.push_back(
            Invalid(policy_path.Child("restartPolicy"), policy.restartPolicy(),
                    "must not be set to 'RestartContainer' for non-sidecar initContainers"));
      }
    }
  }
}

void ValidateEphemeralContainers(const PodContext& pod, const Path& path, FieldErrors& errors) {
  const auto containers = pod.spec.ephemeralContainers();
  if (containers.empty()) return;
  SeenTexts others;
  SeenTexts names;
  for (const auto& list : {pod.spec.containers(), pod.spec.initContainers()}) {
    for (auto container : list) {
      others.Insert(container.name());
      names.Insert(container.name());
    }
  }
  for (size_t i = 0; i < containers.size(); ++i) {
    const core::EphemeralContainer ephemeral = containers[i];
    const core::Container container(ephemeral.value());
    const Path at = path.Index(i);
    ValidateCommon(container, pod, at, errors);
    ValidateContainerForPod(container, at, errors);
    if (!names.Insert(container.name())) {
      errors.push_back(Duplicate(at.Child("name"), container.name()));
    }
    const auto target = ephemeral.targetContainerName();
    if (!target.empty() && !others.Contains(target)) {
      errors.push_back(NotFound(at.Child("targetContainerName"), target));
    }
    ForbidInEphemeral(container, at, errors);
  }
}

void ValidateContainerForPod(core::Container container, const Path& path, FieldErrors& errors) {
  if (TrimSpace(container.image()).size() != container.image().size()) {
    errors.push_back(Invalid(path.Child("image"), container.image(),
                             "must not have leading or trailing whitespace"));
  }
}

}  // namespace keelson::kube::pod
