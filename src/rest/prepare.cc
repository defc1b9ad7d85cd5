#include "rest/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "rest/object_meta.h"
#include "schema/equality.h"
#include "schema/transform.h"

namespace keelson::rest {
namespace {

using schema::FieldErrors;
using value::Builder;
using value::Document;
using value::Path;
using value::Ref;
using value::Value;

// The kinds of the outer and inner servers of upstream's chain, which know the rules of the one in
// between as little as custom kinds do.
constexpr std::string_view kOtherServers[] = {"apiextensions.k8s.io", "apiregistration.k8s.io"};

MetaRules RulesOf(const ResourceSpec& spec) {
  const bool other = std::ranges::find(kOtherServers, spec.info->group) != std::end(kOtherServers);
  return {.namespaced = spec.info->scope == schema::Scope::kNamespaced,
          .name_check = spec.strategy->name_check(),
          .qualified_finalizers = !spec.custom && !other};
}

// What is wrong with the metadata of a changed object. Upstream asks in several places, and its
// answers name a problem once for each.
FieldErrors CheckChangedMetadata(const ResourceSpec& spec, const Value& metadata,
                                 const Value& old) {
  const Path path("metadata");
  MetaRules rules = RulesOf(spec);
  FieldErrors errors = ValidateObjectMeta(metadata,
                                          {.namespaced = rules.namespaced,
                                           .name_check = names::NameIsPathSegment,
                                           .qualified_finalizers = false},
                                          path);
  schema::Append(errors, ValidateObjectMetaUpdate(metadata, old, path));
  for (int i = 0; i < spec.metadata_checks.change; ++i) {
    schema::Append(errors, ValidateObjectMetaUpdate(metadata, old, path));
    if (rules.qualified_finalizers) ValidateQualifiedFinalizers(metadata, path, errors);
  }
  for (int i = 0; i < spec.metadata_checks.whole; ++i) {
    schema::Append(errors, ValidateObjectMeta(metadata, rules, path));
  }
  return errors;
}

std::string_view ExpectedNamespace(const ResourceSpec& spec, const WriteScope& scope) {
  return spec.info->scope == schema::Scope::kNamespaced ? scope.ns : std::string_view();
}

// The edits' result in canonical form, as upstream's storage gives it back.
Document Canonical(const ResourceSpec& spec, Builder& builder) {
  using schema::EmptyContainers;
  Document object = builder.Snapshot();
  schema::Normalize(spec.stored_type(), object,
                    spec.stored_as_json ? EmptyContainers::kKept : EmptyContainers::kLost);
  return object;
}

ApiResult<void> Check(const ResourceSpec& spec, const Value& object, const FieldErrors& errors) {
  if (errors.empty()) return {};
  // A group that shows another group's objects says what is wrong with those.
  const auto& info = spec.stored != nullptr ? *spec.stored : *spec.info;
  // A custom object may say that it is of another kind, and is called by it.
  const auto kind = spec.custom ? object["kind"].AsString() : info.kind;
  return std::unexpected(
      schema::InvalidStatus(info.group, kind, object["metadata"]["name"].AsString(), errors));
}

// Of a custom object everything but metadata counts. Where status is apart from the rest, it is
// already what it was.
bool ContentDiffers(const Value& object, const Value& old) {
  const auto differs = [](const Value& from, const Value& to) {
    return std::ranges::any_of(from.members(), [&](const value::Member& member) {
      if (member.key() == "metadata") return false;
      const Value* other = to.Find(*member.name);
      return other == nullptr || !(*other == member.value);
    });
  };
  return differs(object, old) || differs(old, object);
}

// Whether anything besides metadata and status differs: what a generation counts.
bool SpecDiffers(const ResourceSpec& spec, const Value& object, const Value& old) {
  if (spec.custom) return ContentDiffers(object, old);
  for (const auto& field : spec.stored_type().fields()) {
    const auto name = field.text();
    if (name == "kind" || name == "apiVersion" || name == "metadata" || name == "status") continue;
    if (!schema::EqualByMeaning(*field.type, object[name], old[name])) return true;
  }
  return false;
}

// Whether status belongs to a subresource of its own.
bool HasStatus(const ResourceSpec& spec) {
  return std::ranges::any_of(spec.info->subresources,
                             [](const auto& entry) { return entry.name == "status"; });
}

// Puts back what an update may not change.
void KeepIdentity(Ref metadata, const Value& old) {
  const Value now = metadata.Get();
  metadata.RemoveField("selfLink");  // of times long past; read but not kept
  if (now["uid"].AsString().empty()) metadata.SetField("uid", old["uid"]);
  for (std::string_view field : {"creationTimestamp", "deletionTimestamp"}) {
    if (!old[field].is_null()) metadata.SetField(field, old[field]);
  }
  if (!old["deletionGracePeriodSeconds"].is_null() && now["deletionGracePeriodSeconds"].is_null()) {
    metadata.SetField("deletionGracePeriodSeconds", old["deletionGracePeriodSeconds"]);
  }
}

void SetGeneration(Ref metadata, int64_t generation) {
  if (generation == 0) {
    metadata.RemoveField("generation");
  } else {
    metadata.SetField("generation", Value::Int(generation));
  }
}

// The version an update is based on, compared with what is stored.
ApiResult<void> CheckVersion(const ResourceSpec& spec, const WriteScope& scope,
                             std::string_view version, const Value& old) {
  if (version.empty() || version == "0") {
    if (spec.strategy->AllowsUnconditionalUpdate()) return {};
    return std::unexpected(
        schema::InvalidStatus(spec.info->group, spec.info->plural, scope.name,
                              {schema::Invalid(Path("metadata").Child("resourceVersion"), 0,
                                               "must be specified for an update")}));
  }
  if (version.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::unexpected(Status{
        .code = 500,
        .message = fmt::format("strconv.ParseUint: parsing {}: invalid syntax", Quote(version))});
  }
  if (version == old["metadata"]["resourceVersion"].AsString()) return {};
  return std::unexpected(ModifiedStatus(spec, scope.name));
}

}  // namespace

Status ModifiedStatus(const ResourceSpec& spec, std::string_view name) {
  return ConflictStatus(spec.group_resource(), name,
                        "the object has been modified; please apply your changes to the latest "
                        "version and try again");
}

void Restore(Ref object, std::string_view field, const Value& old) {
  const Value* before = old.Find(field);
  if (before == nullptr) {
    object.RemoveField(field);
  } else {
    object.SetField(field, before->Shared());
  }
}

ApiResult<void> EnterNamespace(const ResourceSpec& spec, const WriteScope& scope, Ref metadata) {
  return EnsureNamespace(ExpectedNamespace(spec, scope), metadata);
}

void BeginCreate(const WriteScope& scope, Builder& object) {
  Ref metadata = object.root().Field("metadata");
  FillSystemFields(metadata, scope.now);
  const auto generate = metadata.Get()["generateName"].AsString();
  if (!generate.empty() && metadata.Get()["name"].AsString().empty()) {
    metadata.SetField("name", object.String(GenerateName(generate)));
  }
}

ApiResult<Document> FinishCreate(const ResourceSpec& spec, const WriteScope& scope,
                                 Builder& object) {
  Ref metadata = object.root().Field("metadata");
  for (std::string_view field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.RemoveField(field);
  }
  if (spec.strategy->CountsGeneration()) SetGeneration(metadata, 1);
  if (HasStatus(spec) && !spec.strategy->KeepsStatusOnCreate()) {
    object.root().RemoveField("status");
  }
  spec.strategy->PrepareForCreate(scope, object.root());

  Document created = Canonical(spec, object);
  const Value root = created.root();
  FieldErrors errors = ValidateObjectMeta(root["metadata"], RulesOf(spec), Path("metadata"));
  spec.strategy->Validate(scope, root, errors);
  if (auto ok = Check(spec, root, errors); !ok) return std::unexpected(ok.error());
  for (const auto& warning : spec.strategy->Warnings(scope, root, nullptr)) scope.Warn(warning);
  return created;
}

ApiResult<void> BeginUpdate(const ResourceSpec& spec, const WriteScope& scope, Builder& object,
                            const Document& stored) {
  const Value old = stored.root();
  Ref metadata = object.root().Field("metadata");
  const auto version = metadata.Get()["resourceVersion"].AsString();
  if (auto ok = CheckVersion(spec, scope, version, old); !ok) return ok;
  object.Adopt(stored);  // what is kept from the old object stays alive with the new one
  metadata = object.root().Field("metadata");
  metadata.SetField("resourceVersion", old["metadata"]["resourceVersion"]);
  SetGeneration(metadata, old["metadata"]["generation"].AsInt());
  return {};
}

ApiResult<Document> FinishUpdate(const ResourceSpec& spec, const WriteScope& scope, Builder& object,
                                 const Document& stored) {
  const Value old = stored.root();
  const Value old_metadata = old["metadata"];
  if (spec.subresource == nullptr && HasStatus(spec)) Restore(object.root(), "status", old);
  spec.strategy->PrepareForUpdate(scope, object.root(), old);
  Ref metadata = object.root().Field("metadata");
  if (spec.strategy->CountsGeneration() && SpecDiffers(spec, object.root().Get(), old)) {
    SetGeneration(metadata, old_metadata["generation"].AsInt() + 1);
  }
  metadata = object.root().Field("metadata");
  KeepIdentity(metadata, old_metadata);

  Document changed = Canonical(spec, object);
  const Value root = changed.root();
  FieldErrors errors = CheckChangedMetadata(spec, root["metadata"], old_metadata);
  spec.strategy->ValidateUpdate(scope, root, old, errors);
  if (auto ok = Check(spec, root, errors); !ok) return std::unexpected(ok.error());
  for (const auto& warning : spec.strategy->Warnings(scope, root, &old)) scope.Warn(warning);
  return changed;
}

}  // namespace keelson::rest
