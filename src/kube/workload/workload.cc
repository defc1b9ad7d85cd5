#include "kube/workload/workload.h"

#include "kube/workload/kinds.h"

namespace keelson::kube::workload {

std::span<const rest::KindStrategy> Strategies() {
  static const rest::KindStrategy kStrategies[] = {
      {"apps", "controllerrevisions", &kControllerRevision},
      {"apps", "daemonsets", &kDaemonSet},
      {"apps", "deployments", &kDeployment},
      {"apps", "replicasets", &kReplicaSet},
      {"apps", "statefulsets", &kStatefulSet},
      {"autoscaling", "horizontalpodautoscalers", &kHorizontalPodAutoscaler},
      {"batch", "cronjobs", &kCronJob},
      {"batch", "jobs", &kJob},
      {"policy", "poddisruptionbudgets", &kPodDisruptionBudget},
  };
  return kStrategies;
}

}  // namespace keelson::kube::workload
