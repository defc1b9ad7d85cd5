#include "schema/resource.h"

#include <algorithm>

namespace keelson::schema {

const Type* GroupVersionInfo::FindType(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(types, name, {}, [](const Type* type) { return type->name(); });
  return found != types.end() && (*found)->name() == name ? *found : nullptr;
}

const Type* GroupVersionInfo::FindKind(std::string_view kind) const {
  const auto found = std::ranges::lower_bound(kinds, kind, {}, &KindInfo::kind);
  return found != kinds.end() && found->kind == kind ? found->type : nullptr;
}

const ResourceInfo* GroupVersionInfo::FindResource(std::string_view plural) const {
  const auto found = std::ranges::find(resources, plural, &ResourceInfo::plural);
  return found != resources.end() ? &*found : nullptr;
}

const GroupVersionInfo* Catalog::Find(std::string_view group, std::string_view version) const {
  for (const GroupVersionInfo& info : group_versions_)
    if (info.group == group && info.version == version) return &info;
  return nullptr;
}

}  // namespace keelson::schema
