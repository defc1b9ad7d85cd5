// Security contexts, operating systems, and the annotations that came before the fields.

#include <fmt/format.h>
#include <re2/re2.h>

#include <charconv>

#include "base/quote.h"
#include "kube/pod/validation.h"
#include "schema/internal_form.h"

namespace keelson::kube::pod {
namespace {

using schema::Duplicate;
using schema::Forbidden;
using schema::Invalid;
using schema::NotSupported;
using schema::Required;

constexpr std::string_view kSysctlPattern =
    "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
constexpr size_t kMaxSysctl = 253;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

bool IsSysctlName(std::string_view name) {
  static const RE2 kPattern(Piece(kSysctlPattern));
  return name.size() <= kMaxSysctl && RE2::FullMatch(Piece(name), kPattern);
}

// Which namespace of the kernel a sysctl belongs to: "ipc", "net" or none. Slashes and dots may
// have changed places.
std::string_view SysctlNamespace(std::string_view name) {
  static constexpr std::string_view kIpc[] = {"kernel/sem", "kernel.sem"};
  if (OneOf(name, kIpc)) return "ipc";
  for (std::string_view prefix :
       {"kernel.shm", "kernel/shm", "kernel.msg", "kernel/msg", "fs.mqueue.", "fs/mqueue/"}) {
    if (name.starts_with(prefix)) return "ipc";
  }
  if (name.starts_with("net.") || name.starts_with("net/")) return "net";
  return {};
}

void ValidateSysctls(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  SeenTexts names;
  size_t i = 0;
  for (auto sysctl : spec.securityContext().sysctls()) {
    const Path at = path.Index(i++);
    const auto name = sysctl.name();
    if (name.empty()) {
      errors.push_back(Required(at.Child("name"), ""));
    } else if (!IsSysctlName(name)) {
      errors.push_back(Invalid(at.Child("name"), name,
                               fmt::format("must have at most {} characters and match regex {}",
                                           kMaxSysctl, kSysctlPattern)));
    } else if (names.Contains(name)) {
      errors.push_back(Duplicate(at.Child("name"), name));
    }
    const auto ns = SysctlNamespace(name);
    if (spec.hostNetwork() && ns == "net") {
      errors.push_back(
          Invalid(at.Child("name"), name, "may not be specified when 'hostNetwork' is true"));
    } else if (spec.hostIPC() && ns == "ipc") {
      errors.push_back(
          Invalid(at.Child("name"), name, "may not be specified when 'hostIPC' is true"));
    }
    names.Insert(name);
  }
}

constexpr std::string_view kProfileTypes[] = {"Localhost", "RuntimeDefault", "Unconfined"};

void ValidateSeccomp(core::SeccompProfile profile, const Path& path, FieldErrors& errors) {
  if (!profile) return;
  if (profile.type().empty()) {
    errors.push_back(Required(path.Child("type"), "type is required when seccompProfile is set"));
  } else if (!OneOf(profile.type(), kProfileTypes)) {
    errors.push_back(NotSupported(path.Child("type"), profile.type(), kProfileTypes));
  }
  const auto local = profile.localhostProfile();
  if (profile.type() == "Localhost") {
    if (!local) {
      errors.push_back(
          Required(path.Child("localhostProfile"), "must be set when seccomp type is Localhost"));
    } else {
      CheckDescending(*local, path.Child("localhostProfile"), errors);
    }
  } else if (local) {
    errors.push_back(Invalid(path.Child("localhostProfile"),
                             schema::InternalBadValue(profile.Schema(), profile.value()),
                             "can only be set when seccomp type is Localhost"));
  }
}

template <size_t N>
void CheckOptional(std::optional<std::string_view> value, const std::string_view (&choices)[N],
                   const Path& path, FieldErrors& errors) {
  if (value && !OneOf(*value, choices)) errors.push_back(NotSupported(path, *value, choices));
}

// What a Windows pod may not have, of the pod's security context and of a container's.
constexpr std::string_view kWindowsPodContext[] = {"seccompProfile", "fsGroup",
                                                   "fsGroupChangePolicy", "sysctls"};
constexpr std::string_view kWindowsPodIds[] = {"runAsUser", "runAsGroup", "supplementalGroups",
                                               "supplementalGroupsPolicy", "seLinuxChangePolicy"};
constexpr std::string_view kWindowsContainer[] = {"appArmorProfile",
                                                  "seLinuxOptions",
                                                  "seccompProfile",
                                                  "capabilities",
                                                  "readOnlyRootFilesystem",
                                                  "privileged",
                                                  "allowPrivilegeEscalation",
                                                  "procMount",
                                                  "runAsUser",
                                                  "runAsGroup"};

void ForbidOnWindows(const Value& object, std::span<const std::string_view> fields,
                     const Path& path, FieldErrors& errors) {
  for (auto field : fields) {
    const Value* value = object.Find(field);
    if (!value || value->is_null() || (value->is_list() && value->size() == 0)) continue;
    errors.push_back(Forbidden(path.Child(field), "cannot be set for a windows pod"));
  }
}

void ValidateWindowsPod(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kFirst[] = {"appArmorProfile", "seLinuxOptions"};
  const Path context_path = path.Child("securityContext");
  const Value context = spec.securityContext().value();
  auto forbid = [&](bool set, std::string_view field) {
    if (set) errors.push_back(Forbidden(path.Child(field), "cannot be set for a windows pod"));
  };
  ForbidOnWindows(context, kFirst, context_path, errors);
  forbid(spec.hostUsers().has_value(), "hostUsers");
  forbid(spec.hostPID(), "hostPID");
  forbid(spec.hostIPC(), "hostIPC");
  ForbidOnWindows(context, kWindowsPodContext, context_path, errors);
  forbid(spec.shareProcessNamespace().has_value(), "shareProcessNamespace");
  ForbidOnWindows(context, kWindowsPodIds, context_path, errors);
  VisitContainers(spec, path, [&](core::Container container, const Path& at) {
    ForbidOnWindows(container.securityContext().value(), kWindowsContainer,
                    at.Child("securityContext"), errors);
  });
}

void ValidateLinuxPod(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kWhy = "windows options cannot be set for a linux pod";
  if (spec.securityContext().windowsOptions()) {
    errors.push_back(
        Forbidden(path.Child("securityContext").Child("windowsOptions"), std::string(kWhy)));
  }
  VisitContainers(spec, path, [&](core::Container container, const Path& at) {
    if (container.securityContext().windowsOptions()) {
      errors.push_back(
          Forbidden(at.Child("securityContext").Child("windowsOptions"), std::string(kWhy)));
    }
  });
}

void ValidateWindowsUser(std::string_view name, const Path& path, FieldErrors& errors) {
  static const RE2 kNetBios(R"(^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$)");
  static const RE2 kDomain(
      R"(^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$)");
  auto refuse = [&](std::string why) { errors.push_back(Invalid(path, name, std::move(why))); };
  if (name.empty()) return refuse("runAsUserName cannot be an empty string");
  if (std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
    return refuse("runAsUserName cannot contain control characters");
  }
  if (std::ranges::count(name, '\\') > 1) {
    return refuse("runAsUserName cannot contain more than one backslash");
  }
  const auto slash = name.find('\\');
  const bool has_domain = slash != std::string_view::npos;
  const auto domain = has_domain ? name.substr(0, slash) : std::string_view();
  const auto user = has_domain ? name.substr(slash + 1) : name;
  if (domain.size() >= 256) refuse("runAsUserName's Domain length must be under 256 characters");
  if (has_domain && !RE2::FullMatch(Piece(domain), kNetBios) &&
      !RE2::FullMatch(Piece(domain), kDomain)) {
    refuse("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user.empty()) {
    refuse("runAsUserName's User cannot be empty");
  } else if (user.size() > 104) {
    refuse("runAsUserName's User length must not be longer than 104 characters");
  }
  if (!user.empty() && user.find_first_not_of(". ") == std::string_view::npos) {
    refuse("runAsUserName's User cannot contain only periods or spaces");
  }
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string_view::npos) {
    refuse(R"(runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[])");
  }
}

}  // namespace

void ValidateWindowsOptions(core::WindowsSecurityContextOptions options, const Path& path,
                            FieldErrors& errors) {
  if (!options) return;
  constexpr size_t kMaxCredentialSpec = 64 * 1024;
  if (auto name = options.gmsaCredentialSpecName()) {
    CheckSubdomain(*name, path.Child("gmsaCredentialSpecName"), errors);
  }
  if (auto spec = options.gmsaCredentialSpec()) {
    if (spec->empty()) {
      errors.push_back(Invalid(path.Child("gmsaCredentialSpec"), *spec,
                               "gmsaCredentialSpec cannot be an empty string"));
    } else if (spec->size() > kMaxCredentialSpec) {
      errors.push_back(Invalid(path.Child("gmsaCredentialSpec"), *spec,
                               "gmsaCredentialSpec size must be under 64 KiB"));
    }
  }
  if (auto name = options.runAsUserName()) {
    ValidateWindowsUser(*name, path.Child("runAsUserName"), errors);
  }
}

void ValidateAppArmor(core::AppArmorProfile profile, const Path& path, FieldErrors& errors) {
  if (!profile) return;
  constexpr size_t kMaxProfile = 4095;
  const auto local = profile.localhostProfile();
  const auto type = profile.type();
  if (type == "Localhost") {
    const Path at = path.Child("localhostProfile");
    if (!local || local->empty()) {
      errors.push_back(Required(at, "must be set when AppArmor type is Localhost"));
      return;
    }
    if (TrimSpace(*local) != *local) {
      errors.push_back(Invalid(at, *local, "must not be padded with whitespace"));
    }
    if (local->size() > kMaxProfile) errors.push_back(schema::TooLong(at, kMaxProfile));
  } else if (type == "RuntimeDefault" || type == "Unconfined") {
    if (local) {
      errors.push_back(Invalid(path.Child("localhostProfile"), *local,
                               "can only be set when AppArmor type is Localhost"));
    }
  } else if (type.empty()) {
    errors.push_back(Required(path.Child("type"), "type is required when appArmorProfile is set"));
  } else {
    errors.push_back(NotSupported(path.Child("type"), type, kProfileTypes));
  }
}

void ValidatePodSecurity(core::PodSpec spec, const Path& spec_path, FieldErrors& errors) {
  static constexpr std::string_view kChangePolicies[] = {"Always", "OnRootMismatch"};
  static constexpr std::string_view kGroupsPolicies[] = {"Merge", "Strict"};
  // MountOption belongs to a feature that is off.
  static constexpr std::string_view kSELinuxPolicies[] = {"Recursive"};
  const auto context = spec.securityContext();
  if (!context) return;
  const Path path = spec_path.Child("securityContext");
  if (auto id = context.fsGroup()) CheckId(*id, path.Child("fsGroup"), errors);
  if (auto id = context.runAsUser()) CheckId(*id, path.Child("runAsUser"), errors);
  if (auto id = context.runAsGroup()) CheckId(*id, path.Child("runAsGroup"), errors);
  size_t i = 0;
  for (auto id : context.supplementalGroups()) {
    CheckId(id, path.Child("supplementalGroups").Index(i++), errors);
  }
  if (spec.hostPID() && spec.shareProcessNamespace().value_or(false)) {
    errors.push_back(Invalid(path.Child("shareProcessNamespace"), true,
                             "ShareProcessNamespace and HostPID cannot both be enabled"));
  }
  ValidateSysctls(spec, path.Child("sysctls"), errors);
  CheckOptional(context.fsGroupChangePolicy(), kChangePolicies, path.Child("fsGroupChangePolicy"),
                errors);
  ValidateSeccomp(context.seccompProfile(), path.Child("seccompProfile"), errors);
  ValidateWindowsOptions(context.windowsOptions(), path.Child("windowsOptions"), errors);
  ValidateAppArmor(context.appArmorProfile(), path.Child("appArmorProfile"), errors);
  CheckOptional(context.supplementalGroupsPolicy(), kGroupsPolicies,
                path.Child("supplementalGroupsPolicy"), errors);
  CheckOptional(context.seLinuxChangePolicy(), kSELinuxPolicies, path.Child("seLinuxChangePolicy"),
                errors);
}

void ValidateContainerSecurity(core::SecurityContext context, bool host_users,
                               const SpecRules& rules, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kProcMounts[] = {"Default", "Unmasked"};
  if (!context) return;
  const bool privileged = context.privileged().value_or(false);
  if (privileged && !rules.allow_privileged) {
    errors.push_back(Forbidden(path.Child("privileged"), "disallowed by cluster policy"));
  }
  if (auto id = context.runAsUser()) CheckId(*id, path.Child("runAsUser"), errors);
  if (auto id = context.runAsGroup()) CheckId(*id, path.Child("runAsGroup"), errors);
  if (auto mount = context.procMount()) {
    CheckOptional(mount, kProcMounts, path.Child("procMount"), errors);
    if (host_users && *mount == "Unmasked") {
      errors.push_back(
          Invalid(path.Child("procMount"), *mount, "`hostUsers` must be false to use `Unmasked`"));
    }
  }
  ValidateSeccomp(context.seccompProfile(), path.Child("seccompProfile"), errors);
  if (context.allowPrivilegeEscalation() == false) {
    if (privileged) {
      errors.push_back(Invalid(path, schema::InternalBadValue(context.Schema(), context.value()),
                               "cannot set `allowPrivilegeEscalation` to false and `privileged` "
                               "to true"));
    }
    for (auto capability : context.capabilities().add()) {
      if (capability != "CAP_SYS_ADMIN") continue;
      errors.push_back(Invalid(path, schema::InternalBadValue(context.Schema(), context.value()),
                               "cannot set `allowPrivilegeEscalation` to false and "
                               "`capabilities.Add` CAP_SYS_ADMIN"));
    }
  }
  ValidateWindowsOptions(context.windowsOptions(), path.Child("windowsOptions"), errors);
  ValidateAppArmor(context.appArmorProfile(), path.Child("appArmorProfile"), errors);
}

void ValidateHostProcess(core::PodSpec spec, const SpecRules& rules, const Path& path,
                         FieldErrors& errors) {
  const auto of_pod = spec.securityContext().windowsOptions().hostProcess();
  size_t containers = 0;
  size_t host_processes = 0;
  VisitContainers(spec, path, [&](core::Container container, const Path& at) {
    ++containers;
    const auto own = container.securityContext().windowsOptions().hostProcess();
    if (of_pod && own && *of_pod != *own) {
      errors.push_back(Invalid(
          at.Child("securityContext").Child("windowsOptions").Child("hostProcess"), *own,
          fmt::format("pod hostProcess value must be identical if both are specified, was {}",
                      *of_pod)));
    }
    if (own ? *own : of_pod.value_or(false)) ++host_processes;
  });
  if (host_processes == 0) return;
  if (host_processes != containers) {
    errors.push_back(Invalid(path, "",
                             "If pod contains any hostProcess containers then all containers must "
                             "be HostProcess containers"));
  }
  if (!spec.hostNetwork()) {
    errors.push_back(Invalid(path.Child("hostNetwork"), false,
                             "hostNetwork must be true if pod contains any hostProcess "
                             "containers"));
  }
  if (!rules.allow_privileged) {
    errors.push_back(Forbidden(path, "hostProcess containers are disallowed by cluster policy"));
  }
}

void ValidateOs(core::PodSpec spec, const Path& spec_path, FieldErrors& errors) {
  static constexpr std::string_view kSystems[] = {"linux", "windows"};
  const auto os = spec.os();
  if (!os) return;
  if (os.name().empty()) {
    errors.push_back(Required(spec_path.Child("os").Child("name"), ""));
  } else if (!OneOf(os.name(), kSystems)) {
    errors.push_back(NotSupported(spec_path.Child("os"), os.name(), kSystems));
  } else if (os.name() == "linux") {
    ValidateLinuxPod(spec, spec_path, errors);
  } else {
    ValidateWindowsPod(spec, spec_path, errors);
  }
}

}  // namespace keelson::kube::pod
