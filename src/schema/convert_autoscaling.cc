// HorizontalPodAutoscaler between autoscaling v1 and v2.
//
// v1 knows one metric, CPU utilisation, as a field of its own. What else v2 holds travels in
// annotations of the v1 object: other metrics and the status of metrics in v1's shape of them,
// conditions, and the scaling behaviour (there with Go's field names, as upstream writes it).

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "schema/convert.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using value::Arena;
using value::Member;
using value::Value;

constexpr std::string_view kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr std::string_view kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr int64_t kDefaultCpuUtilization = 80;

// Where a value stands in v1's metric and in v2's; a dot steps into an object.
struct Move {
  std::string_view v1;
  std::string_view v2;
};
struct MetricShape {
  std::string_view source;  // the member of the metric that holds it
  std::vector<Move> spec;
  std::vector<Move> status;
};

const std::vector<MetricShape>& Shapes() {
  static const std::vector<MetricShape> shapes = {
      {"object",
       {{"target", "describedObject"},
        {"metricName", "metric.name"},
        {"selector", "metric.selector"},
        {"targetValue", "target.value"},
        {"averageValue", "target.averageValue"}},
       {{"target", "describedObject"},
        {"metricName", "metric.name"},
        {"selector", "metric.selector"},
        {"currentValue", "current.value"},
        {"averageValue", "current.averageValue"}}},
      {"pods",
       {{"metricName", "metric.name"},
        {"selector", "metric.selector"},
        {"targetAverageValue", "target.averageValue"}},
       {{"metricName", "metric.name"},
        {"selector", "metric.selector"},
        {"currentAverageValue", "current.averageValue"}}},
      {"resource",
       {{"name", "name"},
        {"targetAverageUtilization", "target.averageUtilization"},
        {"targetAverageValue", "target.averageValue"}},
       {{"name", "name"},
        {"currentAverageUtilization", "current.averageUtilization"},
        {"currentAverageValue", "current.averageValue"}}},
      {"containerResource",
       {{"name", "name"},
        {"container", "container"},
        {"targetAverageUtilization", "target.averageUtilization"},
        {"targetAverageValue", "target.averageValue"}},
       {{"name", "name"},
        {"container", "container"},
        {"currentAverageUtilization", "current.averageUtilization"},
        {"currentAverageValue", "current.averageValue"}}},
      {"external",
       {{"metricName", "metric.name"},
        {"metricSelector", "metric.selector"},
        {"targetValue", "target.value"},
        {"targetAverageValue", "target.averageValue"}},
       {{"metricName", "metric.name"},
        {"metricSelector", "metric.selector"},
        {"currentValue", "current.value"},
        {"currentAverageValue", "current.averageValue"}}},
  };
  return shapes;
}

class Conversion {
 public:
  explicit Conversion(Arena& arena) : arena_(arena) {}

  // The object with one member set; null removes it.
  Value With(const Value& object, std::string_view name, Value value) {
    std::vector<Member> members;
    bool found = false;
    for (const Member& member : object.members()) {
      if (member.key() != name) {
        members.push_back(member);
      } else {
        found = true;
        if (!value.is_null()) members.emplace_back(member.name, value);
      }
    }
    if (!found && !value.is_null()) {
      members.emplace_back(value::InternName(arena_, name), value);
    }
    return Object(members);
  }
  Value Object(const std::vector<Member>& members) {
    auto* copy = arena_.AllocateArray<Member>(members.size());
    std::copy(members.begin(), members.end(), copy);
    return Value::Object({copy, members.size()});
  }
  Value List(const std::vector<Value>& items) {
    auto* copy = arena_.AllocateArray<Value>(items.size());
    std::copy(items.begin(), items.end(), copy);
    return Value::List({copy, items.size()});
  }
  Value String(std::string_view text) { return Value::String(arena_.CopyString(text)); }
  // Null when the text is not JSON.
  Value Parse(std::string_view json) {
    value::JsonReader reader(arena_, json);
    std::string error;
    Value value = value::ReadJsonValue(reader, {}, error);
    return reader.failed() || !error.empty() ? Value() : value;
  }

