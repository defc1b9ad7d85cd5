#pragma once

// What is special about custom objects when they are written: nothing but what their definition
// says.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rest/strategy.h"
#include "schema/field_error.h"
#include "schema/type.h"

namespace keelson::apiextensions {

class CustomKind;

// The replica counts that a definition's scale subresource names: ".spec.replicas".
struct ScaleRules {
  std::string spec_replicas;
  std::string status_replicas;
  std::string selector;  // may be empty
};

// What one version says its objects must be like. Rules in CEL are not checked; objects that are
// invalid otherwise are told so, as upstream does.
struct VersionRules {
  const schema::Type* type = nullptr;
  std::string kind;
  std::string api_version;
  std::optional<ScaleRules> scale;
  bool has_cel_rules = false;

  // What is wrong with the object, its metadata apart. `old` is null for a new one; what has not
  // changed since is not judged again.
  schema::FieldErrors Check(const value::Value& object, const value::Value* old) const;
};

class CustomStrategy final : public rest::Strategy {
 public:
  // `rules` are for objects as they are stored; null when they have been judged in another version
  // before. Both outlive this.
  CustomStrategy(const CustomKind& kind, const VersionRules* rules) : kind_(kind), rules_(rules) {}

  bool AllowsUnconditionalUpdate() const override { return false; }
  bool CountsGeneration() const override { return true; }

  // Only asks whether objects may be created.
  bool Reserves() const override;
  Task<ApiResult<rest::ReservationPtr>> Reserve(const rest::WriteScope& scope, value::Ref object,
                                                const value::Value* old) const override;

  void Validate(const rest::WriteScope& scope, const value::Value& object,
                schema::FieldErrors& errors) const override;
  void ValidateUpdate(const rest::WriteScope& scope, const value::Value& object,
                      const value::Value& old, schema::FieldErrors& errors) const override;
  std::vector<std::string> Warnings(const rest::WriteScope& scope, const value::Value& object,
                                    const value::Value* old) const override;

 private:
  const CustomKind& kind_;
  const VersionRules* const rules_;
};

// The status subresource: a write changes status and nothing else.
class CustomStatusStrategy final : public rest::Strategy {
 public:
  explicit CustomStatusStrategy(const CustomStrategy& main) : main_(main) {}

  bool AllowsUnconditionalUpdate() const override { return false; }
  std::span<const std::string_view> ResetFields() const override;
  void PrepareForUpdate(const rest::WriteScope& scope, value::Ref object,
                        const value::Value& old) const override;
  void ValidateUpdate(const rest::WriteScope& scope, const value::Value& object,
                      const value::Value& old, schema::FieldErrors& errors) const override {
    main_.ValidateUpdate(scope, object, old, errors);
  }

 private:
  const CustomStrategy& main_;
};

}  // namespace keelson::apiextensions
