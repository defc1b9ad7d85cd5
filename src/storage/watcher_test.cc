#include "storage/watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/testing_storage.h"

namespace keelson::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestStorage;

TEST(Watch, BeginsWithWhatThereIs) {
  TestStorage storage;
  storage.Create({.name = "a"});
  auto watcher = *storage.Watch();
  EXPECT_THAT(storage.Events(*watcher), ElementsAre("ADDED default/a@2"));
  storage.Create({.name = "b"});
  storage.Update({.name = "a", .data = "x"});
  storage.Delete("default", "a");
  EXPECT_THAT(storage.Events(*watcher),
              ElementsAre("ADDED default/b@3", "MODIFIED default/a@4", "DELETED default/a@5"));
}

TEST(Watch, InitialEventsEndWithABookmarkWhenAsked) {
  TestStorage storage;
  storage.Create({.name = "a"});
  auto watcher = *storage.Watch({.allow_bookmarks = true});
  EXPECT_THAT(
      storage.Events(*watcher),
      ElementsAre("ADDED default/a@2",
                  R"(BOOKMARK {"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"2",)"
                  R"("annotations":{"k8s.io/initial-events-end":"true"}}})"));
}

TEST(Watch, ResumesAfterAVersion) {
  TestStorage storage;
  storage.Create({.name = "a"});
  storage.List();
  storage.Create({.name = "b"});
  storage.Create({.name = "c"});
  auto watcher = *storage.Watch({.resource_version = "3"});
  EXPECT_THAT(storage.Events(*watcher), ElementsAre("ADDED default/c@4"));
  auto future = *storage.Watch({.resource_version = "6"});
  storage.Update({.name = "a", .data = "5"});
  storage.Update({.name = "a", .data = "6"});
  storage.Update({.name = "a", .data = "7"});
  EXPECT_THAT(storage.Events(*future), ElementsAre("MODIFIED default/a@7"));
}

constexpr const char* kExpired =
    R"x(ERROR {{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure",)x"
    R"x("message":"{}","reason":"Expired","code":410}})x";

TEST(Watch, TooOldVersionIsAnErrorInTheStream) {
  TestStorage storage;
  storage.Create({.name = "a"});
  storage.Create({.name = "b"});
  ASSERT_TRUE(storage.Run(storage.store().Compact(3)));
  storage.List();
  auto watcher = *storage.Watch({.resource_version = "1"});
  EXPECT_THAT(storage.Events(*watcher),
              ElementsAre(fmt::format(kExpired, "too old resource version: 1 (3)")));
  EXPECT_TRUE(watcher->ended());
}

TEST(Watch, WhatUpstreamDoesNotCacheExpiresInTheWordsOfTheStore) {
  auto options = testing::PodOptions();
  options.cached_upstream = false;
  TestStorage storage({}, options);
  storage.Create({.name = "a"});
  ASSERT_TRUE(storage.Run(storage.store().Compact(2)));
  auto watcher = *storage.Watch({.resource_version = "1"});
  EXPECT_THAT(
      storage.Events(*watcher),
      ElementsAre(fmt::format(kExpired, "The resourceVersion for the provided watch is too old.")));
}

TEST(Watch, ResumesFromTheStoresHistoryWhenItsLogBeginsLater) {
  TestStorage storage;
  storage.Create({.name = "a"});                     // 2
  storage.Create({.name = "b"});                     // 3
  storage.Update({.name = "a", .data = "changed"});  // 4
  storage.Delete("default", "b");                    // 5
  storage.Restart();
  storage.Create({.name = "c"});  // 6, before anybody has asked for pods
  auto watcher = *storage.Watch({.resource_version = "2"});
  EXPECT_THAT(storage.Events(*watcher), ElementsAre("ADDED default/b@3", "MODIFIED default/a@4",
                                                    "DELETED default/b@5", "ADDED default/c@6"));
  // The past stands in the log now: it can be resumed from even when the store has forgotten it.
  ASSERT_TRUE(storage.Run(storage.store().Compact(6)));
  auto later = *storage.Watch({.resource_version = "3"});
  auto too_late = *storage.Watch({.resource_version = "1"});
  storage.Create({.name = "d"});  // 7
  EXPECT_THAT(storage.Events(*later), ElementsAre("MODIFIED default/a@4", "DELETED default/b@5",
                                                  "ADDED default/c@6", "ADDED default/d@7"));
  EXPECT_THAT(storage.Events(*too_late),
              ElementsAre(fmt::format(kExpired, "too old resource version: 1 (6)")));
  EXPECT_THAT(storage.Events(*watcher), ElementsAre("ADDED default/d@7"));
}

Task<void> WatchFrom(ObjectStore* pods, std::string version, std::vector<std::string>* lines) {
  ListOptions options{.resource_version = std::move(version)};
  DefaultWatchOptions(options);
  auto watcher = co_await pods->Watch(std::move(options));
  for (const auto& event : (*watcher)->Take()) lines->push_back(TestStorage::Describe(event));
}

