// Random writes, lists, pages, watches, compactions and restarts against a reference model that
// keeps every state there ever was.
//
// KEELSON_STORAGE_MODEL_SEEDS sets how many seeds run on the memory store (1,000 without it),
// KEELSON_STORAGE_MODEL_DISK_SEEDS on the embedded one (10), which restarts along with the rest.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/testing/temp_directory.h"
#include "storage/testing_storage.h"

namespace keelson::storage {
namespace {

using testing::Sample;
using testing::TestStorage;

struct Stored {
  Revision revision;
  std::string app;
  std::string node;
  std::string data;
};
using State = std::map<std::string, Stored>;  // by "namespace/name"

struct Selection {
  std::string ns, app, node;

  bool Has(const std::string& key, const Stored& object) const {
    return (ns.empty() || key.starts_with(ns + "/")) && (app.empty() || object.app == app) &&
           (node.empty() || object.node == node);
  }
  ListOptions Options() const {
    ListOptions options{.ns = ns};
    if (!app.empty()) options.labels = *selector::LabelSelector::Parse("app=" + app);
    if (!node.empty()) options.fields = *selector::FieldSelector::Parse("spec.nodeName=" + node);
    return options;
  }
};

class Model {
 public:
  explicit Model(unsigned seed, TestStorage::OpenStore open_store = nullptr)
      : random_(seed),
        storage_({.log = {.bytes = seed % 3 == 0 ? size_t{4000} : size_t{1} << 20,
                          .min_events = seed % 2 == 0 ? size_t{1} : size_t{100}},
                  .fill_page = static_cast<int64_t>(1 + seed % 7)},
                 testing::PodOptions(), std::move(open_store)) {
    history_[1] = {};
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      switch (Pick(20)) {
        default:
          Write();
          break;
        case 10:
        case 11:
          List();
          break;
        case 12:
          Page();
          break;
        case 13:
        case 14:
          StartWatch();
          break;
        case 15:
        case 16:
          ReadWatches();
          break;
        case 17:
          Get();
          break;
        case 18:
          if (Pick(4) == 0) Compact();
          break;
        case 19:
          if (Pick(6) == 0) Restart();
          break;
      }
    }
    ReadWatches();
    watches_.clear();
  }

 private:
  struct Watched {
    std::unique_ptr<Watcher> watcher;
    Selection selection;
    Revision revision;  // events up to here have been seen
    State view;         // what the client believes to exist
  };

  unsigned Pick(unsigned n) { return static_cast<unsigned>(random_() % n); }
  const State& Now() const { return history_.rbegin()->second; }
  Revision Current() const { return history_.rbegin()->first; }
  const State& At(Revision revision) const {
    return std::prev(history_.upper_bound(revision))->second;
  }

  Selection AnySelection() {
    Selection selection;
    if (Pick(3) == 0) selection.ns = fmt::format("n{}", Pick(2));
    if (Pick(3) == 0) selection.app = fmt::format("a{}", Pick(2));
    if (Pick(4) == 0) selection.node = fmt::format("k{}", Pick(2));
    return selection;
  }

  void Write() {
    Sample sample{.ns = fmt::format("n{}", Pick(2)),
                  .name = fmt::format("p{}", Pick(8)),
                  .labels = {{"app", fmt::format("a{}", Pick(2))}},
                  .fields = {{"n", fmt::format("k{}", Pick(2))}, {"p", ""}},
                  .data = fmt::format("{}", Pick(3))};
    std::string key = sample.ns + "/" + sample.name;
    State next = Now();
    auto found = next.find(key);
    Stored stored{0, sample.labels[0].second, sample.fields[0].second, sample.data};
    ApiResult<ObjectRef> result;
    switch (Pick(3)) {
      case 0:
        result = storage_.Create(sample);
        ASSERT_EQ(result.has_value(), found == next.end()) << key;
        break;
      case 1: {
        bool same = found != next.end() && found->second.app == stored.app &&
                    found->second.node == stored.node && found->second.data == stored.data;
        Preconditions preconditions;
        if (found != next.end() && Pick(3) == 0) {
          preconditions.resource_version = std::to_string(found->second.revision - Pick(2));
        }
        bool holds = found != next.end() &&
                     (!preconditions.resource_version ||
                      *preconditions.resource_version == std::to_string(found->second.revision));
        result = storage_.Update(sample, preconditions);
        ASSERT_EQ(result.has_value(), holds) << key;
        if (same && result) {
          ASSERT_EQ((*result)->revision(), found->second.revision);
          return;
        }
        break;
      }
      default:
        result = storage_.Delete(sample.ns, sample.name);
        ASSERT_EQ(result.has_value(), found != next.end()) << key;
        if (!result) return;
        ASSERT_EQ((*result)->revision(), Current() + 1);
        next.erase(key);
        history_[Current() + 1] = std::move(next);
        return;
    }
    if (!result) return;
    ASSERT_EQ((*result)->revision(), Current() + 1);
    stored.revision = Current() + 1;
    next[key] = stored;
    history_[stored.revision] = std::move(next);
  }

