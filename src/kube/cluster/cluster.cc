#include "kube/cluster/cluster.h"

#include "kube/cluster/kinds.h"

namespace keelson::kube::cluster {

std::span<const rest::KindStrategy> Strategies() {
  static const rest::KindStrategy kStrategies[] = {
      {"admissionregistration.k8s.io", "mutatingadmissionpolicies", &kMutatingPolicy},
      {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings", &kMutatingPolicyBinding},
      {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", &kWebhookConfiguration},
      {"admissionregistration.k8s.io", "validatingadmissionpolicies", &kValidatingPolicy},
      {"admissionregistration.k8s.io", "validatingadmissionpolicybindings",
       &kValidatingPolicyBinding},
      {"admissionregistration.k8s.io", "validatingwebhookconfigurations", &kWebhookConfiguration},
      {"apiregistration.k8s.io", "apiservices", &kApiService},
      {"certificates.k8s.io", "certificatesigningrequests", &kSigningRequest},
      {"flowcontrol.apiserver.k8s.io", "flowschemas", &kFlowSchema},
      {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", &kPriorityLevel},
      {"networking.k8s.io", "ingressclasses", &kIngressClass},
      {"networking.k8s.io", "ingresses", &kIngress},
      {"networking.k8s.io", "ipaddresses", &kIpAddress},
      {"networking.k8s.io", "networkpolicies", &kNetworkPolicy},
      {"networking.k8s.io", "servicecidrs", &kServiceCidr},
      {"node.k8s.io", "runtimeclasses", &kRuntimeClass},
      {"resource.k8s.io", "deviceclasses", &kDeviceClass},
      {"resource.k8s.io", "resourceclaims", &kResourceClaim},
      {"resource.k8s.io", "resourceclaimtemplates", &kResourceClaimTemplate},
      {"resource.k8s.io", "resourceslices", &kResourceSlice},
      {"scheduling.k8s.io", "priorityclasses", &kPriorityClass},
      {"storage.k8s.io", "csidrivers", &kCsiDriver},
      {"storage.k8s.io", "csinodes", &kCsiNode},
      {"storage.k8s.io", "csistoragecapacities", &kCsiStorageCapacity},
      {"storage.k8s.io", "storageclasses", &kStorageClass},
      {"storage.k8s.io", "volumeattachments", &kVolumeAttachment},
      {"storage.k8s.io", "volumeattributesclasses", &kVolumeAttributesClass},
  };
  return kStrategies;
}

std::span<const rest::KindSubresource> Subresources() {
  static const rest::KindSubresource kSubresources[] = {
      {.group = "certificates.k8s.io",
       .resource = "certificatesigningrequests",
       .subresource = "approval",
       .strategy = &kSigningRequestApproval},
  };
  return kSubresources;
}

}  // namespace keelson::kube::cluster
