#include "kube/core/volume_source.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>

#include "kube/core/kinds.h"

namespace keelson::kube::core {
namespace {

constexpr const char* kPartition = "must be between 1 and 255, inclusive";

void RequireText(const Value& source, std::string_view field, const Path& path,
                 FieldErrors& errors) {
  if (source[field].AsString().empty()) errors.push_back(Required(path.Child(field), ""));
}

void RequireItems(const Value& source, std::string_view field, const Path& path,
                  FieldErrors& errors) {
  if (source[field].items().empty()) errors.push_back(Required(path.Child(field), ""));
}

void CheckRange(const Value& source, std::string_view field, int64_t low, int64_t high,
                const Path& path, FieldErrors& errors) {
  const int64_t number = source[field].AsInt();
  schema::AddComplaints(errors, path.Child(field), number, names::CheckInRange(number, low, high));
}

void CheckPartition(const Value& source, const Path& path, FieldErrors& errors) {
  const int64_t partition = source["partition"].AsInt();
  if (partition < 0 || partition > 255) {
    errors.push_back(Invalid(path.Child("partition"), partition, kPartition));
  }
}

void CheckNoBacksteps(std::string_view text, const Path& path, FieldErrors& errors) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto slash = rest.find('/');
    if (rest.substr(0, slash) == "..") {
      errors.push_back(Invalid(path, text, "must not contain '..'"));
      return;
    }
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

void CheckPath(const Value& source, const Path& path, FieldErrors& errors) {
  const auto text = source["path"].AsString();
  if (text.empty()) {
    errors.push_back(Required(path.Child("path"), ""));
  } else {
    CheckNoBacksteps(text, path.Child("path"), errors);
  }
}

void CheckHostPath(const Value& source, const Path& path, FieldErrors& errors) {
  CheckPath(source, path, errors);
  constexpr std::string_view kTypes[] = {
      "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
      "File", "FileOrCreate", "Socket"};
  const Value type = source["type"];
  if (source["path"].AsString().empty() || type.is_null()) return;
  rest::CheckSupported(type.AsString(), kTypes, path.Child("type"), errors);
}

void CheckSecretRef(const Value& source, std::string_view field, bool with_namespace,
                    const Path& path, FieldErrors& errors) {
  const Value ref = source[field];
  if (!ref.is_object()) return;
  const Path at = path.Child(field);
  RequireText(ref, "name", at, errors);
  if (with_namespace) RequireText(ref, "namespace", at, errors);
}

bool IsIscsiName(std::string_view name) {
  static const RE2 kIqn(R"(iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$)");
  static const RE2 kEui(R"(^eui.[[:alnum:]]{16}$)");
  static const RE2 kNaa(R"(^naa.[[:alnum:]]{32}$)");
  const RE2* shape = name.starts_with("iqn")   ? &kIqn
                     : name.starts_with("eui") ? &kEui
                     : name.starts_with("naa") ? &kNaa
                                               : nullptr;
  return shape != nullptr && RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *shape);
}

void CheckIscsi(const Value& source, std::string_view volume, const Path& path,
                FieldErrors& errors) {
  constexpr size_t kMaxSession = 64;
  const auto portal = source["targetPortal"].AsString();
  const auto iqn = source["iqn"].AsString();
  const Value initiator = source["initiatorName"];
  RequireText(source, "targetPortal", path, errors);
  if (initiator.is_string() && volume.size() + 1 + portal.size() > kMaxSession) {
    errors.push_back(Invalid(path.Child("targetportal"), portal,
                             "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
                             "characters if iscsi.initiatorName is specified."));
  }
  if (iqn.empty()) {
    errors.push_back(Required(path.Child("iqn"), ""));
  } else if (!IsIscsiName(iqn)) {
    errors.push_back(Invalid(path.Child("iqn"), iqn, "must be valid format"));
  }
  CheckRange(source, "lun", 0, 255, path, errors);
  if ((source["chapAuthDiscovery"].AsBool() || source["chapAuthSession"].AsBool()) &&
      !source["secretRef"].is_object()) {
    errors.push_back(Required(path.Child("secretRef"), ""));
  }
  CheckSecretRef(source, "secretRef", /*with_namespace=*/false, path, errors);
  if (initiator.is_string() && !IsIscsiName(initiator.AsString())) {
    errors.push_back(
        Invalid(path.Child("initiatorname"), initiator.AsString(), "must be valid format"));
  }
}

void CheckFibreChannel(const Value& source, const Path& path, FieldErrors& errors) {
  const Value targets = source["targetWWNs"];
  const Value ids = source["wwids"];
  if (targets.items().empty() && ids.items().empty()) {
    errors.push_back(Required(path.Child("targetWWNs"),
                              "must specify either targetWWNs or wwids, but not both"));
  }
  if (!targets.items().empty() && !ids.items().empty()) {
    errors.push_back(Invalid(path.Child("targetWWNs"), targets,
                             "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (targets.items().empty()) return;
  if (source["lun"].is_null()) {
    errors.push_back(Required(path.Child("lun"), "lun is required if targetWWNs is specified"));
  } else {
    CheckRange(source, "lun", 0, 255, path, errors);
  }
}

void CheckGlusterfs(const Value& source, const Path& path, FieldErrors& errors) {
  RequireText(source, "endpoints", path, errors);
  RequireText(source, "path", path, errors);
  const Value ns = source["endpointsNamespace"];
  if (!ns.is_string()) return;
  if (ns.AsString().empty()) {
    errors.push_back(Invalid(path.Child("endpointsNamespace"), "",
                             "if the endpointnamespace is set, it must be a valid namespace name"));
  } else {
    rest::CheckName(ns.AsString(), names::NameIsDnsLabel, path.Child("endpointsNamespace"), errors);
  }
}

void CheckFlocker(const Value& source, const Path& path, FieldErrors& errors) {
  const auto name = source["datasetName"].AsString();
  const auto uuid = source["datasetUUID"].AsString();
  if (name.empty() && uuid.empty()) {
    errors.push_back(Required(path, "one of datasetName and datasetUUID is required"));
  }
  if (!name.empty() && !uuid.empty()) {
    errors.push_back(Invalid(path, "resource",
                             "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (name.find('/') != std::string_view::npos) {
    errors.push_back(Invalid(path.Child("datasetName"), name, "must not contain '/'"));
  }
}

void CheckNfs(const Value& source, const Path& path, FieldErrors& errors) {
  RequireText(source, "server", path, errors);
  RequireText(source, "path", path, errors);
  const auto text = source["path"].AsString();
  if (!text.starts_with('/')) {
    errors.push_back(Invalid(path.Child("path"), text, "must be an absolute path"));
  }
}

void CheckQuobyte(const Value& source, const Path& path, FieldErrors& errors) {
  constexpr const char* kPairs = "must be a host:port pair or multiple pairs separated by commas";
  const auto registry = source["registry"].AsString();
  if (registry.empty()) {
    errors.push_back(Required(path.Child("registry"), kPairs));
  } else if (source["tenant"].size() >= 65) {
    errors.push_back(Required(path.Child("tenant"),
                              "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (std::string_view rest = registry;;) {
      const auto comma = rest.find(',');
      const auto pair = rest.substr(0, comma);
      if (std::ranges::count(pair, ':') != 1 && !pair.starts_with('[')) {
        errors.push_back(Invalid(path.Child("registry"), registry, kPairs));
      }
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  RequireText(source, "volume", path, errors);
}

void CheckFlexVolume(const Value& source, const Path& path, FieldErrors& errors) {
  RequireText(source, "driver", path, errors);
  const Path options = path.Child("options");
  for (const auto& member : source["options"].members()) {
    const auto key = member.key();
    std::string owner = ".";
    owner += key.substr(0, key.find('/'));
    std::ranges::transform(owner, owner.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    if (owner.ends_with(".kubernetes.io") || owner.ends_with(".k8s.io")) {
      errors.push_back(
          Invalid(options.Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"));
    }
  }
}

void CheckAzureFile(const Value& source, const Path& path, FieldErrors& errors) {
  RequireText(source, "secretName", path, errors);
  RequireText(source, "shareName", path, errors);
  const Value ns = source["secretNamespace"];
  if (ns.is_string() && ns.AsString().empty()) {
    errors.push_back(Required(path.Child("secretNamespace"), ""));
  }
}

void CheckAzureDisk(const Value& source, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kCaching[] = {"None", "ReadOnly", "ReadWrite"};
  constexpr std::string_view kKinds[] = {"Dedicated", "Managed", "Shared"};
  constexpr std::string_view kManaged[] = {
      "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
      "{disk-id}"};
  constexpr std::string_view kBlob[] = {
      "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"};
  RequireText(source, "diskName", path, errors);
  RequireText(source, "diskURI", path, errors);
  const Value caching = source["cachingMode"];
  if (caching.is_string()) {
    rest::CheckSupported(caching.AsString(), kCaching, path.Child("cachingMode"), errors);
  }
  const Value kind = source["kind"];
  if (!kind.is_string()) return;
  rest::CheckSupported(kind.AsString(), kKinds, path.Child("kind"), errors);
  const auto uri = source["diskURI"].AsString();
  if (kind.AsString() == "Managed") {
    if (!uri.starts_with("/subscriptions/")) {
      errors.push_back(schema::NotSupported(path.Child("diskURI"), uri, kManaged));
    }
  } else if (!uri.starts_with("https://")) {
    errors.push_back(schema::NotSupported(path.Child("diskURI"), uri, kBlob));
  }
}

void CheckStorageOs(const Value& source, const Path& path, FieldErrors& errors) {
  const auto volume = source["volumeName"].AsString();
  if (volume.empty()) {
    errors.push_back(Required(path.Child("volumeName"), ""));
  } else {
    rest::CheckText(volume, names::CheckDns1123Label, path.Child("volumeName"), errors);
  }
  const auto ns = source["volumeNamespace"].AsString();
  if (!ns.empty()) {
    rest::CheckText(ns, names::CheckDns1123Label, path.Child("volumeNamespace"), errors);
  }
  CheckSecretRef(source, "secretRef", /*with_namespace=*/true, path, errors);
}

void CheckCsi(const Value& source, const Path& path, FieldErrors& errors) {
  constexpr size_t kMaxDriver = 63;
  const auto driver = source["driver"].AsString();
  if (driver.empty()) {
    errors.push_back(Required(path.Child("driver"), ""));
  } else {
    if (driver.size() > kMaxDriver) {
      errors.push_back(schema::TooLong(path.Child("driver"), kMaxDriver));
    }
    std::string lower(driver);
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    schema::AddComplaints(errors, path.Child("driver"), driver,
                          names::CheckDns1123Subdomain(lower));
  }
  RequireText(source, "volumeHandle", path, errors);
  for (std::string_view field : {"controllerPublishSecretRef", "controllerExpandSecretRef",
                                 "nodePublishSecretRef", "nodeExpandSecretRef"}) {
    const Value ref = source[field];
    if (!ref.is_object()) continue;
    CheckSecretRef(source, field, /*with_namespace=*/true, path, errors);
    const Path at = path.Child(field);
    if (auto name = ref["name"].AsString(); !name.empty()) {
      rest::CheckText(name, names::CheckDns1123Subdomain, at.Child("name"), errors);
    }
    if (auto ns = ref["namespace"].AsString(); !ns.empty()) {
      rest::CheckText(ns, names::CheckDns1123Label, at.Child("namespace"), errors);
    }
  }
}

// Sources in the order upstream looks at them. Upstream calls some of them by another name when it
// looks inside, and one more when it refuses a second one.
struct Source {
  std::string_view field;
  std::string_view inside;
  std::string_view second;
  std::string_view required[3];  // texts that must be there
  void (*check)(const Value& source, const Path& path, FieldErrors& errors);
};
constexpr Source kSources[] = {
    {"hostPath", "hostPath", "hostPath", {}, CheckHostPath},
    {"gcePersistentDisk", "persistentDisk", "gcePersistentDisk", {"pdName"}, CheckPartition},
    {"awsElasticBlockStore",
     "awsElasticBlockStore",
     "awsElasticBlockStore",
     {"volumeID"},
     CheckPartition},
    {"glusterfs", "glusterfs", "glusterfs", {}, CheckGlusterfs},
    {"flocker", "flocker", "flocker", {}, CheckFlocker},
    {"nfs", "nfs", "nfs", {}, CheckNfs},
    {"rbd",
     "rbd",
     "rbd",
     {},
     [](const Value& source, const Path& path, FieldErrors& errors) {
       RequireItems(source, "monitors", path, errors);
       RequireText(source, "image", path, errors);
     }},
    {"quobyte", "quobyte", "quobyte", {}, CheckQuobyte},
    {"cephfs",
     "cephfs",
     "cephFS",
     {},
     [](const Value& source, const Path& path, FieldErrors& errors) {
       RequireItems(source, "monitors", path, errors);
     }},
    {"iscsi", "iscsi", "iscsi", {}, nullptr},
    {"cinder",
     "cinder",
     "cinder",
     {"volumeID"},
     [](const Value& source, const Path& path, FieldErrors& errors) {
       CheckSecretRef(source, "secretRef", /*with_namespace=*/true, path, errors);
     }},
    {"fc", "fc", "fc", {}, CheckFibreChannel},
    {"flexVolume", "flexVolume", "", {}, CheckFlexVolume},
    {"azureFile", "azureFile", "azureFile", {}, CheckAzureFile},
    {"vsphereVolume", "vsphereVolume", "vsphereVolume", {"volumePath"}, nullptr},
    {"photonPersistentDisk", "photonPersistentDisk", "photonPersistentDisk", {"pdID"}, nullptr},
    {"portworxVolume", "portworxVolume", "portworxVolume", {"volumeID"}, nullptr},
    {"azureDisk", "azureDisk", "azureDisk", {}, CheckAzureDisk},
    {"scaleIO", "scaleIO", "scaleIO", {"gateway", "system", "volumeName"}, nullptr},
    {"local", "local", "local", {}, CheckPath},
    {"storageos", "storageos", "storageos", {}, CheckStorageOs},
    {"csi", "csi", "csi", {}, CheckCsi},
};

}  // namespace

void ValidateVolumeSource(const Value& spec, std::string_view volume, const Path& path,
                          FieldErrors& errors) {
  bool found = false;
  for (const auto& source : kSources) {
    const Value value = spec[source.field];
    if (!value.is_object()) continue;
    // A flexVolume is never the one too many.
    if (found && !source.second.empty()) {
      errors.push_back(
          Forbidden(path.Child(source.second), "may not specify more than 1 volume type"));
      continue;
    }
    found = true;
    const Path at = path.Child(source.inside);
    for (const auto field : source.required) {
      if (!field.empty()) RequireText(value, field, at, errors);
    }
    if (source.check != nullptr) source.check(value, at, errors);
    if (source.field == "iscsi") CheckIscsi(value, volume, at, errors);
    if (source.field == "local" && !spec["nodeAffinity"].is_object()) {
      errors.push_back(Required(path.Child("nodeAffinity"), "Local volume requires node affinity"));
    }
  }
  if (!found) errors.push_back(Required(path, "must specify a volume type"));
}

}  // namespace keelson::kube::core
