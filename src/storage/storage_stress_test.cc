// Writers, listers, pagers, watchers, compaction, dropped caches and shutdown at once, on real
// threads. What is checked is what must hold whatever the order: lists are sorted and of one state,
// watches have no gap and no duplicate. The thread sanitizer checks the rest.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "kv/memory_store.h"
#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/testing/temp_directory.h"
#include "kv/testing/sync.h"
#include "storage/testing_storage.h"

namespace keelson::storage {
namespace {

using kv::testing::Await;
using testing::FixedChange;
using testing::MakeImage;
using testing::Sample;

constexpr int kNames = 40;

Sample AnySample(std::mt19937& random) {
  return {.ns = fmt::format("n{}", random() % 3),
          .name = fmt::format("p{}", random() % kNames),
          .labels = {{"app", fmt::format("a{}", random() % 2)}},
          .fields = {{"n", fmt::format("k{}", random() % 3)}, {"p", ""}},
          .data = std::to_string(random() % 1000)};
}

Task<void> Write(ObjectStore* pods, unsigned seed, const std::atomic<bool>* stop) {
  std::mt19937 random(seed);
  while (!stop->load()) {
    auto sample = AnySample(random);
    switch (random() % 4) {
      case 0:
        co_await pods->Create(MakeImage(sample));
        break;
      case 1:
        co_await pods->Delete(sample.ns, sample.name);
        break;
      default: {
        FixedChange change(Change::Kind::kPut, sample);
        co_await pods->Modify(sample.ns, sample.name, {}, change);
      }
    }
  }
}

Task<void> ReadLists(ObjectStore* pods, unsigned seed, const std::atomic<bool>* stop) {
  std::mt19937 random(seed);
  while (!stop->load()) {
    ListOptions options;
    if (random() % 2 == 0) options.limit = 1 + static_cast<int64_t>(random() % 20);
    if (random() % 3 == 0) options.resource_version = "0";
    std::string last;
    Revision revision = 0;
    for (;;) {
      auto list = co_await pods->List(options);
      if (!list) break;  // expired, or the cache is being dropped
      if (revision != 0) EXPECT_EQ(list->revision, revision);
      revision = list->revision;
      for (const auto& object : list->objects) {
        auto key = TreeOrder{}.KeyOf(*object);
        EXPECT_LT(last, key);
        EXPECT_LE(object->revision(), revision);
        last = key;
      }
      if (list->continue_token.empty()) break;
      options.resource_version.clear();
      options.continue_token = list->continue_token;
    }
    std::vector<Slice> body;
    if (auto list =
            co_await pods->List({.fields = *selector::FieldSelector::Parse("spec.nodeName=k1")})) {
      list->TakeItems(body);
    }
    co_await pods->Get("n0", "p0");
  }
}

// Follows the objects; every event must fit what was seen before. Now and then it goes away and
// comes back, to resume where it was.
Task<void> Follow(ObjectStore* pods, const std::atomic<bool>* stop, std::stop_token token,
                  std::atomic<int64_t>* followed) {
  std::map<std::string, Revision> seen;
  Revision reached = 0;
  while (!stop->load()) {
    ListOptions options;
    if (reached != 0) options.resource_version = std::to_string(reached);
    DefaultWatchOptions(options);
    auto watcher = co_await pods->Watch(options);
    if (!watcher) continue;
    for (int rounds = 0; rounds < 200; ++rounds) {
      auto events = co_await (*watcher)->Next(token);
      if (events.empty()) break;
      for (const auto& event : events) {
        if (event.type == WatchEvent::Type::kError) {  // expired: from the start
          seen.clear();
          reached = 0;
        }
        if (!event.object) continue;
        reached = std::max(reached, event.object->revision());
        auto key = TreeOrder{}.KeyOf(*event.object);
        auto known = seen.find(key);
        EXPECT_EQ(event.type == WatchEvent::Type::kAdded, known == seen.end()) << key;
        if (known != seen.end()) EXPECT_GT(event.object->revision(), known->second);
        if (event.type == WatchEvent::Type::kDeleted) {
          seen.erase(key);
        } else {
          seen[key] = event.object->revision();
        }
        followed->fetch_add(1);
      }
    }
  }
}

Task<void> Disturb(ObjectStore* pods, kv::Store* store, Clock* clock,
                   const std::atomic<bool>* stop) {
  while (!stop->load()) {
    co_await SleepFor(*clock, std::chrono::milliseconds(3));
    auto current = co_await store->CurrentRevision();
    if (current && *current > 200) co_await store->Compact(*current - 100);
    co_await pods->Count();
  }
}

void Stress(std::unique_ptr<kv::Store> store, Clock& clock) {
  RecordCodec codec(testing::PodOptions().fields);
  auto options = testing::PodOptions();
  options.codec = &codec;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> followed{0};
  {
    ThreadExecutor feeding("feed");
    ThreadExecutor io1("io-1");
    ThreadExecutor io2("io-2");
    CacheFeed feed(store.get(), &feeding, &clock, {.log = {.bytes = 256 << 10}, .fill_page = 10});
    feed.Start();
    {
      ObjectStore pods(std::make_shared<const ResourceOptions>(options), store.get(), &feed,
                       &clock);
      std::stop_source stop_watching;
      Gate gate;
      gate.Spawn(&io1, Follow(&pods, &stop, stop_watching.get_token(), &followed));
      gate.Spawn(&io1, Follow(&pods, &stop, stop_watching.get_token(), &followed));
      gate.Spawn(&io2, Follow(&pods, &stop, stop_watching.get_token(), &followed));
      gate.Spawn(&feeding, Disturb(&pods, store.get(), &clock, &stop));
      std::vector<std::thread> threads;
      for (unsigned seed : {1u, 2u}) {
        threads.emplace_back([&, seed] { Await(Write(&pods, seed, &stop)); });
        threads.emplace_back([&, seed] { Await(ReadLists(&pods, seed + 10, &stop)); });
      }
      while (followed.load() < 3000) std::this_thread::yield();
      // The feed stops while everything is still going on.
      Await(feed.Stop());
      stop = true;
      stop_watching.request_stop();
      for (auto& thread : threads) thread.join();
      gate.CloseAndWait();
    }
  }
  Await(store->Close());
}

TEST(StorageStress, HoldsUnderEverythingAtOnce) {
  SystemClock clock;
  Stress(kv::NewMemoryStore(clock), clock);
}

TEST(StorageStress, HoldsOnDisk) {
  SystemClock clock;
  kv::testing::TempDirectory directory;
  auto store = kv::OpenRocksDbStore({.directory = directory.path() + "/store"}, clock);
  ASSERT_TRUE(store) << store.error().message;
  Stress(*std::move(store), clock);
}

// Adds one to the number that an object holds.
class Increment final : public Changer {
 public:
  Task<ApiResult<Change>> Decide(ObjectRef current) override {
    constexpr std::string_view kData = R"("data":")";
    auto json = current->json_view();
    auto number = json.substr(json.find(kData) + kData.size());
    Sample sample{.ns = std::string(current->ns()), .name = std::string(current->name())};
    sample.data = std::to_string(std::stoll(std::string(number)) + 1);
    co_return Change{.kind = Change::Kind::kPut, .image = MakeImage(sample)};
  }
};

Task<void> IncrementMany(ObjectStore* pods, int times) {
  for (int i = 0; i < times; ++i) {
    Increment increment;
    auto done = co_await pods->Modify("default", fmt::format("c{}", i % 3), {}, increment);
    EXPECT_TRUE(done);
  }
}

// Writers start from the cache and tell the store what they have seen there; some of that is
// outdated by the time it is written.
TEST(StorageStress, NoUpdateIsLostOnDisk) {
  constexpr int kWriters = 8, kTimes = 150;
  SystemClock clock;
  kv::testing::TempDirectory directory;
  auto store = *kv::OpenRocksDbStore({.directory = directory.path() + "/store"}, clock);
  RecordCodec codec(testing::PodOptions().fields);
  auto options = testing::PodOptions();
  options.codec = &codec;
  ThreadExecutor feeding("feed"), io1("io-1"), io2("io-2");
  CacheFeed feed(store.get(), &feeding, &clock);
  feed.Start();
  {
    ObjectStore pods(std::make_shared<const ResourceOptions>(options), store.get(), &feed, &clock);
    for (const char* name : {"c0", "c1", "c2"}) {
      ASSERT_TRUE(Await(pods.Create(MakeImage({.name = name, .data = "0"}))));
    }
    ASSERT_TRUE(Await(pods.List({})));  // fills the cache
    Gate gate;
    for (int i = 0; i < kWriters; ++i) {
      gate.Spawn(i % 2 == 0 ? &io1 : &io2, IncrementMany(&pods, kTimes));
    }
    gate.CloseAndWait();
    int64_t sum = 0, versions = 0;
    auto states = Await(store->Range({.range = kv::KeyRange::Prefix("/registry/pods/")})).value();
    for (const auto& state : states.items) {
      auto object = *codec.Decode(state.value, state.mod_revision);
      constexpr std::string_view kData = R"("data":")";
      auto json = object->json_view();
      sum += std::stoll(std::string(json.substr(json.find(kData) + kData.size())));
      versions += state.version - 1;
      EXPECT_LE(state.create_revision, 4);
    }
    EXPECT_EQ(sum, kWriters * kTimes);
    EXPECT_EQ(versions, kWriters * kTimes);
    Await(feed.Stop());
  }
  Await(store->Close());
}

}  // namespace
}  // namespace keelson::storage
