#pragma once

// kv::Store: a revisioned, durable, ordered map with transactions and watches (see types.h).
//
// Backends: memory (kv/memory_store.h), RocksDB (kv/rocksdb/rocksdb_store.h), etcd. Each passes
// kv/testing/conformance.h, which is the fine print of this contract.
//
// Every call may come from any thread. A task resumes on the executor it was awaited on, and inline
// on a thread of the store when there was none. Reads are linearizable: they see every transaction
// acknowledged before they were called. A transaction is acknowledged only when it is durable.
//
// Failures: kExpired    the revision was compacted away; CompactedRevision() tells up to where
//           kInvalid    malformed request, or a revision that does not exist yet
//           kNotFound   no such lease
//           kTooLarge   the transaction passes the store's limit on bytes or operations
//           kExhausted  out of space: reads go on, writes work again once there is room
//           kCancelled, kTimeout  the caller's stop token or deadline; a transaction so ended may
//                       or may not have happened, never half of it
//           kUnavailable  the store is closed or cannot be reached; as unsure as a timeout
//           kCorrupt, kIo  stored data is damaged, the disk failed; Health() keeps saying so

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "kv/types.h"

namespace keelson::kv {

// How long the caller is willing to wait.
struct Call {
  std::stop_token stop;
  std::optional<TimePoint> deadline;
};

struct WatchRequest {
  KeyRange range;
  Revision start = 0;  // the first revision wanted; 0 is the one after now
  bool want_previous = true;
  // Waiting events beyond this are not kept in memory but read again from the store's log when
  // their turn comes: a slow watch costs nobody else anything, and fails with kExpired only when
  // compaction overtakes it.
  size_t buffer_bytes = size_t{4} << 20;
};

// Changes in order of revision. A batch holds whole commits, one or several. A batch without
// events is a progress notification.
struct WatchBatch {
  std::vector<Event> events;
  Revision revision = 0;  // every change in the range up to here has now been handed out
};

// One watch; destroying it cancels it. Next is awaited by one coroutine at a time.
class Watch {
 public:
  virtual ~Watch() = default;

  // The next batch. After a failure other than kCancelled or kTimeout of this very call the watch
  // is over and every further call fails the same way.
  virtual Task<Result<WatchBatch>> Next(Call call = {}) = 0;

  // Makes Next return a batch, empty if need be, whose revision is at least the store's revision
  // at the time of this call. Cheap; requests not yet answered are merged. Any thread.
  virtual void RequestProgress() = 0;

  // The revision up to which Next has returned everything: moves with the store's revision while
  // nothing in the range changes, without a batch. Any thread, lock-free; what Next has returned
  // but its caller not yet dealt with counts as returned.
  virtual Revision Delivered() const = 0;

  // Ends the watch: a waiting Next fails with kCancelled, and so do all later ones. Any thread.
  virtual void Cancel() = 0;

  // When Next failed with kExpired: watching works again from the revision after this one.
  virtual Revision CompactedRevision() const = 0;
};

struct Lease {
  LeaseId id = 0;
  Duration ttl{};                 // as granted
  Duration remaining{};           // until its keys are deleted unless it is kept alive
  std::vector<std::string> keys;  // only from GetLease
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Task<Result<GetResult>> Get(std::string key, Call call = {}) = 0;
  // Holds for any revision from CompactedRevision() on.
  virtual Task<Result<RangeResult>> Range(RangeRequest request, Call call = {}) = 0;
  virtual Task<Result<TransactionResult>> Commit(Transaction transaction, Call call = {}) = 0;

  // Fails with kInvalid for an empty range only; a compacted start makes the first Next fail.
  virtual Result<std::unique_ptr<Watch>> StartWatch(WatchRequest request) = 0;

  // Forgets history below `revision`: what was current at it stays readable, older states and the
  // changes that led up to it do not. kExpired when already compacted, kInvalid when in the future.
  virtual Task<Result<void>> Compact(Revision revision, Call call = {}) = 0;

  // A lease deletes its keys, in one transaction, when `ttl` passes without KeepAlive. `ttl` is
  // rounded up to whole seconds. `id` 0 lets the store choose; a taken one fails with
  // kAlreadyExists.
  virtual Task<Result<Lease>> GrantLease(Duration ttl, LeaseId id = 0, Call call = {}) = 0;
  virtual Task<Result<Lease>> KeepAlive(LeaseId id, Call call = {}) = 0;
  virtual Task<Result<Lease>> GetLease(LeaseId id, Call call = {}) = 0;
  virtual Task<Result<void>> RevokeLease(LeaseId id, Call call = {}) = 0;

  // Linearizable. Immediate for embedded stores, a round trip to a remote one.
  virtual Task<Result<Revision>> CurrentRevision(Call call = {}) = 0;
  // What this process has seen so far; never suspends.
  virtual Revision KnownRevision() const = 0;
  virtual Revision CompactedRevision() const = 0;

  // Whether transactions would succeed now, and if not, why.
  virtual Task<Result<void>> Health(Call call = {}) = 0;

  // Refuses new calls, lets transactions already accepted finish, fails watches with kUnavailable
  // and releases what the store holds. Once; the destructor requires it. Watches may outlive it.
  virtual Task<void> Close() = 0;
};

}  // namespace keelson::kv