  static Value GetPath(const Value& object, std::string_view path) {
    size_t dot = path.find('.');
    if (dot == std::string_view::npos) return object[path];
    return object[path.substr(0, dot)][path.substr(dot + 1)];
  }
  Value SetPath(const Value& object, std::string_view path, Value value) {
    size_t dot = path.find('.');
    if (dot == std::string_view::npos) return With(object, path, value);
    std::string_view outer = path.substr(0, dot);
    return With(object, outer, With(object[outer], path.substr(dot + 1), value));
  }

  // One metric, or the status of one, in the other version's shape.
  Value Metric(const Value& metric, bool to_v2, bool status) {
    Value out = With(Value::EmptyObject(), "type", metric["type"]);
    for (const MetricShape& shape : Shapes()) {
      Value source = metric[shape.source];
      if (source.is_null()) continue;
      Value moved = Value::EmptyObject();
      for (const Move& move : status ? shape.status : shape.spec) {
        Value value = GetPath(source, to_v2 ? move.v1 : move.v2);
        if (!value.is_null()) moved = SetPath(moved, to_v2 ? move.v2 : move.v1, value);
      }
      if (to_v2 && !status) moved = WithTargetType(shape.source, moved);
      out = With(out, shape.source, moved);
    }
    return out;
  }

  // v2 says what kind of target it is; v1 leaves it to which field is set.
  Value WithTargetType(std::string_view source, const Value& moved) {
    Value target = moved["target"];
    bool average = !target["averageValue"].is_null();
    bool utilization = !target["averageUtilization"].is_null();
    if (source == "object" && average && target["value"].AsString() == "0") {
      target = With(target, "value", Value());
    }
    std::string_view type =
        utilization ? "Utilization"
        : average || source == "pods" || source == "resource" || source == "containerResource"
            ? "AverageValue"
            : "Value";
    return With(moved, "target", With(target, "type", String(type)));
  }

  Value Metrics(const Value& list, bool to_v2, bool status) {
    std::vector<Value> out;
    for (const Value& metric : list.items()) out.push_back(Metric(metric, to_v2, status));
    return List(out);
  }

  // Renames the members of the behaviour between JSON's and Go's spelling, in all its depth.
  Value Respell(const Value& value, bool to_go) {
    if (value.is_list()) {
      std::vector<Value> items;
      for (const Value& item : value.items()) items.push_back(Respell(item, to_go));
      return List(items);
    }
    if (!value.is_object()) return value.Shared();
    std::vector<Member> members;
    for (const Member& member : value.members()) {
      std::string name(member.key());
      if (!name.empty()) {
        name[0] = static_cast<char>(to_go ? std::toupper(name[0]) : std::tolower(name[0]));
      }
      members.emplace_back(value::InternName(arena_, name), Respell(member.value, to_go));
    }
    return Object(members);
  }

  Value CpuMetric(int64_t utilization) {
    Value target = With(With(Value::EmptyObject(), "type", String("Utilization")),
                        "averageUtilization", Value::Int(utilization));
    Value source = With(With(Value::EmptyObject(), "name", String("cpu")), "target", target);
    return With(With(Value::EmptyObject(), "type", String("Resource")), "resource", source);
  }

  // Without the annotations that carry v2's fields.
  Value CleanAnnotations(const Value& annotations) {
    Value out = annotations.Shared();
    for (std::string_view name :
         {kMetrics, kCurrentMetrics, kConditions, kBehavior,
          std::string_view("autoscaling.alpha.kubernetes.io/scale-down-tolerance"),
          std::string_view("autoscaling.alpha.kubernetes.io/scale-up-tolerance")}) {
      if (out.Find(name)) out = With(out, name, Value());
    }
    return out;
  }

 private:
  Arena& arena_;
};

bool IsCpuUtilization(const Value& metric) {
  return metric["type"].AsString() == "Resource" &&
         metric["resource"]["name"].AsString() == "cpu" &&
         !metric["resource"]["target"]["averageUtilization"].is_null();
}

}  // namespace

