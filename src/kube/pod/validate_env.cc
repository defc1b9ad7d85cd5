// Ports, environment, mounts and devices of a container.

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

constexpr std::string_view kProtocols[] = {"SCTP", "TCP", "UDP"};

constexpr std::string_view kEnvFields[] = {"metadata.name",
                                           "metadata.namespace",
                                           "metadata.uid",
                                           "spec.nodeName",
                                           "spec.serviceAccountName",
                                           "status.hostIP",
                                           "status.hostIPs",
                                           "status.podIP",
                                           "status.podIPs"};

// Everything of a pod that can be referred to from inside.
constexpr std::string_view kDownwardFields[] = {
    "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
    "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
    "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
    "status.podIP",         "status.podIPs"};

constexpr std::string_view kResourceFields[] = {
    "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory"};

constexpr std::string_view kByteDivisors[] = {"1",   "1k",  "1M",  "1G",  "1T",  "1P", "1E",
                                              "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
constexpr std::string_view kCpuDivisors[] = {"1m", "1"};

bool IsHugePages(std::string_view resource) {
  return resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
}

void ValidateDivisor(core::ResourceFieldSelector ref, const Path& path, FieldErrors& errors) {
  const auto divisor = ref.divisor();
  if (divisor.empty() || divisor == "0" || QuantityOf(divisor).IsZero()) return;
  const auto resource = ref.resource();
  auto refuse = [&](std::string_view values, std::string_view what) {
    errors.push_back(Invalid(
        path.Child("divisor"), resource,
        fmt::format("only divisor's values {} are supported with the {} resource", values, what)));
  };
  constexpr std::string_view kBytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
  if (resource.ends_with(".cpu")) {
    if (!OneOf(divisor, kCpuDivisors)) refuse("1m and 1", "cpu");
  } else if (resource.ends_with(".memory")) {
    if (!OneOf(divisor, kByteDivisors)) refuse(kBytes, "memory");
  } else if (resource.ends_with(".ephemeral-storage")) {
    if (!OneOf(divisor, kByteDivisors)) refuse(kBytes, "local ephemeral storage");
  } else if (IsHugePages(resource) && !OneOf(divisor, kByteDivisors)) {
    refuse(kBytes, "hugepages");
  }
}

// metadata.labels['key'] as path and key; false when there is no subscript.
bool SplitSubscript(std::string_view text, std::string_view& path, std::string_view& key) {
  if (!text.ends_with("']")) return false;
  const auto inner = text.substr(0, text.size() - 2);
  const auto open = inner.find("['");
  if (open == std::string_view::npos || open == 0) return false;
  path = inner.substr(0, open);
  key = inner.substr(open + 2);
  return true;
}

void ValidateKeyRef(std::string_view name, std::string_view key, const Path& path,
                    FieldErrors& errors) {
  CheckSubdomain(name, path.Child("name"), errors);
  if (key.empty()) {
    errors.push_back(Required(path.Child("key"), ""));
  } else {
    AddInvalid(errors, path.Child("key"), key, names::CheckConfigMapKey(key));
  }
}

void ValidateFileKeyRef(core::FileKeySelector ref, const Path& path, FieldErrors& errors) {
  if (ref.key().empty()) {
    errors.push_back(Required(path.Child("key"), ""));
  } else {
    AddInvalid(errors, path.Child("key"), ref.key(), names::CheckRelaxedEnvVarName(ref.key()));
  }
  if (ref.volumeName().empty()) {
    errors.push_back(Required(path.Child("volumeName"), ""));
  } else {
    CheckLabel(ref.volumeName(), path.Child("volumeName"), errors);
  }
  if (ref.path().empty()) {
    errors.push_back(Required(path.Child("path"), ""));
  } else {
    CheckNoBacksteps(ref.path(), path.Child("path"), errors);
  }
}

void ValidateValueFrom(core::EnvVar var, const Path& path, FieldErrors& errors) {
  const auto from = var.valueFrom();
  int sources = 0;
  if (auto ref = from.fieldRef()) {
    ++sources;
    ValidateFieldRef(ref, kEnvFields, path.Child("fieldRef"), errors);
  }
  if (auto ref = from.resourceFieldRef()) {
    ++sources;
    ValidateResourceFieldRef(ref, /*in_volume=*/false, path.Child("resourceFieldRef"), errors);
  }
  if (auto ref = from.configMapKeyRef()) {
    ++sources;
    ValidateKeyRef(ref.name(), ref.key(), path.Child("configMapKeyRef"), errors);
  }
  if (auto ref = from.secretKeyRef()) {
    ++sources;
    ValidateKeyRef(ref.name(), ref.key(), path.Child("secretKeyRef"), errors);
  }
  if (auto ref = from.fileKeyRef()) {
    ++sources;
    ValidateFileKeyRef(ref, path.Child("fileKeyRef"), errors);
  }
  if (sources == 0) {
    errors.push_back(Invalid(path, "",
                             "must specify one of: `fieldRef`, `resourceFieldRef`, "
                             "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"));
  } else if (!var.value_().empty()) {
    errors.push_back(Invalid(path, "", "may not be specified when `value` is not empty"));
  } else if (sources > 1) {
    errors.push_back(Invalid(path, "", "may not have more than one field specified at a time"));
  }
}

// A reference to a config map or secret whose name may still grow, hence may end in a dash.
void ValidateEnvSource(std::string_view name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.push_back(Required(path.Child("name"), ""));
  } else if (!names::IsDns1123Subdomain(name)) {
    AddInvalid(errors, path.Child("name"), name, names::NameIsDnsSubdomain(name, true));
  }
}

