#include "kv/etcd/compactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kv/etcd/renamed_store.h"
#include "kv/memory_store.h"
#include "kv/testing/sync.h"

namespace keelson::kv::etcd {
namespace {

using std::chrono::minutes;
using testing::Await;

class Shared : public ::testing::Test {
 protected:
  ~Shared() override { Await(store_->Close()); }
  Revision Put(const std::string& key) {
    Transaction transaction;
    transaction.operations.push_back(Operation::Put(key, Slice::Static("v")));
    return Await(store_->Commit(transaction)).value().revision;
  }
  void Pass(Duration time) {
    clock_.Advance(time, [&] { executor_.RunUntilIdle(); });
  }

  FakeClock clock_;
  ManualExecutor executor_;
  std::unique_ptr<Store> store_ = NewMemoryStore(clock_);
};

TEST_F(Shared, HistoryOfAnIntervalIsForgottenOnceWhoeverIsThere) {
  Compactor one(*store_, clock_, executor_, minutes(5));
  Compactor two(*store_, clock_, executor_, minutes(5));
  one.Start();
  two.Start();
  executor_.RunUntilIdle();
  Put("a");
  Pass(minutes(5));
  EXPECT_EQ(store_->CompactedRevision(), 0);
  for (int round = 0; round < 4; ++round) {
    Revision then = store_->KnownRevision();
    Put("a");
    Put("a");
    Pass(minutes(5));
    EXPECT_LE(store_->CompactedRevision(), then);
    EXPECT_GE(store_->CompactedRevision(), then - 2);
  }
  // One write per interval, by one of them.
  EXPECT_EQ(Await(store_->Get(std::string(Compactor::kKey))).value().item->version, 5);
  Gate stopping;
  stopping.Spawn(&executor_, one.Stop());
  stopping.Spawn(&executor_, two.Stop());
  executor_.RunUntilIdle();
  stopping.CloseAndWait();
}

TEST_F(Shared, APartOfAStoreUnderAnotherName) {
  auto view = Rename(std::move(store_), "/registry/", "/other/");
  auto watch = view->StartWatch({.range = KeyRange::Prefix("/registry/")}).value();
  Transaction transaction;
  transaction.compares = {Compare::Absent("/registry/a")};
  transaction.operations = {Operation::Put("/registry/a", Slice::Static("1"))};
  transaction.read_on_failure = {"/registry/a"};
  EXPECT_TRUE(Await(view->Commit(transaction)).value().succeeded);
  auto again = Await(view->Commit(transaction)).value();
  EXPECT_EQ(again.current.at(0).key.view(), "/registry/a");
  EXPECT_TRUE(Await(view->Get("/registry/a")).value().item);
  EXPECT_TRUE(Await(view->Get("/other/a")).value().item);  // as it is called underneath
  auto range = Await(view->Range({.range = KeyRange::Prefix("/registry/")})).value();
  ASSERT_EQ(range.items.size(), 1u);
  EXPECT_EQ(range.items[0].key.view(), "/registry/a");
  EXPECT_EQ(Await(watch->Next()).value().events.at(0).kv.key.view(), "/registry/a");
  store_ = std::move(view);
}

}  // namespace
}  // namespace keelson::kv::etcd
