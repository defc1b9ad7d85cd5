// What is accepted but deserves a word: old labels, annotations and volume plugins, and what is
// probably not meant. A pod that deserves none costs no allocation.

#include <fmt/format.h>

#include "base/ip_address.h"
#include "base/quote.h"
#include "kube/pod/node_labels.h"
#include "kube/pod/validation.h"
#include "kube/pod/volume_paths.h"

namespace keelson::kube::pod {
namespace {

using Warnings = std::vector<std::string>;

// No request is worth more; what comes after is dropped.
constexpr size_t kMaxWarnings = 256;

struct Deprecated {
  std::string_view name;
  std::string_view message;
};

constexpr Deprecated kNodeLabels[] = {
    {"beta.kubernetes.io/arch", R"(deprecated since v1.14; use "kubernetes.io/arch" instead)"},
    {"beta.kubernetes.io/os", R"(deprecated since v1.14; use "kubernetes.io/os" instead)"},
    {"failure-domain.beta.kubernetes.io/region",
     R"(deprecated since v1.17; use "topology.kubernetes.io/region" instead)"},
    {"failure-domain.beta.kubernetes.io/zone",
     R"(deprecated since v1.17; use "topology.kubernetes.io/zone" instead)"},
    {"beta.kubernetes.io/instance-type",
     R"(deprecated since v1.17; use "node.kubernetes.io/instance-type" instead)"},
    {"app.kubernetes.io/created-by", "deprecated since v1.9"},
    {"scheduler.alpha.kubernetes.io/preferAvoidPods",
     "deprecated since v1.22; use Taints and Tolerations instead"},
    {"node-role.kubernetes.io/master", R"(use "node-role.kubernetes.io/control-plane" instead)"},
};

constexpr Deprecated kAnnotations[] = {
    {"scheduler.alpha.kubernetes.io/critical-pod",
     R"(non-functional in v1.16+; use the "priorityClassName" field instead)"},
    {"security.alpha.kubernetes.io/sysctls",
     R"(non-functional in v1.11+; use the "sysctls" field instead)"},
    {"security.alpha.kubernetes.io/unsafe-sysctls",
     R"(non-functional in v1.11+; use the "sysctls" field instead)"},
};

struct VolumePlugin {
  constexpr VolumePlugin(std::string_view field, std::string_view shown, std::string_view message)
      : field(value::Name::Plain(field)), shown(shown), message(message) {}

