#pragma once

// Leases for objects with a time to live (events). Objects written within a short time of each
// other share one lease that lives a little longer than asked, as upstream does, so that a stream
// of events does not mean a stream of leases.

#include <mutex>

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "kv/store.h"

namespace keelson::storage {

class LeasePool {
 public:
  LeasePool(kv::Store* store, Clock* clock) : store_(store), clock_(clock) {}

  // A lease that lives at least `ttl` from now. Any thread.
  Task<Result<kv::LeaseId>> Lease(std::chrono::seconds ttl);

 private:
  static constexpr std::chrono::seconds kMaxReuse{60};
  static constexpr int kReusePercent = 5;
  static constexpr int kMaxObjects = 1000;

  kv::Store* const store_;
  Clock* const clock_;
  std::mutex mutex_;
  kv::LeaseId lease_ = 0;
  TimePoint expires_;
  int objects_ = 0;
};

}  // namespace keelson::storage
