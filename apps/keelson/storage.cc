#include "storage.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/gate.h"
#include "kv/memory_store.h"
#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/store_command.h"
#include "rest/stored_value.h"

namespace keelson::app {
namespace {

Result<std::unique_ptr<kv::Store>> OpenStore(const StorageOptions& options, Clock& clock) {
  const auto& folder = options.data_dir;
  const auto history_bytes = static_cast<size_t>(options.history_bytes);
  if (folder.empty()) {
    return kv::NewMemoryStore(clock,
                              {.history_age = options.history_age, .history_bytes = history_bytes});
  }
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return FailErrno(failure.value(), "creating " + folder);
  TRY(auto store,
      kv::OpenRocksDbStore({.directory = folder + std::string(kv::kStoreFolder),
                            .memory_bytes = static_cast<size_t>(options.store_memory_bytes),
                            .history_age = options.history_age,
                            .history_bytes = history_bytes},
                           clock));
  return std::unique_ptr<kv::Store>(std::move(store));
}

}  // namespace

std::string DefaultDataFolder() {
  if (geteuid() == 0) return "/var/lib/keelson";
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != 0) {
    return std::string(data) + "/keelson";
  }
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : ".") + "/.local/share/keelson";
}

void StorageOptions::AddFlags(flags::FlagSet& flags) {
  flags.String("data-dir", data_dir,
               "Where the embedded store keeps its files; empty keeps everything in memory.");
  flags.String(
      "storage-media-type", media_type,
      "How objects are stored: application/json, application/vnd.kubernetes.protobuf, or "
      "empty for the form that is read fastest. Every form is read, whichever is written.");
  flags.Duration("etcd-compaction-interval", history_age,
                 "How long the past stays readable: watches resume and lists continue from "
                 "versions up to this old, older ones are answered with 410. 0 keeps all of it.");
  flags.Int("store-history-bytes", history_bytes,
            "The past is forgotten earlier when it takes more than this on disk; 0 is no bound.");
  flags.Int("store-memory-bytes", store_memory_bytes,
            "What the embedded store keeps in memory at rest: cached blocks, writes not yet in "
            "files. Under load it takes up to four times this.");
  flags.Int("watch-cache-memory-bytes", watch_cache_bytes,
            "What the watch caches of all resources may take. Beyond it idle ones are dropped and "
            "what would need more is answered with 429.");
}

std::vector<std::string> StorageOptions::Validate() const {
  constexpr int64_t kLeastMemory = int64_t{4} << 20;
  std::vector<std::string> errors;
  if (auto form = rest::ParseStoredForm(media_type); !form) errors.push_back(form.error().message);
  if (history_age < Duration::zero()) {
    errors.emplace_back("--etcd-compaction-interval must not be negative");
  }
  if (history_bytes < 0) errors.emplace_back("--store-history-bytes must not be negative");
  if (store_memory_bytes < kLeastMemory) {
    errors.push_back(fmt::format("--store-memory-bytes must be at least {}", kLeastMemory));
  }
  if (watch_cache_bytes < kLeastMemory) {
    errors.push_back(fmt::format("--watch-cache-memory-bytes must be at least {}", kLeastMemory));
  }
  return errors;
}

Storage::Storage(std::unique_ptr<kv::Store> store, const StorageOptions& options, Clock& clock,
                 metrics::Registry& metrics)
    : executor_("storage"), store_(std::move(store)) {
  feed_ = std::make_unique<storage::CacheFeed>(
      store_.get(), &executor_, &clock,
      storage::FeedOptions{.memory_budget = static_cast<size_t>(options.watch_cache_bytes)},
      &metrics);
  feed_->Start();
}

Result<std::unique_ptr<Storage>> Storage::Open(const StorageOptions& options, Clock& clock,
                                               metrics::Registry& metrics) {
  TRY(auto store, OpenStore(options, clock));
  return std::unique_ptr<Storage>(new Storage(std::move(store), options, clock, metrics));
}

Storage::~Storage() {
  Gate closing;
  closing.Spawn(&executor_, feed_->Stop());
  closing.CloseAndWait();
  feed_.reset();
  Gate last;
  last.Spawn(&executor_, store_->Close());
  last.CloseAndWait();
}

}  // namespace keelson::app
