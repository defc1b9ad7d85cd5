#pragma once

// Reading states and changes at a revision.
//
// Every read pins one RocksDB snapshot, which holds the keys, the log and the revision of the same
// instant. An older revision is the newest one with the log's later changes undone: the first
// change of a key after that revision knows what was there before. So reading at a revision costs
// the range itself plus the changes since. Thread-safe; never blocks a commit.

#include <atomic>
#include <map>
#include <optional>
#include <string>

#include "kv/rocksdb/database.h"
#include "kv/rocksdb/format.h"
#include "kv/watch_hub.h"

namespace keelson::kv {

class StateReader {
 public:
  // `compacted` is raised before history up to it is deleted.
  StateReader(Database& database, const std::atomic<Revision>& compacted)
      : database_(database), compacted_(compacted) {}

  // With `memory_only`, nullopt when answering would need the disk.
  Result<std::optional<GetResult>> Get(std::string_view key, bool memory_only);
  Result<RangeResult> Range(const RangeRequest& request, const Call& call);
  Result<EventLog::Chunk> ReadLog(const KeyRange& range, Revision from, size_t bytes);

 private:
  struct View;
  class Merge;
  // Keys changed after a revision, with the place in the log of their first change since.
  using FirstChanges = std::map<std::string, format::LogKey, std::less<>>;

  Result<FirstChanges> FindChanges(rocksdb::Iterator& log, const KeyRange& range, const Call& call);
  Result<void> CheckRevision(Revision revision, Revision now) const;

  Database& database_;
  const std::atomic<Revision>& compacted_;
};

}  // namespace keelson::kv
