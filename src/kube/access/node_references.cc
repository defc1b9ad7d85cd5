#include "kube/access/node_references.h"

namespace keelson::kube::access {
namespace {

using value::Value;

constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

// Volume sources, in pods and in persistent volumes, that name a secret by a reference.
constexpr std::string_view kSecretSources[] = {"cephfs",  "cinder", "flexVolume", "rbd",
                                               "scaleIO", "iscsi",  "storageos"};

class Collector {
 public:
  void Add(Referenced kind, std::string_view name) {
    if (!name.empty()) found_.emplace(kind, name);
  }

  void AddContainers(const Value& containers) {
    for (const auto& container : containers.items()) {
      for (const auto& source : container["envFrom"].items()) {
        Add(Referenced::kSecret, source["secretRef"]["name"].AsString());
        Add(Referenced::kConfigMap, source["configMapRef"]["name"].AsString());
      }
      for (const auto& variable : container["env"].items()) {
        const auto from = variable["valueFrom"];
        Add(Referenced::kSecret, from["secretKeyRef"]["name"].AsString());
        Add(Referenced::kConfigMap, from["configMapKeyRef"]["name"].AsString());
      }
    }
  }

  void AddVolume(const Value& volume, std::string_view pod_name) {
    Add(Referenced::kSecret, volume["secret"]["secretName"].AsString());
    Add(Referenced::kConfigMap, volume["configMap"]["name"].AsString());
    for (const auto& source : volume["projected"]["sources"].items()) {
      Add(Referenced::kSecret, source["secret"]["name"].AsString());
      Add(Referenced::kConfigMap, source["configMap"]["name"].AsString());
    }
    Add(Referenced::kSecret, volume["azureFile"]["secretName"].AsString());
    for (auto source : kSecretSources) {
      Add(Referenced::kSecret, volume[source]["secretRef"]["name"].AsString());
    }
    Add(Referenced::kSecret, volume["csi"]["nodePublishSecretRef"]["name"].AsString());
    if (volume["ephemeral"].is_object()) {
      Add(Referenced::kPersistentVolumeClaim,
          std::string(pod_name) + "-" + std::string(volume["name"].AsString()));
    }
    Add(Referenced::kPersistentVolumeClaim,
        volume["persistentVolumeClaim"]["claimName"].AsString());
  }

  // A claim is named by the pod, or made for it from a template and then named by its status.
  void AddResourceClaims(const Value& pod) {
    for (const auto& claim : pod["spec"]["resourceClaims"].items()) {
      Add(Referenced::kResourceClaim, claim["resourceClaimName"].AsString());
      if (claim["resourceClaimTemplateName"].AsString().empty()) continue;
      for (const auto& status : pod["status"]["resourceClaimStatuses"].items()) {
        if (status["name"].AsString() == claim["name"].AsString()) {
          Add(Referenced::kResourceClaim, status["resourceClaimName"].AsString());
        }
      }
    }
    Add(Referenced::kResourceClaim,
        pod["status"]["extendedResourceClaimStatus"]["resourceClaimName"].AsString());
  }

  PodReferences Finish() && { return std::move(found_); }

 private:
  PodReferences found_;
};

}  // namespace

PodReferences ReferencesOf(const Value& pod) {
  const auto metadata = pod["metadata"];
  if (metadata["annotations"].Find(kMirrorAnnotation) != nullptr) return {};
  const auto spec = pod["spec"];
  Collector collector;
  collector.Add(Referenced::kServiceAccount, spec["serviceAccountName"].AsString());
  for (const auto& secret : spec["imagePullSecrets"].items()) {
    collector.Add(Referenced::kSecret, secret["name"].AsString());
  }
  for (auto list : {"containers", "initContainers", "ephemeralContainers"}) {
    collector.AddContainers(spec[list]);
  }
  for (const auto& volume : spec["volumes"].items()) {
    collector.AddVolume(volume, metadata["name"].AsString());
  }
  collector.AddResourceClaims(pod);
  return std::move(collector).Finish();
}

std::vector<std::pair<std::string, std::string>> SecretsOfVolume(const Value& volume) {
  const auto spec = volume["spec"];
  const auto claim_ns = spec["claimRef"]["namespace"].AsString();
  std::vector<std::pair<std::string, std::string>> secrets;
  const auto add = [&](std::string_view ns, std::string_view name) {
    if (!name.empty()) secrets.emplace_back(ns.empty() ? claim_ns : ns, name);
  };
  const auto azure = spec["azureFile"];
  add(azure["secretNamespace"].AsString(), azure["secretName"].AsString());
  for (auto source : kSecretSources) {
    const auto reference = spec[source]["secretRef"];
    add(reference["namespace"].AsString(), reference["name"].AsString());
  }
  for (auto use : {"nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"}) {
    const auto reference = spec["csi"][use];
    add(reference["namespace"].AsString(), reference["name"].AsString());
  }
  return secrets;
}

}  // namespace keelson::kube::access