  void Expect(const std::vector<ObjectRef>& objects, const State& state,
              const Selection& selection) {
    std::vector<std::string> expected;
    for (const auto& [key, object] : state) {
      if (selection.Has(key, object))
        expected.push_back(fmt::format("{}@{}", key, object.revision));
    }
    std::vector<std::string> actual;
    for (const auto& object : objects) actual.push_back(TestStorage::DescribeObject(*object));
    ASSERT_EQ(actual, expected);
  }

  void List() {
    auto selection = AnySelection();
    auto options = selection.Options();
    Revision exactly = 0;
    if (Pick(2) == 0) {
      exactly = std::max<Revision>(2, Current() - Pick(30));
      options.resource_version = std::to_string(exactly);
      options.resource_version_match = "Exact";
      if (exactly > Current()) return;
    } else if (Pick(2) == 0) {
      options.resource_version =
          Pick(2) == 0 ? "0" : std::to_string(1 + Pick(static_cast<unsigned>(Current())));
    }
    auto list = storage_.List(options);
    if (!list) {
      ASSERT_EQ(list.error().code, 410);
      ASSERT_LT(exactly, compacted_);
      return;
    }
    if (exactly != 0) ASSERT_EQ(list->revision, exactly);
    if (options.resource_version.empty()) ASSERT_EQ(list->revision, Current());
    Expect(list->objects, At(list->revision), selection);
  }

  void Page() {
    auto selection = AnySelection();
    auto options = selection.Options();
    options.limit = 1 + Pick(4);
    std::vector<ObjectRef> all;
    Revision revision = 0;
    for (;;) {
      auto page = storage_.List(options);
      if (!page) {
        ASSERT_EQ(page.error().code, 410);
        ASSERT_LT(revision, compacted_);
        ASSERT_NE(page.error().continue_token, "");
        return;
      }
      ASSERT_LE(page->objects.size(), static_cast<size_t>(options.limit));
      if (revision != 0) ASSERT_EQ(page->revision, revision);
      revision = page->revision;
      for (auto& object : page->objects) all.push_back(std::move(object));
      if (page->remaining) {
        size_t total = 0;
        for (const auto& [key, object] : At(revision)) total += selection.Has(key, object) ? 1 : 0;
        ASSERT_EQ(static_cast<size_t>(*page->remaining), total - all.size());
      }
      if (page->continue_token.empty()) break;
      options.continue_token = page->continue_token;
      for (unsigned n = Pick(3); n > 0; --n) Write();
      if (Pick(20) == 0) Compact();
      if (Pick(20) == 0) Restart();
      if (::testing::Test::HasFatalFailure()) return;
    }
    Expect(all, At(revision), selection);
  }

  void Get() {
    std::string ns = fmt::format("n{}", Pick(2)), name = fmt::format("p{}", Pick(8));
    auto got = storage_.Run(storage_.pods().Get(ns, name));
    auto found = Now().find(ns + "/" + name);
    ASSERT_EQ(got.has_value(), found != Now().end());
    if (got) ASSERT_EQ((*got)->revision(), found->second.revision);
  }

