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

void CheckWebhookUrl(std::string_view url, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kForm = "; desired format: https://host[/path]";
  const auto hash = url.find('#');
  const auto fragment = hash == std::string_view::npos ? "" : url.substr(hash + 1);
  auto rest = url.substr(0, hash);
  const auto question = rest.find('?');
  const auto query = question == std::string_view::npos ? "" : rest.substr(question + 1);
  rest = rest.substr(0, question);
  const auto colon = rest.find(':');
  const bool has_scheme = colon != std::string_view::npos && colon < rest.find('/');
  const auto scheme = has_scheme ? rest.substr(0, colon) : "";
  if (has_scheme) rest.remove_prefix(colon + 1);
  std::string_view authority;
  if (rest.starts_with("//")) authority = rest.substr(2, rest.find('/', 2) - 2);
  const auto at = authority.rfind('@');
  const auto host = at == std::string_view::npos ? authority : authority.substr(at + 1);
  if (scheme != "https") {
    errors.push_back(
        Invalid(path, scheme, fmt::format("'https' is the only allowed URL scheme{}", kForm)));
  }
  if (host.empty()) {
    errors.push_back(Invalid(path, host, fmt::format("host must be specified{}", kForm)));
  }
  if (at != std::string_view::npos) {
    errors.push_back(
        Invalid(path, authority.substr(0, at), "user information is not permitted in the URL"));
  }
  if (!fragment.empty()) {
    errors.push_back(Invalid(path, fragment, "fragments are not permitted in the URL"));
  }
  if (!query.empty()) {
    errors.push_back(Invalid(path, query, "query parameters are not permitted in the URL"));
  }
}

void CheckWebhookService(const Value& service, const Path& path, FieldErrors& errors) {
  // Upstream's callers pass the two the other way round.
  if (service["namespace"].AsString().empty()) errors.push_back(Required(path.Child("name"), ""));
  if (service["name"].AsString().empty()) errors.push_back(Required(path.Child("namespace"), ""));
  const int64_t port = service["port"].AsInt();
  if (auto complaints = names::CheckPortNumber(port); !complaints.empty()) {
    errors.push_back(Invalid(path.Child("port"), port,
                             fmt::format("port is not valid: {}", fmt::join(complaints, ", "))));
  }
  const auto url_path = service["path"].AsString();
  if (url_path.empty() || url_path == "/") return;
  const Path at = path.Child("path");
  if (url_path == "//") {
    errors.push_back(Invalid(at, url_path, "segment[0] may not be empty"));
    return;
  }
  if (!url_path.starts_with('/')) errors.push_back(Invalid(at, url_path, "must start with a '/'"));
  auto rest = url_path.substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (size_t i = 0;; ++i) {
    const auto slash = rest.find('/');
    const auto step = rest.substr(0, slash);
    if (step.empty()) {
      errors.push_back(Invalid(at, url_path, fmt::format("segment[{}] may not be empty", i)));
    } else {
      for (const auto& complaint : names::CheckDns1123Subdomain(step)) {
        errors.push_back(Invalid(at, url_path, fmt::format("segment[{}]: {}", i, complaint)));
      }
    }
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
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
