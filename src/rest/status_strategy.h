#pragma once

// The status subresource of kinds that have no strategy of its own for it: a write there changes
// status and metadata, and keeps everything else. The kind's strategy is asked too, with
// scope.subresource "status".

#include <string_view>
#include <vector>

#include "rest/strategy.h"
#include "schema/resource.h"

namespace keelson::rest {

class StatusStrategy final : public Strategy {
 public:
  // `main` is the kind's own strategy; both outlive this.
  StatusStrategy(const Strategy& main, const schema::ResourceInfo& stored);

  names::NameCheck name_check() const override { return main_.name_check(); }
  bool AllowsUnconditionalUpdate() const override { return main_.AllowsUnconditionalUpdate(); }
  std::span<const std::string_view> ResetFields() const override { return kept_; }
  void PrepareForUpdate(const WriteScope& scope, value::Ref object,
                        const value::Value& old) const override;
  void ValidateUpdate(const WriteScope& scope, const value::Value& object, const value::Value& old,
                      schema::FieldErrors& errors) const override {
    main_.ValidateUpdate(scope, object, old, errors);
  }
  std::vector<std::string> Warnings(const WriteScope& scope, const value::Value& object,
                                    const value::Value* old) const override {
    return main_.Warnings(scope, object, old);
  }
  bool AwaitsFinalization(const value::Value& object) const override {
    return main_.AwaitsFinalization(object);
  }
  Task<void> AfterDelete(const value::Value& object) const override {
    return main_.AfterDelete(object);
  }

 private:
  const Strategy& main_;
  std::vector<std::string_view> kept_;  // fields of the object that are not the status' writer's
};

}  // namespace keelson::rest
