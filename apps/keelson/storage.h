#pragma once

// The storage of the program: the embedded store in its folder or an etcd cluster, and what feeds
// the watch caches.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "auth/followed_file.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/flags.h"
#include "base/metrics.h"
#include "base/result.h"
#include "encryption/encryption.h"
#include "etcd_options.h"
#include "kv/etcd/compactor.h"
#include "kv/store.h"
#include "net/io_thread.h"
#include "server/generic_api_server.h"
#include "storage/cache_feed.h"
#include "store_health.h"

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
  EtcdOptions etcd;
  std::string encryption_file;  // an EncryptionConfiguration; empty: nothing is encrypted
  bool follow_encryption_file = false;

  void AddFlags(flags::FlagSet& flags);
  std::vector<std::string> Validate() const;
};

class Storage {
 public:
  struct Parts {
    net::IoPool& pool;
    Clock& clock;
    metrics::Registry& metrics;
  };
  // In etcd when servers are named, which are waited for. Else in the data folder, which is created
  // when it is missing.
  static Result<std::unique_ptr<Storage>> Open(const StorageOptions& options, Parts parts);
  // Ends the watches, then closes the store. Requests must have ended.
  ~Storage();

  kv::Store& store() { return *store_; }
  storage::CacheFeed& feed() { return *feed_; }

  // How a resource's values are encrypted; null when no configuration is named.
  const storage::ValueTransformer* TransformerFor(const GroupResource& resource) {
    return encryption_ ? encryption_->For(resource) : nullptr;
  }

  // The checks `etcd` and `etcd-readiness`, for a store that is elsewhere.
  Result<void> AddHealthChecks(server::GenericApiServer& server);

 private:
  Storage(std::unique_ptr<kv::Store> store, const StorageOptions& options, Parts parts);
  Result<void> OpenEncryption(const StorageOptions& options, Clock& clock);

  ThreadExecutor executor_;
  std::unique_ptr<encryption::Encryption> encryption_;
  std::unique_ptr<auth::FollowedFile> encryption_file_;
  std::unique_ptr<kv::Store> store_;
  std::unique_ptr<storage::CacheFeed> feed_;
  // Only with etcd.
  std::unique_ptr<kv::etcd::Compactor> compactor_;
  std::unique_ptr<StoreHealth> health_;
  std::unique_ptr<StoreHealth> readiness_;
};

}  // namespace keelson::app
