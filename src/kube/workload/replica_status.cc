#include "kube/workload/replica_status.h"

#include <string>

#include "rest/field_checks.h"

namespace keelson::kube::workload {

using schema::FieldErrors;
using value::Path;
using value::Value;

void CheckCounts(const Value& status, std::span<const std::string_view> counts,
                 std::span<const CountLimit> limits, FieldErrors& errors) {
  const Path path("status");
  for (auto field : counts) {
    rest::CheckNonnegative(status[field].AsInt(), path.Child(field), errors);
  }
  for (const auto& limit : limits) {
    if (status[limit.field].AsInt() <= status[limit.limit].AsInt()) continue;
    errors.push_back(schema::Invalid(path.Child(limit.field), status[limit.field].AsInt(),
                                     std::string(limit.text)));
  }
}

void CheckCollisions(const Value& status, const Value& old, FieldErrors& errors) {
  const Value now = status["collisionCount"];
  const Value before = old["collisionCount"];
  if (before.is_null() || (!now.is_null() && now.AsInt() >= before.AsInt())) return;
  errors.push_back(schema::Invalid(Path("status").Child("collisionCount"), now.AsInt(),
                                   "cannot be decremented"));
}

}  // namespace keelson::kube::workload