void ValidatePropagation(core::VolumeMount mount, core::Container container, const Path& path,
                         FieldErrors& errors) {
  static constexpr std::string_view kModes[] = {"Bidirectional", "HostToContainer", "None"};
  const auto mode = mount.mountPropagation();
  if (!mode) return;
  if (!OneOf(*mode, kModes)) errors.push_back(NotSupported(path, *mode, kModes));
  if (*mode == "Bidirectional" && !container.securityContext().privileged().value_or(false)) {
    errors.push_back(Forbidden(
        path, "Bidirectional mount propagation is available only to privileged containers"));
  }
}

void ValidateRecursiveReadOnly(core::VolumeMount mount, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kModes[] = {"Disabled", "Enabled", "IfPossible"};
  const auto mode = mount.recursiveReadOnly();
  if (!mode || *mode == "Disabled") return;
  if (!OneOf(*mode, kModes)) {
    errors.push_back(NotSupported(path, *mode, kModes));
    return;
  }
  if (!mount.readOnly()) {
    errors.push_back(Forbidden(path, "may only be specified when readOnly is true"));
  }
  if (mount.mountPropagation().value_or("None") != "None") {
    errors.push_back(
        Forbidden(path, "may only be specified when mountPropagation is None or not specified"));
  }
}

}  // namespace

void ValidatePorts(ListView<core::ContainerPort> ports, const Path& path, FieldErrors& errors) {
  SeenTexts names;
  size_t i = 0;
  for (auto port : ports) {
    const Path at = path.Index(i++);
    if (!port.name().empty()) {
      const auto complaints = names::CheckPortName(port.name());
      if (!complaints.empty()) {
        AddInvalid(errors, at.Child("name"), port.name(), complaints);
      } else if (!names.Insert(port.name())) {
        errors.push_back(Duplicate(at.Child("name"), port.name()));
      }
    }
    if (port.containerPort() == 0) {
      errors.push_back(Required(at.Child("containerPort"), ""));
    } else {
      for (auto& complaint : names::CheckPortNumber(port.containerPort())) {
        errors.push_back(Invalid(at.Child("containerPort"), port.containerPort(), complaint));
      }
    }
    if (port.hostPort() != 0) {
      for (auto& complaint : names::CheckPortNumber(port.hostPort())) {
        errors.push_back(Invalid(at.Child("hostPort"), port.hostPort(), complaint));
      }
    }
    if (port.protocol().empty()) {
      errors.push_back(Required(at.Child("protocol"), ""));
    } else if (!OneOf(port.protocol(), kProtocols)) {
      errors.push_back(NotSupported(at.Child("protocol"), port.protocol(), kProtocols));
    }
  }
}

