#pragma once

// When leases end. Which keys hang on a lease, and whether it survives a restart, is the backend's
// business; after a restart every lease starts its time anew, as after a change of etcd's leader.
//
// Thread-safe. `on_due` runs on the clock's thread each time a lease may have ended; the backend
// then asks TakeExpired on the thread that commits.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kv/store.h"

namespace keelson::kv {

class LeaseTable : public std::enable_shared_from_this<LeaseTable> {
 public:
  LeaseTable(Clock& clock, std::function<void()> on_due);

  // Whole seconds, at least one.
  static Result<Duration> CheckTtl(Duration ttl);
  // An id that is free now.
  LeaseId NewId() const;

  // kAlreadyExists when the id is taken.
  Result<Lease> Grant(LeaseId id, Duration ttl);
  Result<Lease> KeepAlive(LeaseId id);
  Result<Lease> Get(LeaseId id) const;
  bool Has(LeaseId id) const;
  void Remove(LeaseId id);

  // The leases whose time is over. They stay until removed; `retry` later they are told again.
  std::vector<LeaseId> TakeExpired(Duration retry);

  // No on_due runs after this has returned.
  void Stop();

 private:
  struct Entry {
    Duration ttl{};
    TimePoint ends;
  };
  void SetEnd(LeaseId id, Entry& entry, TimePoint ends);  // these with mutex_ held
  void Arm();
  Lease Describe(LeaseId id, const Entry& entry) const;
  void Due();  // without

  Clock& clock_;
  const std::function<void()> on_due_;
  mutable std::mutex mutex_;
  std::map<LeaseId, Entry> leases_;
  std::set<std::pair<TimePoint, LeaseId>> by_end_;
  std::optional<Clock::TimerId> timer_;
  TimePoint timer_at_;
  bool stopped_ = false;
  bool telling_ = false;  // on_due is running
  std::condition_variable told_;
};

}  // namespace keelson::kv
