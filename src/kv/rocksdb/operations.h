#pragma once

// What an operator does with a store: copy it, put a copy back, check it, shrink it, look at it.
//
// Snapshot, verify and stats read beside a process that serves the folder, and without one: they
// attach as a RocksDB secondary, which follows the files and the WAL and takes no lock. Restore
// makes a new folder and refuses an existing one; compact wants the folder for itself. All of it
// blocks; run it in a tool, or on a thread that may. The snapshot file's format is in
// docs/storage-format.md.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kv/rocksdb/rocksdb_store.h"

namespace keelson::kv {

// Told now and then: `done` of about `total` (0 when unknown) rows.
using Progress = std::function<void(std::string_view what, uint64_t done, uint64_t total)>;

struct SnapshotInfo {
  std::string store_id;  // 32 hexadecimal digits
  Revision revision = 0;
  Revision compacted_revision = 0;
  uint64_t keys = 0;
  uint64_t changes = 0;  // in the log
  uint64_t file_bytes = 0;
};

// Writes everything the store in `directory` holds at one instant to `file`, which appears whole or
// not at all.
Result<SnapshotInfo> SnapshotStore(const std::string& directory, const std::string& file,
                                   const Progress& progress);

// Reads all of a snapshot and compares its checksums.
Result<SnapshotInfo> CheckSnapshot(const std::string& file, const Progress& progress);

// Makes a store from a snapshot, with its revisions and its history. kAlreadyExists when there is
// anything at `directory`.
Result<SnapshotInfo> RestoreStore(const std::string& file, const std::string& directory,
                                  const Progress& progress);

struct VerifyReport {
  SnapshotInfo info;
  std::map<std::string, uint64_t> keys_per_resource;  // by "/registry/pods/"
  std::vector<std::string> problems;  // at most kMostProblems, then it stops looking
  static constexpr size_t kMostProblems = 20;
};

// Reads everything: the checksums of all files, that every row decodes, that revisions neither
// repeat nor skip, that the log ends in the current states, and what `check` finds in a value.
// Fails only when it cannot read; what is wrong with the data is in the report.
using CheckValue = std::function<Result<void>(std::string_view key, std::string_view value)>;
Result<VerifyReport> VerifyStore(const std::string& directory, const CheckValue& check,
                                 const Progress& progress);

// Forgets all history of a store that nobody serves, and gives back the space of what was deleted
// or replaced. kUnavailable, with who it is, when somebody serves it.
Result<RocksDbStoreStats> CompactStore(const std::string& directory);

Result<RocksDbStoreStats> ReadStoreStats(const std::string& directory);

}  // namespace keelson::kv
