#include "apiextensions/conditions.h"

#include <chrono>

#include "value/timestamp.h"

namespace keelson::apiextensions {

using value::Ref;
using value::Value;

Value FindCondition(const Value& definition, std::string_view type) {
  const Value conditions = definition["status"]["conditions"];
  for (const Value& condition : conditions.items()) {
    if (condition["type"].AsString() == type) return condition.Shared();
  }
  return {};
}

bool IsConditionTrue(const Value& definition, std::string_view type) {
  return FindCondition(definition, type)["status"].AsString() == kTrue;
}

bool HasCondition(const Value& definition, const Condition& condition) {
  const Value found = FindCondition(definition, condition.type);
  return found["status"].AsString() == condition.status &&
         found["reason"].AsString() == condition.reason &&
         found["message"].AsString() == condition.message;
}

void SetCondition(Ref definition, const Condition& condition, WallTime now) {
  const Value before = FindCondition(definition.Get(), condition.type);
  auto& builder = definition.builder();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const Value time = before["status"].AsString() == condition.status
                         ? before["lastTransitionTime"]
                         : builder.String(value::FormatTime({.seconds = seconds}));
  Ref list = definition.Field("status").Field("conditions");
  if (list.kind() != value::Kind::kList) list.Set(Value::EmptyList());
  size_t place = 0;
  while (place < list.size() && list.Get().items()[place]["type"].AsString() != condition.type) {
    ++place;
  }
  if (place == list.size()) list.Append(Value::EmptyObject());
  Ref entry = list.Item(place);
  entry.SetField("type", builder.String(condition.type));
  entry.SetField("status", builder.String(condition.status));
  entry.SetField("lastTransitionTime", time);
  entry.SetField("reason", builder.String(condition.reason));
  entry.SetField("message", builder.String(condition.message));
}

}  // namespace keelson::apiextensions
