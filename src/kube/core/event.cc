#include "kube/core/event.h"

#include <fmt/format.h>

#include "kube/core/kinds.h"

namespace keelson::kube::core {
namespace {

struct Limit {
  std::string_view field;
  size_t characters;
  bool required;
};
// What an event with eventTime must say, in the order upstream looks.
constexpr Limit kLimits[] = {
    {"reportingInstance", 128, true},
    {"action", 128, true},
    {"reason", 128, true},
    {"message", 1024, false},
};

bool HasTime(const Value& event, std::string_view field) {
  const Value time = event[field];
  return time.is_string() && !time.AsString().empty();
}

void CheckSeries(const v1::Event& event, FieldErrors& errors) {
  const auto series = event.series();
  if (!series) return;
  if (series.count() < 2) {
    errors.push_back(Invalid(Path("series.count"), "", "should be at least 2"));
  }
  if (!HasTime(series.value(), "lastObservedTime")) {
    errors.push_back(Required(Path("series.lastObservedTime"), ""));
  }
}

}  // namespace

void EventStrategy::CheckAlways(const Value& object, FieldErrors& errors) const {
  const v1::Event event(object);
  const auto ns = event.metadata().namespace_();
  const auto involved = event.involvedObject().namespace_();
  auto mismatch = [&] {
    errors.push_back(Invalid(Path("involvedObject").Child("namespace"), involved,
                             "does not match event.namespace"));
  };
  if (!HasTime(object, "eventTime")) {
    // Events about cluster-wide objects stand in the default namespace.
    if (involved.empty() ? !ns.empty() && ns != "default" : ns != involved) mismatch();
  } else {
    if (involved.empty() && ns != "default" && ns != "kube-system") mismatch();
    const Path reporter(rules_ == Rules::kCoreV1 ? "reportingComponent" : "reportingController");
    if (event.reportingComponent().empty()) errors.push_back(Required(reporter, ""));
    rest::CheckText(event.reportingComponent(), names::CheckQualifiedName, reporter, errors);
    for (const auto& limit : kLimits) {
      const auto text = object[limit.field].AsString();
      if (limit.required && text.empty()) errors.push_back(Required(Path(limit.field), ""));
      if (text.size() > limit.characters) {
        errors.push_back(Invalid(Path(limit.field), "",
                                 fmt::format("can have at most {} characters", limit.characters)));
      }
    }
  }
  rest::CheckText(ns, names::CheckDns1123Subdomain, Path("namespace"), errors);
}

void EventStrategy::Validate(const WriteScope&, const Value& object, FieldErrors& errors) const {
  CheckAlways(object, errors);
  if (rules_ == Rules::kCoreV1) return;
  const v1::Event event(object);
  CheckSeries(event, errors);
  if (!HasTime(object, "eventTime")) errors.push_back(Required(Path("eventTime"), ""));
  if (event.type() != "Normal" && event.type() != "Warning") {
    errors.push_back(Invalid(Path("type"), "", fmt::format("has invalid value: {}", event.type())));
  }
  auto unset = [&](std::string_view field, bool is_unset) {
    if (!is_unset) errors.push_back(Invalid(Path(field), "", "needs to be unset"));
  };
  unset("firstTimestamp", !HasTime(object, "firstTimestamp"));
  unset("lastTimestamp", !HasTime(object, "lastTimestamp"));
  unset("count", event.count() == 0);
  unset("source", event.source().component().empty() && event.source().host().empty());
}

void EventStrategy::ValidateUpdate(const WriteScope&, const Value& object, const Value& old,
                                   FieldErrors& errors) const {
  CheckAlways(object, errors);
  if (rules_ == Rules::kCoreV1) return;
  if (object["series"] != old["series"]) CheckSeries(v1::Event(object), errors);
  struct Fixed {
    std::string_view stored;
    std::string_view shown;
  };
  // Upstream lists reason twice.
  constexpr Fixed kFixed[] = {
      {"involvedObject", "involvedObject"},
      {"reason", "reason"},
      {"message", "message"},
      {"source", "source"},
      {"firstTimestamp", "firstTimestamp"},
      {"lastTimestamp", "lastTimestamp"},
      {"count", "count"},
      {"reason", "reason"},
      {"type", "type"},
      {"eventTime", "eventTime"},
      {"action", "action"},
      {"related", "related"},
      {"reportingComponent", "reportingController"},
      {"reportingInstance", "reportingInstance"},
  };
  for (const auto& field : kFixed) {
    if (object[field.stored] == old[field.stored]) continue;
    errors.push_back(Immutable(Path(field.shown), object[field.stored]));
  }
}

}  // namespace keelson::kube::core
