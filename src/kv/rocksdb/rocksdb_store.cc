#include "kv/rocksdb/rocksdb_store.h"

#include <rocksdb/iterator.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/executor.h"
#include "base/gate.h"
#include "kv/call.h"
#include "kv/lease_table.h"
#include "kv/rocksdb/committer.h"
#include "kv/rocksdb/database.h"
#include "kv/rocksdb/format.h"
#include "kv/rocksdb/reader.h"
#include "kv/rocksdb/snapshot.h"
#include "kv/watch_hub.h"

namespace keelson::kv {
namespace {

class OpenStore final : public RocksDbStore, public EventLog {
 public:
  OpenStore(RocksDbStoreOptions options, Clock& clock, std::unique_ptr<Database> database,
            const StoreMeta& meta)
      : options_(std::move(options)),
        compacted_(meta.compacted),
        database_(std::move(database)),
        state_reader_(*database_, compacted_),
        deadlines_(std::make_shared<Deadlines>(clock)),
        leases_(std::make_shared<LeaseTable>(
            clock, [this] { committer_->Submit(Committer::ExpireJob{}); })),
        reader_(std::make_unique<ThreadExecutor>("kv-read")),
        hub_(std::make_shared<WatchHub>(meta.revision, this, reader_.get(), deadlines_)),
        committer_(
            std::make_unique<Committer>(Committer::Parts{options_, clock, *database_, *leases_,
                                                         *hub_, *deadlines_, *reader_, compacted_},
                                        meta.revision)) {}

  ~OpenStore() override { KEELSON_CHECK(closed_); }

  Result<void> LoadLeases();

  Task<Result<GetResult>> Get(std::string key, Call call) override;
  Task<Result<RangeResult>> Range(RangeRequest request, Call call) override;
  Task<Result<TransactionResult>> Commit(Transaction transaction, Call call) override;
  Result<std::unique_ptr<Watch>> StartWatch(WatchRequest request) override {
    return hub_->Start(std::move(request));
  }
  Task<Result<void>> Compact(Revision revision, Call call) override;
  Task<Result<Lease>> GrantLease(Duration ttl, LeaseId id, Call call) override;
  Task<Result<Lease>> KeepAlive(LeaseId id, Call call) override;
  Task<Result<Lease>> GetLease(LeaseId id, Call call) override;
  Task<Result<void>> RevokeLease(LeaseId id, Call call) override;
  Task<Result<Revision>> CurrentRevision(Call call) override;
  Revision KnownRevision() const override { return hub_->published(); }
  Revision CompactedRevision() const override { return compacted_.load(); }
  Task<Result<void>> Health(Call call) override;
  Task<void> Close() override;
  RocksDbStoreStats Stats() const override;
  Task<Result<void>> WriteSnapshot(std::string file, Call call) override;

  Result<Chunk> ReadLog(const KeyRange& range, Revision from, size_t bytes) override {
    return state_reader_.ReadLog(range, from, bytes);
  }

 private:
  Result<void> Begin(const Call& call) const {
    if (closed_) return FailClosed();
    return CheckCall(call, *deadlines_);
  }

  template <typename T, typename Job>
  Task<Result<T>> Submit(Job job, std::shared_ptr<Reply<T>> reply, Call call) {
    if (!committer_->Submit(std::move(job))) co_return FailClosed();
    co_return co_await AwaitReply<T>(std::move(reply), std::move(call), deadlines_);
  }

  // Runs `read` on the reading thread; the caller may give up waiting for it.
  template <typename T, typename Read>
  Task<Result<T>> OnReader(Read read, Call call) {
    auto reply = Reply<T>::Create();
    if (!PostRead([this, reply, read = std::move(read), call]() mutable {
          if (auto wanted = CheckCall(call, *deadlines_); !wanted) {
            reply->Set(std::unexpected(wanted.error()));
          } else {
            reply->Set(read());
          }
        })) {
      co_return FailClosed();
    }
    co_return co_await AwaitReply<T>(std::move(reply), std::move(call), deadlines_);
  }

  bool PostRead(Executor::Function function) {
    std::lock_guard lock(reader_mutex_);
    if (closed_) return false;
    reader_->Post(std::move(function));
    return true;
  }

