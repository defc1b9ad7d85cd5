#include "kv/rocksdb/rocksdb_store.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <filesystem>

#include "kv/rocksdb/testing/temp_directory.h"
#include "kv/testing/conformance.h"
#include "kv/testing/model.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {
namespace {

// On the machine's own disk, or on one in memory.
class InRocksDb final : public Backend {
 public:
  explicit InRocksDb(std::unique_ptr<rocksdb::Env> env) : env_(std::move(env)) { Open(); }
  ~InRocksDb() override { Await(store_->Close()); }
  Store& store() override { return *store_; }
  void Advance(Duration by) override { clock_.Advance(by); }
  TimePoint Now() const override { return clock_.Now(); }
  bool Reopen() override {
    Await(store_->Close());
    store_.reset();
    Open();
    return true;
  }

 private:
  void Open() {
    RocksDbStoreOptions options{.directory = directory_.path() + "/store", .env = env_.get()};
    auto opened = OpenRocksDbStore(options, clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
  }

  TempDirectory directory_;
  std::unique_ptr<rocksdb::Env> env_;
  FakeClock clock_;
  std::unique_ptr<RocksDbStore> store_;
};

BackendParam RocksDbBackend() {
  return {"RocksDb", [] { return std::make_unique<InRocksDb>(nullptr); }};
}

BackendParam RocksDbInMemoryBackend() {
  return {"RocksDbInMemory", [] {
            return std::make_unique<InRocksDb>(
                std::unique_ptr<rocksdb::Env>(rocksdb::NewMemEnv(rocksdb::Env::Default())));
          }};
}

TEST(RocksDbStore, FollowsTheModel) {
  uint64_t first = FirstSeed();
  for (uint64_t seed = first; seed < first + SeedCount(1000) && !HasFailure(); ++seed) {
    RunModel(RocksDbInMemoryBackend(), seed);
  }
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(RocksDb, StoreConformance, ::testing::Values(RocksDbBackend()),
                         BackendName);

}  // namespace keelson::kv::testing
