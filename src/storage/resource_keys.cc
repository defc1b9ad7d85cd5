#include "storage/resource_keys.h"

namespace keelson::storage {
namespace {

struct Exception {
  std::string_view group;
  std::string_view resource;
  std::string_view prefix;
};

// Names from before the API was called v1, kept because stored data bears them.
constexpr Exception kExceptions[] = {
    {"", "endpoints", "services/endpoints"},       {"", "nodes", "minions"},
    {"", "replicationcontrollers", "controllers"}, {"", "services", "services/specs"},
    {"networking.k8s.io", "ingresses", "ingress"},
};

// Built-in groups that are served by the outer and inner servers of the chain, which keep the
// group.
constexpr std::string_view kGroupsInPrefix[] = {"apiextensions.k8s.io", "apiregistration.k8s.io"};

}  // namespace

std::string ResourcePrefix(const GroupResource& resource, bool built_in) {
  bool keeps_group = !built_in;
  for (auto group : kGroupsInPrefix) keeps_group = keeps_group || resource.group == group;
  if (keeps_group) return resource.group + "/" + resource.resource;
  for (const auto& exception : kExceptions) {
    if (exception.group == resource.group && exception.resource == resource.resource) {
      return std::string(exception.prefix);
    }
  }
  return resource.resource;
}

std::string RelativeKey(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 1);
  if (!ns.empty()) key.append(ns).push_back('/');
  key += name;
  return key;
}

}  // namespace keelson::storage
