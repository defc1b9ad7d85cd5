// ControllerRevision: a past state of a workload, never changed.

#include "api/apps_v1.h"
#include "kube/workload/kinds.h"
#include "rest/field_checks.h"

namespace keelson::kube::workload {
namespace {

using api::apps_v1::ControllerRevision;
using rest::WriteScope;
using schema::FieldErrors;
using value::Path;
using value::Value;

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const ControllerRevision revision(object);
  rest::CheckNonnegative(revision.revision(), Path("revision"), errors);
  if (revision.data().is_null()) {
    errors.push_back(schema::Required(Path("data"), "data is mandatory"));
  } else if (!revision.data().is_object()) {
    errors.push_back(schema::Required(Path("data"), "data must be a valid JSON object"));
  }
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  rest::CheckNonnegative(ControllerRevision(object).revision(), Path("revision"), errors);
  const Value data = ControllerRevision(object).data();
  if (data != ControllerRevision(old).data()) {
    errors.push_back(schema::Immutable(Path("data"), data));
  }
}

}  // namespace

const rest::RuleStrategy kControllerRevision({.validate = Validate,
                                              .validate_update = ValidateUpdate});

}  // namespace keelson::kube::workload
