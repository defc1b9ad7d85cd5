#pragma once

// Which keys have changed since a revision, without remembering keys.
//
// A table of revisions, indexed by a hash of the key: each place holds the newest revision of any
// key that falls there. So "not changed since" is always right, and "changed" is now and then said
// of a key whose neighbour has; the caller then reads the key, which is all it saves otherwise. A
// reader of a state a few milliseconds old is wrongly turned away about once in a hundred times at
// 10,000 changes a second. Sans-I/O, not thread-safe.

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "kv/types.h"

namespace keelson::kv {

class ChangeTable {
 public:
  // Any key may have changed up to `revision`.
  explicit ChangeTable(Revision revision) : newest_(kPlaces, revision) {}

  void Add(std::string_view key, Revision revision) { newest_[PlaceOf(key)] = revision; }
  bool UnchangedSince(std::string_view key, Revision revision) const {
    return newest_[PlaceOf(key)] <= revision;
  }

 private:
  static constexpr size_t kPlaces = size_t{1} << 14;
  static size_t PlaceOf(std::string_view key) {
    return std::hash<std::string_view>()(key) % kPlaces;
  }

  std::vector<Revision> newest_;  // 128 KiB
};

}  // namespace keelson::kv
