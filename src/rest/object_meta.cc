#include "rest/object_meta.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/ids.h"
#include "rest/options.h"
#include "value/timestamp.h"

namespace keelson::rest {
namespace {

using schema::Append;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr size_t kMaxSubresourceName = 256;
constexpr size_t kMaxGeneratedBase = 58;

bool HasUpperCase(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// "group/version, Kind=kind", as upstream prints a kind.
std::string KindText(std::string_view api_version, std::string_view kind) {
  auto slash = api_version.find('/');
  auto group = slash == std::string_view::npos ? "" : api_version.substr(0, slash);
  auto version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  return fmt::format("{}/{}, Kind={}", group, version, kind);
}

void ValidateOwnerReference(const Value& owner, const Path& path, FieldErrors& errors) {
  auto api_version = owner["apiVersion"].AsString();
  auto require = [&](std::string_view field, bool missing, const char* text) {
    if (missing) errors.push_back(Invalid(path.Child(field), owner[field].AsString(), text));
  };
  require("apiVersion", api_version.empty() || api_version.ends_with('/'),
          "version must not be empty");
  require("kind", owner["kind"].AsString().empty(), "must not be empty");
  require("name", owner["name"].AsString().empty(), "must not be empty");
  require("uid", owner["uid"].AsString().empty(), "must not be empty");
  // Events come and go by the thousand; nothing may live as long as one.
  if (api_version == "v1" && owner["kind"].AsString() == "Event") {
    errors.push_back(Invalid(
        path, owner, KindText(api_version, "Event") + " is disallowed from being an owner"));
  }
}

void ValidateOwnerReferences(const Value& owners, const Path& path, FieldErrors& errors) {
  std::string controller;
  for (const Value& owner : owners.items()) {
    ValidateOwnerReference(owner, path, errors);
    if (!owner["controller"].AsBool()) continue;
    auto name = fmt::format("{}/{}", owner["kind"].AsString(), owner["name"].AsString());
    if (controller.empty()) {
      controller = std::move(name);
    } else {
      errors.push_back(Invalid(
          path, owners,
          fmt::format("Only one reference can have Controller set to true. Found \"true\" in "
                      "references for {} and {}",
                      controller, name)));
    }
  }
}

void ValidateFinalizers(const Value& finalizers, const Path& path, FieldErrors& errors) {
  bool orphan = false;
  bool foreground = false;
  for (const Value& finalizer : finalizers.items()) {
    auto name = finalizer.AsString();
    ValidateFinalizerName(name, path, errors);
    orphan |= name == kFinalizerOrphan;
    foreground |= name == kFinalizerForeground;
  }
  if (orphan && foreground) {
    errors.push_back(Invalid(path, finalizers,
                             fmt::format("finalizer {} and {} cannot be both set", kFinalizerOrphan,
                                         kFinalizerForeground)));
  }
}

void ValidateManagedFields(const Value& entries, const Path& path, FieldErrors& errors) {
  for (size_t i = 0; i < entries.items().size(); ++i) {
    const Value& entry = entries.items()[i];
    const Path at = path.Index(i);
    auto operation = entry["operation"].AsString();
    if (operation != "Apply" && operation != "Update") {
      errors.push_back(Invalid(at.Child("operation"), operation, "must be `Apply` or `Update`"));
    }
    auto type = entry["fieldsType"].AsString();
    if (!type.empty() && type != "FieldsV1") {
      errors.push_back(Invalid(at.Child("fieldsType"), type, "must be `FieldsV1`"));
    }
    CheckFieldManager(entry["manager"].AsString(), at.Child("manager"), errors);
    if (entry["subresource"].size() > kMaxSubresourceName) {
      errors.push_back(schema::TooLong(at.Child("subresource"), kMaxSubresourceName));
    }
  }
}

void ValidateName(const Value& metadata, const MetaRules& rules, const Path& path,
                  FieldErrors& errors) {
  auto generate = metadata["generateName"].AsString();
  if (!generate.empty()) {
    schema::AddComplaints(errors, path.Child("generateName"), generate,
                          rules.name_check(generate, /*prefix=*/true));
  }
  auto name = metadata["name"].AsString();
  if (name.empty()) {
    errors.push_back(Required(path.Child("name"), "name or generateName is required"));
  } else {
    schema::AddComplaints(errors, path.Child("name"), name,
                          rules.name_check(name, /*prefix=*/false));
  }
}

void ValidateNamespace(const Value& metadata, bool namespaced, const Path& path,
                       FieldErrors& errors) {
  auto ns = metadata["namespace"].AsString();
  if (!namespaced) {
    if (!ns.empty())
      errors.push_back(Forbidden(path.Child("namespace"), "not allowed on this type"));
  } else if (ns.empty()) {
    errors.push_back(Required(path.Child("namespace"), ""));
  } else {
    schema::AddComplaints(errors, path.Child("namespace"), ns,
                          names::NameIsDnsLabel(ns, /*prefix=*/false));
  }
}

void CheckImmutable(const Value& metadata, const Value& old, std::string_view field,
                    const Path& path, FieldErrors& errors) {
  if (metadata[field] != old[field]) {
    errors.push_back(schema::Immutable(path.Child(field), metadata[field]));
  }
}

// Finalizers of `metadata` that `old` lacks, sorted.
std::vector<std::string_view> NewFinalizers(const Value& metadata, const Value& old) {
  std::vector<std::string_view> added;
  for (const Value& finalizer : metadata["finalizers"].items()) {
    auto before = old["finalizers"].items();
    if (std::ranges::find(before, finalizer) == before.end()) added.push_back(finalizer.AsString());
  }
  std::ranges::sort(added);
  added.erase(std::unique(added.begin(), added.end()), added.end());
  return added;
}

}  // namespace

void ValidateLabels(const Value& labels, const Path& path, FieldErrors& errors) {
  for (const auto& [name, label] : labels.members()) {
    schema::AddComplaints(errors, path, name->text(), names::CheckQualifiedName(name->text()));
    schema::AddComplaints(errors, path, label.AsString(), names::CheckLabelValue(label.AsString()));
  }
}

void ValidateAnnotations(const Value& annotations, const Path& path, FieldErrors& errors) {
  int64_t bytes = 0;
  for (const auto& [name, text] : annotations.members()) {
    // The rule is that of a label key, except that case does not matter.
    const auto key = name->text();
    schema::AddComplaints(errors, path, key,
                          HasUpperCase(key) ? names::CheckQualifiedName(LowerCase(key))
                                            : names::CheckQualifiedName(key));
    bytes += static_cast<int64_t>(key.size() + text.size());
  }
  if (bytes > kMaxAnnotationBytes) errors.push_back(schema::TooLong(path, kMaxAnnotationBytes));
}

void ValidateFinalizerName(std::string_view name, const Path& path, FieldErrors& errors) {
  schema::AddComplaints(errors, path, name, names::CheckQualifiedName(name));
}

void ValidateQualifiedFinalizers(const Value& metadata, const Path& path, FieldErrors& errors) {
  const auto finalizers = metadata["finalizers"].items();
  const Path list = path.Child("finalizers");
  for (size_t i = 0; i < finalizers.size(); ++i) {
    const auto name = finalizers[i].AsString();
    if (name.find('/') != std::string_view::npos || name == kFinalizerOrphan ||
        name == kFinalizerForeground || name == kFinalizerKubernetes) {
      continue;
    }
    errors.push_back(
        Invalid(list.Index(i), name,
                "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

FieldErrors ValidateObjectMeta(const Value& metadata, const MetaRules& rules, const Path& path) {
  FieldErrors errors;
  ValidateName(metadata, rules, path, errors);
  ValidateNamespace(metadata, rules.namespaced, path, errors);
  if (metadata["generation"].AsInt() < 0) {
    errors.push_back(Invalid(path.Child("generation"), metadata["generation"],
                             "must be greater than or equal to 0"));
  }
  ValidateLabels(metadata["labels"], path.Child("labels"), errors);
  ValidateAnnotations(metadata["annotations"], path.Child("annotations"), errors);
  ValidateOwnerReferences(metadata["ownerReferences"], path.Child("ownerReferences"), errors);
  ValidateFinalizers(metadata["finalizers"], path.Child("finalizers"), errors);
  ValidateManagedFields(metadata["managedFields"], path.Child("managedFields"), errors);
  if (rules.qualified_finalizers) ValidateQualifiedFinalizers(metadata, path, errors);
  return errors;
}

FieldErrors ValidateObjectMetaUpdate(const Value& metadata, const Value& old, const Path& path) {
  FieldErrors errors;
  if (old.Find("deletionTimestamp") != nullptr) {
    auto added = NewFinalizers(metadata, old);
    if (!added.empty()) {
      errors.push_back(Forbidden(
          path.Child("finalizers"),
          fmt::format("no new finalizers can be added if the object is being deleted, found new "
                      "finalizers []string{{\"{}\"}}",
                      fmt::join(added, "\", \""))));
    }
  }
  if (metadata["resourceVersion"].AsString().empty()) {
    errors.push_back(Invalid(path.Child("resourceVersion"), "", "must be specified for an update"));
  }
  if (metadata["generation"].AsInt() < old["generation"].AsInt()) {
    errors.push_back(
        Invalid(path.Child("generation"), metadata["generation"], "must not be decremented"));
  }
  for (std::string_view field : {"name", "namespace", "uid", "creationTimestamp",
                                 "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    CheckImmutable(metadata, old, field, path, errors);
  }
  ValidateLabels(metadata["labels"], path.Child("labels"), errors);
  ValidateAnnotations(metadata["annotations"], path.Child("annotations"), errors);
  ValidateOwnerReferences(metadata["ownerReferences"], path.Child("ownerReferences"), errors);
  ValidateManagedFields(metadata["managedFields"], path.Child("managedFields"), errors);
  return errors;
}

void WipeSystemFields(value::Ref metadata) {
  for (std::string_view field : {"creationTimestamp", "uid", "deletionTimestamp",
                                 "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.RemoveField(field);
  }
}

void FillSystemFields(value::Ref metadata, WallTime now) {
  auto& builder = metadata.builder();
  metadata.SetField("uid", builder.String(NewUuid()));
  metadata.SetField(
      "creationTimestamp",
      builder.String(value::FormatTime(
          {.seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count()})));
}

std::string GenerateName(std::string_view generate_name) {
  return std::string(generate_name.substr(0, kMaxGeneratedBase)) + RandomNameSuffix(5);
}

ApiResult<void> EnsureNamespace(std::string_view expected, value::Ref metadata) {
  auto ns = metadata.Get()["namespace"].AsString();
  if (ns == expected) return {};
  if (expected.empty()) {
    metadata.RemoveField("namespace");
    return {};
  }
  if (!ns.empty()) {
    return std::unexpected(BadRequestStatus(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  metadata.SetField("namespace", metadata.builder().String(expected));
  return {};
}

std::vector<std::string> DeduplicateOwnerReferences(value::Ref metadata) {
  const Value owners = metadata.Get()["ownerReferences"];
  std::vector<Value> kept;
  std::vector<std::string> duplicates;
  for (const Value& owner : owners.items()) {
    if (std::ranges::find(kept, owner) == kept.end()) {
      kept.push_back(owner);
    } else {
      duplicates.emplace_back(owner["uid"].AsString());
    }
  }
  if (!duplicates.empty()) {
    metadata.SetField("ownerReferences", metadata.builder().List(kept));
  }
  return duplicates;
}

}  // namespace keelson::rest
