#include "kube/cluster/admission_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "rest/seen_texts.h"

namespace keelson::kube::cluster {

using api::admissionregistration_v1::MatchResources;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

namespace {

constexpr size_t kMaxMatchConditions = 64;

bool HasWildcard(const Value& list) {
  return std::ranges::any_of(list.items(), [](const Value& t) { return t.AsString() == "*"; });
}

// Something, and nothing beside "*".
void CheckWildcardList(const Value& list, std::string_view what, const Path& path,
                       FieldErrors& errors) {
  if (list.items().empty()) errors.push_back(Required(path, ""));
  if (list.items().size() > 1 && HasWildcard(list)) {
    errors.push_back(
        Invalid(path, list, fmt::format("if '*' is present, must not specify other {}", what)));
  }
}

// "pods", "pods/log", "pods/*", "*/scale", "*", "*/*": no two may say the same.
void CheckResources(const Value& resources, const Path& path, FieldErrors& errors) {
  const auto items = resources.items();
  if (items.empty()) errors.push_back(Required(path, ""));
  rest::SeenTexts whole_resources;
  rest::SeenTexts whole_subresources;
  bool everything = false;
  bool every_resource = false;
  bool one_resource = false;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto text = items[i].AsString();
    if (text.empty()) {
      errors.push_back(Required(path.Index(i), ""));
      continue;
    }
    everything |= text == "*/*";
    every_resource |= text == "*";
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) {
      one_resource = text != "*";
      continue;
    }
    const auto resource = text.substr(0, slash);
    const auto subresource = text.substr(slash + 1);
    if (whole_resources.Contains(resource)) {
      errors.push_back(
          Invalid(path.Index(i), text,
                  fmt::format("if '{}/*' is present, must not specify {}", resource, text)));
    }
    if (whole_subresources.Contains(subresource)) {
      errors.push_back(
          Invalid(path.Index(i), text,
                  fmt::format("if '*/{}' is present, must not specify {}", subresource, text)));
    }
    if (subresource == "*") whole_resources.Insert(resource);
    if (resource == "*") whole_subresources.Insert(subresource);
  }
  if (items.size() > 1 && everything) {
    errors.push_back(
        Invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (every_resource && one_resource) {
    errors.push_back(
        Invalid(path, resources,
                "if '*' is present, must not specify other resources without subresources"));
  }
}

void CheckNamedRule(const Value& rule, const Path& path, FieldErrors& errors) {
  rest::SeenTexts seen;
  const Value names = rule["resourceNames"];
  for (size_t i = 0; i < names.items().size(); ++i) {
    const auto name = names.items()[i].AsString();
    const Path at = path.Child("resourceNames").Index(i);
    rest::CheckText(name, names::CheckPathSegment, at, errors);
    if (!seen.Insert(name)) errors.push_back(schema::Duplicate(at, name));
  }
  CheckAdmissionRule(rule, path, errors);
}

}  // namespace

std::string_view TrimSpace(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

void CheckAdmissionRule(const Value& rule, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kOperations[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
  static constexpr std::string_view kScopes[] = {"*", "Cluster", "Namespaced"};
  const Value operations = rule["operations"];
  CheckWildcardList(operations, "operations", path.Child("operations"), errors);
  for (size_t i = 0; i < operations.items().size(); ++i) {
    rest::CheckSupported(operations.items()[i].AsString(), kOperations,
                         path.Child("operations").Index(i), errors);
  }
  CheckWildcardList(rule["apiGroups"], "API groups", path.Child("apiGroups"), errors);
  const Value versions = rule["apiVersions"];
  CheckWildcardList(versions, "API versions", path.Child("apiVersions"), errors);
  for (size_t i = 0; i < versions.items().size(); ++i) {
    if (versions.items()[i].AsString().empty()) {
      errors.push_back(Required(path.Child("apiVersions").Index(i), ""));
    }
  }
  CheckResources(rule["resources"], path.Child("resources"), errors);
  if (const Value scope = rule["scope"]; !scope.is_null()) {
    rest::CheckSupported(scope.AsString(), kScopes, path.Child("scope"), errors);
  }
}

void CheckMatchResources(const MatchResources& match, const Path& path, FieldErrors& errors) {
  if (!match) return;
  if (auto policy = match.matchPolicy()) {
    rest::CheckSupported(*policy, kMatchPolicies, path.Child("matchPolicy"), errors);
  } else {
    errors.push_back(Required(path.Child("matchPolicy"), ""));
  }
  for (std::string_view field : {"namespaceSelector", "objectSelector"}) {
    const Value selector = match.value()[field];
    if (selector.is_null()) {
      errors.push_back(Required(path.Child(field), ""));
    } else {
      rest::CheckLabelSelector(selector, path.Child(field), errors);
    }
  }
  for (std::string_view field : {"resourceRules", "excludeResourceRules"}) {
    const Value rules = match.value()[field];
    for (size_t i = 0; i < rules.items().size(); ++i) {
      CheckNamedRule(rules.items()[i], path.Child(field).Index(i), errors);
    }
  }
}

void CheckMatchConditions(const Value& conditions, const Path& path, FieldErrors& errors) {
  const auto items = conditions.items();
  if (items.size() > kMaxMatchConditions) {
    errors.push_back(
        schema::TooMany(path, static_cast<int64_t>(items.size()), kMaxMatchConditions));
  }
  rest::SeenTexts names_seen;
  for (size_t i = 0; i < items.size(); ++i) {
    const Path at = path.Index(i);
    if (TrimSpace(items[i]["expression"].AsString()).empty()) {
      errors.push_back(Required(at.Child("expression"), ""));
    }
    const auto name = items[i]["name"].AsString();
    if (name.empty()) {
      errors.push_back(Required(at.Child("name"), ""));
      continue;
    }
    rest::CheckText(name, names::CheckQualifiedName, at.Child("name"), errors);
    if (!names_seen.Insert(name)) errors.push_back(schema::Duplicate(at.Child("name"), name));
  }
}

std::vector<std::string> WarnAboutStaticName(const rest::WriteScope&, const Value& object,
                                             const Value*) {
  if (!object["metadata"]["name"].AsString().ends_with(".static.k8s.io")) return {};
  return {
      "metadata.name: names ending with \".static.k8s.io\" are reserved for static manifest-based "
      "configurations and cannot be managed via the API"};
}

}  // namespace keelson::kube::cluster
