#pragma once

// What is known about each kind, one object per kind. Internal; cluster.h is the way in.

#include "rest/kind_rules.h"

namespace keelson::kube::cluster {

using Rules = const rest::RuleStrategy;

extern Rules kIngress;
extern Rules kIngressClass;
extern Rules kNetworkPolicy;
extern Rules kIpAddress;
extern Rules kServiceCidr;

extern Rules kStorageClass;
extern Rules kVolumeAttachment;
extern Rules kVolumeAttributesClass;
extern Rules kCsiDriver;
extern Rules kCsiNode;
extern Rules kCsiStorageCapacity;

extern Rules kPriorityClass;
extern Rules kRuntimeClass;

extern Rules kFlowSchema;
extern Rules kPriorityLevel;

extern Rules kWebhookConfiguration;
extern Rules kValidatingPolicy;
extern Rules kMutatingPolicy;
extern Rules kValidatingPolicyBinding;
extern Rules kMutatingPolicyBinding;

extern Rules kDeviceClass;
extern Rules kResourceClaim;
extern Rules kResourceClaimTemplate;
extern Rules kResourceSlice;

extern Rules kApiService;

extern Rules kSigningRequest;
extern Rules kSigningRequestApproval;

}  // namespace keelson::kube::cluster
