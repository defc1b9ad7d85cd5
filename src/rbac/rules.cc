#include "rbac/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"

namespace keelson::rbac {
namespace {

bool Has(const std::vector<std::string>& list, std::string_view wanted) {
  return std::ranges::any_of(list, [&](const std::string& item) { return item == wanted; });
}

bool HasOrAll(const std::vector<std::string>& list, std::string_view wanted) {
  return Has(list, wanted) || Has(list, "*");
}

bool ResourceMatches(const PolicyRule& rule, const Request& request) {
  for (std::string_view resource : rule.resources) {
    if (resource == "*") return true;
    if (request.subresource.empty()) {
      if (resource == request.resource) return true;
      continue;
    }
    auto slash = resource.find('/');
    if (slash == std::string_view::npos || resource.substr(slash + 1) != request.subresource) {
      continue;
    }
    auto parent = resource.substr(0, slash);
    if (parent == "*" || parent == request.resource) return true;
  }
  return false;
}

bool NameMatches(const PolicyRule& rule, std::string_view name) {
  return rule.resource_names.empty() || Has(rule.resource_names, name);
}

// One verb on one thing: what coverage is decided on. In upstream's order.
template <typename Visit>
void ForEachPart(const PolicyRule& rule, Visit visit) {
  for (const auto& group : rule.api_groups) {
    for (const auto& resource : rule.resources) {
      for (const auto& verb : rule.verbs) {
        PolicyRule part{.verbs = {verb}, .api_groups = {group}, .resources = {resource}};
        if (rule.resource_names.empty()) visit(part);
        for (const auto& name : rule.resource_names) {
          part.resource_names = {name};
          visit(part);
        }
      }
    }
  }
  for (const auto& url : rule.non_resource_urls) {
    for (const auto& verb : rule.verbs) {
      visit(PolicyRule{.verbs = {verb}, .non_resource_urls = {url}});
    }
  }
}

bool ResourceCovered(const PolicyRule& owned, std::string_view resource) {
  if (HasOrAll(owned.resources, resource)) return true;
  auto slash = resource.find('/');
  return slash != std::string_view::npos &&
         Has(owned.resources, "*" + std::string(resource.substr(slash)));
}

bool UrlCovered(const PolicyRule& owned, std::string_view url) {
  return std::ranges::any_of(owned.non_resource_urls,
                             [&](std::string_view have) { return UrlMatches(have, url); });
}

bool PartCovered(const PolicyRule& owned, const PolicyRule& part) {
  if (!HasOrAll(owned.verbs, part.verbs[0])) return false;
  if (!part.non_resource_urls.empty()) return UrlCovered(owned, part.non_resource_urls[0]);
  return HasOrAll(owned.api_groups, part.api_groups[0]) &&
         ResourceCovered(owned, part.resources[0]) &&
         (owned.resource_names.empty() ||
          (!part.resource_names.empty() && Has(owned.resource_names, part.resource_names[0])));
}

void AppendList(std::string& out, std::string_view name, const std::vector<std::string>& list) {
  if (list.empty()) return;
  if (!out.ends_with('{')) out += ", ";
  out += fmt::format("{}:[", name);
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ' ';
    first = false;
    AppendQuoted(out, item);
  }
  out += ']';
}

}  // namespace

bool UrlMatches(std::string_view rule_url, std::string_view path) {
  if (rule_url == "*" || rule_url == path) return true;
  if (!rule_url.ends_with('*')) return false;
  return path.starts_with(rule_url.substr(0, rule_url.find_last_not_of('*') + 1));
}

bool RuleAllows(const PolicyRule& rule, const Request& request) {
  if (!HasOrAll(rule.verbs, request.verb)) return false;
  if (!request.resource_request) {
    return std::ranges::any_of(rule.non_resource_urls, [&](const std::string& url) {
      return UrlMatches(url, request.path);
    });
  }
  return HasOrAll(rule.api_groups, request.group) && ResourceMatches(rule, request) &&
         NameMatches(rule, request.name);
}

Rules Uncovered(const Rules& owned, const Rules& wanted) {
  Rules uncovered;
  for (const auto& rule : wanted) {
    ForEachPart(rule, [&](const PolicyRule& part) {
      bool covered =
          std::ranges::any_of(owned, [&](const PolicyRule& own) { return PartCovered(own, part); });
      if (!covered) uncovered.push_back(part);
    });
  }
  return uncovered;
}

std::string Describe(const PolicyRule& rule) {
  std::string out = "{";
  AppendList(out, "APIGroups", rule.api_groups);
  AppendList(out, "Resources", rule.resources);
  AppendList(out, "NonResourceURLs", rule.non_resource_urls);
  AppendList(out, "ResourceNames", rule.resource_names);
  AppendList(out, "Verbs", rule.verbs);
  return out + "}";
}

}  // namespace keelson::rbac
