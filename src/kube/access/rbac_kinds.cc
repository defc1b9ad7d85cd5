#include "kube/access/rbac_kinds.h"

#include <string>
#include <utility>

#include "api/authentication_v1.h"
#include "api/rbac_v1.h"
#include "base/names.h"
#include "kube/access/policy_objects.h"
#include "rest/field_checks.h"
#include "rest/kind_rules.h"
#include "value/path.h"

namespace keelson::kube::access {
namespace {

using rest::WriteScope;
using schema::FieldErrors;
using value::Path;
using value::Value;
namespace v1 = api::rbac_v1;

void CheckRule(const v1::PolicyRule& rule, bool namespaced, const Path& path, FieldErrors& errors) {
  if (rule.verbs().empty()) {
    errors.push_back(
        schema::Required(path.Child("verbs"), "verbs must contain at least one value"));
  }
  if (!rule.nonResourceURLs().empty()) {
    const auto urls = path.Child("nonResourceURLs");
    if (namespaced) {
      errors.push_back(schema::Invalid(urls, rule.nonResourceURLs().value(),
                                       "namespaced rules cannot apply to non-resource URLs"));
    }
    if (!rule.apiGroups().empty() || !rule.resources().empty() || !rule.resourceNames().empty()) {
      errors.push_back(
          schema::Invalid(urls, rule.nonResourceURLs().value(),
                          "rules cannot apply to both regular resources and non-resource URLs"));
    }
    return;
  }
  if (rule.apiGroups().empty()) {
    errors.push_back(schema::Required(path.Child("apiGroups"),
                                      "resource rules must supply at least one api group"));
  }
  if (rule.resources().empty()) {
    errors.push_back(schema::Required(path.Child("resources"),
                                      "resource rules must supply at least one resource"));
  }
}

void CheckRules(const schema::ListView<v1::PolicyRule>& rules, bool namespaced,
                FieldErrors& errors) {
  for (size_t i = 0; i < rules.size(); ++i) {
    CheckRule(rules[i], namespaced, Path("rules").Index(i), errors);
  }
}

void ValidateRole(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckRules(v1::Role(object).rules(), /*namespaced=*/true, errors);
}

void ValidateClusterRole(const WriteScope&, const Value& object, FieldErrors& errors) {
  const v1::ClusterRole role(object);
  CheckRules(role.rules(), /*namespaced=*/false, errors);
  if (!role.aggregationRule()) return;
  const auto selectors = role.aggregationRule().clusterRoleSelectors();
  const auto path = Path("aggregationRule").Child("clusterRoleSelectors");
  if (selectors.empty()) {
    errors.push_back(schema::Required(
        path, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  for (size_t i = 0; i < selectors.size(); ++i) {
    rest::CheckLabelSelector(selectors[i].value(), path.Index(i), errors);
  }
}

void CheckSubject(const v1::Subject& subject, bool namespaced, const Path& path,
                  FieldErrors& errors) {
  static constexpr std::string_view kKinds[] = {"ServiceAccount", "User", "Group"};
  static constexpr std::string_view kNoGroup[] = {""};
  static constexpr std::string_view kGroup[] = {kRbacGroup};
  if (subject.name().empty()) errors.push_back(schema::Required(path.Child("name"), ""));
  if (subject.kind() == "ServiceAccount") {
    if (!subject.name().empty()) {
      rest::CheckName(subject.name(), names::NameIsDnsSubdomain, path.Child("name"), errors);
    }
    rest::CheckSupported(subject.apiGroup(), kNoGroup, path.Child("apiGroup"), errors);
    if (!namespaced && subject.namespace_().empty()) {
      errors.push_back(schema::Required(path.Child("namespace"), ""));
    }
  } else if (subject.kind() == "User" || subject.kind() == "Group") {
    rest::CheckSupported(subject.apiGroup(), kGroup, path.Child("apiGroup"), errors);
  } else {
    errors.push_back(schema::NotSupported(path.Child("kind"), subject.kind(), kKinds));
  }
}

void CheckRoleRef(const v1::RoleRef& role, std::span<const std::string_view> kinds,
                  FieldErrors& errors) {
  static constexpr std::string_view kGroup[] = {kRbacGroup};
  const Path path("roleRef");
  rest::CheckSupported(role.apiGroup(), kGroup, path.Child("apiGroup"), errors);
  rest::CheckSupported(role.kind(), kinds, path.Child("kind"), errors);
  if (role.name().empty()) {
    errors.push_back(schema::Required(path.Child("name"), ""));
  } else {
    rest::CheckName(role.name(), names::NameIsPathSegment, path.Child("name"), errors);
  }
}

void CheckSubjects(const schema::ListView<v1::Subject>& subjects, bool namespaced,
                   FieldErrors& errors) {
  for (size_t i = 0; i < subjects.size(); ++i) {
    CheckSubject(subjects[i], namespaced, Path("subjects").Index(i), errors);
  }
}

void ValidateRoleBinding(const WriteScope&, const Value& object, FieldErrors& errors) {
  static constexpr std::string_view kKinds[] = {"Role", "ClusterRole"};
  const v1::RoleBinding binding(object);
  CheckRoleRef(binding.roleRef(), kKinds, errors);
  CheckSubjects(binding.subjects(), /*namespaced=*/true, errors);
}

void ValidateClusterRoleBinding(const WriteScope&, const Value& object, FieldErrors& errors) {
  static constexpr std::string_view kKinds[] = {"ClusterRole"};
  const v1::ClusterRoleBinding binding(object);
  CheckRoleRef(binding.roleRef(), kKinds, errors);
  CheckSubjects(binding.subjects(), /*namespaced=*/false, errors);
}

// What is bound stays bound. The value is printed with the names of upstream's struct.
void CheckSameRole(const Value& object, const Value& old, FieldErrors& errors) {
  const v1::RoleRef now(object["roleRef"]);
  const v1::RoleRef was(old["roleRef"]);
  if (now.apiGroup() == was.apiGroup() && now.kind() == was.kind() && now.name() == was.name()) {
    return;
  }
  std::string text = R"({"APIGroup":)";
  AppendJsonString(text, now.apiGroup());
  text += R"(,"Kind":)";
  AppendJsonString(text, now.kind());
  text += R"(,"Name":)";
  AppendJsonString(text, now.name());
  text += "}";
  errors.push_back(schema::Invalid(Path("roleRef"), schema::BadValue::Json(std::move(text)),
                                   "cannot change roleRef"));
}

void ValidateRoleBindingUpdate(const WriteScope& scope, const Value& object, const Value& old,
                               FieldErrors& errors) {
  ValidateRoleBinding(scope, object, errors);
  CheckSameRole(object, old, errors);
}

void ValidateClusterRoleBindingUpdate(const WriteScope& scope, const Value& object,
                                      const Value& old, FieldErrors& errors) {
  ValidateClusterRoleBinding(scope, object, errors);
  CheckSameRole(object, old, errors);
}

constexpr rest::RuleStrategy kRole({.name_check = names::NameIsPathSegment,
                                    .create_on_update = true,
                                    .validate = ValidateRole});
constexpr rest::RuleStrategy kClusterRole({.name_check = names::NameIsPathSegment,
                                           .create_on_update = true,
                                           .validate = ValidateClusterRole});
constexpr rest::RuleStrategy kRoleBinding({.name_check = names::NameIsPathSegment,
                                           .create_on_update = true,
                                           .validate = ValidateRoleBinding,
                                           .validate_update = ValidateRoleBindingUpdate});
constexpr rest::RuleStrategy kClusterRoleBinding(
    {.name_check = names::NameIsPathSegment,
     .create_on_update = true,
     .validate = ValidateClusterRoleBinding,
     .validate_update = ValidateClusterRoleBindingUpdate});

void DefaultRoleRef(schema::StructEditor& role) {
  role.SetDefault(v1::RoleRef::Names::apiGroup, Value::String(kRbacGroup));
}

void DefaultSubject(schema::StructEditor& subject) {
  const auto kind = subject.Get(v1::Subject::Names::kind).AsString();
  if (kind == "User" || kind == "Group") {
    subject.SetDefault(v1::Subject::Names::apiGroup, Value::String(kRbacGroup));
  }
}

void DefaultTokenRequest(schema::StructEditor& spec) {
  constexpr int64_t kHour = 3600;
  using Names = api::authentication_v1::TokenRequestSpec::Names;
  spec.SetDefault(Names::expirationSeconds, value::Value::Int(kHour));
}

}  // namespace

std::span<const rest::KindStrategy> Strategies() {
  static const rest::KindStrategy kStrategies[] = {
      {kRbacGroup, "roles", &kRole},
      {kRbacGroup, "clusterroles", &kClusterRole},
      {kRbacGroup, "rolebindings", &kRoleBinding},
      {kRbacGroup, "clusterrolebindings", &kClusterRoleBinding},
  };
  return kStrategies;
}

std::span<const schema::DefaultHook> Defaults() {
  static const schema::DefaultHook kHooks[] = {
      {&v1::RoleRef::Schema(), DefaultRoleRef},
      {&v1::Subject::Schema(), DefaultSubject},
      {&api::authentication_v1::TokenRequestSpec::Schema(), DefaultTokenRequest},
  };
  return kHooks;
}

}  // namespace keelson::kube::access
