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

// The files in memory are RocksDB's, which is not built for ThreadSanitizer: that sees races in
// them where there are locks it does not know.
#if defined(__has_feature) && __has_feature(thread_sanitizer)
constexpr bool kInMemory = false;
#else
constexpr bool kInMemory = true;
#endif

TEST(RocksDbStore, FollowsTheModel) {
  uint64_t first = FirstSeed();
  const auto backend = kInMemory ? RocksDbInMemoryBackend() : RocksDbBackend();
  const uint64_t seeds = SeedCount(kInMemory ? 1000 : 20);
  for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    RunModel(backend, seed);
  }
}

TEST(RocksDbStore, ForgetsHistoryOlderThanItsWindow) {
  TempDirectory directory;
  FakeClock clock;
  auto store = OpenRocksDbStore(
      {.directory = directory.path() + "/store", .history_age = std::chrono::minutes(5)}, clock);
  ASSERT_TRUE(store) << store.error().message;
  auto put = [&](const char* key, const char* value) {
    Transaction transaction;
    transaction.operations.push_back(Operation::Put(key, Slice::Copy(value)));
    return Await((*store)->Commit(std::move(transaction))).value().revision;
  };
  auto at = [&](Revision revision) {
    return Await((*store)->Range({.range = KeyRange::Key("a"), .revision = revision}));
  };
  Revision first = put("a", "1");
  put("b", "");
  clock.Advance(std::chrono::minutes(4));
  Revision second = put("a", "2");
  EXPECT_EQ(at(first)->items.at(0).value.view(), "1");
  clock.Advance(std::chrono::minutes(2));
  put("b", "");  // finds what is too old
  put("b", "");  // forgets it
  ASSERT_FALSE(at(first));
  EXPECT_EQ(at(first).error().code, ErrorCode::kExpired);
  EXPECT_EQ(at(second)->items.at(0).value.view(), "2");
  Await((*store)->Close());
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(RocksDb, StoreConformance, ::testing::Values(RocksDbBackend()),
                         BackendName);

}  // namespace keelson::kv::testing
