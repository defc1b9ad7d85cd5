// Defaults of cluster kinds that depend on other fields or that OpenAPI does not publish.

#include <chrono>

#include "api/admissionregistration_v1.h"
#include "api/apiregistration_v1.h"
#include "api/flowcontrol_v1.h"
#include "api/networking_v1.h"
#include "api/resource_v1.h"
#include "api/scheduling_v1.h"
#include "api/storage_v1.h"
#include "kube/cluster/cluster.h"
#include "value/document.h"
#include "value/timestamp.h"

namespace keelson::kube::cluster {
namespace {

using namespace keelson::api;  // NOLINT: the generated views, one namespace per group-version
using schema::FieldDefault;
using schema::StructEditor;
using value::Value;

constexpr Value Text(std::string_view text) { return Value::String(text, /*plain=*/true); }

// --- networking ----------------------------------------------------------------------------------

constexpr FieldDefault kNetworkPolicyPort[] = {
    {&networking_v1::NetworkPolicyPort::Names::protocol, Text("TCP")},
};
constexpr FieldDefault kIngressClassParameters[] = {
    {&networking_v1::IngressClassParametersReference::Names::scope, Text("Cluster")},
};

constexpr Value kPolicyTypes[] = {Text("Ingress"), Text("Egress")};

// A policy concerns what comes in, and what goes out as well if it says something about that.
void DefaultNetworkPolicySpec(StructEditor& spec) {
  using Names = networking_v1::NetworkPolicySpec::Names;
  const size_t count = spec.IsUnset(Names::egress) ? 1 : 2;
  spec.SetDefault(Names::policyTypes,
                  Value::List(std::span<const Value>(kPolicyTypes).first(count)));
}

// --- storage, scheduling -------------------------------------------------------------------------

constexpr FieldDefault kStorageClass[] = {
    {&storage_v1::StorageClass::Names::reclaimPolicy, Text("Delete")},
    {&storage_v1::StorageClass::Names::volumeBindingMode, Text("Immediate")},
};
constexpr Value kPersistent[] = {Text("Persistent")};
constexpr FieldDefault kCsiDriverSpec[] = {
    {&storage_v1::CSIDriverSpec::Names::attachRequired, Value::Bool(true)},
    {&storage_v1::CSIDriverSpec::Names::podInfoOnMount, Value::Bool(false)},
    {&storage_v1::CSIDriverSpec::Names::storageCapacity, Value::Bool(false)},
    {&storage_v1::CSIDriverSpec::Names::fsGroupPolicy, Text("ReadWriteOnceWithFSType")},
    {&storage_v1::CSIDriverSpec::Names::volumeLifecycleModes, Value::List(kPersistent)},
    {&storage_v1::CSIDriverSpec::Names::requiresRepublish, Value::Bool(false)},
    {&storage_v1::CSIDriverSpec::Names::seLinuxMount, Value::Bool(false)},
};
constexpr FieldDefault kPriorityClass[] = {
    {&scheduling_v1::PriorityClass::Names::preemptionPolicy, Text("PreemptLowerPriority")},
};

// --- flow control --------------------------------------------------------------------------------

constexpr FieldDefault kFlowSchemaSpec[] = {
    {&flowcontrol_v1::FlowSchemaSpec::Names::matchingPrecedence, Value::Int(1000)},
};
constexpr FieldDefault kExemptLevel[] = {
    {&flowcontrol_v1::ExemptPriorityLevelConfiguration::Names::nominalConcurrencyShares,
     Value::Int(0)},
    {&flowcontrol_v1::ExemptPriorityLevelConfiguration::Names::lendablePercent, Value::Int(0)},
};
constexpr FieldDefault kLimitedLevel[] = {
    {&flowcontrol_v1::LimitedPriorityLevelConfiguration::Names::nominalConcurrencyShares,
     Value::Int(30)},
    {&flowcontrol_v1::LimitedPriorityLevelConfiguration::Names::lendablePercent, Value::Int(0)},
};
constexpr FieldDefault kQueuing[] = {
    {&flowcontrol_v1::QueuingConfiguration::Names::handSize, Value::Int(8)},
    {&flowcontrol_v1::QueuingConfiguration::Names::queues, Value::Int(64)},
    {&flowcontrol_v1::QueuingConfiguration::Names::queueLengthLimit, Value::Int(50)},
};

// --- admission registration ----------------------------------------------------------------------

template <typename Names>
constexpr FieldDefault kWebhook[] = {
    {&Names::failurePolicy, Text("Fail")},
    {&Names::matchPolicy, Text("Equivalent")},
    {&Names::namespaceSelector, Value::EmptyObject()},
    {&Names::objectSelector, Value::EmptyObject()},
    {&Names::timeoutSeconds, Value::Int(10)},
};
constexpr FieldDefault kMutatingWebhook[] = {
    {&admissionregistration_v1::MutatingWebhook::Names::reinvocationPolicy, Text("Never")},
};
template <typename Names>
constexpr FieldDefault kRuleScope[] = {{&Names::scope, Text("*")}};
template <typename Names>
constexpr FieldDefault kServicePort[] = {{&Names::port, Value::Int(443)}};
template <typename Names>
constexpr FieldDefault kPolicySpec[] = {{&Names::failurePolicy, Text("Fail")}};
constexpr FieldDefault kMatchResources[] = {
    {&admissionregistration_v1::MatchResources::Names::matchPolicy, Text("Equivalent")},
    {&admissionregistration_v1::MatchResources::Names::namespaceSelector, Value::EmptyObject()},
    {&admissionregistration_v1::MatchResources::Names::objectSelector, Value::EmptyObject()},
};

// --- devices -------------------------------------------------------------------------------------

template <typename Names>
void DefaultDeviceRequest(StructEditor& request) {
  request.SetDefault(Names::allocationMode, Text("ExactCount"));
  if (request.Get(Names::allocationMode).AsString() == "ExactCount") {
    request.SetDefault(Names::count, Value::Int(1));
  }
}

void DefaultDeviceTaint(StructEditor& taint) {
  using Names = resource_v1::DeviceTaint::Names;
  if (!taint.IsUnset(Names::timeAdded)) return;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  taint.Set(Names::timeAdded,
            taint.String(value::FormatTime({.seconds = now.time_since_epoch().count()})));
}

}  // namespace

std::span<const schema::DefaultHook> Defaults() {
  using namespace admissionregistration_v1;  // NOLINT
  using schema::FillDefaults;
  static const schema::DefaultHook kHooks[] = {
      {&networking_v1::NetworkPolicyPort::Schema(), FillDefaults<kNetworkPolicyPort>},
      {&networking_v1::NetworkPolicySpec::Schema(), DefaultNetworkPolicySpec},
      {&networking_v1::IngressClassParametersReference::Schema(),
       FillDefaults<kIngressClassParameters>},
      {&storage_v1::StorageClass::Schema(), FillDefaults<kStorageClass>},
      {&storage_v1::CSIDriverSpec::Schema(), FillDefaults<kCsiDriverSpec>},
      {&scheduling_v1::PriorityClass::Schema(), FillDefaults<kPriorityClass>},
      {&flowcontrol_v1::FlowSchemaSpec::Schema(), FillDefaults<kFlowSchemaSpec>},
      {&flowcontrol_v1::ExemptPriorityLevelConfiguration::Schema(), FillDefaults<kExemptLevel>},
      {&flowcontrol_v1::LimitedPriorityLevelConfiguration::Schema(), FillDefaults<kLimitedLevel>},
      {&flowcontrol_v1::QueuingConfiguration::Schema(), FillDefaults<kQueuing>},
      {&ValidatingWebhook::Schema(), FillDefaults<kWebhook<ValidatingWebhook::Names>>},
      {&MutatingWebhook::Schema(), FillDefaults<kWebhook<MutatingWebhook::Names>>},
      {&MutatingWebhook::Schema(), FillDefaults<kMutatingWebhook>},
      {&RuleWithOperations::Schema(), FillDefaults<kRuleScope<RuleWithOperations::Names>>},
      {&NamedRuleWithOperations::Schema(),
       FillDefaults<kRuleScope<NamedRuleWithOperations::Names>>},
      {&admissionregistration_v1::ServiceReference::Schema(),
       FillDefaults<kServicePort<admissionregistration_v1::ServiceReference::Names>>},
      {&apiregistration_v1::ServiceReference::Schema(),
       FillDefaults<kServicePort<apiregistration_v1::ServiceReference::Names>>},
      {&ValidatingAdmissionPolicySpec::Schema(),
       FillDefaults<kPolicySpec<ValidatingAdmissionPolicySpec::Names>>},
      {&MutatingAdmissionPolicySpec::Schema(),
       FillDefaults<kPolicySpec<MutatingAdmissionPolicySpec::Names>>},
      {&MatchResources::Schema(), FillDefaults<kMatchResources>},
      {&resource_v1::ExactDeviceRequest::Schema(),
       DefaultDeviceRequest<resource_v1::ExactDeviceRequest::Names>},
      {&resource_v1::DeviceSubRequest::Schema(),
       DefaultDeviceRequest<resource_v1::DeviceSubRequest::Names>},
      {&resource_v1::DeviceTaint::Schema(), DefaultDeviceTaint},
  };
  return kHooks;
}

}  // namespace keelson::kube::cluster
