#pragma once

// The thread that changes the store.
//
// Jobs queue up while the last group is being synced; the transactions at the head of the queue
// become the next group: decided in order, written as one batch with one synced WAL write, told to
// the watches, then answered. The more writers wait, the larger the group, and a lone one waits for
// nobody. Jobs about leases and history are rare and go alone.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "kv/apply.h"
#include "kv/call.h"
#include "kv/history_window.h"
#include "kv/lease_table.h"
#include "kv/rocksdb/change_table.h"
#include "kv/rocksdb/database.h"
#include "kv/rocksdb/format.h"
#include "kv/watch_hub.h"

namespace keelson::kv {

class Committer {
 public:
  struct TransactionJob {
    Transaction transaction;
    Call call;
    std::shared_ptr<Reply<TransactionResult>> reply;
    std::optional<Result<TransactionResult>> outcome;  // decided, not yet told
  };
  struct GrantJob {
    LeaseId id;  // 0 lets the store choose
    Duration ttl;
    std::shared_ptr<Reply<Lease>> reply;
  };
  struct RevokeJob {
    LeaseId id;
    std::shared_ptr<Reply<void>> reply;
  };
  struct CompactJob {
    Revision revision;
    std::shared_ptr<Reply<void>> reply;
  };
  struct ExpireJob {};  // leases may have ended
  struct TickJob {};    // time to look after memory and history
  using Job = std::variant<TransactionJob, GrantJob, RevokeJob, CompactJob, ExpireJob, TickJob>;

  // Everything must outlive Stop. `reader` runs what may take long.
  struct Parts {
    const RocksDbStoreOptions& options;
    Clock& clock;
    Database& database;
    LeaseTable& leases;
    WatchHub& hub;
    const Deadlines& deadlines;
    Executor& reader;
    std::atomic<Revision>& compacted;
  };

  Committer(Parts parts, Revision revision);
  ~Committer();

  // False once stopped; the job is dropped unanswered then.
  bool Submit(Job job);
  // Does what is queued, then ends the thread. Once.
  void Stop();

  uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }
  uint64_t transactions() const { return transactions_.load(std::memory_order_relaxed); }
  uint64_t history_bytes() const { return history_bytes_.load(std::memory_order_relaxed); }

 private:
  void Run();
  void TakeGroup(std::vector<TransactionJob>& group, std::optional<Job>& alone);

  void Handle(std::vector<TransactionJob>& group);
  void Handle(TransactionJob& job);
  void Handle(GrantJob& job);
  void Handle(RevokeJob& job);
  void Handle(CompactJob& job);
  void Handle(ExpireJob& job);
  void Handle(TickJob& job);

  Result<void> CheckWritable();
  Result<KeyValue> Lookup(std::string_view key);
  Application NewApplication();
  void TakeKnown(const std::vector<TransactionJob>& group, Application& application) const;
  Result<void> LookUpAll(const std::vector<TransactionJob>& group, Application& application);
  // Writes the application's events, and whatever else `batch_` holds already, and tells watches.
  // Trims history that is due along with it; without anything to write only if `trim` says so.
  Result<void> Write(const Application& application, bool trim = false);
  void AddEvent(const Event& event, uint32_t index);
  Result<void> Revoke(LeaseId id);
  Result<Transaction> DeletionOf(LeaseId id);
  void FindExcess();
  void TrimHistory(Revision through);
  void ArmTick();

  const Parts parts_;
  Revision revision_;
  ChangeTable changes_;
  rocksdb::WriteBatch batch_;
  format::ChangeParts change_;
  std::string state_header_;
  size_t log_bytes_ = 0;  // in batch_
  Wakes wakes_;           // of watches that the job under way has told

  HistoryWindow history_;
  std::optional<Revision> excess_;  // history to be forgotten with the next write
  uint64_t commits_at_tick_ = 0;
  TimePoint last_recovery_;

  std::atomic<uint64_t> commits_ = 0;
  std::atomic<uint64_t> transactions_ = 0;
  std::atomic<uint64_t> history_bytes_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;
  bool stopping_ = false;
  std::optional<Clock::TimerId> tick_;
  std::thread thread_;
};

}  // namespace keelson::kv
