#include "rest/field_checks.h"

#include <algorithm>
#include <charconv>

#include "rest/object_meta.h"
#include "rest/seen_texts.h"
#include "schema/internal_form.h"

namespace keelson::rest {
namespace {

using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr size_t kMaxConditionReason = 1024;
constexpr size_t kMaxConditionMessage = 32 * 1024;
constexpr std::string_view kConditionStatuses[] = {"False", "True", "Unknown"};

bool IsOneOf(std::string_view text, std::span<const std::string_view> choices) {
  return std::ranges::find(choices, text) != choices.end();
}

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsAlnum(char c) { return IsAlpha(c) || (c >= '0' && c <= '9'); }

bool IsHttpPathCharacter(char c) {
  return IsAlnum(c) || std::string_view("/-._~%!$&'()*+,;=:").contains(c);
}

// [A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?
bool IsConditionReason(std::string_view text) {
  if (text.empty() || !IsAlpha(text.front())) return false;
  if (!IsAlnum(text.back()) && text.back() != '_') return false;
  return std::ranges::all_of(text,
                             [](char c) { return IsAlnum(c) || c == '_' || c == ',' || c == ':'; });
}

void CheckCondition(const Value& condition, const Path& path, FieldErrors& errors) {
  CheckText(condition["type"].AsString(), names::CheckQualifiedName, path.Child("type"), errors);
  CheckSupported(condition["status"].AsString(), kConditionStatuses, path.Child("status"), errors);
  if (condition["observedGeneration"].AsInt() < 0) {
    errors.push_back(Invalid(path.Child("observedGeneration"), condition["observedGeneration"],
                             "must be greater than or equal to zero"));
  }
  if (condition["lastTransitionTime"].is_null()) {
    errors.push_back(Required(path.Child("lastTransitionTime"), ""));
  }
  const auto reason = condition["reason"].AsString();
  if (reason.empty()) {
    errors.push_back(Required(path.Child("reason"), ""));
  } else {
    if (!IsConditionReason(reason)) {
      errors.push_back(Invalid(
          path.Child("reason"), reason,
          "a condition reason must start with alphabetic character, optionally followed by a "
          "string of alphanumeric characters or '_,:', and must end with an alphanumeric "
          "character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
          "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
          "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"));
    }
    if (reason.size() > kMaxConditionReason) {
      errors.push_back(schema::TooLong(path.Child("reason"), kMaxConditionReason));
    }
  }
  if (condition["message"].size() > kMaxConditionMessage) {
    errors.push_back(schema::TooLong(path.Child("message"), kMaxConditionMessage));
  }
}

enum class SelectorOp { kIn, kNotIn, kExists, kDoesNotExist, kUnknown };

SelectorOp OpOf(std::string_view text) {
  if (text == "In") return SelectorOp::kIn;
  if (text == "NotIn") return SelectorOp::kNotIn;
  if (text == "Exists") return SelectorOp::kExists;
  if (text == "DoesNotExist") return SelectorOp::kDoesNotExist;
  return SelectorOp::kUnknown;
}

void CheckRequirement(const Value& requirement, const Path& path, FieldErrors& errors,
                      SelectorLeniency leniency) {
  const auto values = requirement["values"].items();
  switch (OpOf(requirement["operator"].AsString())) {
    case SelectorOp::kIn:
    case SelectorOp::kNotIn:
      if (values.empty()) {
        errors.push_back(
            Required(path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
      }
      break;
    case SelectorOp::kExists:
    case SelectorOp::kDoesNotExist:
      if (!values.empty()) {
        errors.push_back(
            Forbidden(path.Child("values"),
                      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
      break;
    case SelectorOp::kUnknown:
      errors.push_back(Invalid(path.Child("operator"), requirement["operator"].AsString(),
                               "not a valid selector operator"));
  }
  CheckText(requirement["key"].AsString(), names::CheckQualifiedName, path.Child("key"), errors);
  if (leniency.bad_values) return;
  for (size_t i = 0; i < values.size(); ++i) {
    CheckText(values[i].AsString(), names::CheckLabelValue, path.Child("values").Index(i), errors);
  }
}

bool Accepts(const Value& requirement, const Value* label) {
  const auto values = requirement["values"].items();
  const bool listed = label && std::ranges::find(values, *label) != values.end();
  switch (OpOf(requirement["operator"].AsString())) {
    case SelectorOp::kIn:
      return listed;
    case SelectorOp::kNotIn:
      return !listed;
    case SelectorOp::kExists:
      return label != nullptr;
    case SelectorOp::kDoesNotExist:
      return label == nullptr;
    case SelectorOp::kUnknown:
      return false;
  }
  return false;
}

// "25%" as 25; nothing when it is not a percentage.
std::optional<int64_t> PercentOf(const Value& amount) {
  const auto text = amount.AsString();
  if (!text.ends_with('%') || !names::CheckPercent(text).empty()) return std::nullopt;
  int64_t percent = 0;
  std::from_chars(text.data(), text.data() + text.size() - 1, percent);
  return percent;
}

}  // namespace

void CheckSupported(std::string_view text, std::span<const std::string_view> supported,
                    const Path& path, FieldErrors& errors) {
  if (!IsOneOf(text, supported)) errors.push_back(schema::NotSupported(path, text, supported));
}

void CheckRequiredChoice(std::string_view text, std::span<const std::string_view> supported,
                         const Path& path, FieldErrors& errors) {
  if (text.empty()) {
    errors.push_back(Required(path, ""));
  } else {
    CheckSupported(text, supported, path, errors);
  }
}

void CheckDomainPrefixedPath(std::string_view text, const Path& path, FieldErrors& errors) {
  if (text.empty()) {
    errors.push_back(Required(path, ""));
    return;
  }
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    errors.push_back(
        Invalid(path, text, "must be a domain-prefixed path (such as \"acme.io/foo\")"));
    return;
  }
  CheckText(text.substr(0, slash), names::CheckDns1123Subdomain, path, errors);
  const auto rest = text.substr(slash + 1);
  if (!std::ranges::all_of(rest, IsHttpPathCharacter)) {
    errors.push_back(Invalid(path, rest,
                             "Invalid path (regex used for validation is "
                             "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"));
  }
}

void CheckImmutable(const schema::Type& type, const Value& now, const Value& old, const Path& path,
                    FieldErrors& errors) {
  if (schema::EqualByMeaning(type, now, old)) return;
  errors.push_back(schema::Immutable(path, schema::InternalBadValue(type, now)));
}

void CheckImmutableField(const schema::Type& type, const value::Name& name, const Value& now,
                         const Value& old, const Path& path, FieldErrors& errors) {
  const schema::Field* field = type.Find(name);
  KEELSON_CHECK(field != nullptr);
  const Value after = now[name];
  const Value before = old[name];
  const bool both = !field->pointer() || after.is_null() == before.is_null();
  if (both && schema::EqualByMeaning(*field->type, after, before)) return;
  errors.push_back(
      schema::Immutable(path.Child(name.text()), schema::InternalBadValue(*field->type, after)));
}

void CheckCountOrPercent(const Value& amount, const Path& path, FieldErrors& errors) {
  if (amount.is_string()) {
    CheckText(amount.AsString(), names::CheckPercent, path, errors);
  } else {
    CheckNonnegative(amount.AsInt(), path, errors);
  }
}

void CheckAtMostAllPercent(const Value& amount, const Path& path, FieldErrors& errors) {
  if (PercentOf(amount).value_or(0) > 100) {
    errors.push_back(Invalid(path, amount, "must not be greater than 100%"));
  }
}

int64_t CountOrPercent(const Value& amount) {
  if (!amount.is_string()) return amount.AsInt();
  if (auto percent = PercentOf(amount)) return *percent;
  const auto text = amount.AsString();
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

void CheckLabelSelector(const Value& selector, const Path& path, FieldErrors& errors,
                        SelectorLeniency leniency) {
  ValidateLabels(selector["matchLabels"], path.Child("matchLabels"), errors);
  const Value requirements = selector["matchExpressions"];
  for (size_t i = 0; i < requirements.items().size(); ++i) {
    CheckRequirement(requirements.items()[i], path.Child("matchExpressions").Index(i), errors,
                     leniency);
  }
}

bool HasBadValues(const Value& selector) {
  for (const Value& requirement : selector["matchExpressions"].items()) {
    for (const Value& text : requirement["values"].items()) {
      if (!names::IsLabelValue(text.AsString())) return true;
    }
  }
  return false;
}

bool IsUsableSelector(const Value& selector) {
  FieldErrors errors;
  CheckLabelSelector(selector, Path(), errors);
  return errors.empty();
}

bool IsEmptySelector(const Value& selector) {
  return selector.is_object() && selector["matchLabels"].size() == 0 &&
         selector["matchExpressions"].size() == 0;
}

bool SelectorMatches(const Value& selector, const Value& labels) {
  if (!selector.is_object()) return false;
  for (const auto& [name, wanted] : selector["matchLabels"].members()) {
    const Value* label = labels.Find(*name);
    if (!label || *label != wanted) return false;
  }
  for (const Value& requirement : selector["matchExpressions"].items()) {
    if (!Accepts(requirement, labels.Find(requirement["key"].AsString()))) return false;
  }
  return true;
}

void CheckConditions(const Value& conditions, const Path& path, FieldErrors& errors) {
  SeenTexts types;
  const auto items = conditions.items();
  for (size_t i = 0; i < items.size(); ++i) {
    const Path at = path.Index(i);
    const auto type = items[i]["type"].AsString();
    if (!types.Insert(type)) errors.push_back(schema::Duplicate(at.Child("type"), type));
    CheckCondition(items[i], at, errors);
  }
}

}  // namespace keelson::rest
