#include "api/coordination_v1.h"
#include "kube/core/kinds.h"

namespace keelson::kube::core {
namespace {

using Spec = api::coordination_v1::LeaseSpec;

// The fields of coordinated leader election, which is off, unless they were stored before.
void DropDisabled(Ref object, const Value* old) {
  const Value stored = old ? (*old)["spec"] : Value();
  const Value spec = object.Get()["spec"];
  for (const auto* name : {&Spec::Names::strategy, &Spec::Names::preferredHolder}) {
    if (spec.Find(*name) && !stored.Find(*name)) object.Field("spec").RemoveField(*name);
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const Spec spec = api::coordination_v1::Lease(object).spec();
  if (auto seconds = spec.leaseDurationSeconds(); seconds && *seconds <= 0) {
    errors.push_back(
        Invalid(Path("spec").Child("leaseDurationSeconds"), *seconds, "must be greater than 0"));
  }
  if (auto count = spec.leaseTransitions(); count && *count < 0) {
    errors.push_back(Invalid(Path("spec").Child("leaseTransitions"), *count,
                             "must be greater than or equal to 0"));
  }
}

}  // namespace

constinit const KindRules kLeaseRules = {
    .create_on_update = true,
    .unconditional_update = false,
    .prepare_for_create = [](const WriteScope&, Ref object) { DropDisabled(object, nullptr); },
    .prepare_for_update = [](const WriteScope&, Ref object,
                             const Value& old) { DropDisabled(object, &old); },
    .validate = Validate,
};

}  // namespace keelson::kube::core
