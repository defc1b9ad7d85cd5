#pragma once

// Namespace: born active, held by the finalizers of its spec, dying until they are gone.
//
// A delete only marks it: phase Terminating, a deletion time, nothing else changes. Whoever empties
// it (a controller) then removes the finalizer through the finalize subresource, and with the last
// one the namespace vanishes.

#include "rest/strategy.h"

namespace keelson::kube::core {

class NamespaceStrategy : public rest::Strategy {
 public:
  names::NameCheck name_check() const override { return names::NameIsDnsLabel; }
  void PrepareForCreate(const rest::WriteScope& scope, value::Ref object) const override;
  void PrepareForUpdate(const rest::WriteScope& scope, value::Ref object,
                        const value::Value& old) const override;
  void Validate(const rest::WriteScope& scope, const value::Value& object,
                schema::FieldErrors& errors) const override;
  void ValidateUpdate(const rest::WriteScope& scope, const value::Value& object,
                      const value::Value& old, schema::FieldErrors& errors) const override;

  void PrepareForDelete(const rest::WriteScope& scope, value::Ref object) const override;
  bool AwaitsFinalization(const value::Value& object) const override;
};

// What the finalize subresource does: it alone changes spec.finalizers.
class NamespaceFinalizeStrategy final : public NamespaceStrategy {
 public:
  std::span<const std::string_view> ResetFields() const override { return kReset; }
  void PrepareForUpdate(const rest::WriteScope& scope, value::Ref object,
                        const value::Value& old) const override;
  void ValidateUpdate(const rest::WriteScope& scope, const value::Value& object,
                      const value::Value& old, schema::FieldErrors& errors) const override;

 private:
  static constexpr std::string_view kReset[] = {"status"};
};

}  // namespace keelson::kube::core