void ValidateEnv(ListView<core::EnvVar> vars, const Path& path, FieldErrors& errors) {
  size_t i = 0;
  for (auto var : vars) {
    const size_t index = i++;
    if (var.name().empty()) {
      errors.push_back(Required(path.Index(index).Child("name"), ""));
    } else {
      AddInvalid(errors, path.Index(index).Child("name"), var.name(),
                 names::CheckRelaxedEnvVarName(var.name()));
    }
    if (var.valueFrom()) ValidateValueFrom(var, path.Index(index).Child("valueFrom"), errors);
  }
}

void ValidateFieldRef(core::ObjectFieldSelector ref, std::span<const std::string_view> supported,
                      const Path& path, FieldErrors& errors) {
  if (ref.apiVersion().empty()) {
    errors.push_back(Required(path.Child("apiVersion"), ""));
    return;
  }
  if (ref.fieldPath().empty()) {
    errors.push_back(Required(path.Child("fieldPath"), ""));
    return;
  }
  auto refuse = [&](std::string why) {
    errors.push_back(Invalid(path.Child("fieldPath"), ref.fieldPath(),
                             "error converting fieldPath: " + std::move(why)));
  };
  if (ref.apiVersion() != "v1") {
    refuse(fmt::format("unsupported pod version: {}", ref.apiVersion()));
    return;
  }
  std::string_view field = ref.fieldPath();
  std::string_view key;
  if (SplitSubscript(ref.fieldPath(), field, key)) {
    if (field == "metadata.annotations") {
      std::string lower(key);
      std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
      CheckQualified(lower, path, errors);
    } else if (field == "metadata.labels") {
      CheckQualified(key, path, errors);
    } else {
      refuse(fmt::format("field label does not support subscript: {}", ref.fieldPath()));
    }
    return;
  }
  if (field == "spec.host") field = "spec.nodeName";
  if (!OneOf(field, kDownwardFields)) {
    refuse(fmt::format("field label not supported: {}", field));
  } else if (std::ranges::find(supported, field) == supported.end()) {
    errors.push_back(NotSupported(path.Child("fieldPath"), field, supported));
  }
}

void ValidateResourceFieldRef(core::ResourceFieldSelector ref, bool in_volume, const Path& path,
                              FieldErrors& errors) {
  if (in_volume && ref.containerName().empty()) {
    errors.push_back(Required(path.Child("containerName"), ""));
  } else if (ref.resource().empty()) {
    errors.push_back(Required(path.Child("resource"), ""));
  } else if (!OneOf(ref.resource(), kResourceFields) && !IsHugePages(ref.resource())) {
    errors.push_back(NotSupported(path.Child("resource"), ref.resource(), kResourceFields));
  }
  ValidateDivisor(ref, path, errors);
}

