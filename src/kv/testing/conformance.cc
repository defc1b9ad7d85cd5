#include "kv/testing/conformance.h"

#include <gmock/gmock.h>

#include <stop_token>

#include "kv/memory_store.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

class InMemory final : public Backend {
 public:
  ~InMemory() override { Await(store_->Close()); }
  Store& store() override { return *store_; }
  void Advance(Duration by) override { clock_.Advance(by); }
  TimePoint Now() const override { return clock_.Now(); }
  bool Reopen() override { return false; }

 private:
  FakeClock clock_;
  std::unique_ptr<Store> store_ = NewMemoryStore(clock_);
};

Transaction One(Operation operation) {
  Transaction transaction;
  transaction.operations.push_back(std::move(operation));
  return transaction;
}

Slice Text(const std::string& text) { return Slice::Copy(text); }

std::string Show(const KeyValue& kv) {
  return std::string(kv.key.view()) + "=" + std::string(kv.value.view());
}

}  // namespace

BackendParam MemoryBackend() {
  return {"Memory", [] { return std::make_unique<InMemory>(); }};
}

StoreConformance::StoreConformance() : backend_(GetParam().make()) { base_ = Now(); }
StoreConformance::~StoreConformance() = default;

Revision StoreConformance::Now() { return Await(store().CurrentRevision()).value(); }

Revision StoreConformance::Put(const std::string& key, const std::string& value, LeaseId lease) {
  return Commit(One(Operation::Put(key, Text(value), lease))).revision;
}

Revision StoreConformance::Delete(const std::string& key) {
  return Commit(One(Operation::Delete(key))).revision;
}

TransactionResult StoreConformance::Commit(Transaction transaction) {
  auto result = Await(store().Commit(std::move(transaction)));
  EXPECT_TRUE(result) << result.error().message;
  return result ? *std::move(result) : TransactionResult{};
}

std::string StoreConformance::Get(const std::string& key) {
  auto result = Await(store().Get(key));
  if (!result) return std::string(ErrorCodeName(result.error().code));
  if (!result->item) return "absent";
  const KeyValue& kv = *result->item;
  EXPECT_EQ(kv.key.view(), key);
  EXPECT_GE(result->revision, kv.mod_revision);
  return fmt::format("{}@{}/{}/{}", kv.value.view(), Relative(kv.mod_revision),
                     Relative(kv.create_revision), kv.version);
}

std::string StoreConformance::List(RangeRequest request) {
  auto result = Await(store().Range(std::move(request)));
  if (!result) return std::string(ErrorCodeName(result.error().code));
  std::string text;
  for (const auto& kv : result->items) text += (text.empty() ? "" : " ") + Show(kv);
  if (result->more) text += " ...";
  if (result->count != 0) text += fmt::format(" of {}", result->count);
  return text;
}

std::unique_ptr<Watch> StoreConformance::StartWatch(const KeyRange& range, Revision start,
                                                    size_t buffer_bytes) {
  return store().StartWatch({.range = range, .start = start, .buffer_bytes = buffer_bytes}).value();
}

std::vector<std::string> StoreConformance::Events(Watch& watch, size_t count) {
  std::vector<std::string> shown;
  while (shown.size() < count) {
    auto batch = Await(watch.Next());
    if (!batch) {
      shown.emplace_back(ErrorCodeName(batch.error().code));
      break;
    }
    for (const Event& event : batch->events) {
      EXPECT_LE(event.kv.mod_revision, batch->revision);
      bool put = event.type == Event::Type::kPut;
      std::string was;
      if (event.previous.exists()) was = fmt::format(" (was {})", event.previous.value.view());
      shown.push_back(fmt::format("{} {}{} @{}", put ? "put" : "delete",
                                  put ? Show(event.kv) : std::string(event.kv.key.view()), was,
                                  Relative(event.kv.mod_revision)));
    }
  }
  return shown;
}

