#pragma once

// The storage of the program: the embedded store in its folder, and what feeds the watch caches.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/flags.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kv/store.h"
#include "storage/cache_feed.h"

namespace keelson::app {

// /var/lib/keelson for root, the user's data folder for others.
std::string DefaultDataFolder();

struct StorageOptions {
  std::string data_dir = DefaultDataFolder();  // empty keeps everything in memory
  std::string media_type;
  // The past is readable this far back; 0 is without limit.
  Duration history_age = std::chrono::minutes(5);
  int64_t history_bytes = int64_t{256} << 20;
  // What the embedded store takes at rest, and what all watch caches may take.
  int64_t store_memory_bytes = int64_t{16} << 20;
  int64_t watch_cache_bytes = int64_t{4} << 30;

  void AddFlags(flags::FlagSet& flags);
  std::vector<std::string> Validate() const;
};

class Storage {
 public:
  // Creates the data folder when it is missing.
  static Result<std::unique_ptr<Storage>> Open(const StorageOptions& options, Clock& clock,
                                               metrics::Registry& metrics);
  // Ends the watches, then closes the store. Requests must have ended.
  ~Storage();

  kv::Store& store() { return *store_; }
  storage::CacheFeed& feed() { return *feed_; }

 private:
  Storage(std::unique_ptr<kv::Store> store, const StorageOptions& options, Clock& clock,
          metrics::Registry& metrics);

  ThreadExecutor executor_;
  std::unique_ptr<kv::Store> store_;
  std::unique_ptr<storage::CacheFeed> feed_;
};

}  // namespace keelson::app
