// Where a pod may run: affinity, topology spread, tolerations.

#include <fmt/format.h>

#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using schema::Duplicate;
using schema::Forbidden;
using schema::Invalid;
using schema::NotSupported;
using schema::Required;

using LabelSelector = api::meta_v1::LabelSelector;

void ValidateNodeRequirement(core::NodeSelectorRequirement requirement, bool any_label_value,
                             const Path& path, FieldErrors& errors) {
  const auto op = requirement.operator_();
  const auto values = requirement.values();
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      errors.push_back(
          Required(path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      errors.push_back(
          Forbidden(path.Child("values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values.size() != 1) {
      errors.push_back(Required(path.Child("values"),
                                "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    errors.push_back(Invalid(path.Child("operator"), op, "not a valid selector operator"));
  }
  CheckQualified(requirement.key(), path.Child("key"), errors);
  if (any_label_value) return;
  size_t i = 0;
  for (auto value : values) {
    AddInvalid(errors, path.Child("values").Index(i++), value, names::CheckLabelValue(value));
  }
}

void ValidateFieldRequirement(core::NodeSelectorRequirement requirement, const Path& path,
                              FieldErrors& errors) {
  const auto op = requirement.operator_();
  if (op == "In" || op == "NotIn") {
    if (requirement.values().size() != 1) {
      errors.push_back(Required(
          path.Child("values"),
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
    }
  } else {
    errors.push_back(Invalid(path.Child("operator"), op, "not a valid selector operator"));
  }
  if (requirement.key() != "metadata.name") {
    errors.push_back(
        Invalid(path.Child("key"), requirement.key(), "not a valid field selector key"));
    return;
  }
  size_t i = 0;
  for (auto value : requirement.values()) {
    CheckSubdomain(value, path.Child("values").Index(i++), errors);
  }
}

void ValidateNodeTerm(core::NodeSelectorTerm term, bool any_label_value, const Path& path,
                      FieldErrors& errors) {
  size_t i = 0;
  for (auto requirement : term.matchExpressions()) {
    ValidateNodeRequirement(requirement, any_label_value, path.Child("matchExpressions").Index(i++),
                            errors);
  }
  i = 0;
  for (auto requirement : term.matchFields()) {
    ValidateFieldRequirement(requirement, path.Child("matchFields").Index(i++), errors);
  }
}

void CheckWeight(int32_t weight, const Path& path, FieldErrors& errors) {
  if (weight <= 0 || weight > 100) {
    errors.push_back(Invalid(path.Child("weight"), weight, "must be in the range 1-100"));
  }
}

void ValidateNodeAffinity(core::NodeAffinity affinity, const Path& path, FieldErrors& errors) {
  if (auto required = affinity.requiredDuringSchedulingIgnoredDuringExecution()) {
    ValidateNodeSelector(required.value(),
                         path.Child("requiredDuringSchedulingIgnoredDuringExecution"), errors);
  }
  size_t i = 0;
  for (auto preferred : affinity.preferredDuringSchedulingIgnoredDuringExecution()) {
    const Path at = path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i++);
    CheckWeight(preferred.weight(), at, errors);
    ValidateNodeTerm(preferred.preference(), /*any_label_value=*/true, at.Child("preference"),
                     errors);
  }
}

void ValidateLabelKeys(ListView<std::string_view> keys, LabelSelector selector, const Path& path,
                       FieldErrors& errors) {
  if (keys.empty()) return;
  if (!selector) {
    errors.push_back(Forbidden(path, "must not be specified when labelSelector is not set"));
    return;
  }
  size_t i = 0;
  for (auto key : keys) CheckQualified(key, path.Index(i++), errors);
}

// matchLabelKeys are merged into the selector before this is asked, so a key that was in both is in
// the selector twice.
void ValidateMatchKeys(ListView<std::string_view> match, ListView<std::string_view> mismatch,
                       LabelSelector selector, const Path& path, FieldErrors& errors) {
  ValidateLabelKeys(match, selector, path.Child("matchLabelKeys"), errors);
  ValidateLabelKeys(mismatch, selector, path.Child("mismatchLabelKeys"), errors);
  if (match.empty()) return;
  std::unordered_map<std::string_view, size_t> index;
  size_t i = 0;
  for (auto key : match) index[key] = i++;
  SeenTexts keys;
  for (auto [key, value] : selector.matchLabels()) keys.Insert(key);
  for (auto requirement : selector.matchExpressions()) {
    const auto key = requirement.key();
    const auto found = index.find(key);
    if (found != index.end() && keys.Contains(key)) {
      errors.push_back(Invalid(path.Index(found->second), key,
                               "exists in both matchLabelKeys and labelSelector"));
    }
    keys.Insert(key);
  }
  SeenTexts mismatched;
  for (auto key : mismatch) mismatched.Insert(key);
  i = 0;
  for (auto key : match) {
    const size_t at = i++;
    if (!mismatched.Contains(key)) continue;
    errors.push_back(Invalid(path.Child("matchLabelKeys").Index(at), key,
                             "exists in both matchLabelKeys and mismatchLabelKeys"));
  }
}

void ValidatePodTerm(core::PodAffinityTerm term, const Path& path, FieldErrors& errors) {
  ValidateLabelSelector(term.labelSelector().value(), path.Child("labelSelector"), errors);
  ValidateLabelSelector(term.namespaceSelector().value(), path.Child("namespaceSelector"), errors);
  for (auto ns : term.namespaces()) CheckLabel(ns, path.Child("namespace"), errors);
  ValidateMatchKeys(term.matchLabelKeys(), term.mismatchLabelKeys(), term.labelSelector(), path,
                    errors);
  if (term.topologyKey().empty()) {
    errors.push_back(Required(path.Child("topologyKey"), "can not be empty"));
  }
  CheckQualified(term.topologyKey(), path.Child("topologyKey"), errors);
}

// PodAffinity and PodAntiAffinity have the same fields.
void ValidatePodAffinity(core::PodAffinity affinity, const Path& path, FieldErrors& errors) {
  size_t i = 0;
  for (auto term : affinity.requiredDuringSchedulingIgnoredDuringExecution()) {
    ValidatePodTerm(term, path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i++),
                    errors);
  }
  i = 0;
  for (auto weighted : affinity.preferredDuringSchedulingIgnoredDuringExecution()) {
    const Path at = path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i++);
    CheckWeight(weighted.weight(), at, errors);
    ValidatePodTerm(weighted.podAffinityTerm(), at.Child("podAffinityTerm"), errors);
  }
}

void CheckInclusionPolicy(std::optional<std::string_view> policy, const Path& path,
                          FieldErrors& errors) {
  static constexpr std::string_view kPolicies[] = {"Honor", "Ignore"};
  if (policy && !OneOf(*policy, kPolicies)) {
    errors.push_back(NotSupported(path, *policy, kPolicies));
  }
}

}  // namespace

void ValidateNodeSelector(const Value& selector, const Path& path, FieldErrors& errors) {
  const auto terms = core::NodeSelector(selector).nodeSelectorTerms();
  const Path list = path.Child("nodeSelectorTerms");
  if (terms.empty()) {
    errors.push_back(Required(list, "must have at least one node selector term"));
  }
  size_t i = 0;
  for (auto term : terms)
    ValidateNodeTerm(term, /*any_label_value=*/false, list.Index(i++), errors);
}

void ValidateAffinity(core::Affinity affinity, const Path& path, FieldErrors& errors) {
  if (!affinity) return;
  if (auto node = affinity.nodeAffinity()) {
    ValidateNodeAffinity(node, path.Child("nodeAffinity"), errors);
  }
  if (auto pod = affinity.podAffinity()) {
    ValidatePodAffinity(pod, path.Child("podAffinity"), errors);
  }
  if (auto anti = affinity.podAntiAffinity()) {
    ValidatePodAffinity(core::PodAffinity(anti.value()), path.Child("podAntiAffinity"), errors);
  }
}

void ValidateTopologySpread(ListView<core::TopologySpreadConstraint> constraints, const Path& path,
                            FieldErrors& errors) {
  static constexpr std::string_view kActions[] = {"DoNotSchedule", "ScheduleAnyway"};
  if (constraints.empty()) return;
  std::unordered_map<std::string, size_t> left;  // how often each pair is still to come
  for (auto constraint : constraints) {
    ++left[fmt::format("{{{}, {}}}", constraint.topologyKey(), constraint.whenUnsatisfiable())];
  }
  size_t i = 0;
  for (auto constraint : constraints) {
    const Path at = path.Index(i++);
    const auto action = constraint.whenUnsatisfiable();
    CheckPositive(constraint.maxSkew(), at.Child("maxSkew"), errors);
    if (constraint.topologyKey().empty()) {
      errors.push_back(Required(at.Child("topologyKey"), "can not be empty"));
    }
    if (!OneOf(action, kActions)) {
      errors.push_back(NotSupported(at.Child("whenUnsatisfiable"), action, kActions));
    }
    const auto pair = fmt::format("{{{}, {}}}", constraint.topologyKey(), action);
    if (--left[pair] > 0) {
      errors.push_back(Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), pair));
    }
    if (auto domains = constraint.minDomains()) {
      CheckPositive(*domains, at.Child("minDomains"), errors);
      if (action != "DoNotSchedule") {
        errors.push_back(Invalid(
            at.Child("minDomains"), *domains,
            fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                        action)));
      }
    }
    CheckInclusionPolicy(constraint.nodeAffinityPolicy(), at.Child("nodeAffinityPolicy"), errors);
    CheckInclusionPolicy(constraint.nodeTaintsPolicy(), at.Child("nodeTaintsPolicy"), errors);
    ValidateMatchKeys(constraint.matchLabelKeys(), {}, constraint.labelSelector(), at, errors);
    ValidateLabelSelector(constraint.labelSelector().value(), at.Child("labelSelector"), errors);
  }
}

void ValidateTolerations(ListView<core::Toleration> tolerations, const Path& path,
                         FieldErrors& errors) {
  static constexpr std::string_view kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  static constexpr std::string_view kOperators[] = {"Equal", "Exists"};
  static constexpr std::string_view kAllOperators[] = {"Equal", "Exists", "Lt", "Gt"};
  size_t i = 0;
  for (auto toleration : tolerations) {
    const Path at = path.Index(i++);
    const auto op = toleration.operator_();
    const auto value = toleration.value_();
    const auto effect = toleration.effect();
    if (!toleration.key().empty()) {
      CheckQualified(toleration.key(), at.Child("key"), errors);
    } else if (op != "Exists") {
      errors.push_back(Invalid(at.Child("operator"), op,
                               "operator must be Exists when `key` is empty, which means \"match "
                               "all values and all keys\""));
    }
    if (toleration.tolerationSeconds() && effect != "NoExecute") {
      errors.push_back(Invalid(at.Child("effect"), effect,
                               "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (op.empty() || op == "Equal") {
      if (auto complaints = names::CheckLabelValue(value); !complaints.empty()) {
        errors.push_back(
            Invalid(at.Child("operator"), value, fmt::format("{}", fmt::join(complaints, ";"))));
      }
    } else if (op == "Exists") {
      if (!value.empty()) {
        errors.push_back(Invalid(at.Child("operator"), value,
                                 "value must be empty when `operator` is 'Exists'"));
      }
    } else if (op == "Lt" || op == "Gt") {
      errors.push_back(NotSupported(at.Child("operator"), op, kAllOperators));
    } else {
      errors.push_back(NotSupported(at.Child("operator"), op, kOperators));
    }
    if (!effect.empty() && !OneOf(effect, kEffects)) {
      errors.push_back(NotSupported(at.Child("effect"), effect, kEffects));
    }
  }
}

}  // namespace keelson::kube::pod
