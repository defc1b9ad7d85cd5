// The roles and bindings every cluster starts with, in the form that bootstrap_policy.h describes.

#include "kube/access/bootstrap_policy.h"

namespace keelson::kube::access {

// For each controller one account in kube-system, with exactly what it needs.
const std::string_view kControllerPolicy = R"(
controller attachdetach-controller
  list,watch core persistentvolumeclaims,persistentvolumes
  read core nodes
  patch,update core nodes/status
  list,watch core pods
  events
  read,create,delete storage.k8s.io volumeattachments
  read storage.k8s.io csidrivers
  read storage.k8s.io csinodes
controller certificate-controller
  read,delete certificates.k8s.io certificatesigningrequests
  update certificates.k8s.io certificatesigningrequests/approval,
      certificatesigningrequests/status
  approve certificates.k8s.io signers named kubernetes.io/kube-apiserver-client-kubelet
  sign certificates.k8s.io signers named kubernetes.io/kube-apiserver-client,
      kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,
      kubernetes.io/legacy-unknown
  create authorization.k8s.io subjectaccessreviews
  events
controller clusterrole-aggregation-controller
  read,escalate,patch,update rbac.authorization.k8s.io clusterroles
controller cronjob-controller
  read,update batch cronjobs
  read,create,delete,patch,update batch jobs
  update batch cronjobs/status
  update batch cronjobs/finalizers
  delete,list,watch core pods
  events
controller daemon-set-controller
  read apps,extensions daemonsets
  update apps,extensions daemonsets/status
  update apps,extensions daemonsets/finalizers
  list,watch core nodes
  create,delete,list,patch,watch core pods
  create core pods/binding
  read,create,delete,patch,update apps controllerrevisions
  events
controller deployment-controller
  read,update apps,extensions deployments
  update apps,extensions deployments/status
  update apps,extensions deployments/finalizers
  read,create,delete,patch,update apps,extensions replicasets
  read,update core pods
  events
controller device-taint-eviction-controller
  read,delete core pods
  patch,update core pods/status
  read resource.k8s.io resourceclaims
  read resource.k8s.io resourceslices
  read resource.k8s.io deviceclasses
  events
controller disruption-controller
  read apps,extensions deployments
  read apps,extensions replicasets
  read core replicationcontrollers
  read policy poddisruptionbudgets
  read apps statefulsets
  update policy poddisruptionbudgets/status
  patch,update core pods/status
  get * */scale
  events
controller endpoint-controller
  read core pods,services
  read,create,delete,update core endpoints
  create core endpoints/restricted
  events
controller endpointslice-controller
  read core nodes,pods,services
  update core services/finalizers
  read,create,delete,update discovery.k8s.io endpointslices
  events
controller endpointslicemirroring-controller
  read core endpoints,services
  update core services/finalizers
  update core endpoints/finalizers
  read,create,delete,update discovery.k8s.io endpointslices
  events
controller ephemeral-volume-controller
  read core pods
  update core pods/finalizers
  read,create core persistentvolumeclaims
  events
controller expand-controller
  read,patch,update core persistentvolumes
  patch,update core persistentvolumeclaims/status
  read core persistentvolumeclaims
  events
controller generic-garbage-collector
  read,delete,patch,update * *
  events
controller horizontal-pod-autoscaler
  read autoscaling horizontalpodautoscalers
  update autoscaling horizontalpodautoscalers/status
  get,update * */scale
  list,watch core pods
  list,watch metrics.k8s.io pods
  read custom.metrics.k8s.io *
  read external.metrics.k8s.io *
  events
controller job-controller
  read,patch,update batch jobs
  update batch jobs/status
  update batch jobs/finalizers
  create,delete,list,patch,watch core pods
  events
controller legacy-service-account-token-cleaner
  get core configmaps named kube-apiserver-legacy-service-account-token-tracking
  delete,patch core secrets
controller namespace-controller
  read,delete core namespaces
  update core namespaces/finalize,namespaces/status
  read,delete,deletecollection * *
controller node-controller
  read,delete,patch,update core nodes
  patch,update core nodes/status
  patch,update core pods/status
  read,delete core pods
  events
controller persistent-volume-binder
  read,create,delete,update core persistentvolumes
  update core persistentvolumes/status
  read,update core persistentvolumeclaims
  update core persistentvolumeclaims/status
  read,create,delete core pods
  read storage.k8s.io storageclasses
  list,watch core nodes
  events
  watch core events
controller pod-garbage-collector
  delete,list,watch core pods
  read core nodes
  patch core pods/status
controller pv-protection-controller
  read,update core persistentvolumes
  events
controller pvc-protection-controller
  read,update core persistentvolumeclaims
  update core persistentvolumeclaims/status
  read core pods
  events
controller replicaset-controller
  read,update apps,extensions replicasets
  update apps,extensions replicasets/status
  update apps,extensions replicasets/finalizers
  create,delete,list,patch,watch core pods
  events
controller replication-controller
  read,update core replicationcontrollers
  update core replicationcontrollers/status
  update core replicationcontrollers/finalizers
  create,delete,list,patch,watch core pods
  events
controller resource-claim-controller
  read core pods
  update core pods/finalizers
  read,create,delete resource.k8s.io resourceclaims
  patch,update resource.k8s.io resourceclaims,resourceclaims/status
  patch,update core pods/status
  events
  patch,update resource.k8s.io resourceclaims/binding
controller resourcequota-controller
  list,watch * *
  update core resourcequotas/status
  events
controller root-ca-cert-publisher
  create,update core configmaps
  events
controller route-controller
  list,watch core nodes
  patch core nodes/status
  events
controller selinux-warning-controller
  events
  read core persistentvolumes
  read core persistentvolumeclaims
  read core pods
  read storage.k8s.io csidrivers
controller service-account-controller
  create core serviceaccounts
  events
controller service-cidrs-controller
  read,patch,update networking.k8s.io servicecidrs
  patch,update networking.k8s.io servicecidrs/finalizers
  patch,update networking.k8s.io servicecidrs/status
  read networking.k8s.io ipaddresses
  events
controller service-controller
  read core services
  patch,update core services/status
  list,watch core nodes
  events
controller statefulset-controller
  list,watch core pods
  read apps statefulsets
  update apps statefulsets/status
  update apps statefulsets/finalizers
  create,delete,get,patch,update core pods
  read,create,delete,patch,update apps controllerrevisions
  read,create core persistentvolumeclaims
  delete,update core persistentvolumeclaims
  update core pods/finalizers
  events
controller ttl-after-finished-controller
  read,delete batch jobs
  events
controller ttl-controller
  list,patch,update,watch core nodes
  events
controller validatingadmissionpolicy-status-controller
  read admissionregistration.k8s.io validatingadmissionpolicies
  get,patch,update admissionregistration.k8s.io validatingadmissionpolicies/status
  events
controller volumeattributesclass-protection-controller
  read core persistentvolumeclaims
  read core persistentvolumes
  read,update storage.k8s.io volumeattributesclasses
  events
)";

}  // namespace keelson::kube::access
