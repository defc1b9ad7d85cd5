#include "kube/core/strategies.h"

#include "kube/core/event.h"
#include "kube/core/kinds.h"
#include "kube/core/namespace.h"
#include "rest/kind_rules.h"

namespace keelson::kube::core {
namespace {

constexpr std::string_view kCore;

}  // namespace

struct Kinds::State {
  explicit State(const Options& options)
      : core_event(EventStrategy::Rules::kCoreV1, options.event_time_to_live),
        event(EventStrategy::Rules::kEventsV1, options.event_time_to_live) {}

  NamespaceStrategy name_space;
  NamespaceFinalizeStrategy finalize;
  EventStrategy core_event;
  EventStrategy event;
  rest::RuleStrategy config_map{kConfigMapRules};
  rest::RuleStrategy secret{kSecretRules};
  rest::RuleStrategy service_account{kServiceAccountRules};
  rest::RuleStrategy lease{kLeaseRules};
  rest::RuleStrategy limit_range{kLimitRangeRules};
  rest::RuleStrategy resource_quota{kResourceQuotaRules};
  rest::RuleStrategy node{kNodeRules};
  rest::RuleStrategy volume{kPersistentVolumeRules};
  rest::RuleStrategy claim{kPersistentVolumeClaimRules};
  rest::RuleStrategy controller{kReplicationControllerRules};
  rest::RuleStrategy pod_template{kPodTemplateRules};
};

Kinds::Kinds(const Options& options) : state_(std::make_unique<State>(options)) {}
Kinds::~Kinds() = default;

void Kinds::AddTo(rest::KindTable& table) const {
  const State& kinds = *state_;
  const rest::KindStrategy strategies[] = {
      {kCore, "namespaces", &kinds.name_space},
      {kCore, "events", &kinds.core_event},
      {"events.k8s.io", "events", &kinds.event},
      {kCore, "configmaps", &kinds.config_map},
      {kCore, "secrets", &kinds.secret},
      {kCore, "serviceaccounts", &kinds.service_account},
      {"coordination.k8s.io", "leases", &kinds.lease},
      {kCore, "limitranges", &kinds.limit_range},
      {kCore, "resourcequotas", &kinds.resource_quota},
      {kCore, "nodes", &kinds.node},
      {kCore, "persistentvolumes", &kinds.volume},
      {kCore, "persistentvolumeclaims", &kinds.claim},
      {kCore, "replicationcontrollers", &kinds.controller},
      {kCore, "podtemplates", &kinds.pod_template},
  };
  const rest::KindSubresource subresources[] = {
      {.group = kCore,
       .resource = "namespaces",
       .subresource = "finalize",
       .strategy = &kinds.finalize},
  };
  table.Add(strategies);
  table.Add(subresources);
  table.Add(Defaults());
}

std::span<const schema::DefaultHook> Defaults() {
  static const schema::DefaultHook kHooks[] = {
      {&v1::Namespace::Schema(), DefaultNamespace},
      {&v1::NamespaceStatus::Schema(), DefaultNamespaceStatus},
      {&v1::Secret::Schema(), DefaultSecret},
      {&v1::PersistentVolume::Schema(), DefaultPersistentVolume},
      {&v1::PersistentVolumeClaim::Schema(), DefaultPersistentVolumeClaim},
      {&v1::PersistentVolumeClaimSpec::Schema(), DefaultPersistentVolumeClaimSpec},
      {&v1::NodeSpec::Schema(), DefaultNodeSpec},
      {&v1::NodeStatus::Schema(), DefaultNodeStatus},
      {&v1::LimitRangeItem::Schema(), DefaultLimitRangeItem},
      {&v1::ReplicationController::Schema(), DefaultReplicationController},
  };
  return kHooks;
}

}  // namespace keelson::kube::core