namespace {

// --- reads and transactions ---

TEST_P(StoreConformance, AKeyCarriesItsRevisions) {
  Put("a", "1");
  Put("b", "x");
  Put("a", "2");
  EXPECT_EQ(Get("a"), "2@3/1/2");
  EXPECT_EQ(Get("b"), "x@2/2/1");
  EXPECT_EQ(Get("c"), "absent");
  Delete("a");
  EXPECT_EQ(Get("a"), "absent");
  Put("a", "3");
  EXPECT_EQ(Get("a"), "3@5/5/1");
}

TEST_P(StoreConformance, ValuesAreBytes) {
  std::string value("\0\xff\r\n\0", 5);
  std::string key("k\0\xff", 3);
  Put(key, value);
  Put("empty", "");
  auto got = Await(store().Get(key)).value();
  ASSERT_TRUE(got.item);
  EXPECT_EQ(got.item->value.view(), value);
  EXPECT_EQ(Get("empty"), "@2/2/1");
  std::string big(size_t{1} << 20, 'x');
  Put("big", big);
  EXPECT_EQ(Await(store().Get("big")).value().item->value.view(), big);
}

TEST_P(StoreConformance, ATransactionIsOneRevision) {
  Put("gone", "x");
  Transaction transaction;
  transaction.operations = {Operation::Put("a", Text("1")), Operation::Put("b", Text("2")),
                            Operation::Delete("gone"), Operation::Delete("never-was")};
  transaction.want_previous = true;
  auto result = Commit(std::move(transaction));
  EXPECT_TRUE(result.succeeded);
  EXPECT_EQ(Relative(result.revision), 2);
  ASSERT_EQ(result.previous.size(), 4u);
  EXPECT_FALSE(result.previous[0].exists());
  EXPECT_EQ(Show(result.previous[2]), "gone=x");
  EXPECT_FALSE(result.previous[3].exists());
  EXPECT_EQ(Get("a"), "1@2/2/1");
  EXPECT_EQ(Get("b"), "2@2/2/1");
  EXPECT_EQ(Get("gone"), "absent");
}

TEST_P(StoreConformance, WhatACallerHasSeenCountsOnlyAsLongAsItIsTrue) {
  Put("a", "1");
  auto seen = Await(store().Get("a")).value();
  auto update = [&](const std::string& value) {
    Transaction transaction;
    transaction.compares.push_back(Compare::ModRevision("a", seen.item->mod_revision));
    transaction.operations.push_back(Operation::Put("a", Text(value)));
    transaction.read_on_failure.emplace_back("a");
    transaction.known = {*seen.item, KeyValue{.key = Text("b")}};
    transaction.known_at = seen.revision;
    return Commit(std::move(transaction));
  };
  EXPECT_TRUE(update("2").succeeded);
  EXPECT_EQ(Get("a"), "2@2/1/2");
  auto late = update("3");
  EXPECT_FALSE(late.succeeded);
  EXPECT_EQ(Show(late.current.at(0)), "a=2");
  // What was there before is in the history, whoever said so.
  auto before = Await(store().Range({.range = KeyRange::All(), .revision = seen.revision})).value();
  ASSERT_EQ(before.items.size(), 1u);
  EXPECT_EQ(Show(before.items[0]), "a=1");
}

TEST_P(StoreConformance, ATransactionThatChangesNothingTakesNoRevision) {
  Put("a", "1");
  EXPECT_EQ(Relative(Delete("absent")), 1);
  EXPECT_EQ(Relative(Commit({}).revision), 1);
  EXPECT_EQ(Relative(Now()), 1);
}

TEST_P(StoreConformance, FailedComparesChangeNothingAndShowWhatIsThere) {
  Revision first = Put("a", "1");
  Put("a", "2");
  Transaction transaction;
  transaction.compares = {Compare::ModRevision("a", first)};
  transaction.operations = {Operation::Put("a", Text("3"))};
  transaction.read_on_failure = {"a", "b"};
  auto result = Commit(transaction);
  EXPECT_FALSE(result.succeeded);
  EXPECT_EQ(Relative(result.revision), 2);
  ASSERT_EQ(result.current.size(), 2u);
  EXPECT_EQ(Show(result.current[0]), "a=2");
  EXPECT_FALSE(result.current[1].exists());

  transaction.compares = {Compare::ModRevision("a", result.current[0].mod_revision)};
  result = Commit(transaction);
  EXPECT_TRUE(result.succeeded);
  EXPECT_THAT(result.current, IsEmpty());
  EXPECT_EQ(Get("a"), "3@3/1/3");
}

TEST_P(StoreConformance, CreatesOnlyWhenAbsentAndUpdatesOnlyWhenPresent) {
  Transaction create = One(Operation::Put("a", Text("1")));
  create.compares = {Compare::Absent("a")};
  EXPECT_TRUE(Commit(create).succeeded);
  EXPECT_FALSE(Commit(create).succeeded);
  Transaction update = One(Operation::Put("b", Text("1")));
  update.compares = {Compare::Exists("a"), Compare::Exists("b")};
  EXPECT_FALSE(Commit(update).succeeded);
  Put("b", "0");
  EXPECT_TRUE(Commit(update).succeeded);
}

TEST_P(StoreConformance, MalformedTransactionsAreRefused) {
  Transaction twice;
  twice.operations = {Operation::Put("a", Text("1")), Operation::Put("a", Text("2"))};
  EXPECT_EQ(Await(store().Commit(twice)).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Await(store().Commit(One(Operation::Put("", Text("1"))))).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(Get("a"), "absent");
  EXPECT_EQ(Relative(Now()), 0);
}

TEST_P(StoreConformance, RangesAreOrderedHalfOpenAndCounted) {
  for (const char* key : {"b", "a/2", "c", "a/1", "a", "a0"}) Put(key, key);
  EXPECT_EQ(List(KeyRange::All()), "a=a a/1=a/1 a/2=a/2 a0=a0 b=b c=c");
  EXPECT_EQ(List(KeyRange::Prefix("a/")), "a/1=a/1 a/2=a/2");
  EXPECT_EQ(List(KeyRange{"a/2", "b"}), "a/2=a/2 a0=a0");
  EXPECT_EQ(List(KeyRange::Key("a")), "a=a");
  EXPECT_EQ(List(KeyRange::Prefix("x")), "");
  EXPECT_EQ(List({.range = KeyRange::All(), .limit = 2}), "a=a a/1=a/1 ...");
  EXPECT_EQ(List({.range = KeyRange::All(), .limit = 2, .want_count = true}),
            "a=a a/1=a/1 ... of 6");
  EXPECT_EQ(List({.range = KeyRange::All(), .limit = 6}), "a=a a/1=a/1 a/2=a/2 a0=a0 b=b c=c");
  EXPECT_EQ(List({.range = KeyRange::Prefix("a"), .count_only = true}), " of 4");
  EXPECT_EQ(List({.range = KeyRange{"b", ""}, .keys_only = true}), "b= c=");
}

TEST_P(StoreConformance, ARangeReadsAnyRevisionThatIsNotCompacted) {
  Revision one = Put("a", "1");
  Revision two = Put("b", "1");
  Revision three = Put("a", "2");
  Revision four = Delete("b");
  Revision five = Put("c", "1");
  EXPECT_EQ(List(KeyRange::All(), one), "a=1");
  EXPECT_EQ(List(KeyRange::All(), two), "a=1 b=1");
  EXPECT_EQ(List(KeyRange::All(), three), "a=2 b=1");
  EXPECT_EQ(List(KeyRange::All(), four), "a=2");
  EXPECT_EQ(List(KeyRange::All(), five), "a=2 c=1");
  EXPECT_EQ(List({.range = KeyRange::All(), .revision = two, .limit = 1, .want_count = true}),
            "a=1 ... of 2");
  EXPECT_EQ(List(KeyRange::All(), five + 1), "Invalid");
  auto at_two = Await(store().Range({.range = KeyRange::Key("a"), .revision = two})).value();
  EXPECT_EQ(at_two.revision, five);
  EXPECT_EQ(at_two.items.at(0).mod_revision, one);
  EXPECT_EQ(at_two.items.at(0).version, 1);
}

TEST_P(StoreConformance, PagesAtOneRevisionAreOneSnapshot) {
  for (char c = 'a'; c <= 'f'; ++c) Put(std::string(1, c), "1");
  Revision at = Now();
  EXPECT_EQ(List({.range = {"a", ""}, .revision = at, .limit = 3}), "a=1 b=1 c=1 ...");
  Put("d", "2");
  Delete("e");
  Put("dd", "1");
  EXPECT_EQ(List({.range = {std::string("c\0", 2), ""}, .revision = at, .limit = 3}),
            "d=1 e=1 f=1");
}

// --- compaction ---

TEST_P(StoreConformance, CompactionForgetsOlderStatesOnly) {
  Put("a", "1");
  Put("gone", "1");
  Revision three = Put("a", "2");
  Delete("gone");
  Revision five = Put("a", "3");
  ASSERT_TRUE(Await(store().Compact(three)));
  EXPECT_EQ(store().CompactedRevision(), three);
  EXPECT_EQ(List(KeyRange::All(), three - 1), "Expired");
  EXPECT_EQ(List(KeyRange::All(), three), "a=2 gone=1");
  EXPECT_EQ(List(KeyRange::All(), three + 1), "a=2");
  EXPECT_EQ(Await(store().Compact(three)).error().code, ErrorCode::kExpired);
  EXPECT_EQ(Await(store().Compact(five + 1)).error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(Await(store().Compact(five)));
  EXPECT_EQ(List(KeyRange::All(), five), "a=3");
  EXPECT_EQ(List(KeyRange::All()), "a=3");
  EXPECT_EQ(Get("a"), "3@5/1/3");
}

// --- watches ---

TEST_P(StoreConformance, AWatchSeesChangesOfItsRangeInOrderWithPreviousValues) {
  Put("w/a", "0");
  auto watch = StartWatch(KeyRange::Prefix("w/"));
  Put("w/a", "1");
  Put("x", "not in range");
  Put("w/b", "1");
  Delete("w/a");
  EXPECT_THAT(Events(*watch, 3),
              ElementsAre("put w/a=1 (was 0) @2", "put w/b=1 @4", "delete w/a (was 1) @5"));
}

TEST_P(StoreConformance, AWatchReplaysFromAnEarlierRevision) {
  Put("a", "1");
  Revision two = Put("a", "2");
  Put("b", "1");
  Delete("a");
  auto watch = StartWatch(KeyRange::All(), two);
  EXPECT_THAT(Events(*watch, 3),
              ElementsAre("put a=2 (was 1) @2", "put b=1 @3", "delete a (was 2) @4"));
  Put("b", "2");
  EXPECT_THAT(Events(*watch, 1), ElementsAre("put b=2 (was 1) @5"));
}

TEST_P(StoreConformance, AWatchMayStartInTheFuture) {
  auto watch = StartWatch(KeyRange::All(), Now() + 3);
  for (int i = 1; i <= 4; ++i) Put("a", std::to_string(i));
  EXPECT_THAT(Events(*watch, 2), ElementsAre("put a=3 (was 2) @3", "put a=4 (was 3) @4"));
}

TEST_P(StoreConformance, ChangesOfOneTransactionArriveInOneBatch) {
  auto live = StartWatch(KeyRange::All());
  Transaction transaction;
  for (int i = 0; i < 20; ++i) {
    transaction.operations.push_back(Operation::Put(fmt::format("k{:02}", i), Text("v")));
  }
  Revision revision = Commit(transaction).revision;
  auto replay = StartWatch(KeyRange::All(), revision, /*buffer_bytes=*/1);
  for (Watch* watch : {live.get(), replay.get()}) {
    auto batch = Await(watch->Next()).value();
    ASSERT_EQ(batch.events.size(), 20u);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(batch.events[i].kv.key.view(), fmt::format("k{:02}", i));
    EXPECT_EQ(batch.revision, revision);
  }
}

TEST_P(StoreConformance, AWatchWithoutPreviousValuesHasNone) {
  Put("a", "1");
  auto watch = store().StartWatch({.range = KeyRange::All(), .want_previous = false}).value();
  Put("a", "2");
  EXPECT_THAT(Events(*watch, 1), ElementsAre("put a=2 @2"));
}

TEST_P(StoreConformance, ASlowWatchMissesNothing) {
  auto watch = StartWatch(KeyRange::Prefix("w"), 0, /*buffer_bytes=*/2000);
  std::vector<std::string> expected;
  for (int i = 1; i <= 200; ++i) {
    Put("w" + std::to_string(i), std::string(100, 'x'));
    expected.push_back(fmt::format("put w{}={} @{}", i, std::string(100, 'x'), i));
  }
  EXPECT_EQ(Events(*watch, 200), expected);
  Put("w1", "live again");
  EXPECT_THAT(Events(*watch, 1),
              ElementsAre(fmt::format("put w1=live again (was {}) @201", std::string(100, 'x'))));
}

TEST_P(StoreConformance, AWatchFromACompactedRevisionFailsAndSaysUpToWhere) {
  Revision one = Put("a", "1");
  Put("a", "2");
  Revision three = Put("a", "3");
  Put("a", "4");
  ASSERT_TRUE(Await(store().Compact(three)));
  auto watch = StartWatch(KeyRange::All(), one);
  EXPECT_EQ(Await(watch->Next()).error().code, ErrorCode::kExpired);
  EXPECT_EQ(Await(watch->Next()).error().code, ErrorCode::kExpired);
  EXPECT_EQ(watch->CompactedRevision(), three);
  auto again = StartWatch(KeyRange::All(), watch->CompactedRevision() + 1);
  EXPECT_THAT(Events(*again, 1), ElementsAre("put a=4 (was 3) @4"));
}

TEST_P(StoreConformance, ProgressArrivesWithoutEvents) {
  auto watch = StartWatch(KeyRange::Prefix("quiet/"));
  Revision at = Put("loud", "1");
  watch->RequestProgress();
  auto batch = Await(watch->Next()).value();
  EXPECT_THAT(batch.events, IsEmpty());
  EXPECT_GE(batch.revision, at);
  EXPECT_GE(watch->Delivered(), at);
}

TEST_P(StoreConformance, DeliveredWaitsForEventsToBeTaken) {
  auto watch = StartWatch(KeyRange::Prefix("w/"));
  Revision one = Put("w/a", "1");
  EXPECT_LT(watch->Delivered(), one);
  EXPECT_THAT(Events(*watch, 1), ElementsAre("put w/a=1 @1"));
  EXPECT_GE(watch->Delivered(), one);
}

TEST_P(StoreConformance, CancellingEndsAWaitingWatch) {
  auto watch = StartWatch(KeyRange::All());
  Started<Result<WatchBatch>> next(watch->Next());
  EXPECT_FALSE(next.done());
  watch->Cancel();
  EXPECT_EQ(next.Wait().error().code, ErrorCode::kCancelled);
  Put("a", "1");
  EXPECT_EQ(Await(watch->Next()).error().code, ErrorCode::kCancelled);
}

TEST_P(StoreConformance, GivingUpOneNextKeepsTheWatch) {
  auto watch = StartWatch(KeyRange::All());
  std::stop_source stop;
  Started<Result<WatchBatch>> next(watch->Next({.stop = stop.get_token()}));
  stop.request_stop();
  EXPECT_EQ(next.Wait().error().code, ErrorCode::kCancelled);
  Started<Result<WatchBatch>> late(
      watch->Next({.deadline = backend_->Now() + std::chrono::milliseconds(100)}));
  backend_->Advance(std::chrono::milliseconds(500));
  EXPECT_EQ(late.Wait().error().code, ErrorCode::kTimeout);
  Put("a", "1");
  EXPECT_THAT(Events(*watch, 1), ElementsAre("put a=1 @1"));
}

TEST_P(StoreConformance, AnEmptyRangeIsNotWatched) {
  EXPECT_EQ(store().StartWatch({.range = {"b", "a"}}).error().code, ErrorCode::kInvalid);
}

// --- leases ---

TEST_P(StoreConformance, ALeaseTakesItsKeysWithIt) {
  auto lease = Await(store().GrantLease(std::chrono::seconds(10))).value();
  EXPECT_EQ(lease.ttl, std::chrono::seconds(10));
  Put("l/a", "1", lease.id);
  Put("l/b", "1", lease.id);
  Put("kept", "1");
  EXPECT_THAT(Await(store().GetLease(lease.id)).value().keys, ElementsAre("l/a", "l/b"));
  auto watch = StartWatch(KeyRange::All());
  ASSERT_TRUE(Await(store().RevokeLease(lease.id)));
  EXPECT_THAT(Events(*watch, 2), ElementsAre("delete l/a (was 1) @4", "delete l/b (was 1) @4"));
  EXPECT_EQ(Get("kept"), "1@3/3/1");
  EXPECT_EQ(Await(store().RevokeLease(lease.id)).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreConformance, ALeaseEndsWhenItsTimePassesUnlessKeptAlive) {
  auto lease = Await(store().GrantLease(std::chrono::seconds(3))).value();
  Put("l/a", "1", lease.id);
  auto watch = StartWatch(KeyRange::All());
  backend_->Advance(std::chrono::seconds(2));
  ASSERT_TRUE(Await(store().KeepAlive(lease.id)));
  backend_->Advance(std::chrono::seconds(2));
  EXPECT_EQ(Get("l/a"), "1@1/1/1");
  backend_->Advance(std::chrono::seconds(5));
  EXPECT_THAT(Events(*watch, 1), ElementsAre("delete l/a (was 1) @2"));
}

TEST_P(StoreConformance, AKeyLeavesItsLeaseWhenWrittenWithoutIt) {
  auto lease = Await(store().GrantLease(std::chrono::seconds(10))).value();
  Put("a", "1", lease.id);
  Put("b", "1", lease.id);
  Put("a", "2");
  Delete("b");
  Put("b", "2");
  EXPECT_THAT(Await(store().GetLease(lease.id)).value().keys, IsEmpty());
  ASSERT_TRUE(Await(store().RevokeLease(lease.id)));
  EXPECT_EQ(Get("a"), "2@3/1/2");
  EXPECT_EQ(Get("b"), "2@5/5/1");
}

TEST_P(StoreConformance, UnknownAndTakenLeasesAreRefused) {
  auto put = Await(store().Commit(One(Operation::Put("a", Text("1"), 424242))));
  EXPECT_EQ(put.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Await(store().KeepAlive(424242)).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(Await(store().GrantLease(std::chrono::seconds(10), 77)));
  EXPECT_EQ(Await(store().GrantLease(std::chrono::seconds(10), 77)).error().code,
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(Get("a"), "absent");
}

// --- calls and life ---

TEST_P(StoreConformance, ACallThatIsOverBeforeItBeginsDoesNothing) {
  std::stop_source stop;
  stop.request_stop();
  auto cancelled =
      Await(store().Commit(One(Operation::Put("a", Text("1"))), {.stop = stop.get_token()}));
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  auto late = Await(store().Commit(One(Operation::Put("a", Text("1"))),
                                   {.deadline = backend_->Now() - std::chrono::seconds(1)}));
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(Get("a"), "absent");
  EXPECT_TRUE(Await(store().Health()));
}

TEST_P(StoreConformance, EverythingSurvivesAReopening) {
  Revision one = Put("a", "1");
  auto lease = Await(store().GrantLease(std::chrono::seconds(20))).value();
  Put("l", "1", lease.id);
  Revision three = Put("a", "2");
  Delete("a");
  Put("b", "1");
  ASSERT_TRUE(Await(store().Compact(one)));
  if (!backend_->Reopen()) GTEST_SKIP() << "keeps nothing";
  EXPECT_EQ(Relative(Now()), 5);
  EXPECT_EQ(store().CompactedRevision(), one);
  EXPECT_EQ(List(KeyRange::All()), "b=1 l=1");
  EXPECT_EQ(List(KeyRange::All(), three), "a=2 l=1");
  auto watch = StartWatch(KeyRange::All(), three);
  EXPECT_THAT(Events(*watch, 3),
              ElementsAre("put a=2 (was 1) @3", "delete a (was 2) @4", "put b=1 @5"));
  EXPECT_THAT(Await(store().GetLease(lease.id)).value().keys, ElementsAre("l"));
  backend_->Advance(std::chrono::seconds(30));
  EXPECT_THAT(Events(*watch, 1), ElementsAre("delete l (was 1) @6"));
}

}  // namespace
}  // namespace keelson::kv::testing
