#include "apiextensions/routes.h"

#include <algorithm>
#include <map>
#include <string>

#include "apiextensions/version_order.h"

namespace keelson::apiextensions {
namespace {

using Key = std::pair<std::string_view, std::string_view>;

Key KeyOf(const CustomKindRef& kind) { return {kind->group(), kind->plural()}; }

struct Preferred {
  bool operator()(std::string_view a, std::string_view b) const { return IsPreferredVersion(a, b); }
};
using Versions = std::map<std::string_view, rest::DiscoveryVersion, Preferred>;

rest::DiscoveryGroup GroupOf(std::string_view name, Versions versions) {
  rest::DiscoveryGroup group{std::string(name), {}};
  for (auto& [version, shown] : versions) group.versions.push_back(std::move(shown));
  return group;
}

}  // namespace

const CustomKindRef* RouteTable::Find(std::string_view group, std::string_view plural) const {
  const Key key{group, plural};
  const auto found = std::ranges::lower_bound(kinds_, key, {}, KeyOf);
  return found != kinds_.end() && KeyOf(*found) == key ? &*found : nullptr;
}

std::vector<rest::DiscoveryGroup> RouteTable::Groups(std::string_view only) const {
  std::vector<rest::DiscoveryGroup> groups;
  auto at =
      only.empty() ? kinds_.begin() : std::ranges::lower_bound(kinds_, Key{only, ""}, {}, KeyOf);
  while (at != kinds_.end() && (only.empty() || (*at)->group() == only)) {
    const auto name = (*at)->group();
    Versions versions;
    for (; at != kinds_.end() && (*at)->group() == name; ++at) {
      if (!(*at)->established()) continue;
      for (const auto& info : (*at)->versions()) {
        auto& shown = versions[info.version];
        shown.version = info.version;
        shown.resources.push_back(&info);
      }
    }
    if (!versions.empty()) groups.push_back(GroupOf(name, std::move(versions)));
  }
  return groups;
}

}  // namespace keelson::apiextensions