  void StartWatch() {
    if (watches_.size() > 6) watches_.erase(watches_.begin() + Pick(6));
    Watched watched;
    watched.selection = AnySelection();
    auto options = watched.selection.Options();
    if (Pick(2) == 0) {
      // As a client that has listed before.
      Revision from = std::max<Revision>(1, Current() - Pick(20));
      options.resource_version = std::to_string(from);
      watched.revision = from;
      for (const auto& [key, object] : At(from)) {
        if (watched.selection.Has(key, object)) watched.view[key] = object;
      }
    } else {
      watched.revision = Current();
    }
    auto watcher = storage_.Watch(options);
    ASSERT_TRUE(watcher.has_value());
    watched.watcher = *std::move(watcher);
    watches_.push_back(std::move(watched));
  }

  // Every event must turn the client's view into the next one; after all of them it is the present.
  void ReadWatches() {
    storage_.Settle();
    for (auto& watched : watches_) {
      bool error = false;
      for (;;) {
        auto events = watched.watcher->Take();
        if (events.empty()) break;
        for (const auto& event : events) {
          error = error || event.type == WatchEvent::Type::kError;
          if (event.object) Advance(watched, event);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
      if (error || watched.watcher->ended()) {
        watched.watcher.reset();
        continue;
      }
      State expected;
      for (const auto& [key, object] : Now()) {
        if (watched.selection.Has(key, object)) expected[key] = object;
      }
      ASSERT_EQ(watched.view.size(), expected.size());
      for (const auto& [key, object] : expected) {
        ASSERT_TRUE(watched.view.contains(key)) << key;
        ASSERT_EQ(watched.view[key].revision, object.revision) << key;
      }
    }
    std::erase_if(watches_, [](const Watched& watched) { return watched.watcher == nullptr; });
  }

  void Advance(Watched& watched, const WatchEvent& event) {
    auto key = TreeOrder{}.KeyOf(*event.object);
    bool known = watched.view.contains(key);
    Revision revision = event.object->revision();
    switch (event.type) {
      case WatchEvent::Type::kAdded:
        ASSERT_FALSE(known) << key;
        break;
      case WatchEvent::Type::kModified:
        ASSERT_TRUE(known) << key;
        break;
      default:
        ASSERT_TRUE(known) << key;
        ASSERT_FALSE(At(revision).contains(key) &&
                     watched.selection.Has(key, At(revision).at(key)));
        watched.view.erase(key);
        return;
    }
    ASSERT_TRUE(At(revision).contains(key)) << key;
    const auto& object = At(revision).at(key);
    ASSERT_EQ(object.revision, revision);
    ASSERT_TRUE(watched.selection.Has(key, object));
    watched.view[key] = object;
  }

  void Compact() {
    if (Current() <= compacted_ + 2) return;
    compacted_ = compacted_ + 1 + Pick(static_cast<unsigned>(Current() - compacted_ - 1));
    ASSERT_TRUE(storage_.Run(storage_.store().Compact(compacted_)).has_value());
  }

  void Restart() {
    ReadWatches();
    storage_.Restart();
    for (auto& watched : watches_) {
      while (!watched.watcher->Take().empty()) {
      }
      ASSERT_TRUE(watched.watcher->ended());
    }
    watches_.clear();
  }

  std::mt19937 random_;
  TestStorage storage_;
  std::map<Revision, State> history_;
  std::vector<Watched> watches_;
  Revision compacted_ = 0;
};

unsigned SeedsOf(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

TEST(StorageModel, AgreesWithTheReferenceOnDisk) {
  unsigned seeds = SeedsOf("KEELSON_STORAGE_MODEL_DISK_SEEDS", 10);
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    kv::testing::TempDirectory directory;
    auto open = [&](Clock& clock) -> std::unique_ptr<kv::Store> {
      return kv::OpenRocksDbStore({.directory = directory.path() + "/store"}, clock).value();
    };
    Model(seed, open).Run(120);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(StorageModel, AgreesWithTheReference) {
  unsigned seeds = SeedsOf("KEELSON_STORAGE_MODEL_SEEDS", 1000);
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Model(seed).Run(120);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace keelson::storage
