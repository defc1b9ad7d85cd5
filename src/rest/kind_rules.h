#pragma once

// RuleStrategy: a strategy made of facts and plain functions, for kinds that keep no state of their
// own. Most kinds differ from each other only here, so they are rows of a table:
//
//   constexpr RuleStrategy kStorageClass({.create_on_update = true, .validate = ValidateClass});
//
// The status subresource of a kind has the same strategy; its writes meet validate_status alone.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rest/strategy.h"

namespace keelson::rest {

struct KindRules {
  names::NameCheck name_check = names::NameIsDnsSubdomain;
  bool create_on_update = false;
  bool unconditional_update = true;
  bool counts_generation = false;
  bool keeps_status_on_create = false;
  GarbageCollection garbage_collection = GarbageCollection::kBackground;
  std::span<const std::string_view> reset_fields;  // see Strategy::ResetFields

  void (*prepare_for_create)(const WriteScope& scope, value::Ref object) = nullptr;
  void (*prepare_for_update)(const WriteScope& scope, value::Ref object,
                             const value::Value& old) = nullptr;
  // A write of the status subresource; everything else is already what it was.
  void (*prepare_status)(const WriteScope& scope, value::Ref object,
                         const value::Value& old) = nullptr;

  void (*validate)(const WriteScope& scope, const value::Value& object,
                   schema::FieldErrors& errors) = nullptr;
  // Null: a changed object must satisfy what a new one must.
  void (*validate_update)(const WriteScope& scope, const value::Value& object,
                          const value::Value& old, schema::FieldErrors& errors) = nullptr;
  // A write of the status subresource, which is not held to the rules for the rest.
  void (*validate_status)(const WriteScope& scope, const value::Value& object,
                          const value::Value& old, schema::FieldErrors& errors) = nullptr;
  std::vector<std::string> (*warnings)(const WriteScope& scope, const value::Value& object,
                                       const value::Value* old) = nullptr;

  void (*prepare_for_delete)(const WriteScope& scope, value::Ref object) = nullptr;
  bool (*awaits_finalization)(const value::Value& object) = nullptr;
};

class RuleStrategy final : public Strategy {
 public:
  constexpr RuleStrategy() = default;
  explicit constexpr RuleStrategy(const KindRules& rules) : rules_(rules) {}

  names::NameCheck name_check() const override { return rules_.name_check; }
  bool AllowsCreateOnUpdate() const override { return rules_.create_on_update; }
  bool AllowsUnconditionalUpdate() const override { return rules_.unconditional_update; }
  bool CountsGeneration() const override { return rules_.counts_generation; }
  bool KeepsStatusOnCreate() const override { return rules_.keeps_status_on_create; }
  GarbageCollection DefaultGarbageCollection() const override { return rules_.garbage_collection; }
  std::span<const std::string_view> ResetFields() const override { return rules_.reset_fields; }

  void PrepareForCreate(const WriteScope& scope, value::Ref object) const override {
    if (rules_.prepare_for_create) rules_.prepare_for_create(scope, object);
  }
  void PrepareForUpdate(const WriteScope& scope, value::Ref object,
                        const value::Value& old) const override {
    const auto prepare =
        scope.subresource == "status" ? rules_.prepare_status : rules_.prepare_for_update;
    if (prepare) prepare(scope, object, old);
  }
  void Validate(const WriteScope& scope, const value::Value& object,
                schema::FieldErrors& errors) const override {
    if (rules_.validate) rules_.validate(scope, object, errors);
  }
  void ValidateUpdate(const WriteScope& scope, const value::Value& object, const value::Value& old,
                      schema::FieldErrors& errors) const override {
    if (scope.subresource == "status") {
      if (rules_.validate_status) rules_.validate_status(scope, object, old, errors);
    } else if (rules_.validate_update) {
      rules_.validate_update(scope, object, old, errors);
    } else if (rules_.validate) {
      rules_.validate(scope, object, errors);
    }
  }
  std::vector<std::string> Warnings(const WriteScope& scope, const value::Value& object,
                                    const value::Value* old) const override {
    if (!rules_.warnings || !scope.subresource.empty()) return {};
    return rules_.warnings(scope, object, old);
  }
  void PrepareForDelete(const WriteScope& scope, value::Ref object) const override {
    if (rules_.prepare_for_delete) rules_.prepare_for_delete(scope, object);
  }
  bool AwaitsFinalization(const value::Value& object) const override {
    return rules_.awaits_finalization && rules_.awaits_finalization(object);
  }

 private:
  KindRules rules_;
};

// For prepare_status: whoever writes the status of these kinds has no say in their metadata.
inline void KeepMetadata(const WriteScope&, value::Ref object, const value::Value& old) {
  value::Ref metadata = object.Field("metadata");
  for (std::string_view field : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    const value::Value before = old["metadata"][field];
    if (before.is_null()) {
      metadata.RemoveField(field);
    } else {
      metadata.SetField(field, before);
    }
  }
}

}  // namespace keelson::rest
