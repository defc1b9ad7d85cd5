#pragma once

// FormCache: protobuf messages of objects that were asked for lately.
//
// Most clients of a cluster list and watch in protobuf, all of them the same objects; this lets one
// encoding serve them. An object never changes at its revision, so revision and name tell what a
// message belongs to and nothing ever needs to be taken back. Slots go by revision: what was
// written last stands together and pushes out what is oldest. Bounded by its budget. Any thread.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "storage/cached_object.h"

namespace keelson::rest {

class FormCache {
 public:
  explicit FormCache(size_t budget_bytes) : budget_(budget_bytes) {}

  // `form` tells apart forms of one object; an address that stays the same, such as its type's.
  std::optional<Slice> Find(const void* form, const storage::CachedObject& object);
  void Keep(const void* form, const storage::CachedObject& object, Slice message);

  size_t used() const;

 private:
  static constexpr size_t kSlots = size_t{1} << 15;
  static constexpr size_t kMaxShare = 64;  // one message takes at most this part of the budget

  struct Slot {
    const void* form = nullptr;
    kv::Revision revision = 0;
    size_t name_hash = 0;
    Slice message;
  };
  static size_t IndexOf(const void* form, const storage::CachedObject& object);
  static size_t HashOf(const storage::CachedObject& object);
  void Clear(Slot& slot);

  const size_t budget_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;  // made at first use
  size_t used_ = 0;
  size_t hand_ = 0;  // where to look for something to drop next
};

}  // namespace keelson::rest
