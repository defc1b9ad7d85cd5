#include <algorithm>

#include "kube/core/kinds.h"
#include "kube/core/resource_names.h"

namespace keelson::kube::core {
namespace {

constexpr std::string_view kScopes[] = {"Terminating",
                                        "NotTerminating",
                                        "BestEffort",
                                        "NotBestEffort",
                                        "PriorityClass",
                                        "VolumeAttributesClass",
                                        "CrossNamespacePodAffinity"};
constexpr std::string_view kPodResources[] = {
    "pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"};

template <size_t N>
bool OneOf(std::string_view text, const std::string_view (&values)[N]) {
  return std::ranges::find(values, text) != std::end(values);
}

bool ScopeFits(std::string_view scope, std::string_view resource) {
  if (scope == "BestEffort") return resource == "pods";
  if (scope == "VolumeAttributesClass") {
    return resource == "persistentvolumeclaims" || resource == "requests.storage";
  }
  return !OneOf(scope, kScopes) || OneOf(resource, kPodResources);
}

void CheckAmounts(schema::MapView<std::string_view> amounts, const Path& path,
                  FieldErrors& errors) {
  for (const auto [resource, quantity] : amounts) {
    const Path at = path.Key(resource);
    CheckQuotaResourceName(resource, at, errors);
    CheckResourceAmount(resource, quantity, at, errors);
  }
}

// How often a scope is applied to something it says nothing about.
template <typename Refuse>
void CheckScopeFits(const v1::ResourceQuotaSpec& spec, std::string_view scope, Refuse&& refuse) {
  for (const auto [resource, quantity] : spec.hard()) {
    if (IsStandardQuotaResource(resource) && !ScopeFits(scope, resource)) refuse();
  }
}

template <typename HasScope, typename Refuse>
void CheckConflicts(HasScope&& has, Refuse&& refuse) {
  if (has("BestEffort") && has("NotBestEffort")) refuse();
  if (has("Terminating") && has("NotTerminating")) refuse();
}

void CheckScopes(const v1::ResourceQuotaSpec& spec, FieldErrors& errors) {
  const auto scopes = spec.scopes();
  auto refuse = [&](const char* why) {
    errors.push_back(Invalid(Path("spec").Child("scopes"), scopes.value(), why));
  };
  for (const auto scope : scopes) {
    if (!OneOf(scope, kScopes)) refuse("unsupported scope");
    CheckScopeFits(spec, scope, [&] { refuse("unsupported scope applied to resource"); });
  }
  CheckConflicts(
      [&](std::string_view scope) { return std::ranges::find(scopes, scope) != scopes.end(); },
      [&] { refuse("conflicting scopes"); });
}

void CheckOperator(const v1::ScopedResourceSelectorRequirement& term, const Path& path,
                   FieldErrors& errors) {
  const auto op = term.operator_();
  const auto scope = term.scopeName();
  const bool plain = scope != "PriorityClass" && scope != "VolumeAttributesClass";
  if (plain && OneOf(scope, kScopes) && op != "Exists") {
    errors.push_back(
        Invalid(path.Child("operator"), op,
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"));
  }
  if (op == "In" || op == "NotIn") {
    if (term.values().empty()) {
      errors.push_back(Required(
          path.Child("values"),
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!term.values().empty()) {
      errors.push_back(
          Invalid(path.Child("values"), term.values().value(),
                  "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                  "selector"));
    }
  } else {
    errors.push_back(Invalid(path.Child("operator"), op, "not a valid selector operator"));
  }
}

void CheckScopeSelector(const v1::ResourceQuotaSpec& spec, FieldErrors& errors) {
  const auto selector = spec.scopeSelector();
  if (!selector) return;
  const auto terms = selector.matchExpressions();
  const Path spec_path("spec");
  const Path selector_path = spec_path.Child("scopeSelector");
  const Path path = selector_path.Child("matchExpressions");
  for (const auto term : terms) {
    if (!OneOf(term.scopeName(), kScopes)) {
      errors.push_back(Invalid(path.Child("scopeName"), term.scopeName(), "unsupported scope"));
    }
    CheckScopeFits(spec, term.scopeName(), [&] {
      errors.push_back(Invalid(path, selector.value(), "unsupported scope applied to resource"));
    });
    CheckOperator(term, path, errors);
  }
  CheckConflicts(
      [&](std::string_view scope) {
        return std::ranges::any_of(terms,
                                   [&](const auto& term) { return term.scopeName() == scope; });
      },
      [&] { errors.push_back(Invalid(path, spec.scopes().value(), "conflicting scopes")); });
}

void CheckSpec(const v1::ResourceQuotaSpec& spec, FieldErrors& errors) {
  const Path path("spec");
  CheckAmounts(spec.hard(), path.Child("hard"), errors);
  CheckScopes(spec, errors);
  CheckScopeSelector(spec, errors);
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckSpec(v1::ResourceQuota(object).spec(), errors);
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& stored,
                    FieldErrors& errors) {
  const auto spec = v1::ResourceQuota(object).spec();
  CheckSpec(spec, errors);
  const auto now = spec.scopes();
  const auto before = v1::ResourceQuota(stored).spec().scopes();
  auto covers = [](const auto& all, const auto& some) {
    return std::ranges::all_of(
        some, [&](std::string_view scope) { return std::ranges::find(all, scope) != all.end(); });
  };
  if (!covers(now, before) || !covers(before, now)) {
    errors.push_back(Immutable(Path("spec").Child("scopes"), now.value()));
  }
}

void ValidateStatus(const WriteScope&, const Value& object, const Value&, FieldErrors& errors) {
  const auto status = v1::ResourceQuota(object).status();
  const Path path("status");
  CheckAmounts(status.hard(), path.Child("hard"), errors);
  CheckAmounts(status.used(), path.Child("used"), errors);
}

}  // namespace

constinit const KindRules kResourceQuotaRules = {
    .validate = Validate,
    .validate_update = ValidateUpdate,
    .validate_status = ValidateStatus,
};

}  // namespace keelson::kube::core
