// Everything at once, for ThreadSanitizer: writers, readers, watchers, compaction and a shutdown in
// the middle of it.

#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "base/executor.h"
#include "base/gate.h"
#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/testing/temp_directory.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {
namespace {

struct Shared {
  RocksDbStore* store;
  std::atomic<int64_t> written = 0;
  std::atomic<int64_t> watched = 0;
  std::atomic<Revision> newest = 0;
};

void WaitFor(std::atomic<int64_t>& count, int64_t enough) {
  for (int64_t seen = count; seen < enough; seen = count) count.wait(seen);
}

// Each ends when the store is closed under it.
Task<void> WriteUntilClosed(Shared* shared, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (;;) {
    Transaction transaction;
    std::string key = fmt::format("k{:03}", random() % 200);
    if (random() % 5 == 0) transaction.compares.push_back(Compare::Exists(key));
    transaction.operations.push_back(
        random() % 8 == 0 ? Operation::Delete(key)
                          : Operation::Put(key, Slice::Own(std::string(random() % 2000, 'x'))));
    transaction.read_on_failure = {key};
    auto result = co_await shared->store->Commit(std::move(transaction));
    if (!result) {
      EXPECT_EQ(result.error().code, ErrorCode::kUnavailable) << result.error().message;
      co_return;
    }
    shared->newest = result->revision;
    shared->written.fetch_add(1);
    shared->written.notify_one();
  }
}

Task<void> ReadUntilClosed(Shared* shared, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (;;) {
    Revision newest = shared->newest;
    auto at = newest > 50 && random() % 2 == 0 ? newest - static_cast<Revision>(random() % 50) : 0;
    auto range = co_await shared->store->Range({.range = KeyRange::Prefix("k"),
                                                .revision = at,
                                                .limit = static_cast<int64_t>(random() % 100)});
    if (!range && range.error().code == ErrorCode::kUnavailable) co_return;
    if (!range) EXPECT_EQ(range.error().code, ErrorCode::kExpired) << range.error().message;
    auto got = co_await shared->store->Get(fmt::format("k{:03}", random() % 200));
    if (!got) {
      EXPECT_EQ(got.error().code, ErrorCode::kUnavailable) << got.error().message;
      co_return;
    }
  }
}

Task<void> WatchUntilClosed(Shared* shared, uint64_t seed) {
  std::mt19937_64 random(seed);
  Revision next = 0;
  for (;;) {
    auto watch = shared->store->StartWatch({.range = KeyRange::Prefix(seed % 2 == 0 ? "k0" : "k"),
                                            .start = next,
                                            .buffer_bytes = size_t{1} << (8 + random() % 14)});
    if (!watch) co_return;
    for (;;) {
      if (random() % 10 == 0) (*watch)->RequestProgress();
      auto batch = co_await (*watch)->Next();
      if (!batch && batch.error().code == ErrorCode::kUnavailable) co_return;
      if (!batch) {
        EXPECT_EQ(batch.error().code, ErrorCode::kExpired) << batch.error().message;
        next = (*watch)->CompactedRevision() + 1;
        break;
      }
      for (const Event& event : batch->events) {
        EXPECT_GE(event.kv.mod_revision, next);
        next = event.kv.mod_revision;
      }
      next = std::max(next, batch->revision + 1);
      EXPECT_GE((*watch)->Delivered() + 1, std::min(next, shared->store->KnownRevision() + 1));
      shared->watched.fetch_add(static_cast<int64_t>(batch->events.size()));
      shared->watched.notify_one();
      if (random() % 200 == 0) break;
    }
  }
}

Task<void> CompactUntilClosed(Shared* shared) {
  for (;;) {
    Revision newest = shared->newest;
    auto compacted = co_await shared->store->Compact(std::max<Revision>(1, newest - 40));
    if (!compacted && compacted.error().code == ErrorCode::kUnavailable) co_return;
    auto lease = co_await shared->store->GrantLease(std::chrono::seconds(1));
    if (lease) (void)co_await shared->store->RevokeLease(lease->id);
  }
}

TEST(RocksDbStoreStress, WritersReadersWatchersCompactionAndShutdown) {
  TempDirectory directory;
  SystemClock clock;
  for (int round = 0; round < 3; ++round) {
    RocksDbStoreOptions options{.directory = directory.path() + "/store",
                                .memory_bytes = 1 << 20,
                                .history_bytes = 1 << 20};
    auto store = OpenRocksDbStore(options, clock).value();
    Shared shared{.store = store.get(), .newest = store->KnownRevision()};
    ThreadExecutor one("io-1"), two("io-2");
    Gate gate;
    for (uint64_t i = 0; i < 8; ++i)
      gate.Spawn(i % 2 == 0 ? &one : &two, WriteUntilClosed(&shared, i));
    for (uint64_t i = 0; i < 3; ++i)
      gate.Spawn(i % 2 == 0 ? &one : &two, ReadUntilClosed(&shared, i));
    for (uint64_t i = 0; i < 4; ++i)
      gate.Spawn(i % 2 == 0 ? &one : &two, WatchUntilClosed(&shared, i));
    gate.Spawn(&one, CompactUntilClosed(&shared));
    WaitFor(shared.written, 1500);
    WaitFor(shared.watched, 500);
    Await(store->Close());
    gate.CloseAndWait();
    EXPECT_GE(shared.newest.load(), 500);
  }
}

}  // namespace
}  // namespace keelson::kv::testing
