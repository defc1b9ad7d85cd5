#include "kube/metadata_checks.h"

#include <string_view>

namespace keelson::kube {
namespace {

struct Entry {
  std::string_view group;
  std::string_view resource;
  rest::MetadataChecks checks;
};

// Kinds whose validator of changes also calls the one for new objects, or only that. All others
// check the change once.
constexpr Entry kEntries[] = {
    {"", "configmaps", {1, 1}},
    {"", "endpoints", {1, 1}},
    {"", "limitranges", {1, 0}},
    {"", "namespaces", {1, 1}},
    {"", "nodes", {2, 1}},
    {"", "persistentvolumeclaims", {1, 1}},
    {"", "persistentvolumes", {3, 0}},
    {"", "pods", {1, 1}},
    {"", "secrets", {1, 1}},
    {"", "serviceaccounts", {1, 1}},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies", {1, 0}},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings", {1, 0}},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", {1, 0}},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies", {1, 0}},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings", {1, 0}},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations", {1, 0}},
    {"apps", "controllerrevisions", {1, 1}},
    {"apps", "statefulsets", {1, 1}},
    {"batch", "cronjobs", {0, 0}},
    {"batch", "jobs", {1, 1}},
    {"certificates.k8s.io", "certificatesigningrequests", {1, 1}},
    {"discovery.k8s.io", "endpointslices", {1, 0}},
    {"flowcontrol.apiserver.k8s.io", "flowschemas", {1, 0}},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", {1, 0}},
    {"networking.k8s.io", "ingressclasses", {1, 1}},
    {"networking.k8s.io", "ingresses", {1, 1}},
    {"networking.k8s.io", "ipaddresses", {1, 1}},
    {"node.k8s.io", "runtimeclasses", {1, 1}},
    {"policy", "poddisruptionbudgets", {0, 0}},
    {"rbac.authorization.k8s.io", "clusterrolebindings", {1, 1}},
    {"rbac.authorization.k8s.io", "clusterroles", {1, 1}},
    {"rbac.authorization.k8s.io", "rolebindings", {1, 1}},
    {"rbac.authorization.k8s.io", "roles", {1, 1}},
    {"resource.k8s.io", "resourceclaims", {1, 1}},
    {"resource.k8s.io", "resourceclaimtemplates", {1, 1}},
    {"storage.k8s.io", "csinodes", {1, 0}},
    {"storage.k8s.io", "csistoragecapacities", {1, 1}},
    {"storage.k8s.io", "storageclasses", {1, 1}},
    {"storage.k8s.io", "volumeattachments", {1, 0}},
    {"storage.k8s.io", "volumeattributesclasses", {1, 1}},
};

}  // namespace

rest::MetadataChecks MetadataChecksOf(const schema::ResourceInfo& info) {
  for (const auto& entry : kEntries) {
    if (entry.group == info.group && entry.resource == info.plural) return entry.checks;
  }
  return {};
}

}  // namespace keelson::kube
