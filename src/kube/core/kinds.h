#pragma once

// The kinds of this folder, one source file each; internal. strategies.h is the way in.
//
// A kind is a set of facts and plain functions (rest/kind_rules.h); what they share is below.
// Validators append what is wrong in upstream's words and order and take nothing from the heap for
// a valid object. (Where upstream walks a Go map, whose order is random, keys come sorted.)

#include <string_view>

#include "api/core_v1.h"
#include "base/names.h"
#include "rest/field_checks.h"
#include "rest/kind_rules.h"
#include "schema/field_error.h"
#include "schema/struct_editor.h"
#include "value/document.h"
#include "value/path.h"
#include "value/quantity.h"
#include "value/value.h"

namespace keelson::kube::core {

namespace v1 = api::core_v1;

using rest::KindRules;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Immutable;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Ref;
using value::Value;

extern const KindRules kConfigMapRules;
extern const KindRules kSecretRules;
extern const KindRules kServiceAccountRules;
extern const KindRules kLeaseRules;
extern const KindRules kLimitRangeRules;
extern const KindRules kResourceQuotaRules;
extern const KindRules kNodeRules;
extern const KindRules kPersistentVolumeRules;
extern const KindRules kPersistentVolumeClaimRules;
extern const KindRules kReplicationControllerRules;
extern const KindRules kPodTemplateRules;

// Conditional defaults.
void DefaultNamespace(schema::StructEditor& object);
void DefaultNamespaceStatus(schema::StructEditor& status);
void DefaultSecret(schema::StructEditor& secret);
void DefaultPersistentVolume(schema::StructEditor& object);
void DefaultPersistentVolumeClaim(schema::StructEditor& object);
void DefaultPersistentVolumeClaimSpec(schema::StructEditor& spec);
void DefaultNodeSpec(schema::StructEditor& spec);
void DefaultNodeStatus(schema::StructEditor& status);
void DefaultLimitRangeItem(schema::StructEditor& item);
void DefaultReplicationController(schema::StructEditor& object);

// The most that the data of a ConfigMap or a Secret may hold together.
inline constexpr int64_t kMaxDataBytes = int64_t{1} << 20;
// The bytes that padded base64 stands for.
int64_t DecodedSize(std::string_view base64);
// A finalizer of a namespace: one the server knows, or a qualified name.
void CheckKubeFinalizer(std::string_view name, const Path& path, FieldErrors& errors);
// A node's name, as other objects refer to it.
inline names::Complaints CheckNodeName(std::string_view name) {
  return names::NameIsDnsSubdomain(name, /*prefix=*/false);
}

}  // namespace keelson::kube::core