  value::Name field;
  std::string_view shown;
  std::string_view message;
};

// In the order upstream warns; ephemeral volumes are looked at between glusterfs and cephfs.
constexpr VolumePlugin kVolumePlugins[] = {
    {"photonPersistentDisk", "photonPersistentDisk",
     "deprecated in v1.11, non-functional in v1.16+"},
    {"gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
    {"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
    {"flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"},
    {"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
    {"quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
    {"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
    {"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
    {"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
};

constexpr std::string_view kSeccompPod = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kSeccompPrefix = "container.seccomp.security.alpha.kubernetes.io/";
constexpr std::string_view kAppArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

template <size_t N>
const Deprecated* FindDeprecated(std::string_view name, const Deprecated (&table)[N]) {
  for (const auto& entry : table) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// A fraction of a byte. In canonical spelling only these suffixes mean one.
bool IsFractional(std::string_view amount) {
  if (!amount.ends_with('m') && !amount.ends_with('u') && !amount.ends_with('n') &&
      amount.find("e-") == std::string_view::npos) {
    return false;
  }
  return QuantityOf(amount).MilliValue() % 1000 != 0;
}

void WarnFraction(const Value& amounts, std::string_view resource, const Path& path,
                  Warnings& warnings) {
  const Value* amount = amounts.Find(resource);
  if (!amount || !IsFractional(amount->AsString())) return;
  warnings.push_back(fmt::format("{}: fractional byte value {} is invalid, must be an integer",
                                 path.Key(resource).ToString(), Quote(amount->AsString())));
}

void WarnAboutNodeTerm(core::NodeSelectorTerm term, bool check_values, const Path& path,
                       Warnings& warnings) {
  size_t i = 0;
  for (auto expression : term.matchExpressions()) {
    const Path at = path.Child("matchExpressions").Index(i++);
    if (const auto* label = FindDeprecated(expression.key(), kNodeLabels)) {
      warnings.push_back(
          fmt::format("{}: {} is {}", at.Child("key").ToString(), label->name, label->message));
    }
    if (!check_values) continue;
    size_t j = 0;
    for (auto value : expression.values()) {
      const size_t index = j++;
      for (const auto& complaint : names::CheckLabelValue(value)) {
        warnings.push_back(fmt::format(
            "{}: {} is invalid, {}", at.Child("values").Index(index).ToString(), value, complaint));
      }
    }
  }
}

void WarnAboutPlacement(core::PodSpec spec, const Path& path, Warnings& warnings) {
  for (auto [key, value] : spec.nodeSelector()) {
    if (const auto* label = FindDeprecated(key, kNodeLabels)) {
      warnings.push_back(
          fmt::format("{}: {}", path.Child("nodeSelector").Key(key).ToString(), label->message));
    }
  }
  if (auto affinity = spec.affinity().nodeAffinity()) {
    const Path node = path.Child("affinity").Child("nodeAffinity");
    const Path required = node.Child("requiredDuringSchedulingIgnoredDuringExecution");
    WarnAboutNodeSelector(affinity.requiredDuringSchedulingIgnoredDuringExecution().value(),
                          required, warnings);
    size_t i = 0;
    for (auto term : affinity.preferredDuringSchedulingIgnoredDuringExecution()) {
      const Path at = node.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i++);
      WarnAboutNodeTerm(term.preference(), /*check_values=*/true, at.Child("preference"), warnings);
    }
  }
  size_t i = 0;
  for (auto constraint : spec.topologySpreadConstraints()) {
    const Path at = path.Child("topologySpreadConstraints").Index(i++);
    if (const auto* label = FindDeprecated(constraint.topologyKey(), kNodeLabels)) {
      warnings.push_back(fmt::format("{}: {} is {}", at.Child("topologyKey").ToString(),
                                     label->name, label->message));
    }
    if (!constraint.labelSelector()) {
      warnings.push_back(fmt::format("{}: a null labelSelector results in matching no pod",
                                     at.Child("labelSelector").ToString()));
    }
  }
}

void WarnAboutVolumes(core::PodSpec spec, const Path& path, Warnings& warnings) {
  size_t i = 0;
  for (auto volume : spec.volumes()) {
    const Path at = path.Child("volumes").Index(i++);
    for (const auto& plugin : kVolumePlugins) {
      if (plugin.field == "cephfs" && volume.ephemeral()) {
        const Path claim = at.Child("ephemeral").Child("volumeClaimTemplate").Child("spec");
        const auto resources = volume.ephemeral().volumeClaimTemplate().spec().resources();
        const Path resources_path = claim.Child("resources");
        WarnFraction(resources.requests().value(), "storage", resources_path.Child("requests"),
                     warnings);
        WarnFraction(resources.limits().value(), "storage", resources_path.Child("limits"),
                     warnings);
      }
      if (volume.value()[plugin.field].is_object()) {
        warnings.push_back(
            fmt::format("{}: {}", at.Child(plugin.shown).ToString(), plugin.message));
      }
    }
  }
  WarnAboutOverlappingPaths(spec.volumes(), warnings);
}

void WarnAboutRepeats(core::PodSpec spec, const Path& path, Warnings& warnings) {
  SeenTexts addresses;
  size_t i = 0;
  for (auto alias : spec.hostAliases()) {
    const Path at = path.Child("hostAliases").Index(i++);
    if (addresses.Insert(alias.ip())) continue;
    warnings.push_back(
        fmt::format("{}: duplicate ip {}", at.Child("ip").ToString(), Quote(alias.ip())));
  }
  SeenTexts secrets;
  i = 0;
  for (auto secret : spec.imagePullSecrets()) {
    const Path at = path.Child("imagePullSecrets").Index(i++);
    if (secrets.Insert(secret.name())) continue;
    warnings.push_back(
        fmt::format("{}: duplicate name {}", at.Child("name").ToString(), Quote(secret.name())));
  }
  i = 0;
  for (auto secret : spec.imagePullSecrets()) {
    const Path at = path.Child("imagePullSecrets").Index(i++);
    if (!secret.name().empty()) continue;
    warnings.push_back(fmt::format("{}: invalid empty name \"\"", at.Child("name").ToString()));
  }
}

// A variable defined again without building on its old value.
void WarnAboutEnv(core::Container container, const Path& path, Warnings& warnings) {
  if (container.env().size() < 2) return;
  SeenTexts names;
  size_t i = 0;
  for (auto var : container.env()) {
    const size_t index = i++;
    if (names.Insert(var.name())) continue;
    const std::string reference = fmt::format("$({})", var.name());
    if (!var.valueFrom() && var.value_() != reference &&
        var.value_().find(reference) != std::string_view::npos) {
      continue;
    }
    warnings.push_back(
        fmt::format("{}: hides previous definition of {}, which may be dropped when using apply",
                    path.Child("env").Index(index).ToString(), Quote(var.name())));
  }
}

const Value* FindFor(const Value& annotations, std::string_view prefix, std::string_view name) {
  for (const auto& member : annotations.members()) {
    if (member.key().starts_with(prefix) && member.key().substr(prefix.size()) == name) {
      return &member.value;
    }
  }
  return nullptr;
}

bool SaysTheSame(core::AppArmorProfile profile, std::string_view annotation) {
  constexpr std::string_view kLocalhost = "localhost/";
  if (annotation == "unconfined") return profile.type() == "Unconfined";
  if (annotation == "runtime/default") return profile.type() == "RuntimeDefault";
  return annotation.starts_with(kLocalhost) && profile.type() == "Localhost" &&
         profile.localhostProfile() == annotation.substr(kLocalhost.size());
}

struct Template {
  core::PodSpec spec;
  Value annotations;
  const Path& path;          // of the template
  bool is_template = false;  // not a pod
};

void WarnAboutContainer(const Template& pod, core::Container container, const Path& path,
                        Warnings& warnings) {
  const auto context = container.securityContext();
  if (!pod.annotations.members().empty()) {
    const Path metadata = pod.path.Child("metadata");
    const Path annotations = metadata.Child("annotations");
    if (!context.seccompProfile() && FindFor(pod.annotations, kSeccompPrefix, container.name())) {
      const auto key = fmt::format("{}{}", kSeccompPrefix, container.name());
      warnings.push_back(
          fmt::format(R"({}: non-functional in v1.27+; use the "seccompProfile" field instead)",
                      annotations.Key(key).ToString()));
    }
    // Those of pods themselves become fields, see strategy.cc.
    const Value* profile = FindFor(pod.annotations, kAppArmorPrefix, container.name());
    if (pod.is_template && profile && !context.appArmorProfile() &&
        !SaysTheSame(pod.spec.securityContext().appArmorProfile(), profile->AsString())) {
      const auto key = fmt::format("{}{}", kAppArmorPrefix, container.name());
      warnings.push_back(
          fmt::format(R"({}: deprecated since v1.30; use the "appArmorProfile" field instead)",
                      annotations.Key(key).ToString()));
    }
  }
  const auto resources = container.resources();
  const Path resources_path = path.Child("resources");
  for (std::string_view resource : {"memory", "ephemeral-storage"}) {
    WarnFraction(resources.limits().value(), resource, resources_path.Child("limits"), warnings);
    WarnFraction(resources.requests().value(), resource, resources_path.Child("requests"),
                 warnings);
  }
  WarnAboutEnv(container, path, warnings);
}

// --- ports ---------------------------------------------------------------------------------------

struct PortPlace {
  core::ContainerPort port;
  std::string path;
};

// Upstream prints its struct.
std::string ShowPort(core::ContainerPort port) {
  return fmt::format("{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}", port.name(),
                     port.hostPort(), port.containerPort(), port.protocol(), port.hostIP());
}

void ComparePorts(core::ContainerPort port, const std::string& path, const PortPlace& other,
                  Warnings& warnings) {
  if (port.hostIP() == other.port.hostIP() && port.hostPort() == other.port.hostPort()) {
    warnings.push_back(fmt::format("{}: duplicate port definition with {}", path, other.path));
  } else if (port.hostPort() == 0 || other.port.hostPort() == 0) {
    warnings.push_back(fmt::format("{}: overlapping port definition with {}", path, other.path));
  } else if (port.hostPort() == other.port.hostPort() &&
             port.hostIP().empty() != other.port.hostIP().empty()) {
    warnings.push_back(
        fmt::format("{}: dangerously ambiguous port definition with {}", path, other.path));
  }
}

void WarnAboutPorts(core::PodSpec spec, const Path& path, Warnings& warnings) {
  size_t count = 0;
  VisitContainers(spec, path, [&](core::Container c, const Path&) { count += c.ports().size(); });
  if (count == 0) return;
  std::unordered_map<uint64_t, std::vector<PortPlace>> by_number;
  VisitContainers(spec, path, [&](core::Container container, const Path& at) {
    size_t i = 0;
    for (auto port : container.ports()) {
      if (warnings.size() >= kMaxWarnings) return;
      const size_t index = i++;
      const bool lonely_ip = !port.hostIP().empty() && port.hostPort() == 0;
      if (count == 1 && !lonely_ip) return;
      auto text = at.Child("ports").Index(index).ToString();
      if (lonely_ip) {
        warnings.push_back(
            fmt::format("{}: hostIP set without hostPort: {}", text, ShowPort(port)));
      }
      const uint64_t protocol =
          port.protocol().empty() ? 0 : static_cast<uint8_t>(port.protocol()[0]);
      auto& others = by_number[static_cast<uint64_t>(port.containerPort()) << 8 | protocol];
      for (const auto& other : others) ComparePorts(port, text, other, warnings);
      others.push_back({port, std::move(text)});
    }
  });
  std::unordered_map<std::string_view, std::string> by_name;
  VisitContainers(spec, path, [&](core::Container container, const Path& at) {
    size_t i = 0;
    for (auto port : container.ports()) {
      const size_t index = i++;
      if (count == 1 || port.name().empty()) continue;
      auto text = at.Child("ports").Index(index).ToString();
      auto [first, added] = by_name.try_emplace(port.name(), text);
      if (added) continue;
      warnings.push_back(fmt::format(
          "{}: duplicate port name {} with {}, services and probes that select ports by name will "
          "use {}",
          text, Quote(port.name()), first->second, first->second));
    }
  });
}

// --- affinity and addresses ----------------------------------------------------------------------

void WarnAboutPodAffinity(core::PodAffinity affinity, const Path& path, Warnings& warnings) {
  auto warn = [&](const Path& at) {
    warnings.push_back(fmt::format("{}: a null labelSelector results in matching no pod",
                                   at.Child("labelSelector").ToString()));
  };
  size_t i = 0;
  for (auto term : affinity.requiredDuringSchedulingIgnoredDuringExecution()) {
    const size_t index = i++;
    if (term.labelSelector()) continue;
    warn(path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(index));
  }
  i = 0;
  for (auto weighted : affinity.preferredDuringSchedulingIgnoredDuringExecution()) {
    const size_t index = i++;
    if (weighted.podAffinityTerm().labelSelector()) continue;
    const Path at = path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(index);
    warn(at.Child("podAffinityTerm"));
  }
}

void WarnAboutIp(std::string_view text, const Path& path, Warnings& warnings) {
  const auto address = IpAddress::Parse(text);
  if (!address) return;
  const auto canonical = address->ToString();
  if (canonical == text) return;
  if (address->is_v4()) {
    warnings.push_back(fmt::format("{}: non-standard IP address {} is invalid: use {}",
                                   path.ToString(), Quote(text), Quote(canonical)));
  } else {
    warnings.push_back(
        fmt::format("{}: IPv6 address {} should be in RFC 5952 canonical format ({})",
                    path.ToString(), Quote(text), Quote(canonical)));
  }
}

}  // namespace

void WarnAboutNodeSelector(const Value& selector, const Path& path, Warnings& warnings) {
  size_t i = 0;
  for (auto term : core::NodeSelector(selector).nodeSelectorTerms()) {
    WarnAboutNodeTerm(term, /*check_values=*/false, path.Child("nodeSelectorTerms").Index(i++),
                      warnings);
  }
}

void WarnAboutPodTemplate(const Value& pod_template, const Path& path, Warnings& warnings) {
  const Value annotations = pod_template["metadata"]["annotations"];
  const Template pod{core::PodSpec(pod_template["spec"]), annotations, path, !path.empty()};
  const core::PodSpec spec = pod.spec;
  const Path spec_path = path.Child("spec");
  WarnAboutPlacement(spec, spec_path, warnings);
  for (const auto& deprecated : kAnnotations) {
    if (!annotations.Find(deprecated.name)) continue;
    const Path metadata = path.Child("metadata");
    warnings.push_back(fmt::format("{}: {}",
                                   metadata.Child("annotations").Key(deprecated.name).ToString(),
                                   deprecated.message));
  }
  WarnAboutVolumes(spec, spec_path, warnings);
  WarnAboutRepeats(spec, spec_path, warnings);
  for (std::string_view resource : {"memory", "ephemeral-storage"}) {
    WarnFraction(spec.overhead().value(), resource, spec_path.Child("overhead"), warnings);
  }
  if (!spec.securityContext().seccompProfile() && annotations.Find(kSeccompPod)) {
    const Path metadata = path.Child("metadata");
    warnings.push_back(
        fmt::format(R"({}: non-functional in v1.27+; use the "seccompProfile" field instead)",
                    metadata.Child("annotations").Key(kSeccompPod).ToString()));
  }
  VisitContainers(spec, spec_path, [&](core::Container container, const Path& at) {
    if (warnings.size() < kMaxWarnings) WarnAboutContainer(pod, container, at, warnings);
  });
  WarnAboutPorts(spec, spec_path, warnings);
  if (spec.terminationGracePeriodSeconds().value_or(0) < 0) {
    warnings.push_back(
        fmt::format("{}: must be >= 0; negative values are invalid and will be treated as 1",
                    spec_path.Child("terminationGracePeriodSeconds").ToString()));
  }
  const Path affinity = spec_path.Child("affinity");
  WarnAboutPodAffinity(spec.affinity().podAffinity(), affinity.Child("podAffinity"), warnings);
  WarnAboutPodAffinity(core::PodAffinity(spec.affinity().podAntiAffinity().value()),
                       affinity.Child("podAntiAffinity"), warnings);
  size_t i = 0;
  for (auto server : spec.dnsConfig().nameservers()) {
    const Path config = spec_path.Child("dnsConfig");
    WarnAboutIp(server, config.Child("nameservers").Index(i++), warnings);
  }
  i = 0;
  for (auto alias : spec.hostAliases()) {
    const Path at = spec_path.Child("hostAliases").Index(i++);
    WarnAboutIp(alias.ip(), at.Child("ip"), warnings);
  }
}

}  // namespace keelson::kube::pod
