#pragma once

// What the parts of this folder ask of a service; internal. service.h is the way in.

#include <string_view>

#include "api/core_v1.h"
#include "base/names.h"
#include "rest/field_checks.h"
#include "rest/strategy.h"
#include "schema/field_error.h"
#include "schema/struct_editor.h"
#include "value/document.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::kube::service {

namespace v1 = api::core_v1;

using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Immutable;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Ref;
using value::Value;

inline constexpr std::string_view kNone = "None";
inline constexpr std::string_view kIPv4 = "IPv4";
inline constexpr std::string_view kIPv6 = "IPv6";
inline constexpr std::string_view kSingleStack = "SingleStack";
inline constexpr std::string_view kPreferDualStack = "PreferDualStack";
inline constexpr std::string_view kRequireDualStack = "RequireDualStack";
inline constexpr std::string_view kPortProtocols[] = {"SCTP", "TCP", "UDP"};

inline bool IsExternalName(const v1::ServiceSpec& spec) { return spec.type() == "ExternalName"; }
inline bool IsLoadBalancer(const v1::ServiceSpec& spec) { return spec.type() == "LoadBalancer"; }
// Of a type that has ports on the nodes.
inline bool UsesNodePorts(const v1::ServiceSpec& spec) {
  return spec.type() == "NodePort" || IsLoadBalancer(spec);
}
inline bool IsHeadless(const v1::ServiceSpec& spec) {
  return spec.clusterIPs().size() == 1 && spec.clusterIPs()[0] == kNone;
}
inline bool IsExternallyAccessible(const v1::ServiceSpec& spec) {
  return UsesNodePorts(spec) || (spec.type() == "ClusterIP" && !spec.externalIPs().empty());
}
// Of a type that has a port for health checks on the nodes.
inline bool NeedsHealthCheck(const v1::ServiceSpec& spec) {
  return IsLoadBalancer(spec) && spec.externalTrafficPolicy() == "Local";
}
inline bool SameClusterIps(const v1::ServiceSpec& a, const v1::ServiceSpec& b) {
  return a.clusterIP() == b.clusterIP() && a.clusterIPs().value() == b.clusterIPs().value();
}
inline bool SameFamilies(const v1::ServiceSpec& a, const v1::ServiceSpec& b) {
  return a.ipFamilies().value() == b.ipFamilies().value();
}
inline std::string_view OtherFamily(std::string_view family) {
  return family == kIPv4 ? kIPv6 : kIPv4;
}

// clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy make sense together. `old` is null on
// create.
void CheckClusterIps(const v1::ServiceSpec& spec, const v1::ServiceSpec* old, FieldErrors& errors);
// They change only in the ways they may.
void CheckClusterIpsUpdate(const v1::ServiceSpec& spec, const v1::ServiceSpec& old,
                           FieldErrors& errors);

void ValidateService(const Value& service, FieldErrors& errors);
void ValidateServiceUpdate(const Value& service, const Value& old, FieldErrors& errors);
void ValidateServiceStatus(const Value& service, const Value& old, FieldErrors& errors);

// Conditional defaults.
void DefaultService(schema::StructEditor& service);
void DefaultEndpointsPort(schema::StructEditor& port);
void DefaultEndpointSlicePort(schema::StructEditor& port);

}  // namespace keelson::kube::service
