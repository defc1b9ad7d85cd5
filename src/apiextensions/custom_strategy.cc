#include "apiextensions/custom_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "apiextensions/custom_kind.h"
#include "base/names.h"
#include "base/quote.h"
#include "rest/prepare.h"
#include "schema/validate.h"
#include "value/json.h"

namespace keelson::apiextensions {
namespace {

using rest::WriteScope;
using schema::FieldErrors;
using schema::FieldErrorType;
using schema::Invalid;
using value::Path;
using value::Ref;
using value::Value;

// Of errors like these upstream says that rules in CEL were not looked at.
bool Blocks(FieldErrorType type) {
  switch (type) {
    case FieldErrorType::kNotSupported:
    case FieldErrorType::kRequired:
    case FieldErrorType::kTooLong:
    case FieldErrorType::kTooMany:
    case FieldErrorType::kTypeInvalid:
      return true;
    default:
      return false;
  }
}

// The value at ".spec.replicas"; null when something on the way is missing.
Value At(Value object, std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('.'), path.size());
    object = object[path.substr(0, end)];
    path.remove_prefix(end);
  }
  return object;
}

std::string_view GoTypeOf(const Value& value) {
  switch (value.kind()) {
    case value::Kind::kBool:
      return "bool";
    case value::Kind::kInt:
      return "int64";
    case value::Kind::kDouble:
      return "float64";
    case value::Kind::kString:
      return "string";
    case value::Kind::kList:
      return "[]interface {}";
    default:
      return "map[string]interface {}";
  }
}

std::string AccessorError(std::string_view path, const Value& value, std::string_view wanted) {
  const std::string text = value.is_string() ? std::string(value.AsString()) : value::ToJson(value);
  return fmt::format("{} accessor error: {} is of the type {}, expected {}", path, text,
                     GoTypeOf(value), wanted);
}

void CheckReplicas(const Value& object, std::string_view path, FieldErrors& errors) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const Value replicas = At(object, path);
  const Path at(path);
  if (!replicas.is_null() && !replicas.is_int()) {
    errors.push_back(Invalid(at, 0, AccessorError(path, replicas, "int64")));
  } else if (replicas.AsInt() < 0) {
    errors.push_back(Invalid(at, replicas.AsInt(), "should be a non-negative integer"));
  } else if (replicas.AsInt() > kMost) {
    errors.push_back(
        Invalid(at, replicas.AsInt(), fmt::format("should be less than or equal to {}", kMost)));
  }
}

void CheckScale(const Value& object, const ScaleRules& scale, FieldErrors& errors) {
  CheckReplicas(object, scale.spec_replicas, errors);
  CheckReplicas(object, scale.status_replicas, errors);
  if (scale.selector.empty()) return;
  const Value selector = At(object, scale.selector);
  if (selector.is_null() || selector.is_string()) return;
  errors.push_back(
      Invalid(Path(scale.selector), "", AccessorError(scale.selector, selector, "string")));
}

FieldErrors CheckType(const Value& object, const VersionRules& rules) {
  FieldErrors errors;
  if (object["kind"].AsString() != rules.kind) {
    errors.push_back(
        Invalid(Path("kind"), object["kind"].AsString(), fmt::format("must be {}", rules.kind)));
  }
  if (object["apiVersion"].AsString() != rules.api_version) {
    errors.push_back(Invalid(Path("apiVersion"), object["apiVersion"].AsString(),
                             fmt::format("must be {}", rules.api_version)));
  }
  return errors;
}

void WarnOfFinalizer(std::string_view name, std::vector<std::string>& warnings) {
  static constexpr std::string_view kStandard[] = {"orphan", "foregroundDeletion", "kubernetes"};
  const auto warn = [&](std::string_view text) {
    warnings.push_back(fmt::format("metadata.finalizers: {}: {}", Quote(name), text));
  };
  for (const auto& complaint : names::CheckQualifiedName(name)) warn(complaint);
  if (name.contains('/') || std::ranges::find(kStandard, name) != std::end(kStandard)) return;
  warn(name.contains('.')
           ? "prefer a domain-qualified finalizer name including a path (/) to avoid accidental "
             "conflicts with other finalizer writers"
           : "prefer a domain-qualified finalizer name to avoid accidental conflicts with other "
             "finalizer writers");
}

}  // namespace

