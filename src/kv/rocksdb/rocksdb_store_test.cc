#include "kv/rocksdb/rocksdb_store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "kv/rocksdb/testing/temp_directory.h"
#include "kv/testing/conformance.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {
namespace {

class InRocksDb final : public Backend {
 public:
  InRocksDb() { Open(); }
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
    RocksDbStoreOptions options{.directory = directory_.path() + "/store"};
    auto opened = OpenRocksDbStore(options, clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
  }

  TempDirectory directory_;
  FakeClock clock_;
  std::unique_ptr<RocksDbStore> store_;
};

BackendParam RocksDbBackend() {
  return {"RocksDb", [] { return std::make_unique<InRocksDb>(); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(RocksDb, StoreConformance, ::testing::Values(RocksDbBackend()),
                         BackendName);

}  // namespace keelson::kv::testing