void ValidateEnvFrom(ListView<core::EnvFromSource> sources, const Path& path, FieldErrors& errors) {
  size_t i = 0;
  for (auto source : sources) {
    const Path at = path.Index(i++);
    if (!source.prefix().empty()) {
      AddInvalid(errors, at.Child("prefix"), source.prefix(),
                 names::CheckRelaxedEnvVarName(source.prefix()));
    }
    if (auto ref = source.configMapRef()) {
      ValidateEnvSource(ref.name(), at.Child("configMapRef"), errors);
    }
    if (auto ref = source.secretRef()) {
      ValidateEnvSource(ref.name(), at.Child("secretRef"), errors);
    }
    if (!source.configMapRef() && !source.secretRef()) {
      errors.push_back(Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"));
    } else if (source.configMapRef() && source.secretRef()) {
      errors.push_back(Invalid(path, "", "may not have more than one field specified at a time"));
    }
  }
}

void ValidateMounts(core::Container container, const VolumeIndex& volumes, const Path& path,
                    FieldErrors& errors) {
  SeenTexts points;
  SeenTexts device_names;
  SeenTexts device_paths;
  if (!container.volumeMounts().empty()) {
    for (auto device : container.volumeDevices()) {
      device_names.Insert(device.name());
      device_paths.Insert(device.devicePath());
    }
  }
  size_t i = 0;
  for (auto mount : container.volumeMounts()) {
    const Path at = path.Index(i++);
    RequireText(mount.name(), at.Child("name"), errors);
    if (!volumes.Find(mount.name())) errors.push_back(NotFound(at.Child("name"), mount.name()));
    RequireText(mount.mountPath(), at.Child("mountPath"), errors);
    if (!points.Insert(mount.mountPath())) {
      errors.push_back(Invalid(at.Child("mountPath"), mount.mountPath(), "must be unique"));
    }
    if (device_names.Contains(mount.name())) {
      errors.push_back(
          Invalid(at.Child("name"), mount.name(), "must not already exist in volumeDevices"));
    }
    if (device_paths.Contains(mount.mountPath())) {
      errors.push_back(Invalid(at.Child("mountPath"), mount.mountPath(),
                               "must not already exist as a path in volumeDevices"));
    }
    if (!mount.subPath().empty()) CheckDescending(mount.subPath(), path.Child("subPath"), errors);
    if (!mount.subPathExpr().empty()) {
      if (!mount.subPath().empty()) {
        errors.push_back(Invalid(at.Child("subPathExpr"), mount.subPathExpr(),
                                 "subPathExpr and subPath are mutually exclusive"));
      }
      CheckDescending(mount.subPathExpr(), path.Child("subPathExpr"), errors);
    }
    ValidatePropagation(mount, container, path.Child("mountPropagation"), errors);
    ValidateRecursiveReadOnly(mount, path.Child("recursiveReadOnly"), errors);
  }
}

void ValidateDevices(core::Container container, const VolumeIndex& volumes, const Path& path,
                     FieldErrors& errors) {
  const auto devices = container.volumeDevices();
  if (devices.empty()) return;
  SeenTexts names;
  SeenTexts paths;
  SeenTexts mount_names;
  SeenTexts mount_paths;
  for (auto mount : container.volumeMounts()) {
    mount_names.Insert(mount.name());
    mount_paths.Insert(mount.mountPath());
  }
  size_t i = 0;
  for (auto device : devices) {
    const Path at = path.Index(i++);
    const auto name = device.name();
    const auto device_path = device.devicePath();
    const auto volume = volumes.Find(name);
    RequireText(name, at.Child("name"), errors);
    if (names.Contains(name)) errors.push_back(Invalid(at.Child("name"), name, "must be unique"));
    if (volume && !volume.persistentVolumeClaim() && !volume.ephemeral()) {
      errors.push_back(Invalid(at.Child("name"), name,
                               "can only use volume source type of PersistentVolumeClaim or "
                               "Ephemeral for block mode"));
    }
    if (!volume) errors.push_back(NotFound(at.Child("name"), name));
    RequireText(device_path, at.Child("devicePath"), errors);
    if (paths.Contains(device_path)) {
      errors.push_back(Invalid(at.Child("devicePath"), device_path, "must be unique"));
    }
    if (HasBackstep(device_path)) {
      errors.push_back(
          Invalid(at.Child("devicePath"), device_path, "can not contain backsteps ('..')"));
    } else {
      paths.Insert(device_path);
    }
    if (mount_names.Contains(name)) {
      errors.push_back(Invalid(at.Child("name"), name, "must not already exist in volumeMounts"));
    }
    if (mount_paths.Contains(device_path)) {
      errors.push_back(Invalid(at.Child("devicePath"), device_path,
                               "must not already exist as a path in volumeMounts"));
    }
    if (!name.empty()) names.Insert(name);
  }
}

void ValidateFileKeyRefs(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  VisitContainers(spec, path, [&](core::Container container, const Path& at) {
    size_t i = 0;
    for (auto var : container.env()) {
      const size_t index = i++;
      const auto ref = var.valueFrom().fileKeyRef();
      if (!ref) continue;
      const Path ref_path = at.Child("env").Index(index).Child("valueFrom").Child("fileKeyRef");
      core::Volume found;
      for (auto volume : spec.volumes()) {
        if (volume.name() == ref.volumeName()) found = volume;
      }
      if (!found) {
        errors.push_back(NotFound(ref_path.Child("volumeName"), ref.volumeName()));
      } else if (!found.emptyDir()) {
        errors.push_back(Invalid(ref_path.Child("volumeName"), ref.volumeName(),
                                 "referenced volume must be of type emptyDir"));
      }
    }
  });
}

}  // namespace keelson::kube::pod
