#include "rest/kind_table.h"

#include <algorithm>
#include <ranges>

namespace keelson::rest {
namespace {

template <typename Entry>
const Entry* FindLast(const std::vector<Entry>& entries, std::string_view group,
                      std::string_view resource) {
  for (const Entry& entry : entries | std::views::reverse) {
    if (entry.group == group && entry.resource == resource) return &entry;
  }
  return nullptr;
}

}  // namespace

void KindTable::Add(std::span<const KindStrategy> entries) {
  strategies_.insert(strategies_.end(), entries.begin(), entries.end());
}

void KindTable::Add(std::span<const KindSubresource> entries) {
  subresources_.insert(subresources_.end(), entries.begin(), entries.end());
}

void KindTable::Add(std::span<const KindComputed> entries) {
  computed_.insert(computed_.end(), entries.begin(), entries.end());
}

void KindTable::Add(std::span<const schema::DefaultHook> hooks) {
  hooks_.insert(hooks_.end(), hooks.begin(), hooks.end());
}

const Strategy* KindTable::FindStrategy(std::string_view group, std::string_view resource) const {
  const auto* entry = FindLast(strategies_, group, resource);
  return entry == nullptr ? nullptr : entry->strategy;
}

const ComputedObjects* KindTable::FindComputed(std::string_view group,
                                               std::string_view resource) const {
  const auto* entry = FindLast(computed_, group, resource);
  return entry == nullptr ? nullptr : entry->objects;
}

const KindSubresource* KindTable::FindSubresource(std::string_view group, std::string_view resource,
                                                  std::string_view subresource) const {
  for (const auto& entry : subresources_ | std::views::reverse) {
    if (entry.group == group && entry.resource == resource && entry.subresource == subresource) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace keelson::rest
