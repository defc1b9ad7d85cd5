#pragma once

// The rules for metadata that hold for every kind, built-in or custom.
//
// Works on plain values, so that typed and untyped objects meet the same code. Texts are
// upstream's.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/names.h"
#include "base/status.h"
#include "schema/field_error.h"
#include "value/document.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::rest {

inline constexpr int64_t kMaxAnnotationBytes = 256 * 1024;
inline constexpr std::string_view kFinalizerOrphan = "orphan";
inline constexpr std::string_view kFinalizerKubernetes = "kubernetes";
inline constexpr std::string_view kFinalizerForeground = "foregroundDeletion";

// What a complete new object's metadata must satisfy.
struct MetaRules {
  bool namespaced = true;
  names::NameCheck name_check = names::NameIsDnsSubdomain;
  // Finalizers must be well known or qualified by a domain, as those of built-in kinds.
  bool qualified_finalizers = false;
};
schema::FieldErrors ValidateObjectMeta(const value::Value& metadata, const MetaRules& rules,
                                       const value::Path& path);
// What a change must satisfy, beyond the name rules of the kind.
schema::FieldErrors ValidateObjectMetaUpdate(const value::Value& metadata, const value::Value& old,
                                             const value::Path& path);

// Parts that kinds with embedded metadata (pod templates, volume claim templates) check too.
void ValidateLabels(const value::Value& labels, const value::Path& path,
                    schema::FieldErrors& errors);
void ValidateAnnotations(const value::Value& annotations, const value::Path& path,
                         schema::FieldErrors& errors);
void ValidateQualifiedFinalizers(const value::Value& metadata, const value::Path& path,
                                 schema::FieldErrors& errors);
void ValidateFinalizerName(std::string_view name, const value::Path& path,
                           schema::FieldErrors& errors);

// Removes what a client may not set: uid, creation and deletion stamps, selfLink.
void WipeSystemFields(value::Ref metadata);
// Gives a new object its uid and creation time.
void FillSystemFields(value::Ref metadata, WallTime now);
// A name from generateName: its first 58 characters and five random ones.
std::string GenerateName(std::string_view generate_name);

// The namespace an object ends up in: the request's. An object that names another one is refused;
// one that names none gets it. `expected` is empty for cluster-scoped kinds, whose namespace, if
// any, is dropped.
ApiResult<void> EnsureNamespace(std::string_view expected, value::Ref metadata);

// Drops repeated owner references and returns their uids, which the client is warned about.
std::vector<std::string> DeduplicateOwnerReferences(value::Ref metadata);

}  // namespace keelson::rest
