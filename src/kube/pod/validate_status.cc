// A pod's status, as kubelets and schedulers write it.

#include <fmt/format.h>

#include "base/ip_address.h"
#include "kube/pod/validate_pod.h"
#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using schema::Duplicate;
using schema::Forbidden;
using schema::Invalid;

void ValidateConditions(core::PodStatus status, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kSystem[] = {"PodScheduled", "Ready", "Initialized"};
  size_t i = 0;
  for (auto condition : status.conditions()) {
    const Path at = path.Index(i++);
    if (condition.observedGeneration() < 0) {
      errors.push_back(Invalid(at.Child("observedGeneration"), condition.observedGeneration(),
                               "must be a non-negative integer"));
    }
    if (!OneOf(condition.type(), kSystem)) {
      CheckQualified(condition.type(), at.Child("Type"), errors);
    }
  }
}

// Whether a rule of some container may bring all of them back.
bool AllMayRestart(core::PodSpec spec) {
  bool found = false;
  VisitContainers(spec, Path(), [&](core::Container container, const Path&) {
    for (auto rule : container.restartPolicyRules()) {
      found = found || rule.action() == "RestartAllContainers";
    }
  });
  return found;
}

bool RuleMatches(core::ContainerRestartRule rule, int32_t exit_code) {
  const auto codes = rule.exitCodes();
  if (!codes) return false;
  const auto values = codes.values();
  const bool listed = std::find(values.begin(), values.end(), exit_code) != values.end();
  return codes.operator_() == "In" ? listed : codes.operator_() == "NotIn" && !listed;
}

// Whether a container that ended with `exit_code` is started again.
bool MayRestart(core::Container container, core::PodSpec spec, int32_t exit_code) {
  for (auto rule : container.restartPolicyRules()) {
    if (rule.action() == "Restart" && RuleMatches(rule, exit_code)) return true;
  }
  const auto policy = container.restartPolicy().value_or(spec.restartPolicy());
  return policy == "Always" || (policy == "OnFailure" && exit_code != 0);
}

// What has ended stays ended, unless it is started again.
void ValidateTransitions(ListView<core::ContainerStatus> now, ListView<core::ContainerStatus> old,
                         const Value& containers, core::PodSpec spec, const Path& path,
                         FieldErrors& errors) {
  size_t i = 0;
  for (auto before : old) {
    const Path at = path.Index(i++);
    const auto ended = before.state().terminated();
    if (!ended) continue;
    for (auto status : now) {
      if (status.name() != before.name() || status.state().terminated()) continue;
      bool allowed = false;
      for (const Value& item : containers.items()) {
        const core::Container container(item.Shared());
        if (container.name() == before.name()) {
          allowed = MayRestart(container, spec, ended.exitCode());
          break;
        }
      }
      if (!allowed) {
        errors.push_back(
            Forbidden(at.Child("state"), "may not be transitioned to non-terminated state"));
      }
      break;
    }
  }
}

void ValidateClaimStatuses(core::PodStatus status, core::PodSpec spec, const Path& path,
                           FieldErrors& errors) {
  SeenTexts claims;
  for (auto claim : spec.resourceClaims()) claims.Insert(claim.name());
  SeenTexts names;
  size_t i = 0;
  for (auto claim : status.resourceClaimStatuses()) {
    const Path at = path.Index(i++);
    if (!claims.Contains(claim.name())) {
      errors.push_back(Invalid(at.Child("name"), claim.name(),
                               "must match the name of an entry in `spec.resourceClaims`"));
    }
    if (!names.Insert(claim.name())) errors.push_back(Duplicate(at.Child("name"), claim.name()));
    if (auto name = claim.resourceClaimName()) {
      CheckSubdomain(*name, at.Child("resourceClaimName"), errors);
    }
  }
}

// podIPs or hostIPs: valid unless they were there before, and at most one of each family.
void ValidateIps(const Value& list, const Value& old, const Path& path, FieldErrors& errors) {
  SeenTexts before;
  for (const Value& item : old.items()) before.Insert(item["ip"].AsString());
  size_t i = 0;
  bool families[2] = {false, false};
  bool parsed = true;
  for (const Value& item : list.items()) {
    const auto text = item["ip"].AsString();
    const size_t index = i++;
    if (!before.Contains(text)) CheckIp(text, path.Index(index), errors);
    const auto address = IpAddress::Parse(text);
    parsed = parsed && address.has_value();
    if (address) families[address->is_v4() ? 0 : 1] = true;
  }
  if (list.items().size() < 2) return;
  if (!parsed) {
    for (const Value& item : list.items()) {
      if (IpAddress::Parse(item["ip"].AsString())) continue;
      errors.push_back(schema::InternalError(
          path, fmt::format("failed to check for dual stack with error:invalid IP: {}",
                            item["ip"].AsString())));
      break;
    }
  }
  if (!parsed || !families[0] || !families[1] || list.items().size() > 2) {
    errors.push_back(Invalid(path, list, "may specify no more than one IP for each IP family"));
  }
}

}  // namespace

void ValidatePodStatusUpdate(const Value& pod, const Value& old_pod, FieldErrors& errors) {
  const core::PodStatus status(pod["status"]);
  const core::PodStatus before(old_pod["status"]);
  const core::PodSpec spec(old_pod["spec"]);
  const Path path("status");
  ValidateConditions(status, path.Child("conditions"), errors);
  const auto nominated = status.nominatedNodeName();
  if (!nominated.empty() && nominated != before.nominatedNodeName()) {
    CheckSubdomain(nominated, path.Child("nominatedNodeName"), errors);
    if (!spec.nodeName().empty()) {
      errors.push_back(Forbidden(path.Child("nominatedNodeName"),
                                 "may not be set on pods that are already bound to a node"));
    }
  }
  if (status.observedGeneration() < 0) {
    errors.push_back(Invalid(path.Child("observedGeneration"), status.observedGeneration(),
                             "must be a non-negative integer"));
  }
  if (status.qosClass() != before.qosClass()) {
    errors.push_back(schema::Immutable(path.Child("qosClass"), status.qosClass()));
  }
  if (!AllMayRestart(spec)) {
    ValidateTransitions(status.containerStatuses(), before.containerStatuses(),
                        spec.containers().value(), spec, path.Child("containerStatuses"), errors);
    ValidateTransitions(status.initContainerStatuses(), before.initContainerStatuses(),
                        spec.initContainers().value(), spec, path.Child("initContainerStatuses"),
                        errors);
  }
  ValidateTransitions(status.ephemeralContainerStatuses(), before.ephemeralContainerStatuses(), {},
                      spec, path.Child("ephemeralContainerStatuses"), errors);
  ValidateClaimStatuses(status, spec, path.Child("resourceClaimStatuses"), errors);
  ValidateIps(status.podIPs().value(), before.podIPs().value(), path.Child("podIPs"), errors);
  const auto hosts = status.hostIPs();
  if (!hosts.empty() && hosts[0].ip() != status.hostIP()) {
    errors.push_back(Invalid(path.Child("hostIPs").Index(0).Child("ip"), hosts[0].ip(),
                             "must be equal to `hostIP`"));
  }
  ValidateIps(hosts.value(), before.hostIPs().value(), path.Child("hostIPs"), errors);
}

}  // namespace keelson::kube::pod
