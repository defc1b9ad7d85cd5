// ValidatingAdmissionPolicy, MutatingAdmissionPolicy and their bindings. Whether the expressions
// compile is not looked at here.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/admissionregistration_v1.h"
#include "kube/cluster/admission_rules.h"
#include "kube/cluster/kinds.h"
#include "kube/cluster/storage_names.h"
#include "rest/field_checks.h"
#include "rest/seen_texts.h"

namespace keelson::kube::cluster {
namespace {

using api::admissionregistration_v1::AuditAnnotation;
using api::admissionregistration_v1::MatchResources;
using api::admissionregistration_v1::MutatingAdmissionPolicy;
using api::admissionregistration_v1::MutatingAdmissionPolicyBinding;
using api::admissionregistration_v1::Mutation;
using api::admissionregistration_v1::ParamKind;
using api::admissionregistration_v1::ParamRef;
using api::admissionregistration_v1::ValidatingAdmissionPolicy;
using api::admissionregistration_v1::ValidatingAdmissionPolicyBinding;
using api::admissionregistration_v1::Validation;
using api::admissionregistration_v1::Variable;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr size_t kMaxAuditAnnotations = 20;
constexpr size_t kMaxAuditExpression = 5 * 1024;
constexpr std::string_view kMutatingOperations[] = {"*", "CONNECT", "CREATE", "UPDATE"};

constexpr std::string_view kCelReserved[] = {
    "as",       "break",   "const",  "continue", "else", "false", "for",
    "function", "if",      "import", "in",       "let",  "loop",  "namespace",
    "null",     "package", "return", "true",     "var",  "void",  "while"};

bool IsCelIdentifier(std::string_view name) {
  const auto is_word = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::all_of(name, is_word) && !std::ranges::binary_search(kCelReserved, name);
}

std::string Joined(const names::Complaints& complaints) {
  return fmt::format("{}", fmt::join(complaints, ","));
}

void CheckParamKind(const ParamKind& kind, const Path& path, FieldErrors& errors) {
  const auto version_text = kind.apiVersion();
  const Path at = path.Child("apiVersion");
  if (version_text.empty()) {
    errors.push_back(Required(at, ""));
  } else if (std::ranges::count(version_text, '/') > 1) {
    errors.push_back(
        Invalid(at, version_text, fmt::format("unexpected GroupVersion string: {}", version_text)));
  } else {
    const auto slash = version_text.find('/');
    const bool grouped = slash != std::string_view::npos;
    const auto group = grouped ? version_text.substr(0, slash) : "";
    const auto version = grouped ? version_text.substr(slash + 1) : version_text;
    if (!group.empty() && !names::IsDns1123Subdomain(group)) {
      errors.push_back(Invalid(at, group, Joined(names::CheckDns1123Subdomain(group))));
    }
    if (version.empty()) {
      errors.push_back(Invalid(at, version_text, "version must be specified"));
    } else if (auto complaints = names::CheckDns1035Label(version); !complaints.empty()) {
      errors.push_back(Invalid(at, version, Joined(complaints)));
    }
  }
  if (kind.kind().empty()) {
    errors.push_back(Required(path.Child("kind"), ""));
  } else if (auto complaints = names::CheckDns1035Label(LowerCase(kind.kind()));
             !complaints.empty()) {
    errors.push_back(
        Invalid(path.Child("kind"), kind.kind(),
                "may have mixed case, but should otherwise match: " + Joined(complaints)));
  }
}

void CheckConstraints(const MatchResources& match, const Path& path, FieldErrors& errors) {
  if (!match) {
    errors.push_back(Required(path, ""));
    return;
  }
  CheckMatchResources(match, path, errors);
  if (match.resourceRules().empty()) errors.push_back(Required(path.Child("resourceRules"), ""));
}

void CheckMutatingOperations(const MatchResources& match, const Path& path, FieldErrors& errors) {
  for (auto rule : match.resourceRules()) {
    for (auto operation : rule.operations()) {
      rest::CheckSupported(operation, kMutatingOperations,
                           path.Child("resourceRules").Child("operations"), errors);
    }
  }
}

void CheckVariable(const Variable& variable, const Path& path, FieldErrors& errors) {
  if (TrimSpace(variable.name()).empty()) {
    errors.push_back(Required(path.Child("name"), "name is not specified"));
  } else if (!IsCelIdentifier(variable.name())) {
    errors.push_back(
        Invalid(path.Child("name"), variable.name(), "must be a valid CEL identifier"));
  }
  if (TrimSpace(variable.expression()).empty()) {
    errors.push_back(Required(path.Child("expression"), "expression is not specified"));
  }
}

void CheckValidation(const Validation& validation, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kReasons[] = {"Forbidden", "Invalid", "RequestEntityTooLarge"};
  if (TrimSpace(validation.expression()).empty()) {
    errors.push_back(Required(path.Child("expression"), "expression is not specified"));
  }
  const auto from_expression = validation.messageExpression();
  if (!from_expression.empty() && TrimSpace(from_expression).empty()) {
    errors.push_back(Invalid(path.Child("messageExpression"), from_expression,
                             "must be non-empty if specified"));
  }
  const auto message = validation.message();
  const auto trimmed = TrimSpace(message);
  if (!message.empty() && trimmed.empty()) {
    errors.push_back(Invalid(path.Child("message"), message, "must be non-empty if specified"));
  } else if (trimmed.find_first_of("\n\r") != std::string_view::npos) {
    errors.push_back(Invalid(path.Child("message"), message, "must not contain line breaks"));
  }
  if (auto reason = validation.reason()) {
    rest::CheckSupported(*reason, kReasons, path.Child("reason"), errors);
  }
}

void CheckAuditAnnotation(std::string_view policy, const AuditAnnotation& annotation,
                          const Path& path, FieldErrors& errors) {
  if (policy.empty()) {
    errors.push_back(
        Invalid(path.Child("key"), annotation.key(), "requires metadata.name be non-empty"));
  } else {
    const auto key = fmt::format("{}/{}", policy, annotation.key());
    rest::CheckText(key, names::CheckQualifiedName, path.Child("key"), errors);
  }
  const auto expression = TrimSpace(annotation.valueExpression());
  if (expression.empty()) {
    errors.push_back(Required(path.Child("valueExpression"), "valueExpression is not specified"));
  } else if (expression.size() > kMaxAuditExpression) {
    errors.push_back(
        Required(path.Child("valueExpression"),
                 fmt::format("must not exceed {} bytes in length", kMaxAuditExpression)));
  }
}

void CheckAuditAnnotations(const ValidatingAdmissionPolicy& policy, const Path& path,
                           FieldErrors& errors) {
  const auto annotations = policy.spec().auditAnnotations();
  if (annotations.size() > kMaxAuditAnnotations) {
    errors.push_back(
        Invalid(path, annotations.value(),
                fmt::format("must not have more than {} auditAnnotations", kMaxAuditAnnotations)));
  }
  rest::SeenTexts keys;
  for (size_t i = 0; i < annotations.size(); ++i) {
    CheckAuditAnnotation(policy.metadata().name(), annotations[i], path.Index(i), errors);
    if (!keys.Insert(annotations[i].key())) {
      errors.push_back(schema::Duplicate(path.Index(i).Child("key"), annotations[i].key()));
    }
  }
}

// What both kinds of policy have.
template <typename Spec>
void CheckPolicyHead(const Spec& spec, const Path& path, FieldErrors& errors) {
  if (auto policy = spec.failurePolicy()) {
    rest::CheckSupported(*policy, kFailurePolicies, path.Child("failurePolicy"), errors);
  } else {
    errors.push_back(Required(path.Child("failurePolicy"), ""));
  }
  if (spec.paramKind()) CheckParamKind(spec.paramKind(), path.Child("paramKind"), errors);
  CheckConstraints(spec.matchConstraints(), path.Child("matchConstraints"), errors);
}

template <typename Spec>
void CheckConditionsAndVariables(const Spec& spec, const Spec& old, const Path& path,
                                 FieldErrors& errors) {
  const bool unchanged = old && spec.paramKind().value() == old.paramKind().value() &&
                         spec.matchConditions().value() == old.matchConditions().value();
  if (!unchanged) {
    CheckMatchConditions(spec.matchConditions().value(), path.Child("matchConditions"), errors);
  }
  const auto variables = spec.variables();
  for (size_t i = 0; i < variables.size(); ++i) {
    CheckVariable(variables[i], path.Child("variables").Index(i), errors);
  }
}

using ValidatingSpec = api::admissionregistration_v1::ValidatingAdmissionPolicySpec;
using MutatingSpec = api::admissionregistration_v1::MutatingAdmissionPolicySpec;

// `old` is false on create.
void CheckValidatingPolicy(const ValidatingAdmissionPolicy& policy, const ValidatingSpec& old,
                           FieldErrors& errors) {
  constexpr const char* kNothing = "validations or auditAnnotations must contain at least one item";
  const auto spec = policy.spec();
  const Path path("spec");
  CheckPolicyHead(spec, path, errors);
  CheckConditionsAndVariables(spec, old, path, errors);
  const auto validations = spec.validations();
  if (validations.empty() && spec.auditAnnotations().empty()) {
    errors.push_back(Required(path.Child("validations"), kNothing));
    errors.push_back(Required(path.Child("auditAnnotations"), kNothing));
    return;
  }
  for (size_t i = 0; i < validations.size(); ++i) {
    CheckValidation(validations[i], path.Child("validations").Index(i), errors);
  }
  CheckAuditAnnotations(policy, path.Child("auditAnnotations"), errors);
}

void CheckMutation(const Mutation& mutation, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"ApplyConfiguration", "JSONPatch"};
  const auto type = mutation.patchType();
  const bool applies = type == "ApplyConfiguration";
  if (!applies && type != "JSONPatch") {
    rest::CheckRequiredChoice(type, kTypes, path.Child("patchType"), errors);
    return;
  }
  const std::string_view used = applies ? "applyConfiguration" : "jsonPatch";
  const std::string_view unused = applies ? "jsonPatch" : "applyConfiguration";
  const Value patch = mutation.value()[used];
  if (patch.is_null()) {
    errors.push_back(
        Required(path.Child(used), fmt::format("must be specified when patchType is {}", type)));
  } else if (TrimSpace(patch["expression"].AsString()).empty()) {
    errors.push_back(Required(path.Child(used).Child("expression"), ""));
  }
  if (!mutation.value()[unused].is_null()) {
    errors.push_back(Invalid(path.Child(unused), fmt::format("{{{}}}", unused),
                             fmt::format("must not be specified when patchType is {}", type)));
  }
}

void CheckMutatingPolicy(const MutatingSpec& spec, const MutatingSpec& old, FieldErrors& errors) {
  const Path path("spec");
  CheckPolicyHead(spec, path, errors);
  CheckMutatingOperations(spec.matchConstraints(), path.Child("matchConstraints"), errors);
  CheckConditionsAndVariables(spec, old, path, errors);
  const auto mutations = spec.mutations();
  if (mutations.empty()) {
    errors.push_back(Required(path.Child("mutations"), "mutations must contain at least one item"));
  }
  for (size_t i = 0; i < mutations.size(); ++i) {
    CheckMutation(mutations[i], path.Child("mutations").Index(i), errors);
  }
  rest::CheckRequiredChoice(spec.reinvocationPolicy(), kReinvocationPolicies,
                            path.Child("reinvocationPolicy"), errors);
}

void CheckParamRef(const ParamRef& reference, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kActions[] = {"Deny", "Allow"};
  constexpr const char* kExclusive = "name and selector are mutually exclusive";
  if (!reference) return;
  const bool named = !reference.name().empty();
  const bool selected = static_cast<bool>(reference.selector());
  if (named) {
    rest::CheckText(reference.name(), names::CheckPathSegment, path.Child("name"), errors);
    if (selected) errors.push_back(Forbidden(path.Child("name"), kExclusive));
  }
  if (selected) {
    rest::CheckLabelSelector(reference.selector().value(), path.Child("selector"), errors);
    if (named) errors.push_back(Forbidden(path.Child("selector"), kExclusive));
  }
  if (!named && !selected) {
    errors.push_back(Required(path, "one of name or selector must be specified"));
  }
  rest::CheckRequiredChoice(reference.parameterNotFoundAction().value_or(""), kActions,
                            path.Child("parameterNotFoundAction"), errors);
}

template <typename Spec>
void CheckBinding(const Spec& spec, const Path& path, FieldErrors& errors) {
  if (spec.policyName().empty()) {
    errors.push_back(Required(path.Child("policyName"), ""));
  } else {
    rest::CheckName(spec.policyName(), names::NameIsDnsSubdomain, path.Child("policyName"), errors);
  }
  CheckParamRef(spec.paramRef(), path.Child("paramRef"), errors);
  CheckMatchResources(spec.matchResources(), path.Child("matchResources"), errors);
}

void CheckActions(const schema::ListView<std::string_view>& actions, const Path& path,
                  FieldErrors& errors) {
  static constexpr std::string_view kActions[] = {"Audit", "Deny", "Warn"};
  rest::SeenTexts seen;
  for (size_t i = 0; i < actions.size(); ++i) {
    rest::CheckSupported(actions[i], kActions, path.Index(i), errors);
    if (!seen.Insert(actions[i])) errors.push_back(schema::Duplicate(path.Index(i), actions[i]));
  }
  if (seen.Contains("Deny") && seen.Contains("Warn")) {
    errors.push_back(Invalid(path, actions.value(),
                             "must not contain both Deny and Warn (repeating the same validation "
                             "failure information in the API response and headers serves no "
                             "purpose)"));
  }
  if (actions.empty()) {
    errors.push_back(Required(path, "at least one validation action is required"));
  }
}

void ValidateValidating(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckValidatingPolicy(ValidatingAdmissionPolicy(object), ValidatingSpec(), errors);
}
void ValidateValidatingUpdate(const WriteScope&, const Value& object, const Value& old,
                              FieldErrors& errors) {
  CheckValidatingPolicy(ValidatingAdmissionPolicy(object), ValidatingAdmissionPolicy(old).spec(),
                        errors);
}
void ValidateValidatingStatus(const WriteScope&, const Value& object, const Value&,
                              FieldErrors& errors) {
  const Path path("status");
  const auto status = ValidatingAdmissionPolicy(object).status();
  const auto warnings = status.typeChecking().expressionWarnings();
  for (size_t i = 0; i < warnings.size(); ++i) {
    const Path at = path.Child("typeChecking").Child("expressionWarnings").Index(i);
    if (warnings[i].warning().empty()) errors.push_back(Required(at.Child("warning"), ""));
    if (TrimSpace(warnings[i].fieldRef()).empty()) {
      errors.push_back(Required(at.Child("fieldRef"), ""));
    }
  }
  rest::CheckConditions(status.conditions().value(), path.Child("conditions"), errors);
}

void ValidateMutating(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckMutatingPolicy(MutatingAdmissionPolicy(object).spec(), MutatingSpec(), errors);
}
void ValidateMutatingUpdate(const WriteScope&, const Value& object, const Value& old,
                            FieldErrors& errors) {
  CheckMutatingPolicy(MutatingAdmissionPolicy(object).spec(), MutatingAdmissionPolicy(old).spec(),
                      errors);
}

void ValidateValidatingBinding(const WriteScope&, const Value& object, FieldErrors& errors) {
  const auto spec = ValidatingAdmissionPolicyBinding(object).spec();
  const Path path("spec");
  CheckBinding(spec, path, errors);
  CheckActions(spec.validationActions(), path.Child("validationActions"), errors);
}

void ValidateMutatingBinding(const WriteScope&, const Value& object, FieldErrors& errors) {
  const auto spec = MutatingAdmissionPolicyBinding(object).spec();
  const Path path("spec");
  CheckBinding(spec, path, errors);
  CheckMutatingOperations(spec.matchResources(), path.Child("matchResources"), errors);
}

}  // namespace

Rules kValidatingPolicy({.unconditional_update = false,
                         .counts_generation = true,
                         .validate = ValidateValidating,
                         .validate_update = ValidateValidatingUpdate,
                         .validate_status = ValidateValidatingStatus,
                         .warnings = WarnAboutStaticName});

Rules kMutatingPolicy({.unconditional_update = false,
                       .counts_generation = true,
                       .validate = ValidateMutating,
                       .validate_update = ValidateMutatingUpdate,
                       .warnings = WarnAboutStaticName});

Rules kValidatingPolicyBinding({.unconditional_update = false,
                                .counts_generation = true,
                                .validate = ValidateValidatingBinding,
                                .warnings = WarnAboutStaticName});

Rules kMutatingPolicyBinding({.unconditional_update = false,
                              .counts_generation = true,
                              .validate = ValidateMutatingBinding,
                              .warnings = WarnAboutStaticName});

}  // namespace keelson::kube::cluster
