#pragma once

// The RocksDB instance under a store: opening it safely, its column families, its options, and its
// failures as Errors. Included only by sources of this folder.

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kv/rocksdb/directory_lock.h"
#include "kv/rocksdb/rocksdb_store.h"

namespace keelson::kv {

inline rocksdb::Slice ToRocks(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view FromRocks(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

Result<void> SyncDirectory(const std::string& path);

// What is true for the whole store, as stored.
struct StoreMeta {
  std::string store_id;
  Revision revision = kFirstRevision;
  Revision compacted = 0;
};

class Database {
 public:
  enum class Mode {
    kServe,   // read and write; holds the folder's lock; creates the store when there is none
    kAttach,  // read only and without the lock, beside a process that serves
  };

  static Result<std::unique_ptr<Database>> Open(const RocksDbStoreOptions& options, Mode mode);
  // Writes out what is in memory, so that the next opening has nothing to replay.
  ~Database();

  rocksdb::DB& db() { return *db_; }
  bool attached() const { return mode_ == Mode::kAttach; }
  rocksdb::ColumnFamilyHandle* meta() const { return families_[0]; }
  rocksdb::ColumnFamilyHandle* current() const { return families_[1]; }
  rocksdb::ColumnFamilyHandle* log() const { return families_[2]; }

  // Durable when it returns. One thread at a time.
  Result<void> Write(rocksdb::WriteBatch& batch);

  // The meta rows as of `read`.
  Result<StoreMeta> ReadMeta(const rocksdb::ReadOptions& read);
  // The key's state, or !exists(). These two give nullopt when `read` is confined to memory and the
  // answer is not there.
  Result<std::optional<KeyValue>> ReadState(const rocksdb::ReadOptions& read, std::string_view key);
  // The states of several keys, which must be sorted; cheaper than one by one.
  Result<std::vector<KeyValue>> ReadStates(const std::vector<std::string_view>& keys);
  Result<std::optional<Revision>> ReadRevision(const rocksdb::ReadOptions& read);

  // The failure that keeps writes from working, until Recover succeeds.
  std::optional<Error> failure() const;
  // Tries to leave the failed state, which works once there is space again.
  Result<void> Recover();

  // How often RocksDB has come close enough to its limits to slow or stop writes, and the longest
  // that it held one back to let merging catch up.
  uint64_t stalls() const { return stalls_.load(std::memory_order_relaxed); }
  uint64_t longest_stall_nanos() const {
    return longest_stall_nanos_.load(std::memory_order_relaxed);
  }

  Error ToError(const rocksdb::Status& status, std::string_view doing) const;
  const std::string& directory() const { return options_.directory; }
  const std::string& files_directory() const { return files_directory_; }

 private:
  class FailureListener;
  class LogSink;

  Database(const RocksDbStoreOptions& options, Mode mode);
  Result<void> OpenFiles();
  Result<void> OpenServing();
  Result<void> OpenAttached();
  Result<void> Initialise();
  Result<void> CheckFormat();
  rocksdb::DBOptions DbOptions();
  Result<void> ProbeSpace();
  void SetFailure(Error error);

  const RocksDbStoreOptions options_;
  const Mode mode_;
  const std::unique_ptr<rocksdb::Env> owned_env_;
  rocksdb::Env* const env_;
  const std::string files_directory_;
  std::string attach_directory_;
  std::optional<DirectoryLock> lock_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;

  std::atomic<uint64_t> stalls_ = 0;
  std::atomic<uint64_t> longest_stall_nanos_ = 0;
  mutable std::mutex failure_mutex_;
  std::optional<Error> failure_;
};

}  // namespace keelson::kv
