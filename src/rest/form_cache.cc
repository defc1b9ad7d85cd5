#include "rest/form_cache.h"

#include <functional>
#include <string_view>
#include <utility>

namespace keelson::rest {

size_t FormCache::IndexOf(const void* form, const storage::CachedObject& object) {
  // Types lie far apart, revisions close together: consecutive ones never share a slot.
  return (static_cast<size_t>(object.revision()) + reinterpret_cast<uintptr_t>(form) / 64) % kSlots;
}

size_t FormCache::HashOf(const storage::CachedObject& object) {
  return std::hash<std::string_view>{}(object.name()) * 31 +
         std::hash<std::string_view>{}(object.ns());
}

void FormCache::Clear(Slot& slot) {
  used_ -= slot.message.size();
  slot = {};
}

std::optional<Slice> FormCache::Find(const void* form, const storage::CachedObject& object) {
  const auto hash = HashOf(object);
  const std::lock_guard lock(mutex_);
  if (slots_.empty()) return std::nullopt;
  const auto& slot = slots_[IndexOf(form, object)];
  if (slot.form != form || slot.revision != object.revision() || slot.name_hash != hash) {
    return std::nullopt;
  }
  return slot.message;
}

void FormCache::Keep(const void* form, const storage::CachedObject& object, Slice message) {
  if (message.size() > budget_ / kMaxShare) return;
  const auto hash = HashOf(object);
  const std::lock_guard lock(mutex_);
  if (slots_.empty()) slots_.resize(kSlots);
  auto& slot = slots_[IndexOf(form, object)];
  Clear(slot);
  used_ += message.size();
  slot = {form, object.revision(), hash, std::move(message)};
  while (used_ > budget_) {
    auto& next = slots_[hand_++ % kSlots];
    if (&next != &slot) Clear(next);
  }
}

size_t FormCache::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace keelson::rest
