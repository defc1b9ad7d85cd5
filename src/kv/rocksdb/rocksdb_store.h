#pragma once

// The embedded kv::Store: RocksDB in a folder of its own.
//
// One thread commits: it groups the transactions that wait, decides them one after the other, and
// writes them as one batch with one synced WAL write. Nobody is answered before that. One more
// thread reads what does not come from memory. Only sources of this folder see RocksDB.
//
// Opening refuses, and never repairs by forgetting:
//   kUnavailable  another process, named in the message, holds the folder
//   kCorrupt      files are damaged or missing; the message names what
//   kUnsupported  the folder was written by a newer format
//   kExhausted    no space on the device

#include <cstddef>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kv/apply.h"
#include "kv/store.h"

namespace rocksdb {
class Env;
}

namespace keelson::kv {

struct RocksDbStoreOptions {
  std::string directory;  // created when missing, its parent must exist

  // Block cache and write buffers together, at rest. Under load the write buffers take up to
  // another three times this; they are written out and given back when writes pause.
  size_t memory_bytes = size_t{16} << 20;

  // History older or larger than this is compacted in the background; 0 is without limit.
  Duration history_age = std::chrono::minutes(10);
  size_t history_bytes = size_t{256} << 20;

  Limits limits;

  rocksdb::Env* env = nullptr;  // the machine's unless a test injects faults; not owned
};

struct RocksDbStoreStats {
  Revision revision = 0;
  Revision compacted_revision = 0;
  uint64_t estimated_keys = 0;
  uint64_t disk_bytes = 0;     // table files and WAL
  uint64_t history_bytes = 0;  // of them, the log's
  uint64_t memory_bytes = 0;   // block cache, write buffers, table readers
  uint64_t commits = 0;        // synced batches since the start
  uint64_t transactions = 0;   // committed in them
  uint64_t stalls = 0;         // times merging fell behind so far that writes may have waited
  Duration longest_stall{};    // the longest that a write waited for merging since the start
};

class RocksDbStore : public Store {
 public:
  virtual RocksDbStoreStats Stats() const = 0;
  // Writes everything the store holds at one instant to `file`, while it is in use.
  virtual Task<Result<void>> WriteSnapshot(std::string file, Call call = {}) = 0;
};

// Blocks while it opens, which takes milliseconds after a clean close and at most the replay of
// the WAL after a crash. `clock` must outlive the store.
Result<std::unique_ptr<RocksDbStore>> OpenRocksDbStore(RocksDbStoreOptions options, Clock& clock);

}  // namespace keelson::kv
