#include "rest/prepare.h"

#include <fmt/format.h>

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

MetaRules RulesOf(const ResourceSpec& spec) {
  return {.namespaced = spec.info->scope == schema::Scope::kNamespaced,
          .name_check = spec.strategy->name_check()};
}

std::string_view ExpectedNamespace(const ResourceSpec& spec, const WriteScope& scope) {
  return spec.info->scope == schema::Scope::kNamespaced ? scope.ns : std::string_view();
}

// The edits' result in canonical form.
Document Canonical(const ResourceSpec& spec, Builder& builder) {
  Document object = std::move(builder).Finish();
  schema::Normalize(*spec.info->type, object);
  return object;
}

ApiResult<void> Check(const ResourceSpec& spec, const Value& object, const FieldErrors& errors) {
  if (errors.empty()) return {};
  return std::unexpected(schema::InvalidStatus(spec.info->group, spec.info->kind,
                                               object["metadata"]["name"].AsString(), errors));
}

// Whether anything besides metadata and status differs: what a generation counts.
bool SpecDiffers(const ResourceSpec& spec, const Value& object, const Value& old) {
  for (const auto& field : spec.info->type->fields()) {
    const auto name = field.text();
    if (name == "kind" || name == "apiVersion" || name == "metadata" || name == "status") continue;
    if (!schema::EqualByMeaning(*field.type, object[name], old[name])) return true;
  }
  return false;
}

// Puts back what an update may not change.
void KeepIdentity(Ref metadata, const Value& old) {
  const Value now = metadata.Get();
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

ApiResult<Document> PrepareCreate(const ResourceSpec& spec, const WriteScope& scope,
                                  const Document& object) {
  Builder builder(object);
  Ref metadata = builder.root().Field("metadata");
  if (!metadata.Get()["resourceVersion"].AsString().empty()) {
    return std::unexpected(Status{
        .code = 500, .message = "resourceVersion should not be set on objects to be created"});
  }
  WipeSystemFields(metadata);
  if (auto ok = EnsureNamespace(ExpectedNamespace(spec, scope), metadata); !ok) {
    return std::unexpected(std::move(ok).error());
  }
  FillSystemFields(metadata, scope.now);
  const auto generate = metadata.Get()["generateName"].AsString();
  if (!generate.empty() && metadata.Get()["name"].AsString().empty()) {
    metadata.SetField("name", builder.String(GenerateName(generate)));
  }
  SetGeneration(metadata, spec.strategy->CountsGeneration() ? 1 : 0);
  spec.strategy->PrepareForCreate(scope, builder.root());

  Document created = Canonical(spec, builder);
  FieldErrors errors;
  spec.strategy->Validate(scope, created.root(), errors);
  if (auto ok = Check(spec, created.root(), errors); !ok) return std::unexpected(ok.error());
  errors = ValidateObjectMeta(created.root()["metadata"], RulesOf(spec), Path("metadata"));
  if (auto ok = Check(spec, created.root(), errors); !ok) return std::unexpected(ok.error());
  return created;
}

ApiResult<Document> PrepareUpdate(const ResourceSpec& spec, const WriteScope& scope,
                                  const Document& object, const Document& stored) {
  const Value old = stored.root();
  const Value old_metadata = old["metadata"];
  const auto version = object.root()["metadata"]["resourceVersion"].AsString();
  if (auto ok = CheckVersion(spec, scope, version, old); !ok) return std::unexpected(ok.error());

  Builder builder(object);
  builder.Adopt(stored);  // what is kept from the old object stays alive with the new one
  Ref metadata = builder.root().Field("metadata");
  if (auto ok = EnsureNamespace(ExpectedNamespace(spec, scope), metadata); !ok) {
    return std::unexpected(std::move(ok).error());
  }
  metadata.SetField("resourceVersion", builder.String(old_metadata["resourceVersion"].AsString()));
  SetGeneration(metadata, old_metadata["generation"].AsInt());
  spec.strategy->PrepareForUpdate(scope, builder.root(), old);
  metadata = builder.root().Field("metadata");
  if (spec.strategy->CountsGeneration() && SpecDiffers(spec, builder.root().Get(), old)) {
    SetGeneration(metadata, old_metadata["generation"].AsInt() + 1);
  }
  KeepIdentity(metadata, old_metadata);

  Document changed = Canonical(spec, builder);
  FieldErrors errors =
      ValidateObjectMetaUpdate(changed.root()["metadata"], old_metadata, Path("metadata"));
  spec.strategy->ValidateUpdate(scope, changed.root(), old, errors);
  if (auto ok = Check(spec, changed.root(), errors); !ok) return std::unexpected(ok.error());
  return changed;
}

}  // namespace keelson::rest
