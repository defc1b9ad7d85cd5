// CustomResourceDefinition: a kind that users bring. Its schemas are looked at in
// definition_schema.cc.
//
// Upstream validates a form in which what all versions have in common (schema, subresources,
// columns) stands once, beside the versions; its paths show that, and so do ours.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "api/apiextensions_v1.h"
#include "apiextensions/approval.h"
#include "apiextensions/conditions.h"
#include "apiextensions/definition_schema.h"
#include "apiextensions/definition_version.h"
#include "apiextensions/strategies.h"
#include "rest/field_checks.h"
#include "rest/kind_rules.h"
#include "rest/seen_texts.h"
#include "rest/webhook_checks.h"
#include "schema/internal_form.h"
#include "schema/struct_editor.h"

namespace keelson::apiextensions {
namespace {

using api::apiextensions_v1::CustomResourceConversion;
using api::apiextensions_v1::CustomResourceDefinition;
using api::apiextensions_v1::CustomResourceDefinitionNames;
using api::apiextensions_v1::CustomResourceDefinitionSpec;
using api::apiextensions_v1::CustomResourceDefinitionVersion;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Ref;
using value::Value;

using Version = CustomResourceDefinitionVersion;
using Versions = schema::ListView<Version>;

constexpr std::string_view kScopes[] = {"Cluster", "Namespaced"};
constexpr std::string_view kConversions[] = {"None", "Webhook"};
constexpr std::string_view kReviewVersions[] = {"v1", "v1beta1"};

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string Joined(const names::Complaints& complaints) {
  return fmt::format("{}", fmt::join(complaints, ","));
}

// --- preparing -----------------------------------------------------------------------------------

// The storage version joins those that objects may be stored in.
void AddStoredVersion(Ref object) {
  const CustomResourceDefinition definition(object.Get());
  for (auto version : definition.spec().versions()) {
    if (!version.storage()) continue;
    const auto stored = definition.status().storedVersions().value().items();
    const Value name = Value::String(version.name());
    if (std::ranges::find(stored, name) == stored.end()) {
      Ref list = object.Field("status").Field("storedVersions");
      if (list.kind() != value::Kind::kList) list.Set(Value::EmptyList());
      list.Append(name);
    }
    return;
  }
}

void PrepareForCreate(const WriteScope&, Ref object) { AddStoredVersion(object); }
void PrepareForUpdate(const WriteScope&, Ref object, const Value& old) {
  object.SetField("status", old["status"]);
  AddStoredVersion(object);
}

// --- what versions have in common ----------------------------------------------------------------

// Whether every version has this field, with the same value.
bool IsShared(const Versions& versions, const value::Name& field) {
  if (versions.empty()) return false;
  const Value first = versions[0].value()[field];
  if (first.is_null() || (first.is_list() && first.size() == 0)) return false;
  return std::ranges::all_of(versions.value().items(),
                             [&](const Value& version) { return version[field] == first; });
}

struct Shared {
  explicit Shared(const Versions& versions)
      : schema(IsShared(versions, Version::Names::schema)),
        subresources(IsShared(versions, Version::Names::subresources)),
        columns(IsShared(versions, Version::Names::additionalPrinterColumns)),
        selectable(IsShared(versions, Version::Names::selectableFields)) {}