TEST(Watch, ManyResumeAtOnceFromTheStoresHistory) {
  TestStorage storage;
  for (const char* name : {"a", "b", "c"}) storage.Create({.name = name});  // 2, 3, 4
  storage.Restart();
  storage.List();
  std::vector<std::vector<std::string>> seen(9);
  Gate gate;
  for (size_t i = 0; i < seen.size(); ++i) {
    gate.Spawn(&storage.executor(),
               WatchFrom(&storage.pods(), std::to_string(3 - i % 3), &seen[i]));
  }
  storage.Settle();
  gate.CloseAndWait();
  const std::vector<std::string> all{"ADDED default/a@2", "ADDED default/b@3", "ADDED default/c@4"};
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], std::vector(all.end() - 1 - static_cast<ptrdiff_t>(i % 3), all.end()));
  }
  EXPECT_EQ(storage.pods().cache().stats().log_events, 3u);
}

TEST(Watch, MoreHistoryThanALogHoldsIsTooOld) {
  TestStorage storage({.log = {.bytes = 10000}});
  storage.Create({.name = "a"});
  for (int i = 0; i < 20; ++i) {
    storage.Update({.name = "a", .data = std::string(1000, static_cast<char>('a' + i))});
  }
  storage.Restart();
  storage.List();
  auto watcher = *storage.Watch({.resource_version = "2"});
  EXPECT_THAT(storage.Events(*watcher),
              ElementsAre(fmt::format(kExpired, "too old resource version: 2 (22)")));
  auto newer = *storage.Watch({.resource_version = "20"});
  EXPECT_THAT(storage.Events(*newer),
              ElementsAre("MODIFIED default/a@21", "MODIFIED default/a@22"));
}

TEST(Watch, UnparsableVersionIsRefused) {
  TestStorage storage;
  EXPECT_EQ(storage.Watch({.resource_version = "abc"}).error().code, 500);
}

TEST(Watch, SelectionTurnsChangesIntoArrivalsAndDepartures) {
  TestStorage storage;
  storage.Create({.name = "a", .labels = {{"app", "db"}}});
  auto watcher = *storage.Watch({.labels = *selector::LabelSelector::Parse("app=web")});
  EXPECT_THAT(storage.Events(*watcher), IsEmpty());
  storage.Update({.name = "a", .labels = {{"app", "web"}}});
  storage.Update({.name = "a", .labels = {{"app", "web"}}, .data = "x"});
  storage.Update({.name = "a", .labels = {{"app", "db"}}});
  storage.Update({.name = "a", .labels = {{"app", "web"}}});
  storage.Delete("default", "a");
  EXPECT_THAT(storage.Events(*watcher),
              ElementsAre("ADDED default/a@3", "MODIFIED default/a@4", "DELETED default/a@5",
                          "ADDED default/a@6", "DELETED default/a@7"));
}

TEST(Watch, DepartureCarriesTheFormerStateAtTheEventsVersion) {
  TestStorage storage;
  storage.Create({.name = "a", .labels = {{"app", "web"}}, .data = "old"});
  auto watcher = *storage.Watch({.labels = *selector::LabelSelector::Parse("app=web")});
  storage.Events(*watcher);
  storage.Update({.name = "a", .data = "new"});
  storage.Settle();
  auto events = watcher->Take();
  ASSERT_EQ(events.size(), 1u);
  std::vector<Slice> frame;
  AppendFrame(events[0], frame);
  EXPECT_EQ(
      Flatten(frame),
      R"({"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",)"
      R"("namespace":"default","uid":"00000000-0000-4000-8000-000000000000","resourceVersion":"3",)"
      R"("labels":{"app":"web"}},"spec":{},"data":"old"}})"
      "\n");
}

TEST(Watch, ScopesToNamespaceNameAndIndexedField) {
  TestStorage storage;
  auto in_x = *storage.Watch({.ns = "x"});
  auto named = *storage.Watch({.fields = *selector::FieldSelector::Parse("metadata.name=a")});
  auto one = *storage.Watch({.ns = "y", .name = "a"});
  auto on_n1 = *storage.Watch({.fields = *selector::FieldSelector::Parse("spec.nodeName=n1")});
  for (auto* watcher : {in_x.get(), named.get(), one.get(), on_n1.get()}) storage.Events(*watcher);
  storage.Create({.ns = "x", .name = "a", .fields = {{"n", "n1"}}});
  storage.Create({.ns = "x", .name = "b", .fields = {{"n", "n2"}}});
  storage.Create({.ns = "y", .name = "a", .fields = {{"n", ""}}});
  storage.Update({.ns = "x", .name = "a", .fields = {{"n", "n2"}}});
  EXPECT_THAT(storage.Events(*in_x), ElementsAre("ADDED x/a@2", "ADDED x/b@3", "MODIFIED x/a@5"));
  EXPECT_THAT(storage.Events(*named), ElementsAre("ADDED x/a@2", "ADDED y/a@4", "MODIFIED x/a@5"));
  EXPECT_THAT(storage.Events(*one), ElementsAre("ADDED y/a@4"));
  EXPECT_THAT(storage.Events(*on_n1), ElementsAre("ADDED x/a@2", "DELETED x/a@5"));
}

