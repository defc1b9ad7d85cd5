#include "kube/pod/conditions.h"

#include <chrono>

#include "value/timestamp.h"

namespace keelson::kube::pod {

using value::Ref;
using value::Value;

void SetCondition(Ref pod, const PodCondition& condition, WallTime now) {
  Ref list = pod.Field("status").Field("conditions");
  if (!list.Get().is_list()) list.Set(Value::EmptyList());
  const Value before = list.Get();
  size_t index = 0;
  while (index < before.items().size() && before.At(index)["type"].AsString() != condition.type) {
    ++index;
  }
  const Value old = before.At(index);
  Ref item = pod.Field("status").Field("conditions");
  item = old.is_null() ? item.Append(Value::EmptyObject()) : item.Item(index);
  if (old["status"].AsString() != condition.status) {
    const int64_t seconds =
        std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    item.SetField("lastTransitionTime",
                  pod.builder().String(value::FormatTime({.seconds = seconds})));
  }
  item.SetField("type", Value::String(condition.type));
  item.SetField("status", Value::String(condition.status));
  for (auto [name, text] :
       {std::pair("reason", condition.reason), std::pair("message", condition.message)}) {
    if (text.empty()) {
      item.RemoveField(name);
    } else {
      item.SetField(name, Value::String(text));
    }
  }
}

}  // namespace keelson::kube::pod
