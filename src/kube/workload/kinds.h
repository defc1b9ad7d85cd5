#pragma once

// What is known about each kind, one object per kind. Internal; workload.h is the way in.

#include "rest/kind_rules.h"

namespace keelson::kube::workload {

extern const rest::RuleStrategy kDeployment;
extern const rest::RuleStrategy kReplicaSet;
extern const rest::RuleStrategy kStatefulSet;
extern const rest::RuleStrategy kDaemonSet;
extern const rest::RuleStrategy kControllerRevision;
extern const rest::RuleStrategy kJob;
extern const rest::RuleStrategy kCronJob;
extern const rest::RuleStrategy kHorizontalPodAutoscaler;
extern const rest::RuleStrategy kPodDisruptionBudget;

}  // namespace keelson::kube::workload