TEST(Watch, TransactionOverSeveralObjectsIsSeenWhole) {
  TestStorage storage;
  auto watcher = *storage.Watch();
  storage.Events(*watcher);
  RecordCodec codec(storage.pods().resource().fields);
  kv::Transaction both;
  for (const char* name : {"a", "b", "c"}) {
    both.operations.push_back(
        kv::Operation::Put(std::string("/registry/pods/default/") + name,
                           *codec.Encode(testing::MakeImage({.name = name}))));
  }
  ASSERT_TRUE(storage.Run(storage.store().Commit(std::move(both))).has_value());
  EXPECT_THAT(storage.Events(*watcher),
              ElementsAre("ADDED default/a@2", "ADDED default/b@2", "ADDED default/c@2"));
}

TEST(Watch, SlowConsumerReadsOnFromTheLog) {
  TestStorage storage;
  auto slow = *storage.Watch();
  storage.Events(*slow);
  for (int i = 0; i < 1000; ++i) storage.Create({.name = fmt::format("n{:04}", i)});
  auto events = storage.Events(*slow);
  ASSERT_EQ(events.size(), 1000u);
  EXPECT_EQ(events.front(), "ADDED default/n0000@2");
  EXPECT_EQ(events.back(), "ADDED default/n0999@1001");
  storage.Create({.name = "z"});
  EXPECT_THAT(storage.Events(*slow), ElementsAre("ADDED default/z@1002"));
}

TEST(Watch, ConsumerThatFallsOutOfTheLogIsDroppedAlone) {
  TestStorage storage({.log = {.bytes = 64 << 10, .min_events = 10}});
  auto slow = *storage.Watch();
  auto quick = *storage.Watch();
  storage.Events(*slow);
  size_t seen = storage.Events(*quick).size();
  for (int i = 0; i < 2000; ++i) {
    storage.Create({.name = fmt::format("n{:04}", i)});
    seen += storage.Events(*quick).size();
  }
  EXPECT_EQ(seen, 2000u);
  auto events = storage.Events(*slow);
  EXPECT_TRUE(slow->ended());
  EXPECT_LT(events.size(), 2000u);
  EXPECT_EQ(storage.pods().cache().stats().dropped, 1u);
  EXPECT_FALSE(quick->ended());
}

TEST(Watch, BookmarksComeEveryMinuteAndBeforeTheDeadline) {
  TestStorage storage;
  storage.Create({.name = "a"});
  storage.List();
  ListOptions options{.resource_version = "2", .allow_bookmarks = true};
  options.deadline = storage.clock().Now() + std::chrono::seconds(100);
  auto watcher = *storage.Watch(options);
  // Another resource moves the store on; the bookmark says so.
  kv::Transaction other;
  other.operations.push_back(
      kv::Operation::Put("/registry/configmaps/default/x", Slice::Static("{}")));
  ASSERT_TRUE(storage.Run(storage.store().Commit(std::move(other))).has_value());
  storage.Advance(std::chrono::seconds(59));
  EXPECT_THAT(storage.Events(*watcher), IsEmpty());
  storage.Advance(std::chrono::seconds(1));
  constexpr const char* kBookmark =
      R"(BOOKMARK {"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"3"}})";
  EXPECT_THAT(storage.Events(*watcher), ElementsAre(kBookmark));
  storage.Advance(std::chrono::seconds(37));
  EXPECT_THAT(storage.Events(*watcher), IsEmpty());
  storage.Advance(std::chrono::seconds(1));
  EXPECT_THAT(storage.Events(*watcher), ElementsAre(kBookmark));
  storage.Advance(std::chrono::seconds(2));
  EXPECT_THAT(storage.Events(*watcher), IsEmpty());
}

TEST(Watch, NextWaitsForEventsAndForTheStopToken) {
  TestStorage storage;
  auto watcher = *storage.Watch();
  std::vector<std::string> seen;
  bool over = false;
  std::stop_source stop;
  struct Consumer {
    static Task<void> Run(Watcher* watcher, std::vector<std::string>* seen, bool* over,
                          std::stop_token stop) {
      for (;;) {
        auto events = co_await watcher->Next(stop);
        if (events.empty()) break;
        for (const auto& event : events) seen->push_back(TestStorage::Describe(event));
      }
      *over = true;
    }
  };
  Gate gate;
  gate.Spawn(&storage.executor(), Consumer::Run(watcher.get(), &seen, &over, stop.get_token()));
  storage.Settle();
  EXPECT_THAT(seen, IsEmpty());
  storage.Create({.name = "a"});
  storage.Settle();
  EXPECT_THAT(seen, ElementsAre("ADDED default/a@2"));
  stop.request_stop();
  storage.Settle();
  EXPECT_TRUE(over);
  gate.CloseAndWait();
}

TEST(Watch, EndsWhenTheFeedLosesTrack) {
  TestStorage storage;
  storage.Create({.name = "a"});
  auto watcher = *storage.Watch();
  storage.Events(*watcher);
  storage.pods().cache().Drop();
  storage.Settle();
  EXPECT_TRUE(watcher->ended());
  EXPECT_EQ(storage.List()->objects.size(), 1u);
}

}  // namespace
}  // namespace keelson::storage
