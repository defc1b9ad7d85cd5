#pragma once

// The storage of the program: the embedded store in its folder, and what feeds the watch caches.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kv/store.h"
#include "storage/cache_feed.h"

namespace keelson::app {

class Storage {
 public:
  // An empty folder keeps everything in memory. Creates the folder when it is missing.
  static Result<std::unique_ptr<Storage>> Open(const std::string& folder, Clock& clock,
                                               metrics::Registry& metrics);
  // Ends the watches, then closes the store. Requests must have ended.
  ~Storage();

  kv::Store& store() { return *store_; }
  storage::CacheFeed& feed() { return *feed_; }

 private:
  Storage(std::unique_ptr<kv::Store> store, Clock& clock, metrics::Registry& metrics);

  ThreadExecutor executor_;
  std::unique_ptr<kv::Store> store_;
  std::unique_ptr<storage::CacheFeed> feed_;
};

// /var/lib/keelson for root, the user's data folder for others.
std::string DefaultDataFolder();

}  // namespace keelson::app
