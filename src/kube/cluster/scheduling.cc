// PriorityClass and RuntimeClass: which pods come first, and what runs them.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "api/node_v1.h"
#include "api/scheduling_v1.h"
#include "kube/cluster/kinds.h"
#include "kube/pod/validation.h"
#include "rest/field_checks.h"
#include "rest/object_meta.h"
#include "schema/internal_form.h"

namespace keelson::kube::cluster {
namespace {

using api::core_v1::Toleration;
using api::node_v1::RuntimeClass;
using api::scheduling_v1::PriorityClass;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Required;
using value::Path;
using value::Ref;
using value::Value;

constexpr int32_t kHighestUserPriority = 1'000'000'000;
constexpr std::string_view kSystemPrefix = "system-";

struct SystemClass {
  std::string_view name;
  int32_t value;
};
constexpr SystemClass kSystemClasses[] = {{"system-node-critical", 2'000'001'000},
                                          {"system-cluster-critical", 2'000'000'000}};

// Why a class with a system name is none of the system's; empty when it is.
std::string SystemClassComplaint(const PriorityClass& object) {
  const auto name = object.metadata().name();
  const auto* known = std::ranges::find(kSystemClasses, name, &SystemClass::name);
  if (known == std::end(kSystemClasses)) {
    return fmt::format("{} is not a known system priority class", name);
  }
  if (object.value_() != known->value) {
    return fmt::format("value of {} PriorityClass must be {}", name, known->value);
  }
  if (object.globalDefault()) {
    return fmt::format("globalDefault of {} PriorityClass must be false", name);
  }
  return "";
}

void ValidatePriority(const WriteScope&, const Value& value, FieldErrors& errors) {
  static constexpr std::string_view kPreemption[] = {"PreemptLowerPriority", "Never"};
  const PriorityClass object(value);
  if (object.metadata().name().starts_with(kSystemPrefix)) {
    if (auto complaint = SystemClassComplaint(object); !complaint.empty()) {
      errors.push_back(Forbidden(Path("metadata").Child("name"),
                                 "priority class names with 'system-' prefix are reserved for "
                                 "system use only. error: " +
                                     complaint));
    }
  } else if (object.value_() > kHighestUserPriority) {
    errors.push_back(Forbidden(Path("value"),
                               fmt::format("maximum allowed value of a user defined priority is {}",
                                           kHighestUserPriority)));
  }
  if (auto policy = object.preemptionPolicy()) {
    rest::CheckRequiredChoice(*policy, kPreemption, Path("preemptionPolicy"), errors);
  }
}

void ValidatePriorityUpdate(const WriteScope&, const Value& object, const Value& old,
                            FieldErrors& errors) {
  if (PriorityClass(object).value_() != PriorityClass(old).value_()) {
    errors.push_back(Forbidden(Path("value"), "may not be changed in an update."));
  }
  rest::CheckImmutableField(PriorityClass::Schema(), PriorityClass::Names::preemptionPolicy, object,
                            old, Path(), errors);
}

// Nothing it may change counts.
void SetFirstGeneration(const WriteScope&, Ref object) {
  object.Field("metadata").SetField("generation", Value::Int(1));
}

void CheckTolerations(const RuntimeClass& object, const Path& path, FieldErrors& errors) {
  const auto tolerations = object.scheduling().tolerations();
  pod::ValidateTolerations(tolerations, path, errors);
  if (tolerations.size() < 2) return;
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const auto toleration = tolerations[i];
    if (!seen.insert(fmt::format("{}\n{}\n{}\n{}", toleration.key(), toleration.operator_(),
                                 toleration.value_(), toleration.effect()))
             .second) {
      errors.push_back(schema::Duplicate(
          path.Index(i), schema::InternalBadValue(Toleration::Schema(), toleration.value())));
    }
  }
}

void ValidateRuntime(const WriteScope&, const Value& value, FieldErrors& errors) {
  const RuntimeClass object(value);
  if (object.handler().empty()) {
    errors.push_back(Required(Path("handler"), ""));
  } else {
    rest::CheckName(object.handler(), names::NameIsDnsLabel, Path("handler"), errors);
  }
  if (object.overhead()) {
    // Upstream checks it as the limits of a container.
    using api::core_v1::ResourceRequirements;
    const value::Member limits[] = {
        {&ResourceRequirements::Names::limits, object.overhead().podFixed().value()}};
    pod::ValidateContainerResources(ResourceRequirements(Value::Object(limits)), {},
                                    Path("overhead"), errors);
  }
  const Path scheduling("scheduling");
  rest::ValidateLabels(object.scheduling().nodeSelector().value(), scheduling.Child("nodeSelector"),
                       errors);
  CheckTolerations(object, scheduling.Child("tolerations"), errors);
}

void ValidateRuntimeUpdate(const WriteScope&, const Value& object, const Value& old,
                           FieldErrors& errors) {
  rest::CheckImmutableField(RuntimeClass::Schema(), RuntimeClass::Names::handler, object, old,
                            Path(), errors);
}

}  // namespace

Rules kPriorityClass({.prepare_for_create = SetFirstGeneration,
                      .validate = ValidatePriority,
                      .validate_update = ValidatePriorityUpdate});

Rules kRuntimeClass({.create_on_update = true,
                     .unconditional_update = false,
                     .validate = ValidateRuntime,
                     .validate_update = ValidateRuntimeUpdate});

}  // namespace keelson::kube::cluster