  Result<std::optional<GetResult>> GetFromMemory(const std::string& key);
  Result<std::vector<std::string>> KeysOf(LeaseId id);

  const RocksDbStoreOptions options_;
  std::atomic<bool> closed_ = false;
  std::atomic<Revision> compacted_;
  std::unique_ptr<Database> database_;
  StateReader state_reader_;
  const std::shared_ptr<Deadlines> deadlines_;
  const std::shared_ptr<LeaseTable> leases_;
  std::mutex reader_mutex_;                // between posting and closing
  mutable std::shared_mutex files_mutex_;  // between reading on a caller's thread and closing
  std::unique_ptr<ThreadExecutor> reader_;
  const std::shared_ptr<WatchHub> hub_;
  std::unique_ptr<Committer> committer_;
};

Result<void> OpenStore::LoadLeases() {
  std::unique_ptr<rocksdb::Iterator> rows(database_->db().NewIterator({}, database_->meta()));
  auto prefix = ToRocks(format::kLeasePrefix);
  for (rows->Seek(prefix); rows->Valid() && rows->key().starts_with(prefix); rows->Next()) {
    auto id = format::ParseLeaseRowKey(FromRocks(rows->key()));
    std::string_view value = FromRocks(rows->value());
    auto seconds = format::TakeVarint(value);
    if (!id || !seconds) return Fail(ErrorCode::kCorrupt, "a lease does not decode");
    TRY(Duration ttl, LeaseTable::CheckTtl(std::chrono::seconds(*seconds)));
    TRY_VOID(leases_->Grant(*id, ttl));
  }
  if (!rows->status().ok()) {
    return std::unexpected(database_->ToError(rows->status(), "reading leases"));
  }
  return {};
}

// Most gets are answered so, for less than a change of threads would cost.
Result<std::optional<GetResult>> OpenStore::GetFromMemory(const std::string& key) {
  std::shared_lock lock(files_mutex_);
  if (closed_) return FailClosed();
  return state_reader_.Get(key, /*memory_only=*/true);
}

Task<Result<GetResult>> OpenStore::Get(std::string key, Call call) {
  CO_TRY_VOID(Begin(call));
  CO_TRY(auto quick, GetFromMemory(key));
  if (quick) co_return *std::move(quick);
  co_return co_await OnReader<GetResult>(
      [this, key = std::move(key)]() -> Result<GetResult> {
        TRY(auto result, state_reader_.Get(key, /*memory_only=*/false));
        return *std::move(result);
      },
      std::move(call));
}

Task<Result<RangeResult>> OpenStore::Range(RangeRequest request, Call call) {
  CO_TRY_VOID(Begin(call));
  co_return co_await OnReader<RangeResult>(
      [this, request = std::move(request), call] { return state_reader_.Range(request, call); },
      call);
}

Task<Result<TransactionResult>> OpenStore::Commit(Transaction transaction, Call call) {
  CO_TRY_VOID(Begin(call));
  CO_TRY_VOID(Validate(transaction, options_.limits));
  auto reply = Reply<TransactionResult>::Create();
  co_return co_await Submit(
      Committer::TransactionJob{std::move(transaction), call, reply, std::nullopt}, reply, call);
}

Task<Result<void>> OpenStore::Compact(Revision revision, Call call) {
  CO_TRY_VOID(Begin(call));
  auto reply = Reply<void>::Create();
  co_return co_await Submit(Committer::CompactJob{revision, reply}, reply, std::move(call));
}

Task<Result<Lease>> OpenStore::GrantLease(Duration ttl, LeaseId id, Call call) {
  CO_TRY_VOID(Begin(call));
  CO_TRY(Duration seconds, LeaseTable::CheckTtl(ttl));
  auto reply = Reply<Lease>::Create();
  co_return co_await Submit(Committer::GrantJob{id, seconds, reply}, reply, std::move(call));
}

Task<Result<Lease>> OpenStore::KeepAlive(LeaseId id, Call call) {
  CO_TRY_VOID(Begin(call));
  co_return leases_->KeepAlive(id);
}

Task<Result<Lease>> OpenStore::GetLease(LeaseId id, Call call) {
  CO_TRY_VOID(Begin(call));
  CO_TRY(Lease lease, leases_->Get(id));
  auto keys = co_await OnReader<std::vector<std::string>>([this, id] { return KeysOf(id); }, call);
  CO_TRY(lease.keys, std::move(keys));
  co_return lease;
}

Result<std::vector<std::string>> OpenStore::KeysOf(LeaseId id) {
  std::vector<std::string> keys;
  std::string prefix = format::LeaseKeyRowPrefix(id);
  std::unique_ptr<rocksdb::Iterator> rows(database_->db().NewIterator({}, database_->meta()));
  for (rows->Seek(prefix); rows->Valid() && rows->key().starts_with(prefix); rows->Next()) {
    keys.emplace_back(FromRocks(rows->key()).substr(prefix.size()));
  }
  if (!rows->status().ok()) {
    return std::unexpected(database_->ToError(rows->status(), "reading a lease's keys"));
  }
  return keys;
}

Task<Result<void>> OpenStore::RevokeLease(LeaseId id, Call call) {
  CO_TRY_VOID(Begin(call));
  auto reply = Reply<void>::Create();
  co_return co_await Submit(Committer::RevokeJob{id, reply}, reply, std::move(call));
}

Task<Result<Revision>> OpenStore::CurrentRevision(Call call) {
  CO_TRY_VOID(Begin(call));
  co_return hub_->published();
}

Task<Result<void>> OpenStore::Health(Call call) {
  CO_TRY_VOID(Begin(call));
  std::shared_lock lock(files_mutex_);
  if (closed_) co_return FailClosed();
  if (auto failure = database_->failure()) co_return std::unexpected(*std::move(failure));
  co_return Result<void>();
}

Task<Result<void>> OpenStore::WriteSnapshot(std::string file, Call call) {
  CO_TRY_VOID(Begin(call));
  co_return co_await OnReader<void>(
      [this, file = std::move(file)]() -> Result<void> {
        TRY_VOID(kv::WriteSnapshot(*database_, file, nullptr));
        return {};
      },
      std::move(call));
}

// Order: no new calls; transactions and their answers; watches, which wait for log readers; the
// reading thread; then the files.
Task<void> OpenStore::Close() {
  {
    std::lock_guard lock(reader_mutex_);
    KEELSON_CHECK(!closed_.exchange(true));
  }
  leases_->Stop();
  committer_->Stop();
  hub_->Close();
  deadlines_->Stop();
  reader_.reset();
  std::unique_lock lock(files_mutex_);
  database_.reset();
  co_return;
}

RocksDbStoreStats OpenStore::Stats() const {
  RocksDbStoreStats stats;
  std::shared_lock lock(files_mutex_);
  if (closed_) return stats;
  auto& db = database_->db();
  auto sum = [&](const std::string& property) {
    uint64_t value = 0;
    db.GetAggregatedIntProperty(property, &value);
    return value;
  };
  using Properties = rocksdb::DB::Properties;
  stats.revision = hub_->published();
  stats.compacted_revision = compacted_.load();
  db.GetIntProperty(database_->current(), Properties::kEstimateNumKeys, &stats.estimated_keys);
  stats.disk_bytes = sum(Properties::kTotalSstFilesSize);
  stats.history_bytes = committer_->history_bytes();
  uint64_t cache = 0;
  db.GetIntProperty(Properties::kBlockCacheUsage, &cache);
  stats.memory_bytes =
      cache + sum(Properties::kSizeAllMemTables) + sum(Properties::kEstimateTableReadersMem);
  stats.commits = committer_->commits();
  stats.transactions = committer_->transactions();
  stats.stalls = database_->stalls();
  stats.longest_stall = std::chrono::nanoseconds(database_->longest_stall_nanos());
  return stats;
}

}  // namespace

Result<std::unique_ptr<RocksDbStore>> OpenRocksDbStore(RocksDbStoreOptions options, Clock& clock) {
  TRY(auto database, Database::Open(options, Database::Mode::kServe));
  TRY(auto meta, database->ReadMeta({}));
  auto store = std::make_unique<OpenStore>(std::move(options), clock, std::move(database), meta);
  if (auto loaded = store->LoadLeases(); !loaded) {
    // Nothing is waiting on a store that nobody has seen, so closing does not suspend.
    Gate gate;
    gate.Spawn(nullptr, store->Close());
    gate.CloseAndWait();
    return std::unexpected(loaded.error());
  }
  return store;
}

}  // namespace keelson::kv
