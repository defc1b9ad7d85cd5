// Volumes: exactly one source each, and what each source needs.

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/quote.h"
#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using schema::Duplicate;
using schema::Forbidden;
using schema::Invalid;
using schema::NotSupported;
using schema::Required;

struct SourceScope {
  std::string_view volume;  // the volume's name
  const Value* metadata;    // of the pod, if there is one
  const SpecRules& rules;
};

void EmptyDir(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::EmptyDirVolumeSource source(value);
  if (source.sizeLimit() && QuantityOf(*source.sizeLimit()).Sign() < 0) {
    errors.push_back(
        Forbidden(path.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity"));
  }
}

void HostPath(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {
      "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
      "File", "FileOrCreate", "Socket"};
  const core::HostPathVolumeSource source(value);
  if (source.path().empty()) {
    errors.push_back(Required(path.Child("path"), ""));
    return;
  }
  CheckNoBacksteps(source.path(), path.Child("path"), errors);
  if (auto type = source.type(); type && !OneOf(*type, kTypes)) {
    errors.push_back(NotSupported(path.Child("type"), *type, kTypes));
  }
}

void GitRepo(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::GitRepoVolumeSource source(value);
  RequireText(source.repository(), path.Child("repository"), errors);
  CheckDescending(source.directory(), path.Child("directory"), errors);
}

void CheckPartition(int32_t partition, const Path& path, FieldErrors& errors) {
  if (partition < 0 || partition > 255) {
    errors.push_back(
        Invalid(path.Child("partition"), partition, "must be between 1 and 255, inclusive"));
  }
}

void GcePersistentDisk(const Value& value, const SourceScope&, const Path& path,
                       FieldErrors& errors) {
  const core::GCEPersistentDiskVolumeSource source(value);
  RequireText(source.pdName(), path.Child("pdName"), errors);
  CheckPartition(source.partition(), path, errors);
}

void AwsElasticBlockStore(const Value& value, const SourceScope&, const Path& path,
                          FieldErrors& errors) {
  const core::AWSElasticBlockStoreVolumeSource source(value);
  RequireText(source.volumeID(), path.Child("volumeID"), errors);
  CheckPartition(source.partition(), path, errors);
}

void ValidateItems(ListView<core::KeyToPath> items, const Path& path, FieldErrors& errors) {
  size_t i = 0;
  for (auto item : items) ValidateKeyToPath(item, path.Child("items").Index(i++), errors);
}

void Secret(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::SecretVolumeSource source(value);
  RequireText(source.secretName(), path.Child("secretName"), errors);
  CheckFileMode(source.defaultMode(), path.Child("defaultMode"), errors);
  ValidateItems(source.items(), path, errors);
}

void ConfigMap(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::ConfigMapVolumeSource source(value);
  RequireText(source.name(), path.Child("name"), errors);
  CheckFileMode(source.defaultMode(), path.Child("defaultMode"), errors);
  ValidateItems(source.items(), path, errors);
}

void Nfs(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::NFSVolumeSource source(value);
  RequireText(source.server(), path.Child("server"), errors);
  RequireText(source.path(), path.Child("path"), errors);
  if (!source.path().starts_with('/')) {
    errors.push_back(Invalid(path.Child("path"), source.path(), "must be an absolute path"));
  }
}

// The three ways to name an iSCSI party.
void CheckIscsiName(std::string_view name, const Path& path, FieldErrors& errors) {
  static const RE2 kIqn(R"(iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$)");
  static const RE2 kEui(R"(^eui.[[:alnum:]]{16}$)");
  static const RE2 kNaa(R"(^naa.[[:alnum:]]{32}$)");
  const RE2* pattern = name.starts_with("iqn")   ? &kIqn
                       : name.starts_with("eui") ? &kEui
                       : name.starts_with("naa") ? &kNaa
                                                 : nullptr;
  if (!pattern) {
    errors.push_back(Invalid(path, name, "must be valid format starting with iqn, eui, or naa"));
  } else if (!RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *pattern)) {
    errors.push_back(Invalid(path, name, "must be valid format"));
  }
}

void Iscsi(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::ISCSIVolumeSource source(value);
  RequireText(source.targetPortal(), path.Child("targetPortal"), errors);
  if (source.iqn().empty()) {
    errors.push_back(Required(path.Child("iqn"), ""));
  } else {
    CheckIscsiName(source.iqn(), path.Child("iqn"), errors);
  }
  if (source.lun() < 0 || source.lun() > 255) {
    errors.push_back(
        Invalid(path.Child("lun"), source.lun(), "must be between 0 and 255, inclusive"));
  }
  if ((source.chapAuthDiscovery() || source.chapAuthSession()) && !source.secretRef()) {
    errors.push_back(Required(path.Child("secretRef"), ""));
  }
  if (auto initiator = source.initiatorName()) {
    CheckIscsiName(*initiator, path.Child("initiatorname"), errors);
  }
}

void Glusterfs(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::GlusterfsVolumeSource source(value);
  RequireText(source.endpoints(), path.Child("endpoints"), errors);
  RequireText(source.path(), path.Child("path"), errors);
}

void Flocker(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::FlockerVolumeSource source(value);
  if (source.datasetName().empty() && source.datasetUUID().empty()) {
    errors.push_back(Required(path, "one of datasetName and datasetUUID is required"));
  }
  if (!source.datasetName().empty() && !source.datasetUUID().empty()) {
    errors.push_back(Invalid(path, "resource",
                             "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (source.datasetName().find('/') != std::string_view::npos) {
    errors.push_back(
        Invalid(path.Child("datasetName"), source.datasetName(), "must not contain '/'"));
  }
}

void PersistentVolumeClaim(const Value& value, const SourceScope&, const Path& path,
                           FieldErrors& errors) {
  RequireText(core::PersistentVolumeClaimVolumeSource(value).claimName(), path.Child("claimName"),
              errors);
}

void Rbd(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::RBDVolumeSource source(value);
  if (source.monitors().empty()) errors.push_back(Required(path.Child("monitors"), ""));
  RequireText(source.image(), path.Child("image"), errors);
}

void RequireSecretName(core::LocalObjectReference secret, std::string_view field, const Path& path,
                       FieldErrors& errors) {
  if (secret && secret.name().empty()) {
    errors.push_back(Required(path.Child(field).Child("name"), ""));
  }
}

void Cinder(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::CinderVolumeSource source(value);
  RequireText(source.volumeID(), path.Child("volumeID"), errors);
  RequireSecretName(source.secretRef(), "secretRef", path, errors);
}

void CephFs(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  if (core::CephFSVolumeSource(value).monitors().empty()) {
    errors.push_back(Required(path.Child("monitors"), ""));
  }
}

// host:port, the host in brackets when it has colons itself.
bool IsHostPort(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  auto host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return false;
    host = host.substr(1, host.size() - 2);
    return host.find_first_of("[]") == std::string_view::npos;
  }
  return host.find_first_of(":[]") == std::string_view::npos;
}

void Quobyte(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kWhat =
      "must be a host:port pair or multiple pairs separated by commas";
  const core::QuobyteVolumeSource source(value);
  if (source.registry().empty()) {
    errors.push_back(Required(path.Child("registry"), std::string(kWhat)));
  } else if (source.tenant().size() >= 65) {
    errors.push_back(Required(path.Child("tenant"),
                              "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (auto rest = source.registry();;) {
      const auto comma = rest.find(',');
      if (!IsHostPort(rest.substr(0, comma))) {
        errors.push_back(Invalid(path.Child("registry"), source.registry(), std::string(kWhat)));
      }
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  RequireText(source.volume(), path.Child("volume"), errors);
}

void DownwardApi(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::DownwardAPIVolumeSource source(value);
  CheckFileMode(source.defaultMode(), path.Child("defaultMode"), errors);
  for (auto file : source.items()) ValidateDownwardFile(file, path, errors);
}

void Fc(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::FCVolumeSource source(value);
  const auto names = source.targetWWNs();
  if (names.empty() && source.wwids().empty()) {
    errors.push_back(Required(path.Child("targetWWNs"),
                              "must specify either targetWWNs or wwids, but not both"));
  }
  if (!names.empty() && !source.wwids().empty()) {
    errors.push_back(Invalid(path.Child("targetWWNs"), names.value(),
                             "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (names.empty()) return;
  const auto lun = source.lun();
  if (!lun) {
    errors.push_back(Required(path.Child("lun"), "lun is required if targetWWNs is specified"));
  } else if (*lun < 0 || *lun > 255) {
    errors.push_back(Invalid(path.Child("lun"), *lun, "must be between 0 and 255, inclusive"));
  }
}

void FlexVolume(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::FlexVolumeSource source(value);
  RequireText(source.driver(), path.Child("driver"), errors);
  for (auto [key, option] : source.options()) {
    std::string ns = "." + std::string(key.substr(0, key.find('/')));
    std::ranges::transform(ns, ns.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (ns.ends_with(".kubernetes.io") || ns.ends_with(".k8s.io")) {
      errors.push_back(Invalid(path.Child("options").Key(key), key,
                               "kubernetes.io and k8s.io namespaces are reserved"));
    }
  }
}

void AzureFile(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::AzureFileVolumeSource source(value);
  RequireText(source.secretName(), path.Child("secretName"), errors);
  RequireText(source.shareName(), path.Child("shareName"), errors);
}

void AzureDisk(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kModes[] = {"None", "ReadOnly", "ReadWrite"};
  static constexpr std::string_view kKinds[] = {"Dedicated", "Managed", "Shared"};
  static constexpr std::string_view kManagedUris[] = {
      "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
      "{disk-id}"};
  static constexpr std::string_view kBlobUris[] = {
      "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"};
  const core::AzureDiskVolumeSource source(value);
  const auto uri = source.diskURI();
  RequireText(source.diskName(), path.Child("diskName"), errors);
  RequireText(uri, path.Child("diskURI"), errors);
  if (auto mode = source.cachingMode(); mode && !OneOf(*mode, kModes)) {
    errors.push_back(NotSupported(path.Child("cachingMode"), *mode, kModes));
  }
  const auto kind = source.value()["kind"];
  if (!kind.is_string()) return;
  if (!OneOf(kind.AsString(), kKinds)) {
    errors.push_back(NotSupported(path.Child("kind"), kind.AsString(), kKinds));
  }
  if (kind.AsString() == "Managed") {
    if (!uri.starts_with("/subscriptions/")) {
      errors.push_back(NotSupported(path.Child("diskURI"), uri, kManagedUris));
    }
  } else if (!uri.starts_with("https://")) {
    errors.push_back(NotSupported(path.Child("diskURI"), uri, kBlobUris));
  }
}

void Vsphere(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  RequireText(core::VsphereVirtualDiskVolumeSource(value).volumePath(), path.Child("volumePath"),
              errors);
}

void Photon(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  RequireText(core::PhotonPersistentDiskVolumeSource(value).pdID(), path.Child("pdID"), errors);
}

void Portworx(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  RequireText(core::PortworxVolumeSource(value).volumeID(), path.Child("volumeID"), errors);
}

void StorageOs(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::StorageOSVolumeSource source(value);
  if (source.volumeName().empty()) {
    errors.push_back(Required(path.Child("volumeName"), ""));
  } else {
    CheckLabel(source.volumeName(), path.Child("volumeName"), errors);
  }
  if (!source.volumeNamespace().empty()) {
    CheckLabel(source.volumeNamespace(), path.Child("volumeNamespace"), errors);
  }
  RequireSecretName(source.secretRef(), "secretRef", path, errors);
}

void Projected(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  ValidateProjected(core::ProjectedVolumeSource(value), path, errors);
}

void ScaleIo(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::ScaleIOVolumeSource source(value);
  RequireText(source.gateway(), path.Child("gateway"), errors);
  RequireText(source.system(), path.Child("system"), errors);
  RequireText(source.volumeName(), path.Child("volumeName"), errors);
}

void CheckDriverName(std::string_view driver, const Path& path, FieldErrors& errors) {
  if (driver.empty()) {
    errors.push_back(Required(path, ""));
    return;
  }
  if (driver.size() > 63) errors.push_back(schema::TooLong(path, 63));
  std::string lower(driver);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  AddInvalid(errors, path, driver, names::CheckDns1123Subdomain(lower));
}

void Csi(const Value& value, const SourceScope&, const Path& path, FieldErrors& errors) {
  const core::CSIVolumeSource source(value);
  CheckDriverName(source.driver(), path.Child("driver"), errors);
  const auto secret = source.nodePublishSecretRef();
  if (!secret) return;
  if (secret.name().empty()) {
    errors.push_back(Required(path.Child("nodePublishSecretRef").Child("name"), ""));
  } else {
    CheckSubdomain(secret.name(), path.Child("name"), errors);
  }
}

// The metadata of a template may hold labels and annotations only.
void ValidateTemplateMetadata(const Value& metadata, const Path& path, FieldErrors& errors) {
  for (const auto& member : metadata["labels"].members()) {
    CheckQualified(member.key(), path.Child("labels"), errors);
    AddInvalid(errors, path.Child("labels"), member.value.AsString(),
               names::CheckLabelValue(member.value.AsString()));
  }
  for (const auto& member : metadata.members()) {
    if (member.key() == "labels" || member.key() == "annotations" || member.value.is_null()) {
      continue;
    }
    errors.push_back(Forbidden(path.Child(member.key()), "cannot be set"));
  }
}

void Ephemeral(const Value& value, const SourceScope& scope, const Path& path,
               FieldErrors& errors) {
  const auto claim = core::EphemeralVolumeSource(value).volumeClaimTemplate();
  if (!claim) {
    errors.push_back(Required(path.Child("volumeClaimTemplate"), ""));
  } else {
    const Path at = path.Child("volumeClaimTemplate");
    ValidateTemplateMetadata(claim.metadata().value(), at.Child("metadata"), errors);
    ValidateClaimSpec(claim.spec().value(), at.Child("spec"), errors);
  }
}

void Image(const Value& value, const SourceScope& scope, const Path& path, FieldErrors& errors) {
  const core::ImageVolumeSource source(value);
  if (scope.rules.is_pod) RequireText(source.reference(), path.Child("reference"), errors);
  CheckPullPolicy(source.pullPolicy(), path.Child("pullPolicy"), errors);
}

using SourceCheck = void (*)(const Value& source, const SourceScope& scope, const Path& path,
                             FieldErrors& errors);

struct SourceRule {
  constexpr SourceRule(std::string_view field, std::string_view path, std::string_view forbidden,
                       SourceCheck validate)
      : field(value::Name::Plain(field)), path(path), forbidden(forbidden), validate(validate) {}

  value::Name field;
  std::string_view path;       // what errors inside it are reported below
  std::string_view forbidden;  // what a second source is reported as
  SourceCheck validate;
};

// In the order upstream asks, with its slips in the paths.
constexpr SourceRule kSources[] = {
    {"emptyDir", "emptyDir", "emptyDir", EmptyDir},
    {"hostPath", "hostPath", "hostPath", HostPath},
    {"gitRepo", "gitRepo", "gitRepo", GitRepo},
    {"gcePersistentDisk", "persistentDisk", "gcePersistentDisk", GcePersistentDisk},
    {"awsElasticBlockStore", "awsElasticBlockStore", "awsElasticBlockStore", AwsElasticBlockStore},
    {"secret", "secret", "secret", Secret},
    {"nfs", "nfs", "nfs", Nfs},
    {"iscsi", "iscsi", "iscsi", Iscsi},
    {"glusterfs", "glusterfs", "glusterfs", Glusterfs},
    {"flocker", "flocker", "flocker", Flocker},
    {"persistentVolumeClaim", "persistentVolumeClaim", "persistentVolumeClaim",
     PersistentVolumeClaim},
    {"rbd", "rbd", "rbd", Rbd},
    {"cinder", "cinder", "cinder", Cinder},
    {"cephfs", "cephfs", "cephFS", CephFs},
    {"quobyte", "quobyte", "quobyte", Quobyte},
    {"downwardAPI", "downwardAPI", "downwarAPI", DownwardApi},
    {"fc", "fc", "fc", Fc},
    {"flexVolume", "flexVolume", "flexVolume", FlexVolume},
    {"configMap", "configMap", "configMap", ConfigMap},
    {"azureFile", "azureFile", "azureFile", AzureFile},
    {"vsphereVolume", "vsphereVolume", "vsphereVolume", Vsphere},
    {"photonPersistentDisk", "photonPersistentDisk", "photonPersistentDisk", Photon},
    {"portworxVolume", "portworxVolume", "portworxVolume", Portworx},
    {"azureDisk", "azureDisk", "azureDisk", AzureDisk},
    {"storageos", "storageos", "storageos", StorageOs},
    {"projected", "projected", "projected", Projected},
    {"scaleIO", "scaleIO", "scaleIO", ScaleIo},
    {"csi", "csi", "csi", Csi},
    {"ephemeral", "ephemeral", "ephemeral", Ephemeral},
    {"image", "image", "image", Image},
};

// Names derived from the pod's own must work out too.
void ValidateDerivedNames(core::Volume volume, const SourceScope& scope, bool ephemeral_counts,
                          const Path& path, FieldErrors& errors) {
  const auto iscsi = volume.iscsi();
  if (iscsi && iscsi.initiatorName() &&
      scope.volume.size() + 1 + iscsi.targetPortal().size() > 64) {
    errors.push_back(Invalid(path.Child("name"), scope.volume,
                             "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
                             "characters if iscsi.initiatorName is specified."));
  }
  if (!ephemeral_counts || !scope.metadata || scope.volume.empty()) return;
  const auto pod = (*scope.metadata)["name"].AsString();
  if (pod.empty()) return;
  const std::string claim = fmt::format("{}-{}", pod, scope.volume);
  for (const auto& complaint : names::NameIsDnsSubdomain(claim, false)) {
    errors.push_back(Invalid(path.Child("name"), scope.volume,
                             fmt::format("PVC name {}: {}", Quote(claim), complaint)));
  }
}

}  // namespace

void ValidateKeyToPath(core::KeyToPath item, const Path& path, FieldErrors& errors) {
  RequireText(item.key(), path.Child("key"), errors);
  RequireText(item.path(), path.Child("path"), errors);
  CheckLocalPath(item.path(), path.Child("path"), errors);
  CheckFileMode(item.mode(), path.Child("mode"), errors);
}

void ValidateVolumeSource(core::Volume volume, const Value* metadata, const Path& path,
                          const SpecRules& rules, FieldErrors& errors) {
  const SourceScope scope{volume.name(), metadata, rules};
  const SourceRule* first = nullptr;
  for (const SourceRule& rule : kSources) {
    const Value* source = volume.value().Find(rule.field);
    if (!source || source->is_null()) continue;
    if (first) {
      errors.push_back(
          Forbidden(path.Child(rule.forbidden), "may not specify more than 1 volume type"));
    } else {
      first = &rule;
      rule.validate(*source, scope, path.Child(rule.path), errors);
    }
  }
  if (!first) errors.push_back(Required(path, "must specify a volume type"));
  if (volume.iscsi() || volume.ephemeral()) {
    ValidateDerivedNames(volume, scope, first && first->field == "ephemeral", path, errors);
  }
}

void ValidateVolumes(ListView<core::Volume> volumes, const Value* metadata, const Path& path,
                     const SpecRules& rules, VolumeIndex& index, FieldErrors& errors) {
  std::unordered_set<std::string> made;  // claims that this pod's ephemeral volumes will make
  const auto pod = metadata ? (*metadata)["name"].AsString() : std::string_view();
  if (!pod.empty()) {
    for (auto volume : volumes) {
      if (volume.ephemeral()) made.insert(fmt::format("{}-{}", pod, volume.name()));
    }
  }
  for (size_t i = 0; i < volumes.size(); ++i) {
    const core::Volume volume = volumes[i];
    const Path at = path.Index(i);
    const size_t before = errors.size();
    ValidateVolumeSource(volume, metadata, at, rules, errors);
    if (volume.name().empty()) {
      errors.push_back(Required(at.Child("name"), ""));
    } else {
      CheckLabel(volume.name(), at.Child("name"), errors);
    }
    if (index.Find(volume.name())) errors.push_back(Duplicate(at.Child("name"), volume.name()));
    if (errors.size() == before) index.Accept(i);
    if (made.empty()) continue;
    const auto claim = volume.persistentVolumeClaim().claimName();
    if (made.contains(std::string(claim))) {
      errors.push_back(Invalid(at.Child("persistentVolumeClaim").Child("claimName"), claim,
                               "must not reference a PVC that gets created for an ephemeral "
                               "volume"));
    }
  }
}

}  // namespace keelson::kube::pod
