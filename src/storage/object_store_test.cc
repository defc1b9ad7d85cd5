#include "storage/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/testing_storage.h"

namespace keelson::storage {
namespace {

using ::testing::ElementsAre;
using testing::FixedChange;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Sample;
using testing::TestStorage;

ListOptions InNamespace(std::string ns) { return {.ns = std::move(ns)}; }

selector::FieldSelector Fields(std::string_view text) {
  return *selector::FieldSelector::Parse(text);
}
selector::LabelSelector Labels(std::string_view text) {
  return *selector::LabelSelector::Parse(text);
}

TEST(ObjectStore, AnswersWithTheCommittedBytes) {
  TestStorage storage;
  auto created = storage.Create({.name = "a"});
  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(
      (*created)->json_view(),
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default",)"
      R"("uid":"00000000-0000-4000-8000-000000000000","resourceVersion":"2"},"spec":{},"data":""})");
  auto got = storage.Run(storage.pods().Get("default", "a"));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ((*got)->json_view(), (*created)->json_view());
}

TEST(ObjectStore, RefusesToCreateTwice) {
  TestStorage storage;
  ASSERT_TRUE(storage.Create({.name = "a"}).has_value());
  EXPECT_EQ(storage.Create({.name = "a"}).error(), AlreadyExistsStatus({"", "pods"}, "a"));
}

TEST(ObjectStore, GetsNotFound) {
  TestStorage storage;
  EXPECT_EQ(storage.Run(storage.pods().Get("default", "a")).error().message,
            "pods \"a\" not found");
  storage.List();
  EXPECT_EQ(storage.Run(storage.pods().Get("default", "a")).error().message,
            "pods \"a\" not found");
}

TEST(ObjectStore, GetRefusesVersionsItCannotParseOrReach) {
  TestStorage storage;
  storage.Create({.name = "a"});
  auto bad = storage.Run(storage.pods().Get("default", "a", "abc"));
  EXPECT_EQ(
      bad.error(),
      (Status{.code = 500,
              .message = "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing "
                         "\"abc\": invalid syntax"}));
  auto future = storage.Run(storage.pods().Get("default", "a", "999"));
  EXPECT_EQ(
      future.error().ToJson(),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
      R"("message":"Timeout: Too large resource version: 999, current: 2","reason":"Timeout",)"
      R"("details":{"causes":[{"reason":"ResourceVersionTooLarge",)"
      R"("message":"Too large resource version"}],"retryAfterSeconds":1},"code":504})");
}

TEST(ObjectStore, UpdateWithoutChangeWritesNothing) {
  TestStorage storage;
  storage.Create({.name = "a", .data = "x"});
  storage.List();
  auto updated = storage.Update({.name = "a", .data = "x"});
  ASSERT_TRUE(updated.has_value());
  EXPECT_EQ((*updated)->revision(), 2);
  EXPECT_EQ(storage.store().KnownRevision(), 2);
  EXPECT_EQ((*storage.Update({.name = "a", .data = "y"}))->revision(), 3);
}

TEST(ObjectStore, UpdateRetriesOnWhatSomebodyElseWrote) {
  TestStorage storage;
  storage.Create({.name = "a"});
  storage.List();
  // Changes the object behind the first decision's back.
  class Racing final : public Changer {
   public:
    explicit Racing(TestStorage& storage) : storage_(storage) {}
    Task<ApiResult<Change>> Decide(ObjectRef current) override {
      seen.push_back(current->revision());
      if (seen.size() == 1) {
        FixedChange other(Change::Kind::kPut, {.name = "a", .data = "other"});
        co_await storage_.pods().Modify("default", "a", {}, other);
      }
      co_return Change{.kind = Change::Kind::kPut,
                       .image = testing::MakeImage({.name = "a", .data = "mine"})};
    }
    std::vector<Revision> seen;

   private:
    TestStorage& storage_;
  } racing(storage);
  auto updated = storage.Run(storage.pods().Modify("default", "a", {}, racing));
  ASSERT_TRUE(updated.has_value());
  EXPECT_THAT(racing.seen, ElementsAre(2, 3));
  EXPECT_EQ((*updated)->revision(), 4);
}

TEST(ObjectStore, FailureOnOutdatedStateIsTriedAgain) {
  TestStorage storage;
  storage.Create({.name = "a"});
  storage.List();
  // The store moves on without the cache noticing: its executor does not run.
  kv::Transaction behind;
  auto image = testing::MakeImage({.name = "a", .data = "new"});
  RecordCodec codec(storage.pods().resource().fields);
  behind.operations.push_back(kv::Operation::Put("/registry/pods/default/a", *codec.Encode(image)));
  class Picky final : public Changer {
   public:
    explicit Picky(kv::Store& store, kv::Transaction change)
        : store_(store), change_(std::move(change)) {}
    Task<ApiResult<Change>> Decide(ObjectRef current) override {
      if (current->revision() == 2) {
        co_await store_.Commit(std::move(change_));
        co_return std::unexpected(BadRequestStatus("not this one"));
      }
      co_return Change{.kind = Change::Kind::kRemove};
    }

   private:
    kv::Store& store_;
    kv::Transaction change_;
  } picky(storage.store(), std::move(behind));
  auto removed = storage.Run(storage.pods().Modify("default", "a", {}, picky));
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_EQ((*removed)->revision(), 4);
}

TEST(ObjectStore, PreconditionsFailInUpstreamsWords) {
  TestStorage storage;
  storage.Create({.name = "a"});
  EXPECT_EQ(
      storage.Update({.name = "a", .data = "x"}, {.uid = "wrong"}).error().message,
      "Operation cannot be fulfilled on pods \"a\": StorageError: invalid object, Code: 4, Key: "
      "/registry/pods/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID "
      "in precondition: wrong, UID in object meta: 00000000-0000-4000-8000-000000000000");
  EXPECT_THAT(
      storage.Delete("default", "a", {.resource_version = "1"}).error().message,
      HasSubstr("Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in "
                "object meta: 2"));
  EXPECT_TRUE(storage.Delete("default", "a", {.resource_version = "2"}).has_value());
}

TEST(ObjectStore, DeleteAnswersTheLastStateAtItsRevision) {
  TestStorage storage;
  storage.Create({.name = "a", .data = "x"});
  auto deleted = storage.Delete("default", "a");
  ASSERT_TRUE(deleted.has_value());
  EXPECT_THAT(std::string((*deleted)->json_view()), HasSubstr(R"("resourceVersion":"3")"));
  EXPECT_EQ(storage.Delete("default", "a").error().code, 404);
}

TEST(ObjectStore, ListsNamespacesAndSelections) {
  TestStorage storage;
  storage.Create({.ns = "x",
                  .name = "a",
                  .labels = {{"app", "web"}},
                  .fields = {{"n", "n1"}, {"p", "Running"}}});
  storage.Create({.ns = "x",
                  .name = "b",
                  .labels = {{"app", "db"}},
                  .fields = {{"n", "n2"}, {"p", "Running"}}});
  storage.Create({.ns = "y",
                  .name = "c",
                  .labels = {{"app", "web"}},
                  .fields = {{"n", "n1"}, {"p", "Failed"}}});
  auto list = [&](ListOptions options) {
    return TestStorage::Describe(*storage.List(std::move(options)));
  };
  EXPECT_THAT(list({}), ElementsAre("x/a@2", "x/b@3", "y/c@4"));
  EXPECT_THAT(list(InNamespace("x")), ElementsAre("x/a@2", "x/b@3"));
  EXPECT_THAT(list({.labels = Labels("app=web")}), ElementsAre("x/a@2", "y/c@4"));
  EXPECT_THAT(list({.fields = Fields("spec.nodeName=n1")}), ElementsAre("x/a@2", "y/c@4"));
  EXPECT_THAT(list({.ns = "y", .fields = Fields("spec.nodeName=n1")}), ElementsAre("y/c@4"));
  EXPECT_THAT(list({.fields = Fields("spec.nodeName=n1,status.phase!=Failed")}),
              ElementsAre("x/a@2"));
  EXPECT_THAT(list({.fields = Fields("metadata.name=b")}), ElementsAre("x/b@3"));
  EXPECT_THAT(list({.ns = "x", .name = "b"}), ElementsAre("x/b@3"));
  EXPECT_THAT(list({.fields = Fields("metadata.namespace=y")}), ElementsAre("y/c@4"));
}

TEST(ObjectStore, ListItemsAreSlicesWithoutTypeMeta) {
  TestStorage storage;
  storage.Create({.name = "a"});
  storage.Create({.name = "b"});
  auto list = *storage.List();
  std::vector<Slice> out;
  list.TakeItems(out);
  EXPECT_EQ(
      Flatten(out),
      R"({"metadata":{"name":"a","namespace":"default","uid":"00000000-0000-4000-8000-000000000000",)"
      R"("resourceVersion":"2"},"spec":{},"data":""},{"metadata":{"name":"b","namespace":"default",)"
      R"("uid":"00000000-0000-4000-8000-000000000000","resourceVersion":"3"},"spec":{},"data":""})");
}

TEST(ObjectStore, PagesShowOneState) {
  TestStorage storage;
  for (const char* name : {"a", "b", "c", "d", "e"}) storage.Create({.name = name});
  auto first = *storage.List({.ns = "default", .limit = 2});
  EXPECT_THAT(TestStorage::Describe(first), ElementsAre("default/a@2", "default/b@3"));
  EXPECT_EQ(first.remaining, 3);
  EXPECT_EQ(first.revision, 6);
  storage.Delete("default", "c");
  storage.Update({.name = "d", .data = "new"});
  storage.Create({.name = "bb"});
  auto second =
      *storage.List({.ns = "default", .limit = 2, .continue_token = first.continue_token});
  EXPECT_THAT(TestStorage::Describe(second), ElementsAre("default/c@4", "default/d@5"));
  EXPECT_EQ(second.remaining, 1);
  EXPECT_EQ(second.revision, 6);
  auto third =
      *storage.List({.ns = "default", .limit = 2, .continue_token = second.continue_token});
  EXPECT_THAT(TestStorage::Describe(third), ElementsAre("default/e@6"));
  EXPECT_EQ(third.continue_token, "");
  EXPECT_EQ(third.remaining, std::nullopt);
}

TEST(ObjectStore, PagesOfASelectionDoNotCountTheRest) {
  TestStorage storage;
  for (const char* name : {"a", "b", "c"}) storage.Create({.name = name, .labels = {{"x", "y"}}});
  auto page = *storage.List({.labels = Labels("x=y"), .limit = 1});
  EXPECT_NE(page.continue_token, "");
  EXPECT_EQ(page.remaining, std::nullopt);
  // At any version there are no pages.
  auto any = *storage.List({.resource_version = "0", .limit = 1});
  EXPECT_EQ(any.objects.size(), 3u);
  EXPECT_EQ(any.continue_token, "");
}

TEST(ObjectStore, ExpiredPageOffersToGoOnAtTheLatestState) {
  TestStorage storage({.log = {.bytes = 1}});
  for (const char* name : {"a", "b", "c"}) storage.Create({.name = name});
  auto first = *storage.List({.ns = "default", .limit = 1});
  storage.Update({.name = "b", .data = "new"});
  ASSERT_TRUE(storage.Run(storage.store().Compact(5)).has_value());
  auto second = storage.List({.ns = "default", .limit = 1, .continue_token = first.continue_token});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, 410);
  EXPECT_THAT(second.error().message, HasSubstr("or use the continue token in this response"));
  auto rest =
      storage.List({.ns = "default", .limit = 5, .continue_token = second.error().continue_token});
  ASSERT_TRUE(rest.has_value());
  EXPECT_THAT(TestStorage::Describe(*rest), ElementsAre("default/b@5", "default/c@4"));
  EXPECT_EQ(storage.List({.resource_version = "4", .resource_version_match = "Exact"}).error(),
            ExpiredStatus("The resourceVersion for the provided list is too old."));
}

TEST(ObjectStore, ListsExactVersionsFromLogAndStore) {
  for (size_t log_bytes : {size_t{1}, size_t{1} << 20}) {
    TestStorage storage({.log = {.bytes = log_bytes}});
    storage.Create({.name = "a"});
    storage.List();
    storage.Create({.name = "b"});
    storage.Delete("default", "a");
    storage.Update({.name = "b", .data = "new"});
    auto at = [&](const char* version) {
      return TestStorage::Describe(
          *storage.List({.resource_version = version, .resource_version_match = "Exact"}));
    };
    EXPECT_THAT(at("2"), ElementsAre("default/a@2"));
    EXPECT_THAT(at("3"), ElementsAre("default/a@2", "default/b@3"));
    EXPECT_THAT(at("4"), ElementsAre("default/b@3"));
    EXPECT_THAT(at("5"), ElementsAre("default/b@5"));
  }
}

TEST(ObjectStore, RefusesBadTokensAndVersions) {
  TestStorage storage;
  auto error = [&](ListOptions options) {
    return storage.List(std::move(options)).error().message;
  };
  EXPECT_EQ(error({.continue_token = "abc"}),
            "invalid continue token: continue key is not valid: invalid character 'i' looking for "
            "beginning of value");
  EXPECT_EQ(error({.resource_version = "1",
                   .continue_token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAwLCJzdGFydCI6ImEifQ"}),
            "specifying resource version is not allowed when using continue");
  EXPECT_EQ(error({.resource_version = "-1"}),
            "invalid resource version: resourceVersion: Invalid value: \"-1\": strconv.ParseUint: "
            "parsing "
            "\"-1\": invalid syntax");
  EXPECT_EQ(error({.resource_version = "99"}),
            "Timeout: Too large resource version: 99, current: 1");
}

TEST(ObjectStore, MemoryBudgetRefusesRatherThanGrows) {
  TestStorage storage({.memory_budget = 2000});
  ASSERT_TRUE(storage.Create({.name = "a", .data = std::string(1500, 'x')}).has_value());
  ASSERT_TRUE(storage.Create({.name = "b", .data = std::string(1500, 'x')}).has_value());
  auto list = storage.List();
  ASSERT_FALSE(list.has_value());
  EXPECT_EQ(list.error().code, 429);
  EXPECT_EQ(list.error().details->retry_after_seconds, 1);
  ASSERT_TRUE(storage.Delete("default", "b").has_value());
  ASSERT_TRUE(storage.List().has_value());
  storage.Update({.name = "a", .data = std::string(3000, 'x')});
  storage.Settle();
  EXPECT_EQ(storage.Create({.name = "c"}).error().code, 429);
}

TEST(ObjectStore, ObjectsWithATimeToLiveExpire) {
  TestStorage storage;
  auto watcher = *storage.Watch();
  ASSERT_TRUE(
      storage
          .Run(storage.pods().Create(testing::MakeImage({.name = "a"}), std::chrono::seconds(10)))
          .has_value());
  storage.Advance(std::chrono::seconds(30));
  EXPECT_THAT(storage.Events(*watcher), ElementsAre("ADDED default/a@2", "DELETED default/a@3"));
}

TEST(ObjectStore, ColdCachesAreDroppedAndFilledAgain) {
  TestStorage storage({.cold_after = std::chrono::minutes(5)});
  storage.Create({.name = "a"});
  storage.List();
  EXPECT_TRUE(storage.pods().cache().ready());
  storage.Advance(std::chrono::minutes(10));
  EXPECT_FALSE(storage.pods().cache().ready());
  EXPECT_EQ(storage.feed().budget().used(), 0u);
  EXPECT_EQ(storage.List()->objects.size(), 1u);
}

TEST(ObjectStore, RestartShowsWhatWasStored) {
  TestStorage storage;
  storage.Create({.name = "a"});
  auto watcher = *storage.Watch();
  storage.Restart();
  EXPECT_THAT(storage.Events(*watcher), IsEmpty());
  EXPECT_TRUE(watcher->ended());
  EXPECT_THAT(TestStorage::Describe(*storage.List()), ElementsAre("default/a@2"));
}

}  // namespace
}  // namespace keelson::storage
