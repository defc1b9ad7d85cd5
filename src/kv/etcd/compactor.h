#pragma once

// Forgets history in a store that several servers share, once per interval whoever they are.
//
// All of them, upstream's servers included, meet at one key. Its version counts intervals: who
// raises it from the version last seen has won, and compacts up to the revision that was current
// an interval ago; the others learn the new version and wait. So history of one to two intervals
// is kept.

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/executor.h"
#include "base/gate.h"
#include "base/task.h"
#include "kv/store.h"

namespace keelson::kv::etcd {

class Compactor {
 public:
  static constexpr std::string_view kKey = "compact_rev_key";

  // All outlive it. Runs on `executor`.
  Compactor(Store& store, Clock& clock, Executor& executor, Duration interval);
  ~Compactor();

  void Start();
  // Before the store is closed.
  Task<void> Stop();

 private:
  Task<void> Run();
  Task<Result<void>> Turn();

  Store& store_;
  Clock& clock_;
  Executor& executor_;
  const Duration interval_;
  std::stop_source stop_;
  Gate gate_;
  int64_t version_ = 0;    // of the key, as last seen
  Revision revision_ = 0;  // what was current then
};

}  // namespace keelson::kv::etcd
