#include "storage/cache_feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "storage/testing_storage.h"

namespace keelson::storage {
namespace {

using testing::FixedChange;
using testing::MakeImage;
using testing::Sample;
using testing::TestStorage;

Task<void> NextTurn(Executor* executor) {
  auto turn = Completion<bool>::Create();
  executor->Post([turn] { turn->Set(true); });
  co_await Completion<bool>::Wait(turn);
}

Sample AnySample(std::mt19937& random) {
  return {.name = fmt::format("p{:02}", random() % 20),
          .labels = {{"app", "a"}},
          .fields = {{"n", fmt::format("k{}", random() % 2)}, {"p", ""}},
          .data = fmt::format("{}", random() % 1000)};
}

Task<void> Write(ObjectStore* pods, Sample sample, unsigned how) {
  if (how == 0) {
    co_await pods->Delete(sample.ns, sample.name);
  } else {
    FixedChange change(Change::Kind::kPut, sample);
    co_await pods->Modify(sample.ns, sample.name, {.may_create = true}, change);
  }
}

// Writes between the turns of whatever else is going on.
Task<void> Churn(TestStorage* storage, unsigned seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < 40; ++i) {
    auto sample = AnySample(random);
    co_await Write(&storage->pods(), sample, random() % 3);
    for (auto turns = random() % 3; turns > 0; --turns) co_await NextTurn(&storage->executor());
  }
}

Task<void> ListInto(TestStorage* storage, ListOptions options, std::optional<ListResult>* result) {
  auto list = co_await storage->pods().List(std::move(options));
  if (list) result->emplace(*std::move(list));
}

// "default/a@5" of everything stored at `revision`.
std::vector<std::string> Stored(TestStorage& storage, Revision revision) {
  kv::RangeRequest request{.range = kv::KeyRange::Prefix("/registry/pods/"), .revision = revision};
  std::vector<std::string> lines;
  for (const auto& item : storage.Run(storage.store().Range(std::move(request)))->items) {
    auto key = item.key.view().substr(std::string_view("/registry/pods/").size());
    lines.push_back(fmt::format("{}@{}", key, item.mod_revision));
  }
  return lines;
}

// What a client that listed and then watches believes to exist.
std::vector<std::string> Followed(TestStorage& storage, const ListResult& list) {
  auto watcher = *storage.Watch({.resource_version = std::to_string(list.revision)});
  std::map<std::string, Revision> objects;
  for (const auto& object : list.objects) {
    objects[TreeOrder{}.KeyOf(*object)] = object->revision();
  }
  storage.Settle();
  for (auto events = watcher->Take(); !events.empty(); events = watcher->Take()) {
    for (const auto& event : events) {
      auto key = TreeOrder{}.KeyOf(*event.object);
      EXPECT_EQ(event.type == WatchEvent::Type::kAdded, !objects.contains(key)) << key;
      if (event.type == WatchEvent::Type::kDeleted) {
        objects.erase(key);
      } else {
        objects[key] = event.object->revision();
      }
    }
  }
  std::vector<std::string> lines;
  for (const auto& [key, revision] : objects) lines.push_back(fmt::format("{}@{}", key, revision));
  return lines;
}

TEST(CacheFeed, FillsWhileObjectsChange) {
  for (unsigned seed = 1; seed <= 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    TestStorage storage({.fill_page = 1 + seed % 5});
    std::mt19937 random(seed);
    for (int i = 0; i < 15; ++i) storage.Run(Write(&storage.pods(), AnySample(random), 1));
    storage.Restart();

    std::optional<ListResult> list;
    Gate gate;
    gate.Spawn(&storage.executor(), ListInto(&storage, {}, &list));
    gate.Spawn(&storage.executor(), Churn(&storage, seed));
    storage.Settle();
    gate.CloseAndWait();

    ASSERT_TRUE(list.has_value());
    EXPECT_EQ(TestStorage::Describe(*list), Stored(storage, list->revision));
    EXPECT_EQ(Followed(storage, *list), Stored(storage, 0));
    // The indexes say the same.
    std::vector<std::string> indexed;
    for (auto* node : {"k0", "k1"}) {
      auto fields = *selector::FieldSelector::Parse(fmt::format("spec.nodeName={}", node));
      for (auto& line : TestStorage::Describe(*storage.List({.fields = fields}))) {
        indexed.push_back(std::move(line));
      }
    }
    std::ranges::sort(indexed);
    auto all = TestStorage::Describe(*storage.List());
    std::ranges::sort(all);
    EXPECT_EQ(indexed, all);
    EXPECT_EQ(storage.pods().cache().stats().objects, all.size());
  }
}

}  // namespace
}  // namespace keelson::storage
