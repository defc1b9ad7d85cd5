#include "kube/admission/pod_security.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/quote.h"
#include "kube/pod/validation.h"

namespace keelson::kube::plugins {
namespace {

namespace core = api::core_v1;
using value::Value;

using Names = std::vector<std::string_view>;
using Texts = std::set<std::string, std::less<>>;

struct Subject {
  Value metadata;
  core::PodSpec spec;
};

struct Finding {
  std::string reason;  // empty: nothing wrong
  std::string detail;
};

constexpr std::string_view kSeccompTypes[] = {"Localhost", "RuntimeDefault"};
constexpr std::string_view kAppArmorTypes[] = {"", "Localhost", "RuntimeDefault"};
constexpr std::string_view kCapabilities[] = {
    "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",      "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"};
constexpr std::string_view kSELinuxTypes[] = {"", "container_t", "container_init_t",
                                              "container_kvm_t", "container_engine_t"};
constexpr std::string_view kSysctls[] = {"kernel.shm_rmid_forced",
                                         "net.ipv4.ip_local_port_range",
                                         "net.ipv4.tcp_syncookies",
                                         "net.ipv4.ping_group_range",
                                         "net.ipv4.ip_unprivileged_port_start",
                                         "net.ipv4.ip_local_reserved_ports",
                                         "net.ipv4.tcp_keepalive_time",
                                         "net.ipv4.tcp_fin_timeout",
                                         "net.ipv4.tcp_keepalive_intvl",
                                         "net.ipv4.tcp_keepalive_probes",
                                         "net.ipv4.tcp_rmem",
                                         "net.ipv4.tcp_wmem"};
constexpr std::string_view kSafeVolumes[] = {
    "configMap", "csi",   "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim",
    "projected", "secret"};
constexpr std::string_view kAppArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

template <typename List>
std::string JoinQuoted(const List& items) {
  return fmt::format("\"{}\"", fmt::join(items, "\", \""));
}

std::string_view Plural(std::string_view one, std::string_view many, size_t count) {
  return count == 1 ? one : many;
}

std::string ContainersNamed(const Names& names) {
  return fmt::format("{} {}", Plural("container", "containers", names.size()), JoinQuoted(names));
}

// "pod and containers "a", "b"": whoever set something.
std::string Setters(bool pod, const Names& containers) {
  std::string text = pod ? "pod" : "";
  if (!containers.empty()) {
    if (pod) text += " and ";
    text += ContainersNamed(containers);
  }
  return text;
}

template <typename Visit>
void EachContainer(core::PodSpec spec, Visit&& visit) {
  pod::VisitContainers(spec, value::Path(),
                       [&](core::Container container, const value::Path&) { visit(container); });
}

template <typename Bad>
Names ContainersThat(core::PodSpec spec, Bad&& bad) {
  Names names;
  EachContainer(spec, [&](core::Container container) {
    if (bad(container)) names.push_back(container.name());
  });
  return names;
}

bool OnWindows(core::PodSpec spec) { return spec.os().name() == "windows"; }
bool OwnUsers(core::PodSpec spec) { return !spec.hostUsers().value_or(true); }

// --- baseline ------------------------------------------------------------------------------------

Finding AppArmor(const Subject& subject) {
  Texts values;
  auto bad = [&](core::AppArmorProfile profile) {
    if (!profile || pod::OneOf(profile.type(), kAppArmorTypes)) return false;
    values.emplace(profile.type());
    return true;
  };
  const bool of_pod = bad(subject.spec.securityContext().appArmorProfile());
  const Names names = ContainersThat(subject.spec, [&](core::Container container) {
    return bad(container.securityContext().appArmorProfile());
  });
  std::vector<std::string> all(values.begin(), values.end());
  size_t annotations = 0;
  for (const auto& member : subject.metadata["annotations"].members()) {
    const auto value = member.value.AsString();
    if (!member.key().starts_with(kAppArmorPrefix) || value.empty() || value == "runtime/default" ||
        value.starts_with("localhost/")) {
      continue;
    }
    all.push_back(fmt::format("{}={}", member.key(), Quote(value)));
    ++annotations;
  }
  std::string setters = Setters(of_pod, names);
  if (annotations > 0) {
    if (!setters.empty()) setters += " and ";
    setters += Plural("annotation", "annotations", annotations);
  }
  if (setters.empty()) return {};
  return {
      std::string(Plural("forbidden AppArmor profile", "forbidden AppArmor profiles", all.size())),
      fmt::format("{} must not set AppArmor profile type to {}", setters, JoinQuoted(all))};
}

Finding CapabilitiesBaseline(const Subject& subject) {
  Texts added;
  const Names names = ContainersThat(subject.spec, [&](core::Container container) {
    bool bad = false;
    for (auto capability : container.securityContext().capabilities().add()) {
      if (pod::OneOf(capability, kCapabilities)) continue;
      added.emplace(capability);
      bad = true;
    }
    return bad;
  });
  if (names.empty()) return {};
  return {"non-default capabilities",
          fmt::format("{} must not include {} in securityContext.capabilities.add",
                      ContainersNamed(names), JoinQuoted(added))};
}

Finding HostNamespaces(const Subject& subject) {
  Names shared;
  if (subject.spec.hostNetwork()) shared.push_back("hostNetwork=true");
  if (subject.spec.hostPID()) shared.push_back("hostPID=true");
  if (subject.spec.hostIPC()) shared.push_back("hostIPC=true");
  if (shared.empty()) return {};
  return {"host namespaces", fmt::format("{}", fmt::join(shared, ", "))};
}

Finding HostPathVolumes(const Subject& subject) {
  Names names;
  for (auto volume : subject.spec.volumes()) {
    if (volume.hostPath()) names.push_back(volume.name());
  }
  if (names.empty()) return {};
  return {"hostPath volumes",
          fmt::format("{} {}", Plural("volume", "volumes", names.size()), JoinQuoted(names))};
}

Finding HostPorts(const Subject& subject) {
  Texts ports;
  const Names names = ContainersThat(subject.spec, [&](core::Container container) {
    bool bad = false;
    for (auto port : container.ports()) {
      if (port.hostPort() == 0) continue;
      ports.insert(std::to_string(port.hostPort()));
      bad = true;
    }
    return bad;
  });
  if (names.empty()) return {};
  return {"hostPort",
          fmt::format("{} {} {} {}", ContainersNamed(names), Plural("uses", "use", names.size()),
                      Plural("hostPort", "hostPorts", ports.size()), fmt::join(ports, ", "))};
}

Finding HostProbes(const Subject& subject) {
  Texts hosts;
  Texts names;
  EachContainer(subject.spec, [&](core::Container container) {
    for (const Value& handler :
         {container.livenessProbe().value(), container.readinessProbe().value(),
          container.startupProbe().value(), container.lifecycle().postStart().value(),
          container.lifecycle().preStop().value()}) {
      for (std::string_view action : {"httpGet", "tcpSocket"}) {
        const auto host = handler[action]["host"].AsString();
        if (host.empty()) continue;
        hosts.emplace(host);
        names.emplace(container.name());
      }
    }
  });
  if (names.empty()) return {};
  return {"probe or lifecycle host",
          fmt::format("{} {} {} {} {}", Plural("container", "containers", names.size()),
                      JoinQuoted(names), Plural("uses", "use", names.size()),
                      Plural("probe or lifecycle host", "probe or lifecycle hosts", hosts.size()),
                      JoinQuoted(hosts))};
}

Finding Privileged(const Subject& subject) {
  const Names names = ContainersThat(subject.spec, [](core::Container container) {
    return container.securityContext().privileged().value_or(false);
  });
  if (names.empty()) return {};
  return {"privileged",
          fmt::format("{} must not set securityContext.privileged=true", ContainersNamed(names))};
}

Finding ProcMountAlways(const Subject& subject) {
  Texts types;
  const Names names = ContainersThat(subject.spec, [&](core::Container container) {
    const auto mount = container.securityContext().procMount();
    if (!mount || *mount == "Default") return false;
    types.emplace(*mount);
    return true;
  });
  if (names.empty()) return {};
  return {"procMount", fmt::format("{} must not set securityContext.procMount to {}",
                                   ContainersNamed(names), JoinQuoted(types))};
}

Finding ProcMount(const Subject& subject) {
  return OwnUsers(subject.spec) ? Finding() : ProcMountAlways(subject);
}

Finding SELinuxOptions(const Subject& subject) {
  Texts types;
  bool user = false;
  bool role = false;
  auto bad = [&](core::SELinuxOptions options) {
    if (!options) return false;
    const bool bad_type = !pod::OneOf(options.type(), kSELinuxTypes);
    if (bad_type) types.emplace(options.type());
    user = user || !options.user().empty();
    role = role || !options.role().empty();
    return bad_type || !options.user().empty() || !options.role().empty();
  };
  const bool of_pod = bad(subject.spec.securityContext().seLinuxOptions());
  const Names names = ContainersThat(subject.spec, [&](core::Container container) {
    return bad(container.securityContext().seLinuxOptions());
  });
  if (!of_pod && names.empty()) return {};
  std::vector<std::string> what;
  if (!types.empty()) {
    what.push_back(fmt::format("{} {}", Plural("type", "types", types.size()), JoinQuoted(types)));
  }
  if (user) what.emplace_back("user may not be set");
  if (role) what.emplace_back("role may not be set");
  return {"seLinuxOptions", fmt::format("{} set forbidden securityContext.seLinuxOptions: {}",
                                        Setters(of_pod, names), fmt::join(what, "; "))};
}

Finding SeccompBaseline(const Subject& subject) {
  Texts values;
  auto bad = [&](core::SeccompProfile profile) {
    if (!profile || pod::OneOf(profile.type(), kSeccompTypes)) return false;
    values.emplace(profile.type());
    return true;
  };
  const bool of_pod = bad(subject.spec.securityContext().seccompProfile());
  const Names names = ContainersThat(subject.spec, [&](core::Container container) {
    return bad(container.securityContext().seccompProfile());
  });
  if (!of_pod && names.empty()) return {};
  return {"seccompProfile", fmt::format("{} must not set securityContext.seccompProfile.type to {}",
                                        Setters(of_pod, names), JoinQuoted(values))};
}

Finding Sysctls(const Subject& subject) {
  Names forbidden;
  for (auto sysctl : subject.spec.securityContext().sysctls()) {
    if (!pod::OneOf(sysctl.name(), kSysctls)) forbidden.push_back(sysctl.name());
  }
  if (forbidden.empty()) return {};
  return {"forbidden sysctls", fmt::format("{}", fmt::join(forbidden, ", "))};
}

Finding WindowsHostProcess(const Subject& subject) {
  const bool of_pod = subject.spec.securityContext().windowsOptions().hostProcess().value_or(false);
  const Names names = ContainersThat(subject.spec, [](core::Container container) {
    return container.securityContext().windowsOptions().hostProcess().value_or(false);
  });
  if (!of_pod && names.empty()) return {};
  return {"hostProcess",
          fmt::format("{} must not set securityContext.windowsOptions.hostProcess=true",
                      Setters(of_pod, names))};
}

// --- restricted ----------------------------------------------------------------------------------

Finding AllowPrivilegeEscalation(const Subject& subject) {
  if (OnWindows(subject.spec)) return {};
  const Names names = ContainersThat(subject.spec, [](core::Container container) {
    return container.securityContext().allowPrivilegeEscalation().value_or(true);
  });
  if (names.empty()) return {};
  return {"allowPrivilegeEscalation != false",
          fmt::format("{} must set securityContext.allowPrivilegeEscalation=false",
                      ContainersNamed(names))};
}

Finding CapabilitiesRestricted(const Subject& subject) {
  if (OnWindows(subject.spec)) return {};
  Texts added;
  Names adding;
  Names keeping;
  EachContainer(subject.spec, [&](core::Container container) {
    const auto capabilities = container.securityContext().capabilities();
    const auto drop = capabilities.drop();
    if (std::find(drop.begin(), drop.end(), "ALL") == drop.end()) {
      keeping.push_back(container.name());
    }
    bool bad = false;
    for (auto capability : capabilities.add()) {
      if (capability == "NET_BIND_SERVICE") continue;
      added.emplace(capability);
      bad = true;
    }
    if (bad) adding.push_back(container.name());
  });
  std::string detail;
  if (!keeping.empty()) {
    detail = fmt::format(R"({} must set securityContext.capabilities.drop=["ALL"])",
                         ContainersNamed(keeping));
  }
  if (!adding.empty()) {
    if (!detail.empty()) detail += "; ";
    detail += fmt::format("{} must not include {} in securityContext.capabilities.add",
                          ContainersNamed(adding), JoinQuoted(added));
  }
  if (detail.empty()) return {};
  return {"unrestricted capabilities", detail};
}

Finding RestrictedVolumes(const Subject& subject) {
  Texts types;
  Names names;
  for (auto volume : subject.spec.volumes()) {
    std::string_view type = "unknown";
    for (const auto& member : volume.value().members()) {
      if (member.key() != "name" && !member.value.is_null()) type = member.key();
    }
    if (pod::OneOf(type, kSafeVolumes)) continue;
    names.push_back(volume.name());
    types.emplace(type);
  }
  if (names.empty()) return {};
  return {"restricted volume types",
          fmt::format("{} {} {} {} {}", Plural("volume", "volumes", names.size()),
                      JoinQuoted(names), Plural("uses", "use", names.size()),
                      Plural("restricted volume type", "restricted volume types", types.size()),
                      JoinQuoted(types))};
}

Finding RunAsNonRoot(const Subject& subject) {
  if (OwnUsers(subject.spec)) return {};
  const auto of_pod = subject.spec.securityContext().runAsNonRoot();
  Names explicitly;
  Names implicitly;
  EachContainer(subject.spec, [&](core::Container container) {
    const auto own = container.securityContext().runAsNonRoot();
    if (own == false) explicitly.push_back(container.name());
    if (!own && !of_pod.value_or(false)) implicitly.push_back(container.name());
  });
  if (of_pod == false || !explicitly.empty()) {
    return {"runAsNonRoot != true",
            fmt::format("{} must not set securityContext.runAsNonRoot=false",
                        Setters(of_pod == false, explicitly))};
  }
  if (implicitly.empty()) return {};
  return {"runAsNonRoot != true",
          fmt::format("pod or {} must set securityContext.runAsNonRoot=true",
                      ContainersNamed(implicitly))};
}

Finding RunAsUser(const Subject& subject) {
  if (OwnUsers(subject.spec)) return {};
  const bool of_pod = subject.spec.securityContext().runAsUser() == 0;
  const Names names = ContainersThat(subject.spec, [](core::Container container) {
    return container.securityContext().runAsUser() == 0;
  });
  if (!of_pod && names.empty()) return {};
  return {"runAsUser=0", fmt::format("{} must not set runAsUser=0", Setters(of_pod, names))};
}

Finding SeccompRestricted(const Subject& subject) {
  if (OnWindows(subject.spec)) return {};
  if (auto finding = SeccompBaseline(subject); !finding.reason.empty()) return finding;
  const bool of_pod = static_cast<bool>(subject.spec.securityContext().seccompProfile());
  const Names names = ContainersThat(subject.spec, [&](core::Container container) {
    return !of_pod && !container.securityContext().seccompProfile();
  });
  if (names.empty()) return {};
  return {"seccompProfile", fmt::format("pod or {} must set securityContext.seccompProfile.type to "
                                        "\"RuntimeDefault\" or \"Localhost\"",
                                        ContainersNamed(names))};
}

using Check = Finding (*)(const Subject& subject);

constexpr Check kBaseline[] = {
    AppArmor,       CapabilitiesBaseline, HostNamespaces, HostPathVolumes,
    HostPorts,      HostProbes,           Privileged,     ProcMount,
    SELinuxOptions, SeccompBaseline,      Sysctls,        WindowsHostProcess};
// Baseline checks that a stricter one does not replace, then the restricted ones.
constexpr Check kRestricted[] = {AppArmor,
                                 HostNamespaces,
                                 HostPorts,
                                 HostProbes,
                                 Privileged,
                                 SELinuxOptions,
                                 Sysctls,
                                 WindowsHostProcess,
                                 AllowPrivilegeEscalation,
                                 CapabilitiesRestricted,
                                 ProcMountAlways,
                                 RestrictedVolumes,
                                 RunAsNonRoot,
                                 RunAsUser,
                                 SeccompRestricted};

}  // namespace

std::string SecurityViolations(SecurityLevel level, const Value& metadata, core::PodSpec spec) {
  if (level == SecurityLevel::kPrivileged) return {};
  const Subject subject{metadata, spec};
  const auto checks = level == SecurityLevel::kBaseline ? std::span<const Check>(kBaseline)
                                                        : std::span<const Check>(kRestricted);
  std::string text;
  for (Check check : checks) {
    const Finding finding = check(subject);
    if (finding.reason.empty()) continue;
    if (!text.empty()) text += ", ";
    text += finding.reason;
    if (!finding.detail.empty()) text += " (" + finding.detail + ")";
  }
  return text;
}

}  // namespace keelson::kube::plugins
