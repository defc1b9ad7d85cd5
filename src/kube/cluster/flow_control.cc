// FlowSchema and PriorityLevelConfiguration: who waits for whom when the server is busy.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/flowcontrol_v1.h"
#include "kube/cluster/kinds.h"
#include "rest/field_checks.h"
#include "rest/seen_texts.h"
#include "schema/internal_form.h"

namespace keelson::kube::cluster {
namespace {

using api::flowcontrol_v1::FlowDistinguisherMethod;
using api::flowcontrol_v1::FlowSchema;
using api::flowcontrol_v1::FlowSchemaSpec;
using api::flowcontrol_v1::LimitedPriorityLevelConfiguration;
using api::flowcontrol_v1::LimitResponse;
using api::flowcontrol_v1::NonResourcePolicyRule;
using api::flowcontrol_v1::PolicyRulesWithSubjects;
using api::flowcontrol_v1::PriorityLevelConfiguration;
using api::flowcontrol_v1::QueuingConfiguration;
using api::flowcontrol_v1::ResourcePolicyRule;
using api::flowcontrol_v1::Subject;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

using Texts = schema::ListView<std::string_view>;

constexpr int32_t kMaxPrecedence = 10'000;
constexpr int32_t kMaxQueues = 10'000'000;
constexpr int kMaxHashBits = 60;

constexpr std::string_view kVerbs[] = {"create", "delete", "deletecollection", "get",  "list",
                                       "patch",  "proxy",  "update",           "watch"};

bool HasWildcard(const Texts& texts) {
  return std::ranges::any_of(texts.value().items(),
                             [](const Value& text) { return text.AsString() == "*"; });
}

void CheckVerbs(const Texts& verbs, const Path& path, FieldErrors& errors) {
  if (verbs.empty()) {
    errors.push_back(Required(path, "verbs must contain at least one value"));
  } else if (HasWildcard(verbs)) {
    if (verbs.size() > 1) {
      errors.push_back(
          Invalid(path, verbs.value(), "if '*' is present, must not specify other verbs"));
    }
  } else {
    const auto known = [](const Value& verb) {
      return std::ranges::find(kVerbs, verb.AsString()) != std::end(kVerbs);
    };
    if (!std::ranges::all_of(verbs.value().items(), known)) {
      errors.push_back(schema::NotSupported(path, verbs.value(), kVerbs));
    }
  }
}

// Something, and nothing beside "*".
void CheckWildcardList(const Texts& list, const char* missing, const char* mixed, const Path& path,
                       FieldErrors& errors) {
  if (list.empty()) {
    errors.push_back(Required(path, missing));
  } else if (list.size() > 1 && HasWildcard(list)) {
    errors.push_back(Invalid(path, list.value(), mixed));
  }
}

void CheckNamespaces(const ResourcePolicyRule& rule, const Path& path, FieldErrors& errors) {
  const auto namespaces = rule.namespaces();
  if (namespaces.empty() && !rule.clusterScope()) {
    errors.push_back(Required(path,
                              "resource rules that are not cluster scoped must supply at least one "
                              "namespace"));
  } else if (HasWildcard(namespaces)) {
    if (namespaces.size() > 1) {
      errors.push_back(Invalid(path, namespaces.value(),
                               "if '*' is present, must not specify other namespaces"));
    }
  } else {
    for (size_t i = 0; i < namespaces.size(); ++i) {
      for (const auto& complaint : names::NameIsDnsLabel(namespaces[i], /*prefix=*/false)) {
        errors.push_back(
            Invalid(path.Index(i), namespaces[i],
                    "each member of this list must be '*' or a DNS-1123 label; " + complaint));
      }
    }
  }
}

void CheckResourceRule(const ResourcePolicyRule& rule, const Path& path, FieldErrors& errors) {
  CheckVerbs(rule.verbs(), path.Child("verbs"), errors);
  CheckWildcardList(rule.apiGroups(), "resource rules must supply at least one api group",
                    "if '*' is present, must not specify other api groups", path.Child("apiGroups"),
                    errors);
  CheckWildcardList(rule.resources(), "resource rules must supply at least one resource",
                    "if '*' is present, must not specify other resources", path.Child("resources"),
                    errors);
  CheckNamespaces(rule, path.Child("namespaces"), errors);
}

const char* UrlComplaint(std::string_view url) {
  if (url.empty()) return "must not be empty";
  if (url == "/") return nullptr;
  if (!url.starts_with('/')) return "must start with slash";
  if (url.contains(' ')) return "must not contain white-space";
  if (url.contains("//")) return "must not contain double slash";
  const auto wildcards = std::ranges::count(url, '*');
  if (wildcards > 1 || (wildcards == 1 && !url.ends_with("/*"))) {
    return "wildcard can only do suffix matching";
  }
  return nullptr;
}

void CheckUrlRule(const NonResourcePolicyRule& rule, const Path& path, FieldErrors& errors) {
  CheckVerbs(rule.verbs(), path.Child("verbs"), errors);
  const auto urls = rule.nonResourceURLs();
  const Path at = path.Child("nonResourceURLs");
  if (urls.empty()) {
    errors.push_back(Required(at, "nonResourceURLs must contain at least one value"));
  } else if (HasWildcard(urls)) {
    if (urls.size() > 1) {
      errors.push_back(
          Invalid(at, urls.value(), "if '*' is present, must not specify other non-resource URLs"));
    }
  } else {
    for (size_t i = 0; i < urls.size(); ++i) {
      if (const char* complaint = UrlComplaint(urls[i])) {
        errors.push_back(Invalid(at.Index(i), urls[i], complaint));
      }
    }
  }
}

void CheckServiceAccount(const Subject& subject, const Path& path, FieldErrors& errors) {
  const auto account = subject.serviceAccount();
  if (account.name().empty()) {
    errors.push_back(Required(path.Child("name"), ""));
  } else if (account.name() != "*") {
    rest::CheckName(account.name(), names::NameIsDnsSubdomain, path.Child("name"), errors);
  }
  if (account.namespace_().empty()) {
    errors.push_back(
        Required(path.Child("namespace"), "must specify namespace for service account"));
  } else {
    rest::CheckName(account.namespace_(), names::NameIsDnsLabel, path.Child("namespace"), errors);
  }
}

// The kinds of subject in the order their presence is complained about.
struct SubjectKind {
  std::string_view kind;
  std::string_view field;
};
constexpr SubjectKind kSubjects[] = {
    {"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}};

void CheckSubject(const Subject& subject, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kKinds[] = {"Group", "ServiceAccount", "User"};
  const auto* named = std::ranges::find(kSubjects, subject.kind(), &SubjectKind::kind);
  if (named == std::end(kSubjects)) {
    errors.push_back(schema::NotSupported(path.Child("kind"), subject.kind(), kKinds));
    return;
  }
  const Value held = subject.value()[named->field];
  const Path at = path.Child(named->field);
  if (!held.is_object()) {
    errors.push_back(Required(
        at, fmt::format("{} is required when subject kind is '{}'", named->field, named->kind)));
  } else if (named->kind == "ServiceAccount") {
    CheckServiceAccount(subject, at, errors);
  } else if (held["name"].AsString().empty()) {
    errors.push_back(Required(at.Child("name"), ""));
  }
  for (const auto& other : kSubjects) {
    if (&other == named || !subject.value()[other.field].is_object()) continue;
    errors.push_back(Forbidden(
        path.Child(other.field),
        fmt::format("{} is forbidden when subject kind is not '{}'", other.field, other.kind)));
  }
}

void CheckRules(const PolicyRulesWithSubjects& rules, const Path& path, FieldErrors& errors) {
  const auto subjects = rules.subjects();
  for (size_t i = 0; i < subjects.size(); ++i) {
    CheckSubject(subjects[i], path.Child("subjects").Index(i), errors);
  }
  if (subjects.empty()) {
    errors.push_back(Required(path.Child("subjects"), "subjects must contain at least one value"));
  }
  const auto resources = rules.resourceRules();
  const auto urls = rules.nonResourceRules();
  if (resources.empty() && urls.empty()) {
    errors.push_back(
        Required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  for (size_t i = 0; i < resources.size(); ++i) {
    CheckResourceRule(resources[i], path.Child("resourceRules").Index(i), errors);
  }
  for (size_t i = 0; i < urls.size(); ++i) {
    CheckUrlRule(urls[i], path.Child("nonResourceRules").Index(i), errors);
  }
}

void CheckPrecedence(const FlowSchema& object, const Path& path, FieldErrors& errors) {
  const int32_t precedence = object.spec().matchingPrecedence();
  if (precedence <= 0) errors.push_back(Invalid(path, precedence, "must be a positive value"));
  if (precedence > kMaxPrecedence) {
    errors.push_back(
        Invalid(path, precedence, fmt::format("must not be greater than {}", kMaxPrecedence)));
  }
  if (precedence == 1 && object.metadata().name() != "exempt") {
    errors.push_back(
        Invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
}

template <typename Conditions>
void CheckConditions(const Conditions& conditions, FieldErrors& errors) {
  const Path status("status");
  rest::SeenTexts types;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const auto type = conditions[i].type();
    const Path at = status.Child("conditions").Index(i).Child("type");
    if (!types.Insert(type)) errors.push_back(schema::Duplicate(at, type));
    if (type.empty()) errors.push_back(Required(at, ""));
  }
}

void ValidateSchema(const WriteScope&, const Value& value, FieldErrors& errors) {
  static constexpr std::string_view kMethods[] = {"ByNamespace", "ByUser"};
  const FlowSchema object(value);
  const auto spec = object.spec();
  const Path path("spec");
  CheckPrecedence(object, path.Child("matchingPrecedence"), errors);
  if (auto method = spec.distinguisherMethod();
      method && std::ranges::find(kMethods, method.type()) == std::end(kMethods)) {
    errors.push_back(schema::NotSupported(
        path.Child("distinguisherMethod").Child("type"),
        schema::InternalBadValue(FlowDistinguisherMethod::Schema(), method.value()), kMethods));
  }
  const auto level = spec.priorityLevelConfiguration().name();
  const Path at_level = path.Child("priorityLevelConfiguration").Child("name");
  if (level.empty()) {
    errors.push_back(Required(at_level, "must reference a priority level"));
  } else {
    rest::CheckName(level, names::NameIsDnsSubdomain, at_level, errors);
  }
  const auto rules = spec.rules();
  for (size_t i = 0; i < rules.size(); ++i) {
    CheckRules(rules[i], path.Child("rules").Index(i), errors);
  }
  CheckConditions(object.status().conditions(), errors);
}

template <typename Kind>
void ValidateStatus(const WriteScope&, const Value& object, const Value&, FieldErrors& errors) {
  CheckConditions(Kind(object).status().conditions(), errors);
}

// How many bits of a hash it takes to deal a hand of different queues.
int RequiredEntropyBits(int32_t queues, int32_t hand) {
  return static_cast<int>(std::ceil(std::log2(static_cast<double>(queues)) * hand));
}

void CheckQueuing(const QueuingConfiguration& queuing, const Path& path, FieldErrors& errors) {
  const int32_t queues = queuing.queues();
  const int32_t hand = queuing.handSize();
  if (queuing.queueLengthLimit() <= 0) {
    errors.push_back(
        Invalid(path.Child("queueLengthLimit"), queuing.queueLengthLimit(), "must be positive"));
  }
  if (queues <= 0) {
    errors.push_back(Invalid(path.Child("queues"), queues, "must be positive"));
  } else if (queues > kMaxQueues) {
    errors.push_back(Invalid(path.Child("queues"), queues,
                             fmt::format("must not be greater than {}", kMaxQueues)));
  }
  const Path at = path.Child("handSize");
  if (hand <= 0) {
    errors.push_back(Invalid(at, hand, "must be positive"));
  } else if (hand > queues) {
    errors.push_back(
        Invalid(at, hand, fmt::format("should not be greater than queues ({})", queues)));
  } else if (RequiredEntropyBits(queues, hand) > kMaxHashBits) {
    errors.push_back(Invalid(at, hand,
                             fmt::format("required entropy bits of deckSize {} and handSize {} "
                                         "should not be greater than {}",
                                         queues, hand, kMaxHashBits)));
  }
}

void CheckLimitResponse(const LimitResponse& response, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"Queue", "Reject"};
  const Path at = path.Child("queuing");
  if (response.type() == "Reject") {
    if (response.queuing()) {
      errors.push_back(Forbidden(at, "must be nil if limited.limitResponse.type is not Limited"));
    }
  } else if (response.type() == "Queue") {
    if (response.queuing()) {
      CheckQueuing(response.queuing(), at, errors);
    } else {
      errors.push_back(Required(at, "must not be empty if limited.limitResponse.type is Limited"));
    }
  } else {
    rest::CheckRequiredChoice(response.type(), kTypes, path.Child("type"), errors);
  }
}

void CheckShares(std::optional<int32_t> shares, std::optional<int32_t> lendable, const Path& path,
                 FieldErrors& errors) {
  if (shares && *shares < 0) {
    errors.push_back(
        Invalid(path.Child("nominalConcurrencyShares"), *shares, "must be a non-negative integer"));
  }
  if (lendable && (*lendable < 0 || *lendable > 100)) {
    errors.push_back(
        Invalid(path.Child("lendablePercent"), *lendable, "must be between 0 and 100, inclusive"));
  }
}

void CheckLimited(const LimitedPriorityLevelConfiguration& limited, const Path& path,
                  FieldErrors& errors) {
  CheckShares(limited.nominalConcurrencyShares(), std::nullopt, path, errors);
  CheckLimitResponse(limited.limitResponse(), path.Child("limitResponse"), errors);
  CheckShares(std::nullopt, limited.lendablePercent(), path, errors);
  if (auto limit = limited.borrowingLimitPercent(); limit && *limit < 0) {
    errors.push_back(Invalid(path.Child("borrowingLimitPercent"), *limit,
                             "if specified, must be a non-negative integer"));
  }
}

void ValidateLevel(const WriteScope&, const Value& value, FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"Exempt", "Limited"};
  constexpr std::string_view kForbidden =
      "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
  const PriorityLevelConfiguration object(value);
  const auto spec = object.spec();
  const Path path("spec");
  if (object.metadata().annotations().contains(kForbidden)) {
    errors.push_back(Forbidden(Path("metadata").Child("annotations"),
                               fmt::format("annotation '{}' is forbidden", kForbidden)));
  }
  if ((object.metadata().name() == "exempt") != (spec.type() == "Exempt")) {
    errors.push_back(Invalid(path.Child("type"), spec.type(),
                             "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (spec.type() == "Exempt") {
    if (spec.limited()) {
      errors.push_back(Forbidden(path.Child("limited"), "must be nil if the type is not Limited"));
    }
    CheckShares(spec.exempt().nominalConcurrencyShares(), spec.exempt().lendablePercent(),
                path.Child("exempt"), errors);
  } else if (spec.type() == "Limited") {
    if (spec.exempt()) {
      errors.push_back(Forbidden(path.Child("exempt"), "must be nil if the type is Limited"));
    }
    if (spec.limited()) {
      CheckLimited(spec.limited(), path.Child("limited"), errors);
    } else {
      errors.push_back(Required(path.Child("limited"), "must not be empty when type is Limited"));
    }
  } else {
    rest::CheckRequiredChoice(spec.type(), kTypes, path.Child("type"), errors);
  }
  CheckConditions(object.status().conditions(), errors);
}

}  // namespace

Rules kFlowSchema({.counts_generation = true,
                   .prepare_status = rest::KeepMetadata,
                   .validate = ValidateSchema,
                   .validate_status = ValidateStatus<FlowSchema>});

Rules kPriorityLevel({.counts_generation = true,
                      .prepare_status = rest::KeepMetadata,
                      .validate = ValidateLevel,
                      .validate_status = ValidateStatus<PriorityLevelConfiguration>});

}  // namespace keelson::kube::cluster
