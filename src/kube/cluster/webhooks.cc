// ValidatingWebhookConfiguration and MutatingWebhookConfiguration: who is asked before a write.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "api/admissionregistration_v1.h"
#include "kube/cluster/admission_rules.h"
#include "kube/cluster/kinds.h"
#include "rest/field_checks.h"
#include "rest/seen_texts.h"
#include "rest/webhook_checks.h"

namespace keelson::kube::cluster {
namespace {

using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr std::string_view kReviewVersions[] = {"v1", "v1beta1"};
constexpr std::string_view kSideEffects[] = {"None", "NoneOnDryRun", "Some", "Unknown"};

// Rules that came later than some stored configurations, which need not follow them.
struct Demands {
  bool no_side_effects = true;
  bool known_review_version = true;
  bool unique_names = true;
  bool match_conditions = true;
  rest::SelectorLeniency selectors;

  std::span<const std::string_view> side_effects() const {
    return std::span<const std::string_view>(kSideEffects).first(no_side_effects ? 2 : 4);
  }
};

bool IsOneOf(std::string_view text, std::span<const std::string_view> choices) {
  return std::ranges::find(choices, text) != choices.end();
}

bool HasKnownVersion(const Value& webhook) {
  return std::ranges::any_of(webhook["admissionReviewVersions"].items(), [](const Value& version) {
    return IsOneOf(version.AsString(), kReviewVersions);
  });
}

void CheckName(std::string_view name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.push_back(Required(path, ""));
  } else if (auto complaints = names::CheckDns1123Subdomain(name); !complaints.empty()) {
    errors.push_back(Invalid(path, name, fmt::format("{}", fmt::join(complaints, ","))));
  } else if (std::ranges::count(name, '.') < 2) {
    errors.push_back(
        Invalid(path, name, "should be a domain with at least three segments separated by dots"));
  }
}

void CheckChoice(const Value& webhook, std::string_view field,
                 std::span<const std::string_view> choices, const Path& path, FieldErrors& errors) {
  const Value choice = webhook[field];
  if (!choice.is_null())
    rest::CheckSupported(choice.AsString(), choices, path.Child(field), errors);
}

void CheckClient(const Value& client, const Path& path, FieldErrors& errors) {
  const bool by_url = !client["url"].is_null();
  const bool by_service = !client["service"].is_null();
  if (by_url == by_service) {
    errors.push_back(Required(path, "exactly one of url or service is required"));
  } else if (by_url) {
    rest::CheckWebhookUrl(client["url"].AsString(), path.Child("url"), errors);
  } else {
    rest::CheckWebhookService(client["service"], path.Child("service"), errors);
  }
}

void CheckReviewVersions(const Value& webhook, bool known_wanted, const Path& path,
                         FieldErrors& errors) {
  const Value versions = webhook["admissionReviewVersions"];
  if (versions.items().empty()) {
    errors.push_back(Required(path, "must specify one of v1, v1beta1"));
    return;
  }
  rest::SeenTexts seen;
  for (size_t i = 0; i < versions.items().size(); ++i) {
    const auto version = versions.items()[i].AsString();
    if (!seen.Insert(version)) {
      errors.push_back(Invalid(path.Index(i), version, "duplicate version"));
    } else {
      rest::CheckText(version, names::CheckDns1035Label, path.Index(i), errors);
    }
  }
  if (known_wanted && !HasKnownVersion(webhook)) {
    errors.push_back(Invalid(path, versions, "must include at least one of v1, v1beta1"));
  }
}

void CheckWebhook(const Value& webhook, const Demands& demands, const Path& path,
                  FieldErrors& errors) {
  CheckName(webhook["name"].AsString(), path.Child("name"), errors);
  const Value rules = webhook["rules"];
  for (size_t i = 0; i < rules.items().size(); ++i) {
    CheckAdmissionRule(rules.items()[i], path.Child("rules").Index(i), errors);
  }
  CheckChoice(webhook, "failurePolicy", kFailurePolicies, path, errors);
  CheckChoice(webhook, "matchPolicy", kMatchPolicies, path, errors);
  if (webhook["sideEffects"].is_null()) {
    errors.push_back(
        Required(path.Child("sideEffects"),
                 fmt::format("must specify one of {}", fmt::join(demands.side_effects(), ", "))));
  }
  CheckChoice(webhook, "sideEffects", demands.side_effects(), path, errors);
  const Value timeout = webhook["timeoutSeconds"];
  if (!timeout.is_null() && (timeout.AsInt() > 30 || timeout.AsInt() < 1)) {
    errors.push_back(Invalid(path.Child("timeoutSeconds"), timeout,
                             "the timeout value must be between 1 and 30 seconds"));
  }
  for (std::string_view field : {"namespaceSelector", "objectSelector"}) {
    rest::CheckLabelSelector(webhook[field], path.Child(field), errors, demands.selectors);
  }
  CheckChoice(webhook, "reinvocationPolicy", kReinvocationPolicies, path, errors);
  CheckClient(webhook["clientConfig"], path.Child("clientConfig"), errors);
  if (demands.match_conditions) {
    CheckMatchConditions(webhook["matchConditions"], path.Child("matchConditions"), errors);
  }
  CheckReviewVersions(webhook, demands.known_review_version, path.Child("admissionReviewVersions"),
                      errors);
}

void CheckWebhooks(const Value& object, const Demands& demands, FieldErrors& errors) {
  const Path path("webhooks");
  rest::SeenTexts seen;
  const Value webhooks = object["webhooks"];
  for (size_t i = 0; i < webhooks.items().size(); ++i) {
    const Value& webhook = webhooks.items()[i];
    CheckWebhook(webhook, demands, path.Index(i), errors);
    const auto name = webhook["name"].AsString();
    if (demands.unique_names && !name.empty() && !seen.Insert(name)) {
      errors.push_back(schema::Duplicate(path.Index(i).Child("name"), name));
    }
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckWebhooks(object, {}, errors);
}

// What the stored configuration satisfies its successor must satisfy too.
Demands DemandsFrom(const Value& old, const Value& now) {
  Demands demands;
  rest::SeenTexts seen;
  const auto before = old["webhooks"].items();
  const auto after = now["webhooks"].items();
  bool same_conditions = before.size() == after.size();
  for (size_t i = 0; i < before.size(); ++i) {
    const Value& webhook = before[i];
    const std::span<const std::string_view> harmless(kSideEffects, 2);
    demands.no_side_effects &= IsOneOf(webhook["sideEffects"].AsString(), harmless);
    demands.known_review_version &=
        HasKnownVersion(webhook) || webhook["admissionReviewVersions"].items().empty();
    demands.unique_names &= seen.Insert(webhook["name"].AsString());
    for (std::string_view field : {"namespaceSelector", "objectSelector"}) {
      demands.selectors.bad_values |= !rest::IsUsableSelector(webhook[field]);
    }
    same_conditions = same_conditions && webhook["matchConditions"] == after[i]["matchConditions"];
  }
  demands.match_conditions = !same_conditions;
  return demands;
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  CheckWebhooks(object, DemandsFrom(old, object), errors);
}

}  // namespace

// Both kinds: only a mutating webhook has a reinvocation policy, and the others have no such field.
Rules kWebhookConfiguration({.unconditional_update = false,
                             .counts_generation = true,
                             .validate = Validate,
                             .validate_update = ValidateUpdate,
                             .warnings = WarnAboutStaticName});

}  // namespace keelson::kube::cluster
