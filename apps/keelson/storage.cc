#include "storage.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/gate.h"
#include "kv/memory_store.h"
#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/store_command.h"

namespace keelson::app {
namespace {

Result<std::unique_ptr<kv::Store>> OpenStore(const std::string& folder, Clock& clock) {
  if (folder.empty()) return kv::NewMemoryStore(clock);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return FailErrno(failure.value(), "creating " + folder);
  TRY(auto store,
      kv::OpenRocksDbStore({.directory = folder + std::string(kv::kStoreFolder)}, clock));
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

Storage::Storage(std::unique_ptr<kv::Store> store, Clock& clock, metrics::Registry& metrics)
    : executor_("storage"), store_(std::move(store)) {
  feed_ = std::make_unique<storage::CacheFeed>(store_.get(), &executor_, &clock,
                                               storage::FeedOptions{}, &metrics);
  feed_->Start();
}

Result<std::unique_ptr<Storage>> Storage::Open(const std::string& folder, Clock& clock,
                                               metrics::Registry& metrics) {
  TRY(auto store, OpenStore(folder, clock));
  return std::unique_ptr<Storage>(new Storage(std::move(store), clock, metrics));
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
