#pragma once

// Whether a store that is elsewhere answers, asked about every second, so that probes of our own
// health are answered at once.

#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/executor.h"
#include "base/gate.h"
#include "base/result.h"
#include "base/task.h"
#include "kv/store.h"

namespace keelson::app {

class StoreHealth {
 public:
  // All outlive it.
  StoreHealth(kv::Store& store, Clock& clock, Executor& executor, Duration timeout)
      : store_(store), clock_(clock), executor_(executor), timeout_(timeout) {}

  void Start() { gate_.Spawn(&executor_, Run()); }
  // Before the store is closed.
  Task<void> Stop();

  // The last answer. Any thread.
  Result<void> Last() const;

 private:
  Task<void> Run();

  kv::Store& store_;
  Clock& clock_;
  Executor& executor_;
  const Duration timeout_;
  std::stop_source stop_;
  Gate gate_;
  mutable std::mutex mutex_;
  Result<void> last_ = Fail(ErrorCode::kUnavailable, "etcd client connection not yet established");
};

}  // namespace keelson::app
