#include "storage.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/gate.h"
#include "base/log.h"
#include "kv/etcd/renamed_store.h"
#include "kv/memory_store.h"
#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/store_command.h"
#include "rest/stored_value.h"

namespace keelson::app {
namespace {

// Where storage puts its objects; another prefix is a matter of names in etcd.
constexpr std::string_view kPrefix = "/registry";
constexpr Duration kWaitForEtcd = std::chrono::seconds(20);
constexpr Duration kBetweenAttempts = std::chrono::milliseconds(500);

Task<void> Describe(kv::EtcdStore& store, Result<kv::EtcdServerInfo>& info) {
  info = co_await store.Describe();
}

Result<void> WaitForEtcd(kv::EtcdStore& store, Clock& clock) {
  const TimePoint limit = clock.Now() + kWaitForEtcd;
  std::string told;
  for (;;) {
    Result<kv::EtcdServerInfo> info = Fail(ErrorCode::kUnavailable, "");
    Gate gate;
    gate.Spawn(nullptr, Describe(store, info));
    gate.CloseAndWait();
    if (info) {
      log::InfoS("keeping everything in etcd", {{"server", info->url}, {"version", info->version}});
      return {};
    }
    if (clock.Now() >= limit) return Annotate(info.error(), "etcd cannot be used");
    if (std::exchange(told, info.error().message) != info.error().message) {
      log::WarningS("waiting for etcd", {{"err", info.error().message}});
    }
    std::this_thread::sleep_for(kBetweenAttempts);
  }
}

void CloseNow(kv::Store& store) {
  Gate gate;
  gate.Spawn(nullptr, store.Close());
  gate.CloseAndWait();
}

Result<std::unique_ptr<kv::Store>> OpenEtcd(const EtcdOptions& options, net::IoPool& pool,
                                            Clock& clock) {
  TRY(auto store_options, options.StoreOptions());
  TRY(auto store, kv::OpenEtcdStore(std::move(store_options), pool, clock));
  if (auto reached = WaitForEtcd(*store, clock); !reached) {
    CloseNow(*store);
    return std::unexpected(reached.error());
  }
  if (options.prefix == kPrefix) return store;
  return kv::etcd::Rename(std::move(store), std::string(kPrefix) + "/", options.prefix + "/");
}

Result<std::unique_ptr<kv::Store>> OpenEmbedded(const StorageOptions& options, Clock& clock) {
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
      "empty for the form that is read fastest; in etcd that is protobuf, which kube-apiserver "
      "reads, too. Every form is read, whichever is written.");
  flags.String("encryption-provider-config", encryption_file,
               "An EncryptionConfiguration: which resources are encrypted in the store, and how.");
  flags.Bool("encryption-provider-config-automatic-reload", follow_encryption_file,
             "Follow that file as it changes, without a restart.");
  flags.Duration("etcd-compaction-interval", history_age,
                 "How long the past stays readable: watches resume and lists continue from "
                 "versions up to this old, older ones are answered with 410. 0 keeps all of it. "
                 "In etcd one of all servers has it forget the rest this often.");
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
  if (follow_encryption_file && encryption_file.empty()) {
    errors.emplace_back(
        "--encryption-provider-config-automatic-reload must be set with "
        "--encryption-provider-config");
  }
  for (auto& error : etcd.Validate()) errors.push_back(std::move(error));
  return errors;
}

Storage::Storage(std::unique_ptr<kv::Store> store, const StorageOptions& options, Parts parts)
    : executor_("storage"), store_(std::move(store)) {
  feed_ = std::make_unique<storage::CacheFeed>(
      store_.get(), &executor_, &parts.clock,
      storage::FeedOptions{.memory_budget = static_cast<size_t>(options.watch_cache_bytes)},
      &parts.metrics);
  feed_->Start();
  if (!options.etcd.used()) return;
  auto watch_over = [&](Duration timeout) {
    auto health = std::make_unique<StoreHealth>(*store_, parts.clock, executor_, timeout);
    health->Start();
    return health;
  };
  health_ = watch_over(options.etcd.health_timeout);
  readiness_ = watch_over(options.etcd.ready_timeout);
  if (options.history_age > Duration::zero()) {
    compactor_ =
        std::make_unique<kv::etcd::Compactor>(*store_, parts.clock, executor_, options.history_age);
    compactor_->Start();
  }
}

Result<std::unique_ptr<Storage>> Storage::Open(const StorageOptions& options, Parts parts) {
  TRY(auto store, options.etcd.used() ? OpenEtcd(options.etcd, parts.pool, parts.clock)
                                      : OpenEmbedded(options, parts.clock));
  std::unique_ptr<Storage> self(new Storage(std::move(store), options, parts));
  TRY_VOID(self->OpenEncryption(options, parts.clock));
  return self;
}

Result<void> Storage::OpenEncryption(const StorageOptions& options, Clock& clock) {
  const auto& file = options.encryption_file;
  if (file.empty()) return {};
  TRY(auto text, ReadWholeFile(file));
  const std::string root = options.etcd.used() ? options.etcd.prefix : std::string(kPrefix);
  auto made = encryption::Encryption::Create(text, root);
  if (!made) return Annotate(made.error(), file);
  encryption_ = *std::move(made);
  if (options.follow_encryption_file) {
    encryption_file_ = std::make_unique<auth::FollowedFile>(
        file, std::move(text), clock, [this](const std::string& now) -> Result<void> {
          TRY_VOID(encryption_->Change(now));
          log::InfoS("the encryption configuration has changed");
          return {};
        });
  }
  return {};
}

Result<void> Storage::AddHealthChecks(server::GenericApiServer& server) {
  if (!health_) return {};
  TRY_VOID(server.AddHealthCheck({"etcd", [health = health_.get()] { return health->Last(); }}));
  return server.AddReadyzCheck(
      {"etcd-readiness", [readiness = readiness_.get()] { return readiness->Last(); }});
}

Storage::~Storage() {
  encryption_file_.reset();
  Gate closing;
  if (compactor_) closing.Spawn(&executor_, compactor_->Stop());
  if (health_) closing.Spawn(&executor_, health_->Stop());
  if (readiness_) closing.Spawn(&executor_, readiness_->Stop());
  closing.Spawn(&executor_, feed_->Stop());
  closing.CloseAndWait();
  feed_.reset();
  Gate last;
  last.Spawn(&executor_, store_->Close());
  last.CloseAndWait();
}

}  // namespace keelson::app
