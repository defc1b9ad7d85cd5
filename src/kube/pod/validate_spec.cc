// A pod's spec as a whole, in the order upstream goes through it.

#include <fmt/format.h>

#include <limits>

#include "kube/pod/validation.h"
#include "rest/object_meta.h"
#include "schema/internal_form.h"

namespace keelson::kube::pod {
namespace {

using schema::Duplicate;
using schema::Forbidden;
using schema::Invalid;
using schema::NotSupported;
using schema::Required;

constexpr size_t kMaxNameservers = 3;
constexpr size_t kMaxSearches = 32;
constexpr size_t kMaxSearchText = 2048;

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";

void ValidateResourceClaims(core::PodSpec spec, const Value* metadata, const Path& path,
                            FieldErrors& errors) {
  SeenTexts names;
  size_t i = 0;
  for (auto claim : spec.resourceClaims()) {
    const Path at = path.Index(i++);
    if (metadata && (*metadata)["annotations"].Find(kMirror)) {
      errors.push_back(Forbidden(Path(""), "static pods do not support resource claims"));
      continue;
    }
    if (claim.name().empty()) {
      errors.push_back(Required(at.Child("name"), ""));
    } else if (!names.Insert(claim.name())) {
      errors.push_back(Duplicate(at.Child("name"), claim.name()));
    } else {
      CheckLabel(claim.name(), at.Child("name"), errors);
    }
    const auto name = claim.resourceClaimName();
    const auto template_name = claim.resourceClaimTemplateName();
    if (name && template_name) {
      errors.push_back(Invalid(at, schema::InternalBadValue(claim.Schema(), claim.value()),
                               "at most one of `resourceClaimName` or `resourceClaimTemplateName` "
                               "may be specified"));
    }
    if (!name && !template_name) {
      errors.push_back(
          Invalid(at, schema::InternalBadValue(claim.Schema(), claim.value()),
                  "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    }
    if (name) CheckSubdomain(*name, at.Child("resourceClaimName"), errors);
    if (template_name) {
      CheckSubdomain(*template_name, at.Child("resourceClaimTemplateName"), errors);
    }
  }
}

// On the node's network a container's port is the node's.
void ValidateHostNetwork(core::PodSpec spec, const SpecRules& rules, const Path& path,
                         FieldErrors& errors) {
  if (!spec.hostNetwork()) return;
  size_t i = 0;
  for (auto container : spec.containers()) {
    const Path at = path.Child("containers").Index(i++);
    size_t j = 0;
    for (auto port : container.ports()) {
      const Path port_path = at.Child("ports").Index(j++);
      if (!rules.is_pod && port.hostPort() == 0) continue;
      if (port.hostPort() == port.containerPort()) continue;
      errors.push_back(Invalid(port_path.Child("hostPort"), port.hostPort(),
                               "must match `containerPort` when `hostNetwork` is true"));
    }
  }
}

template <size_t N>
void CheckChoice(std::string_view value, const std::string_view (&choices)[N], const Path& path,
                 FieldErrors& errors) {
  if (value.empty()) {
    errors.push_back(Required(path, ""));
  } else if (!OneOf(value, choices)) {
    errors.push_back(NotSupported(path, value, choices));
  }
}

void ValidateDnsConfig(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  const auto config = spec.dnsConfig();
  if (spec.dnsPolicy() == "None") {
    if (!config) {
      errors.push_back(Required(path, "must provide `dnsConfig` when `dnsPolicy` is None"));
      return;
    }
    if (config.nameservers().empty()) {
      errors.push_back(
          Required(path.Child("nameservers"),
                   "must provide at least one DNS nameserver when `dnsPolicy` is None"));
      return;
    }
  }
  if (!config) return;
  if (config.nameservers().size() > kMaxNameservers) {
    errors.push_back(
        Invalid(path.Child("nameservers"), config.nameservers().value(),
                fmt::format("must not have more than {} nameservers", kMaxNameservers)));
  }
  size_t i = 0;
  for (auto server : config.nameservers()) {
    CheckIp(server, path.Child("nameservers").Index(i++), errors);
  }
  const auto searches = config.searches();
  if (searches.size() > kMaxSearches) {
    errors.push_back(Invalid(path.Child("searches"), searches.value(),
                             fmt::format("must not have more than {} search paths", kMaxSearches)));
  }
  size_t length = searches.empty() ? 0 : searches.size() - 1;
  for (auto search : searches) length += search.size();
  if (length > kMaxSearchText) {
    errors.push_back(Invalid(
        path.Child("searches"), searches.value(),
        fmt::format("must not have more than {} characters (including spaces) in the search list",
                    kMaxSearchText)));
  }
  i = 0;
  for (auto search : searches) {
    const size_t index = i++;
    if (search == ".") continue;
    if (search.ends_with('.')) search.remove_suffix(1);
    AddInvalid(errors, path.Child("searches").Index(index), search,
               names::CheckDns1123SubdomainWithUnderscore(search));
  }
  i = 0;
  for (auto option : config.options()) {
    const size_t index = i++;
    if (option.name().empty()) {
      errors.push_back(Required(path.Child("options").Index(index), "must not be empty"));
    }
  }
}

void ValidateGates(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  size_t i = 0;
  for (auto gate : spec.readinessGates()) {
    const Path at = path.Child("readinessGates").Index(i++);
    CheckQualified(gate.conditionType(), at.Child("conditionType"), errors);
  }
  SeenTexts names;
  i = 0;
  for (auto gate : spec.schedulingGates()) {
    const Path at = path.Child("schedulingGates").Index(i++);
    CheckQualified(gate.name(), at, errors);
    if (!names.Insert(gate.name())) errors.push_back(Duplicate(at, gate.name()));
  }
}

// A pod with user ids of its own shares nothing else of the node.
void ValidateHostUsers(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  if (spec.hostUsers().value_or(true)) return;
  constexpr std::string_view kWhy = "when `hostUsers` is false";
  if (spec.hostNetwork()) errors.push_back(Forbidden(path.Child("hostNetwork"), std::string(kWhy)));
  if (spec.hostPID()) errors.push_back(Forbidden(path.Child("HostPID"), std::string(kWhy)));
  if (spec.hostIPC()) errors.push_back(Forbidden(path.Child("HostIPC"), std::string(kWhy)));
  VisitContainers(spec, path, [&](core::Container container, const Path& at) {
    if (container.volumeDevices().empty()) return;
    errors.push_back(Forbidden(at.Child("volumeDevices"), std::string(kWhy)));
  });
}

void ValidateHostname(core::PodSpec spec, const Path& spec_path, FieldErrors& errors) {
  const auto name = spec.hostnameOverride();
  if (!name) return;
  const Path path = spec_path.Child("hostnameOverride");
  if (spec.setHostnameAsFQDN().value_or(false)) {
    errors.push_back(Forbidden(path, "may not be specified when setHostnameAsFQDN is true"));
  }
  if (spec.hostNetwork()) {
    errors.push_back(Forbidden(path, "may not be specified when hostNetwork is true"));
  }
  if (name->size() > 64) errors.push_back(schema::TooLong(path, 64));
  CheckSubdomain(*name, path, errors);
}

void ValidateHostAliases(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  size_t i = 0;
  for (auto alias : spec.hostAliases()) {
    const Path at = path.Index(i++);
    CheckIp(alias.ip(), at.Child("ip"), errors);
    size_t j = 0;
    for (auto name : alias.hostnames()) {
      CheckSubdomain(name, at.Child("hostnames").Index(j++), errors);
    }
  }
}

// Names of other things, and numbers.
void ValidateReferences(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  auto subdomain = [&](std::string_view name, std::string_view field) {
    if (!name.empty()) CheckSubdomain(name, path.Child(field), errors);
  };
  subdomain(spec.serviceAccountName(), "serviceAccountName");
  subdomain(spec.nodeName(), "nodeName");
  if (auto seconds = spec.activeDeadlineSeconds();
      seconds && (*seconds < 1 || *seconds > std::numeric_limits<int32_t>::max())) {
    errors.push_back(Invalid(path.Child("activeDeadlineSeconds"), *seconds,
                             "must be between 1 and 2147483647, inclusive"));
  }
  if (!spec.hostname().empty()) CheckLabel(spec.hostname(), path.Child("hostname"), errors);
  if (!spec.subdomain().empty()) CheckLabel(spec.subdomain(), path.Child("subdomain"), errors);
  ValidateTolerations(spec.tolerations(), path.Child("tolerations"), errors);
  ValidateHostAliases(spec, path.Child("hostAliases"), errors);
  subdomain(spec.priorityClassName(), "priorityClassName");
  if (auto name = spec.runtimeClassName()) {
    CheckSubdomain(*name, path.Child("runtimeClassName"), errors);
  }
}

}  // namespace

void ValidatePodSpec(const Value& value, const Value* metadata, const Path& path,
                     FieldErrors& errors, const SpecRules& rules) {
  static constexpr std::string_view kRestart[] = {"Always", "OnFailure", "Never"};
  static constexpr std::string_view kDns[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                              "None"};
  static constexpr std::string_view kPreemption[] = {"PreemptLowerPriority", "Never"};
  const core::PodSpec spec(value);
  if (!spec.terminationGracePeriodSeconds()) {
    errors.push_back(Required(path.Child("terminationGracePeriodSeconds"), ""));
  }
  VolumeIndex volumes(spec.volumes());
  ValidateVolumes(spec.volumes(), metadata, path.Child("volumes"), rules, volumes, errors);
  SeenTexts claim_names;
  for (auto claim : spec.resourceClaims()) {
    if (!claim.name().empty()) claim_names.Insert(claim.name());
  }
  ValidateResourceClaims(spec, metadata, path.Child("resourceClaims"), errors);
  const PodContext pod{.spec = spec,
                       .rules = rules,
                       .volumes = volumes,
                       .claim_names = claim_names,
                       .host_users = spec.hostUsers().value_or(true)};
  ValidateContainers(pod, path.Child("containers"), errors);
  ValidateInitContainers(pod, path.Child("initContainers"), errors);
  ValidateEphemeralContainers(pod, path.Child("ephemeralContainers"), errors);
  ValidatePodResources(pod, path, errors);
  ValidateHostNetwork(spec, rules, path, errors);
  CheckChoice(spec.restartPolicy(), kRestart, path.Child("restartPolicy"), errors);
  CheckChoice(spec.dnsPolicy(), kDns, path.Child("dnsPolicy"), errors);
  rest::ValidateLabels(spec.nodeSelector().value(), path.Child("nodeSelector"), errors);
  ValidatePodSecurity(spec, path, errors);
  ValidateAffinity(spec.affinity(), path.Child("affinity"), errors);
  ValidateDnsConfig(spec, path.Child("dnsConfig"), errors);
  ValidateGates(spec, path, errors);
  ValidateTopologySpread(spec.topologySpreadConstraints(), path.Child("topologySpreadConstraints"),
                         errors);
  ValidateHostProcess(spec, rules, path, errors);
  ValidateHostUsers(spec, path, errors);
  ValidateHostname(spec, path, errors);
  ValidateReferences(spec, path, errors);
  if (auto policy = spec.preemptionPolicy()) {
    CheckChoice(*policy, kPreemption, path.Child("preemptionPolicy"), errors);
  }
  if (!spec.overhead().empty()) {
    ValidateOverhead(spec.overhead().value(), path.Child("overhead"), errors);
  }
  ValidateOs(spec, path, errors);
  ValidateFileKeyRefs(spec, path, errors);
}

void ValidatePodTemplateSpec(const Value& pod_template, const Path& path, FieldErrors& errors,
                             const SpecRules& rules) {
  const Value metadata = pod_template["metadata"];
  const Value annotations = metadata["annotations"];
  const Value spec = pod_template["spec"];
  rest::ValidateLabels(metadata["labels"], path.Child("labels"), errors);
  rest::ValidateAnnotations(annotations, path.Child("annotations"), errors);
  ValidatePodAnnotations(annotations, core::PodSpec(spec), path.Child("annotations"), errors);
  const Path spec_path = path.Child("spec");
  ValidatePodSpec(spec, nullptr, spec_path, errors, rules);
  ValidateProfileAnnotations(annotations, core::PodSpec(spec), spec_path, errors);
  if (!core::PodSpec(spec).ephemeralContainers().empty()) {
    errors.push_back(Forbidden(spec_path.Child("ephemeralContainers"),
                               "ephemeral containers not allowed in pod template"));
  }
}

}  // namespace keelson::kube::pod
