#include "kv/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kv/memory_store.h"
#include "kv/testing/sync.h"

namespace keelson::kv {
namespace {

using testing::Await;

class CopyStoreTest : public ::testing::Test {
 protected:
  ~CopyStoreTest() override {
    Await(from_->Close());
    Await(to_->Close());
  }
  static Revision Put(Store& store, const std::string& key, const std::string& value,
                      LeaseId lease = 0) {
    Transaction transaction;
    transaction.operations.push_back(Operation::Put(key, Slice::Copy(value), lease));
    return Await(store.Commit(transaction)).value().revision;
  }
  void Fill(int count) {
    for (int i = 0; i < count; ++i) {
      Put(*from_, fmt::format("/registry/{}/ns/{:04}", i % 2 == 0 ? "pods" : "secrets", i),
          std::string(i, 'x'));
    }
  }
  static std::string All(Store& store) {
    std::string text;
    auto range = Await(store.Range({.range = KeyRange::All()})).value();
    for (const auto& kv : range.items)
      text += fmt::format("{}={}\n", kv.key.view(), kv.value.view());
    return text;
  }

  FakeClock clock_;
  std::unique_ptr<Store> from_ = NewMemoryStore(clock_);
  std::unique_ptr<Store> to_ = NewMemoryStore(clock_);
};

TEST_F(CopyStoreTest, TakesEverythingToNewerRevisions) {
  for (int i = 0; i < 3000; ++i) Put(*from_, "/registry/pods/ns/busy", std::to_string(i));
  Fill(1200);
  auto report = Await(CopyStore(*from_, *to_, {}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(All(*to_), All(*from_));
  EXPECT_EQ(report->written, 1201u);
  EXPECT_EQ(report->parts.at("/registry/pods").keys, 601u);
  EXPECT_EQ(report->parts.at("/registry/secrets").keys, 600u);
  auto copied = Await(to_->Range({.range = KeyRange::All()})).value();
  for (const auto& kv : copied.items) EXPECT_GT(kv.mod_revision, report->source_revision);
  EXPECT_GE(to_->CompactedRevision(), report->source_revision);
}

TEST_F(CopyStoreTest, RefusesATargetThatIsNotEmpty) {
  Fill(3);
  Put(*to_, "/registry/pods/ns/mine", "1");
  auto report = Await(CopyStore(*from_, *to_, {}));
  EXPECT_EQ(report.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(All(*to_), "/registry/pods/ns/mine=1\n");
  EXPECT_TRUE(
      Await(CopyStore(*from_, *to_, {.convert = {}, .progress = {}, .into_existing = true})));
}

TEST_F(CopyStoreTest, GoesOnWhereItWasCutShort) {
  Fill(1200);
  int left = 700;
  CopyOptions failing;
  failing.convert = [&](std::string_view, const Slice& value) -> Result<Slice> {
    if (--left < 0) return Fail(ErrorCode::kUnavailable, "cut");
    return value;
  };
  auto cut = Await(CopyStore(*from_, *to_, failing));
  EXPECT_EQ(cut.error().code, ErrorCode::kUnavailable);
  auto report = Await(CopyStore(*from_, *to_, {}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_LT(report->written, 1200u);
  EXPECT_EQ(All(*to_), All(*from_));
}

TEST_F(CopyStoreTest, ConvertsValuesAndComparesThem) {
  Fill(10);
  CopyOptions doubling;
  doubling.convert = [](std::string_view, const Slice& value) -> Result<Slice> {
    return Slice::Own(std::string(value.view()) + std::string(value.view()));
  };
  ASSERT_TRUE(Await(CopyStore(*from_, *to_, doubling)));
  EXPECT_EQ(Await(to_->Get("/registry/secrets/ns/0003")).value().item->value.view(), "xxxxxx");
  int calls = 0;
  CopyOptions fickle;
  fickle.into_existing = true;
  fickle.convert = [&](std::string_view, const Slice&) -> Result<Slice> {
    return Slice::Own(std::to_string(++calls));
  };
  EXPECT_EQ(Await(CopyStore(*from_, *to_, fickle)).error().code, ErrorCode::kCorrupt);
}

TEST_F(CopyStoreTest, KeysKeepTheTimeTheyHaveLeft) {
  auto lease = Await(from_->GrantLease(std::chrono::seconds(100))).value();
  Put(*from_, "/registry/events/ns/a", "1", lease.id);
  Put(*from_, "/registry/events/ns/b", "1", lease.id);
  clock_.Advance(std::chrono::seconds(60));
  ASSERT_TRUE(Await(CopyStore(*from_, *to_, {})));
  auto item = Await(to_->Get("/registry/events/ns/a")).value().item;
  ASSERT_TRUE(item);
  auto copied = Await(to_->GetLease(item->lease)).value();
  EXPECT_EQ(copied.keys.size(), 2u);
  EXPECT_LE(copied.remaining, std::chrono::seconds(41));
  clock_.Advance(std::chrono::seconds(50));
  EXPECT_EQ(All(*to_), "");
}

TEST_F(CopyStoreTest, NoticesThatTheSourceHasChanged) {
  Fill(3);
  CopyOptions meddling;
  bool done = false;
  meddling.progress = [&](std::string_view what, uint64_t, uint64_t) {
    if (what == "comparing" && !std::exchange(done, true))
      Put(*from_, "/registry/pods/ns/new", "1");
  };
  EXPECT_EQ(Await(CopyStore(*from_, *to_, meddling)).error().code, ErrorCode::kConflict);
  auto report =
      Await(CopyStore(*from_, *to_, {.convert = {}, .progress = {}, .into_existing = true}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(All(*to_), All(*from_));
}

}  // namespace
}  // namespace keelson::kv