Value AutoscalerToV2(const Value& object, Arena& arena) {
  Conversion c(arena);
  Value metadata = object["metadata"];
  Value annotations = metadata["annotations"];
  Value spec = object["spec"];
  Value status = object["status"];

  std::vector<Value> metrics;
  if (Value other = c.Parse(annotations[kMetrics].AsString()); other.is_list()) {
    for (const Value& metric : other.items()) metrics.push_back(c.Metric(metric, true, false));
  }
  Value utilization = spec["targetCPUUtilizationPercentage"];
  if (!utilization.is_null()) metrics.push_back(c.CpuMetric(utilization.AsInt()));
  if (metrics.empty()) metrics.push_back(c.CpuMetric(kDefaultCpuUtilization));
  spec = c.With(spec, "targetCPUUtilizationPercentage", Value());
  spec = c.With(spec, "metrics", c.List(metrics));
  if (Value behavior = c.Parse(annotations[kBehavior].AsString());
      behavior.is_object() && behavior.size() > 0) {
    spec = c.With(spec, "behavior", c.Respell(behavior, false));
  }

  Value cpu = status["currentCPUUtilizationPercentage"];
  status = c.With(status, "currentCPUUtilizationPercentage", Value());
  if (Value current = c.Parse(annotations[kCurrentMetrics].AsString()); current.is_list()) {
    status = c.With(status, "currentMetrics", c.Metrics(current, true, true));
  } else if (!cpu.is_null()) {
    Value value = c.With(Value::EmptyObject(), "averageUtilization", cpu);
    Value source = c.With(c.With(Value::EmptyObject(), "name", c.String("cpu")), "current", value);
    std::vector<Value> one = {
        c.With(c.With(Value::EmptyObject(), "type", c.String("Resource")), "resource", source)};
    status = c.With(status, "currentMetrics", c.List(one));
  }
  if (Value conditions = c.Parse(annotations[kConditions].AsString()); conditions.is_list()) {
    status = c.With(status, "conditions", conditions);
  }

  if (annotations.is_object()) {
    metadata = c.With(metadata, "annotations", c.CleanAnnotations(annotations));
  }
  return c.With(c.With(c.With(object, "metadata", metadata), "spec", spec), "status", status);
}

Value AutoscalerToV1(const Value& object, Arena& arena) {
  Conversion c(arena);
  Value metadata = object["metadata"];
  Value annotations = c.CleanAnnotations(metadata["annotations"]);
  Value spec = object["spec"];
  Value status = object["status"];

  std::vector<Value> other;
  Value utilization;
  for (const Value& metric : spec["metrics"].items()) {
    if (!IsCpuUtilization(metric)) {
      other.push_back(c.Metric(metric, false, false));
    } else if (utilization.is_null()) {
      utilization = metric["resource"]["target"]["averageUtilization"];
    }
  }
  Value cpu;
  for (const Value& metric : status["currentMetrics"].items()) {
    if (cpu.is_null() && metric["resource"]["name"].AsString() == "cpu") {
      cpu = metric["resource"]["current"]["averageUtilization"];
    }
  }
  auto annotate = [&](std::string_view name, const Value& value) {
    annotations = c.With(annotations, name, c.String(value::ToJson(value)));
  };
  if (!other.empty()) annotate(kMetrics, c.List(other));
  if (status["currentMetrics"].size() > 0) {
    annotate(kCurrentMetrics, c.Metrics(status["currentMetrics"], false, true));
  }
  if (Value behavior = spec["behavior"]; behavior.is_object()) {
    annotate(kBehavior, c.Respell(behavior, true));
  }
  if (status["conditions"].size() > 0) annotate(kConditions, status["conditions"]);

  spec = c.With(c.With(spec, "metrics", Value()), "behavior", Value());
  spec = c.With(spec, "targetCPUUtilizationPercentage", utilization);
  status = c.With(c.With(status, "currentMetrics", Value()), "conditions", Value());
  status = c.With(status, "currentCPUUtilizationPercentage", cpu);
  if (annotations.size() > 0 || metadata.Find("annotations")) {
    metadata = c.With(metadata, "annotations", annotations);
  }
  return c.With(c.With(c.With(object, "metadata", metadata), "spec", spec), "status", status);
}

}  // namespace keelson::schema