FieldErrors VersionRules::Check(const Value& object, const Value* old) const {
  FieldErrors errors = CheckType(object, *this);
  if (!errors.empty()) return errors;
  errors = schema::ValidateStructure(*type, object, old);
  if (scale) CheckScale(object, *scale, errors);
  // Lists that were broken before may stay so.
  auto lists = schema::ValidateListTypes(*type, object);
  if (!lists.empty() && (old == nullptr || schema::ValidateListTypes(*type, *old).empty())) {
    schema::Append(errors, std::move(lists));
  }
  const auto blocks = [](const schema::FieldError& error) { return Blocks(error.type); };
  if (has_cel_rules && std::ranges::any_of(errors, blocks)) {
    errors.push_back(Invalid(Path(), Value(),
                             "some validation rules were not checked because the object was "
                             "invalid; correct the existing errors to complete validation"));
  }
  return errors;
}

bool CustomStrategy::Reserves() const { return kind_.terminating(); }

Task<ApiResult<rest::ReservationPtr>> CustomStrategy::Reserve(const WriteScope& scope, Ref object,
                                                              const Value* old) const {
  if (old != nullptr) co_return rest::ReservationPtr();
  co_return std::unexpected(
      ForbiddenStatus({std::string(kind_.group()), std::string(kind_.plural())},
                      object.Get()["metadata"]["name"].AsString(),
                      "create not allowed while custom resource definition is terminating"));
}

void CustomStrategy::Validate(const WriteScope&, const Value& object, FieldErrors& errors) const {
  if (rules_ == nullptr) return;
  // An object of another kind is told that and nothing else.
  if (object["kind"].AsString() != rules_->kind) errors.clear();
  schema::Append(errors, rules_->Check(object, nullptr));
}

void CustomStrategy::ValidateUpdate(const WriteScope&, const Value& object, const Value& old,
                                    FieldErrors& errors) const {
  if (rules_ == nullptr) return;
  if (object["kind"].AsString() != rules_->kind) errors.clear();
  schema::Append(errors, rules_->Check(object, &old));
}

std::vector<std::string> CustomStrategy::Warnings(const WriteScope&, const Value& object,
                                                  const Value* old) const {
  std::set<std::string_view> added;
  const Value finalizers = object["metadata"]["finalizers"];
  for (const Value& name : finalizers.items()) added.insert(name.AsString());
  if (old != nullptr) {
    const Value before = (*old)["metadata"]["finalizers"];
    for (const Value& name : before.items()) added.erase(name.AsString());
  }
  std::vector<std::string> warnings;
  for (auto name : added) WarnOfFinalizer(name, warnings);
  return warnings;
}

std::span<const std::string_view> CustomStatusStrategy::ResetFields() const {
  static constexpr std::string_view kFields[] = {"metadata", "spec"};
  return kFields;
}

void CustomStatusStrategy::PrepareForUpdate(const WriteScope&, Ref object, const Value& old) const {
  const Value sent = object.Get();
  // Who wrote the status is part of metadata, and news.
  const Value owners = sent["metadata"]["managedFields"];
  for (const auto& member : sent.members()) {
    if (member.key() != "status" && old.Find(*member.name) == nullptr) {
      object.RemoveField(member.key());
    }
  }
  for (const auto& member : old.members()) {
    if (member.key() != "status") object.SetField(*member.name, member.value.Shared());
  }
  Ref metadata = object.Field("metadata");
  if (owners.is_null()) {
    metadata.RemoveField("managedFields");
  } else {
    metadata.SetField("managedFields", owners);
  }
}

}  // namespace keelson::apiextensions