  bool schema;
  bool subresources;
  bool columns;
  bool selectable;
};

// The versions as upstream prints them: without what they share.
schema::BadValue Printed(const Versions& versions) {
  const Shared shared(versions);
  const auto arena = value::Arena::Make(1024);
  std::string text = "[";
  for (size_t i = 0; i < versions.size(); ++i) {
    schema::StructEditor version(Version::Schema(), versions[i].value(), *arena);
    if (shared.schema) version.Remove(Version::Names::schema);
    if (shared.subresources) version.Remove(Version::Names::subresources);
    if (shared.columns) version.Remove(Version::Names::additionalPrinterColumns);
    if (shared.selectable) version.Remove(Version::Names::selectableFields);
    if (i > 0) text += ',';
    text += schema::InternalForm(Version::Schema(), version.value());
  }
  if (versions.value().is_null()) return schema::BadValue::Json("null");
  return schema::BadValue::Json(text + "]");
}

// --- names ---------------------------------------------------------------------------------------

void CheckLabel(std::string_view text, const Path& path, FieldErrors& errors) {
  if (auto complaints = names::CheckDns1035Label(text); !complaints.empty()) {
    errors.push_back(Invalid(path, text, Joined(complaints)));
  }
}

void CheckKind(std::string_view kind, const Path& path, FieldErrors& errors) {
  if (kind.empty()) return;
  if (auto complaints = names::CheckDns1035Label(LowerCase(kind)); !complaints.empty()) {
    errors.push_back(Invalid(
        path, kind, "may have mixed case, but should otherwise match: " + Joined(complaints)));
  }
}

void CheckNames(const CustomResourceDefinitionNames& names, const Path& path, FieldErrors& errors) {
  if (!names.plural().empty()) CheckLabel(names.plural(), path.Child("plural"), errors);
  if (!names.singular().empty()) CheckLabel(names.singular(), path.Child("singular"), errors);
  CheckKind(names.kind(), path.Child("kind"), errors);
  CheckKind(names.listKind(), path.Child("listKind"), errors);
  for (size_t i = 0; i < names.shortNames().size(); ++i) {
    CheckLabel(names.shortNames()[i], path.Child("shortNames").Index(i), errors);
  }
  if (!names.kind().empty() && names.kind() == names.listKind()) {
    errors.push_back(
        Invalid(path.Child("listKind"), names.listKind(), "kind and listKind may not be the same"));
  }
  for (size_t i = 0; i < names.categories().size(); ++i) {
    CheckLabel(names.categories()[i], path.Child("categories").Index(i), errors);
  }
}

void CheckGroup(std::string_view group, const Path& path, FieldErrors& errors) {
  if (group.empty()) {
    errors.push_back(Required(path, ""));
  } else if (auto complaints = names::CheckDns1123Subdomain(group); !complaints.empty()) {
    errors.push_back(Invalid(path, group, Joined(complaints)));
  } else if (!group.contains('.')) {
    errors.push_back(Invalid(path, group, "should be a domain with at least one dot"));
  }
}

// --- versions ------------------------------------------------------------------------------------

void CheckDeprecation(const Version& version, const Path& path, FieldErrors& errors) {
  const auto warning = version.deprecationWarning();
  if (!warning) return;
  if (!version.deprecated()) {
    errors.push_back(Invalid(path, *warning, "can only be set for deprecated versions"));
    return;
  }
  if (warning->size() > 256) {
    errors.push_back(Invalid(path, *warning, "must be <= 256 characters long"));
  }
  if (warning->empty()) errors.push_back(Invalid(path, *warning, "must not be an empty string"));
}

// What stands in the version itself, not shared with the others.
void CheckVersion(const Version& version, const Shared& shared, const Path& path,
                  FieldErrors& errors) {
  CheckLabel(version.name(), path.Child("name"), errors);
  CheckDeprecation(version, path.Child("deprecationWarning"), errors);
  const Value& value = version.value();
  if (!shared.schema) {
    CheckDefinitionSchema(value["schema"]["openAPIV3Schema"],
                          path.Child("schema").Child("openAPIV3Schema"), errors);
  }
  if (!shared.subresources) {
    CheckSubresources(value["subresources"], path.Child("subresources"), errors);
  }
  if (!shared.columns) {
    CheckColumns(value["additionalPrinterColumns"], path.Child("additionalPrinterColumns"), errors);
  }
  if (!shared.selectable) {
    CheckSelectableFields(value["selectableFields"], value["schema"]["openAPIV3Schema"],
                          path.Child("selectableFields"), errors);
  }
}

void CheckVersions(const Versions& versions, const Shared& shared, const Path& path,
                   FieldErrors& errors) {
  size_t storage = 0;
  bool unique = true;
  rest::SeenTexts seen;
  for (size_t i = 0; i < versions.size(); ++i) {
    storage += versions[i].storage() ? 1 : 0;
    unique = seen.Insert(versions[i].name()) && unique;
    CheckVersion(versions[i], shared, path.Index(i), errors);
  }
  if (!unique) {
    errors.push_back(Invalid(path, Printed(versions), "must contain unique version names"));
  }
  if (storage != 1) {
    errors.push_back(Invalid(path, Printed(versions),
                             "must have exactly one version marked as storage version"));
  }
}

// --- conversion ----------------------------------------------------------------------------------

void CheckReviewVersions(const schema::ListView<std::string_view>& versions, bool known_wanted,
                         const Path& path, FieldErrors& errors) {
  if (versions.empty()) {
    errors.push_back(Required(path, ""));
    return;
  }
  rest::SeenTexts seen;
  bool known = false;
  for (size_t i = 0; i < versions.size(); ++i) {
    if (!seen.Insert(versions[i])) {
      errors.push_back(Invalid(path.Index(i), versions[i], "duplicate version"));
      continue;
    }
    rest::CheckText(versions[i], names::CheckDns1035Label, path.Index(i), errors);
    known |= std::ranges::find(kReviewVersions, versions[i]) != std::end(kReviewVersions);
  }
  if (known_wanted && !known) {
    errors.push_back(Invalid(path, versions.value(), "must include at least one of v1, v1beta1"));
  }
}

void CheckConversion(const CustomResourceConversion& conversion, bool known_wanted,
                     const Path& path, FieldErrors& errors) {
  if (!conversion) return;
  rest::CheckRequiredChoice(conversion.strategy(), kConversions, path.Child("strategy"), errors);
  const Value client = conversion.webhook().clientConfig().value();
  const auto versions = conversion.webhook().conversionReviewVersions();
  const Path at = path.Child("webhookClientConfig");
  if (conversion.strategy() != "Webhook") {
    constexpr const char* kUnused = "should not be set when strategy is not set to Webhook";
    if (!client.is_null()) errors.push_back(Forbidden(at, kUnused));
    if (!versions.empty()) {
      errors.push_back(Forbidden(path.Child("conversionReviewVersions"), kUnused));
    }
    return;
  }
  if (client.is_null()) {
    errors.push_back(Required(at, "required when strategy is set to Webhook"));
  } else if (client["url"].is_null() == client["service"].is_null()) {
    errors.push_back(Required(at, "exactly one of url or service is required"));
  } else if (!client["url"].is_null()) {
    rest::CheckWebhookUrl(client["url"].AsString(), at.Child("url"), errors);
  } else {
    rest::CheckWebhookService(client["service"], at.Child("service"), errors);
  }
  CheckReviewVersions(versions, known_wanted, path.Child("conversionReviewVersions"), errors);
}

// --- the whole -----------------------------------------------------------------------------------

void CheckRequiredNames(const CustomResourceDefinitionNames& names, const Path& path,
                        FieldErrors& errors) {
  const auto require = [&](std::string_view text, std::string_view field) {
    if (text.empty()) errors.push_back(Required(path.Child(field), ""));
  };
  require(names.plural(), "plural");
  require(names.singular(), "singular");
  require(names.kind(), "kind");
  require(names.listKind(), "listKind");
}

void CheckSpec(const CustomResourceDefinitionSpec& spec, bool known_review_wanted,
               FieldErrors& errors) {
  const Path path("spec");
  CheckGroup(spec.group(), path.Child("group"), errors);
  rest::CheckRequiredChoice(spec.scope(), kScopes, path.Child("scope"), errors);
  const auto versions = spec.versions();
  const Path at_versions = path.Child("versions");
  for (size_t i = 0; i < versions.size(); ++i) {
    if (versions[i].value()["schema"]["openAPIV3Schema"].is_null()) {
      errors.push_back(Required(at_versions.Index(i).Child("schema").Child("openAPIV3Schema"), ""));
    }
  }
  const Shared shared(versions);
  CheckVersions(versions, shared, at_versions, errors);
  CheckRequiredNames(spec.names(), path.Child("names"), errors);
  CheckNames(spec.names(), path.Child("names"), errors);
  const Value common = versions.empty() ? Value() : versions[0].value();
  if (shared.schema) {
    CheckDefinitionSchema(common["schema"]["openAPIV3Schema"],
                          path.Child("validation").Child("openAPIV3Schema"), errors);
  }
  if (shared.subresources) {
    CheckSubresources(common["subresources"], path.Child("subresources"), errors);
  }
  if (shared.columns) {
    CheckColumns(common["additionalPrinterColumns"], path.Child("additionalPrinterColumns"),
                 errors);
  }
  if (shared.selectable) {
    CheckSelectableFields(common["selectableFields"], common["schema"]["openAPIV3Schema"],
                          path.Child("selectableFields"), errors);
  }
  CheckConversion(spec.conversion(), known_review_wanted, path.Child("conversion"), errors);
}

void CheckStoredVersions(const CustomResourceDefinition& definition, FieldErrors& errors) {
  const Path status("status");
  const Path path = status.Child("storedVersions");
  const auto stored = definition.status().storedVersions();
  if (stored.empty()) {
    errors.push_back(Invalid(path, Value(), "must have at least one stored version"));
    return;
  }
  rest::SeenTexts in_spec;
  for (auto version : definition.spec().versions()) {
    in_spec.Insert(version.name());
    const auto items = stored.value().items();
    if (version.storage() &&
        std::ranges::find(items, Value::String(version.name())) == items.end()) {
      errors.push_back(Invalid(path, stored.value(),
                               fmt::format("must have the storage version {}", version.name())));
    }
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    if (in_spec.Contains(stored[i])) continue;
    errors.push_back(
        Invalid(path.Index(i), stored[i],
                fmt::format("missing from spec.versions; {0} was previously a storage version, and "
                            "must remain in spec.versions until a storage migration ensures no "
                            "data remains persisted in {0} and removes {0} from "
                            "status.storedVersions",
                            stored[i])));
  }
}

// Groups of the project itself want a sign that the project agreed.
void CheckApproval(const CustomResourceDefinition& definition, const CustomResourceDefinition& old,
                   FieldErrors& errors) {
  if (!IsProtected(definition.spec().group())) return;
  const auto text = definition.metadata().annotations()[kApprovalAnnotation];
  const auto approval = ApprovalOf(text);
  if (old && ApprovalOf(old.metadata().annotations()[kApprovalAnnotation]) == approval) return;
  const Path metadata("metadata");
  const Path path = metadata.Child("annotations").Key(kApprovalAnnotation);
  if (approval == Approval::kMissing) {
    errors.push_back(Required(path, ApprovalMessage(approval, text)));
  } else if (approval == Approval::kInvalid) {
    errors.push_back(Invalid(path, text, ApprovalMessage(approval, text)));
  }
}

// `old` is false on create.
void CheckDefinition(const CustomResourceDefinition& definition,
                     const CustomResourceDefinition& old, bool known_review_wanted,
                     FieldErrors& errors) {
  CheckSpec(definition.spec(), known_review_wanted, errors);
  if (old) {
    using Names = CustomResourceDefinitionNames;
    const Path path("spec");
    const auto now = definition.spec();
    const auto before = old.spec();
    bool established = false;
    for (auto condition : old.status().conditions()) {
      established |= condition.type() == "Established" && condition.status() == "True";
    }
    const auto fixed_name = [&](const value::Name& field) {
      rest::CheckImmutableField(Names::Schema(), field, now.names().value(), before.names().value(),
                                path.Child("names"), errors);
    };
    const auto fixed = [&](const value::Name& field) {
      rest::CheckImmutableField(CustomResourceDefinitionSpec::Schema(), field, now.value(),
                                before.value(), path, errors);
    };
    if (established) {
      fixed(CustomResourceDefinitionSpec::Names::scope);
      fixed_name(Names::Names::kind);
    }
    fixed(CustomResourceDefinitionSpec::Names::group);
    fixed_name(Names::Names::plural);
  }
  CheckNames(definition.status().acceptedNames(), Path("status").Child("acceptedNames"), errors);
  CheckStoredVersions(definition, errors);
  CheckApproval(definition, old, errors);
  if (definition.spec().preserveUnknownFields() && !old.spec().preserveUnknownFields()) {
    errors.push_back(Invalid(Path("spec").Child("preserveUnknownFields"), true,
                             "cannot set to true, set x-kubernetes-preserve-unknown-fields to true "
                             "in spec.versions[*].schema instead"));
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const CustomResourceDefinition definition(object);
  const auto name = definition.metadata().name();
  const auto plural = definition.spec().names().plural();
  const auto group = definition.spec().group();
  if (name != fmt::format("{}.{}", plural, group)) {
    errors.push_back(Invalid(Path("metadata").Child("name"), name,
                             "must be spec.names.plural+\".\"+spec.group"));
  }
  CheckDefinition(definition, CustomResourceDefinition(), /*known_review_wanted=*/true, errors);
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  const auto versions =
      CustomResourceDefinition(old).spec().conversion().webhook().conversionReviewVersions();
  bool known = versions.empty();
  for (auto version : versions) {
    known |= std::ranges::find(kReviewVersions, version) != std::end(kReviewVersions);
  }
  CheckDefinition(CustomResourceDefinition(object), CustomResourceDefinition(old), known, errors);
}

void ValidateStatus(const WriteScope&, const Value& object, const Value&, FieldErrors& errors) {
  CheckNames(CustomResourceDefinition(object).status().acceptedNames(),
             Path("status").Child("acceptedNames"), errors);
}

// The first request to delete only marks the definition; whoever removes its objects then lets it
// go.
bool AwaitsFinalization(const Value& object) {
  return object["metadata"]["deletionTimestamp"].is_null();
}

void PrepareForDelete(const WriteScope& scope, Ref object) {
  const Value finalizers = object.Get()["metadata"]["finalizers"];
  const auto is_ours = [](const Value& item) { return item.AsString() == kCleanupFinalizer; };
  if (std::ranges::any_of(finalizers.items(), is_ours)) return;
  Ref list = object.Field("metadata").Field("finalizers");
  if (list.kind() != value::Kind::kList) list.Set(Value::EmptyList());
  list.Append(Value::String(kCleanupFinalizer, /*plain=*/true));
  SetCondition(object,
               {.type = kTerminating,
                .status = kTrue,
                .reason = "InstanceDeletionPending",
                .message = "CustomResourceDefinition marked for deletion; CustomResource deletion "
                           "will begin soon"},
               scope.now);
}

}  // namespace

std::span<const rest::KindStrategy> Strategies() {
  static const rest::RuleStrategy kDefinition({.unconditional_update = false,
                                               .counts_generation = true,
                                               .prepare_for_create = PrepareForCreate,
                                               .prepare_for_update = PrepareForUpdate,
                                               .prepare_status = rest::KeepMetadata,
                                               .validate = Validate,
                                               .validate_update = ValidateUpdate,
                                               .validate_status = ValidateStatus,
                                               .prepare_for_delete = PrepareForDelete,
                                               .awaits_finalization = AwaitsFinalization});
  static const rest::KindStrategy kStrategies[] = {{kGroup, kDefinitions, &kDefinition}};
  return kStrategies;
}

}  // namespace keelson::apiextensions
