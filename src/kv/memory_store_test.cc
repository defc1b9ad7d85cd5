#include "kv/memory_store.h"

#include <gtest/gtest.h>

#include "kv/testing/conformance.h"
#include "kv/testing/model.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {

INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, ::testing::Values(MemoryBackend()), BackendName);

namespace {

TEST(MemoryStore, FollowsTheModel) {
  uint64_t first = FirstSeed();
  for (uint64_t seed = first; seed < first + SeedCount(1000) && !HasFailure(); ++seed) {
    RunModel(MemoryBackend(), seed);
  }
}

TEST(MemoryStore, ClosingEndsWatchesAndRefusesCalls) {
  FakeClock clock;
  auto store = NewMemoryStore(clock);
  auto watch = store->StartWatch({}).value();
  Started<Result<WatchBatch>> next(watch->Next());
  Await(store->Close());
  EXPECT_EQ(next.Wait().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(Await(store->Get("a")).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(store->StartWatch({}).error().code, ErrorCode::kUnavailable);
  store.reset();
  EXPECT_EQ(Await(watch->Next()).error().code, ErrorCode::kUnavailable);
}

TEST(MemoryStore, ForgetsHistoryOlderThanItsWindow) {
  FakeClock clock;
  auto store = NewMemoryStore(clock, {.history_age = std::chrono::minutes(5)});
  auto put = [&](const char* value) {
    Transaction transaction;
    transaction.operations.push_back(Operation::Put("a", Slice::Copy(value)));
    return Await(store->Commit(std::move(transaction))).value().revision;
  };
  auto at = [&](Revision revision) {
    return Await(store->Range({.range = KeyRange::All(), .revision = revision}));
  };
  Revision first = put("1");
  clock.Advance(std::chrono::minutes(4));
  Revision second = put("2");
  EXPECT_EQ(at(first)->items.at(0).value.view(), "1");
  clock.Advance(std::chrono::minutes(5));
  ASSERT_FALSE(at(first));
  EXPECT_EQ(at(first).error().code, ErrorCode::kExpired);
  EXPECT_EQ(at(second)->items.at(0).value.view(), "2");
  EXPECT_EQ(store->CompactedRevision(), second);
  Await(store->Close());
}

}  // namespace
}  // namespace keelson::kv::testing
