// The roles and bindings every cluster starts with, in the form that bootstrap_policy.h describes.

#include "kube/access/bootstrap_policy.h"

namespace keelson::kube::access {

// For people and for the components that are no controllers.
const std::string_view kUserPolicy = R"(
clusterrole admin sum-of admin
clusterrole cluster-admin
  * * *
  * url *
clusterrole edit part-of admin sum-of edit
clusterrole system:aggregate-to-admin part-of admin
  create authorization.k8s.io localsubjectaccessreviews
  read,write rbac.authorization.k8s.io rolebindings,roles
clusterrole system:aggregate-to-edit part-of edit
  read core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
  impersonate core serviceaccounts
  write core pods,pods/attach,pods/exec,pods/portforward,pods/proxy
  create core pods/eviction
  write core configmaps,persistentvolumeclaims,replicationcontrollers,
      replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy
  create core serviceaccounts/token
  write core,events.k8s.io events
  write apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,
      replicasets/scale,statefulsets,statefulsets/scale
  write autoscaling horizontalpodautoscalers
  write batch cronjobs,jobs
  write extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,
      networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale
  write policy poddisruptionbudgets
  write networking.k8s.io ingresses,networkpolicies
  read,write coordination.k8s.io leases
  write resource.k8s.io resourceclaims,resourceclaimtemplates
clusterrole system:aggregate-to-view part-of view
  read core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,
      replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,
      services/status
  read core bindings,limitranges,namespaces/status,pods/log,pods/status,
      replicationcontrollers/status,resourcequotas,resourcequotas/status
  read core namespaces
  read core,events.k8s.io events
  read discovery.k8s.io endpointslices
  read apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,
      deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,
      statefulsets/scale,statefulsets/status
  read autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status
  read batch cronjobs,cronjobs/status,jobs,jobs/status
  read extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,
      ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,
      replicasets/status,replicationcontrollers/scale
  read policy poddisruptionbudgets,poddisruptionbudgets/status
  read networking.k8s.io ingresses,ingresses/status,networkpolicies
  read resource.k8s.io resourceclaims,resourceclaims/status,resourceclaimtemplates
clusterrole system:auth-delegator
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
clusterrole system:basic-user
  create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews
  create authentication.k8s.io selfsubjectreviews
clusterrole system:certificates.k8s.io:certificatesigningrequests:nodeclient
  create certificates.k8s.io certificatesigningrequests/nodeclient
clusterrole system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
  create certificates.k8s.io certificatesigningrequests/selfnodeclient
clusterrole system:certificates.k8s.io:kube-apiserver-client-approver
  approve certificates.k8s.io signers named kubernetes.io/kube-apiserver-client
clusterrole system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
  approve certificates.k8s.io signers named kubernetes.io/kube-apiserver-client-kubelet
clusterrole system:certificates.k8s.io:kubelet-serving-approver
  approve certificates.k8s.io signers named kubernetes.io/kubelet-serving
clusterrole system:certificates.k8s.io:legacy-unknown-approver
  approve certificates.k8s.io signers named kubernetes.io/legacy-unknown
clusterrole system:discovery
  get url /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,
      /version/
clusterrole system:heapster
  read core events,namespaces,nodes,pods
  read extensions deployments
clusterrole system:kube-aggregator
  read core endpoints,services
clusterrole system:kube-controller-manager
  events
  create coordination.k8s.io leases
  get,update coordination.k8s.io leases named kube-controller-manager
  create core secrets,serviceaccounts
  delete core secrets
  get core configmaps,namespaces,secrets,serviceaccounts
  update core secrets,serviceaccounts
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
  list,watch * *
  create core serviceaccounts/token
clusterrole system:kube-dns
  list,watch core endpoints,services
clusterrole system:kube-scheduler
  events
  create coordination.k8s.io leases
  read,update coordination.k8s.io leases named kube-scheduler
  read,write coordination.k8s.io leasecandidates
  read core nodes
  read,delete core pods
  create core bindings,pods/binding
  patch,update core pods/status
  read core replicationcontrollers,services
  read apps,extensions replicasets
  read apps statefulsets
  read policy poddisruptionbudgets
  read core persistentvolumeclaims,persistentvolumes
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
  read storage.k8s.io csinodes
  read storage.k8s.io volumeattachments
  read core namespaces
  read storage.k8s.io csidrivers
  read storage.k8s.io csistoragecapacities
  read resource.k8s.io deviceclasses
  read,patch,update resource.k8s.io resourceclaims
  read,patch,update resource.k8s.io resourceclaims/status
  update core pods/finalizers
  read resource.k8s.io resourceslices
  create,delete resource.k8s.io resourceclaims
  patch,update resource.k8s.io resourceclaims/binding
clusterrole system:kubelet-api-admin
  read core nodes
  proxy core nodes
  * core nodes/log,nodes/metrics,nodes/proxy,nodes/stats
  * core nodes/configz,nodes/healthz,nodes/pods
clusterrole system:monitoring
  get url /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,
      /statusz
  get core nodes/metrics
clusterrole system:node
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io localsubjectaccessreviews,subjectaccessreviews
  read core services
  read,create core nodes
  patch,update core nodes/status
  patch,update core nodes
  events
  read core pods
  create,delete core pods
  patch,update core pods/status
  create core pods/eviction
  read core configmaps,secrets
  get core persistentvolumeclaims,persistentvolumes
  get core endpoints
  read,create certificates.k8s.io certificatesigningrequests
  create,delete,get,patch,update coordination.k8s.io leases
  get storage.k8s.io volumeattachments
  create core serviceaccounts/token
  get,patch,update core persistentvolumeclaims/status
  read storage.k8s.io csidrivers
  create,delete,get,patch,update storage.k8s.io csinodes
  read node.k8s.io runtimeclasses
  get resource.k8s.io resourceclaims
  deletecollection resource.k8s.io resourceslices
  get core serviceaccounts
clusterrole system:node-bootstrapper
  read,create certificates.k8s.io certificatesigningrequests
clusterrole system:node-problem-detector
  get core nodes
  patch core nodes/status
  events
clusterrole system:node-proxier
  list,watch core endpoints,services
  read core nodes
  events
  list,watch networking.k8s.io servicecidrs
  list,watch discovery.k8s.io endpointslices
clusterrole system:persistent-volume-provisioner
  read,create,delete core persistentvolumes
  read,update core persistentvolumeclaims
  read storage.k8s.io storageclasses
  watch core events
  events
clusterrole system:public-info-viewer
  get url /healthz,/livez,/readyz,/version,/version/
clusterrole system:service-account-issuer-discovery
  get url /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,
      /openid/v1/jwks/
clusterrole system:volume-scheduler
  read,patch,update core persistentvolumes
  read storage.k8s.io storageclasses
  read,patch,update core persistentvolumeclaims
clusterrole view part-of edit sum-of view
clusterrolebinding cluster-admin
  group system:masters
clusterrolebinding system:basic-user
  group system:authenticated
clusterrolebinding system:discovery
  group system:authenticated
clusterrolebinding system:kube-controller-manager
  user system:kube-controller-manager
clusterrolebinding system:kube-dns
  account kube-system/kube-dns
clusterrolebinding system:kube-scheduler
  user system:kube-scheduler
clusterrolebinding system:monitoring
  group system:monitoring
clusterrolebinding system:node
clusterrolebinding system:node-proxier
  user system:kube-proxy
clusterrolebinding system:public-info-viewer
  group system:authenticated
  group system:unauthenticated
clusterrolebinding system:service-account-issuer-discovery
  group system:serviceaccounts
clusterrolebinding system:volume-scheduler
  user system:kube-scheduler
role kube-public system:controller:bootstrap-signer
  read core configmaps
  update core configmaps named cluster-info
  events
role kube-system extension-apiserver-authentication-reader
  read core configmaps named extension-apiserver-authentication
role kube-system system::leader-locking-kube-controller-manager
  read,create,update coordination.k8s.io leases
  read,create,update coordination.k8s.io leasecandidates
role kube-system system::leader-locking-kube-scheduler
  read,create,update coordination.k8s.io leases
  read,create,update coordination.k8s.io leasecandidates
role kube-system system:controller:bootstrap-signer
  read core secrets
role kube-system system:controller:cloud-provider
  read,create core configmaps
role kube-system system:controller:token-cleaner
  read,delete core secrets
  events
rolebinding kube-public system:controller:bootstrap-signer
  account kube-system/bootstrap-signer
rolebinding kube-system system::extension-apiserver-authentication-reader to extension-apiserver-authentication-reader
  user system:kube-controller-manager
  user system:kube-scheduler
rolebinding kube-system system::leader-locking-kube-controller-manager
  user system:kube-controller-manager
  account kube-system/kube-controller-manager
  account kube-system/leader-election-controller
rolebinding kube-system system::leader-locking-kube-scheduler
  user system:kube-scheduler
  account kube-system/kube-scheduler
rolebinding kube-system system:controller:bootstrap-signer
  account kube-system/bootstrap-signer
rolebinding kube-system system:controller:cloud-provider
  account kube-system/cloud-provider
rolebinding kube-system system:controller:token-cleaner
  account kube-system/token-cleaner
)";

}  // namespace keelson::kube::access
