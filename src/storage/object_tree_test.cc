#include "storage/object_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "storage/snapshot.h"
#include "storage/testing_objects.h"

namespace keelson::storage {
namespace {

using testing::MakeObject;

std::vector<std::string> Keys(const TreeView& view, std::string_view from = {}) {
  std::vector<std::string> keys;
  for (auto cursor = view.Seek(from); cursor.valid(); cursor.Next()) {
    keys.push_back(TreeOrder{}.KeyOf(*cursor.object()));
  }
  return keys;
}

TEST(ObjectTree, OrdersAsTheStoreOrdersWholeKeys) {
  SnapshotCell cell;
  ObjectIndex index(&cell, {});
  for (auto [ns, name] :
       {std::pair{"a", "x"}, {"a-b", "x"}, {"a", "x-y"}, {"", "b"}, {"a.b", "c"}}) {
    index.Put(MakeObject({.ns = ns, .name = name}, 2));
  }
  index.Publish(2);
  EXPECT_EQ(Keys(cell.Load()->objects()),
            (std::vector<std::string>{"a-b/x", "a.b/c", "a/x", "a/x-y", "b"}));
}

TEST(ObjectTree, KeepsOldSnapshotsAsTheyWere) {
  SnapshotCell cell;
  ObjectIndex index(&cell, {});
  index.Put(MakeObject({.name = "a"}, 2));
  index.Publish(2);
  auto first = cell.Load();
  index.Put(MakeObject({.name = "b"}, 3));
  index.Put(MakeObject({.name = "a"}, 4));
  index.Publish(4);
  auto second = cell.Load();
  index.Erase("default/a");
  index.Publish(5);
  EXPECT_EQ(Keys(first->objects()), std::vector<std::string>{"default/a"});
  EXPECT_EQ(first->objects().Find("default/a")->revision(), 2);
  EXPECT_EQ(second->objects().Find("default/a")->revision(), 4);
  EXPECT_EQ(Keys(cell.Load()->objects()), std::vector<std::string>{"default/b"});
}

TEST(ObjectTree, LoadsInBulkWhatInsertionWouldGive) {
  for (size_t count : {0u, 1u, 59u, 60u, 61u, 3600u, 5000u}) {
    std::vector<ObjectRef> objects;
    for (size_t i = 0; i < count; ++i) {
      objects.push_back(MakeObject({.name = fmt::format("n{:06}", i)}, 2));
    }
    SnapshotCell cell;
    ObjectIndex index(&cell, {});
    for (const auto& object : objects) index.Load(object);
    index.FinishLoad();
    index.Publish(2);
    auto snapshot = cell.Load();
    EXPECT_EQ(snapshot->objects().size(), count);
    EXPECT_EQ(Keys(snapshot->objects()).size(), count);
    for (const auto& object : objects) {
      ASSERT_EQ(snapshot->objects().Find("default/" + std::string(object->name())), object.get());
    }
  }
}

// Random edits against std::map, with snapshots taken and compared later, and an index over a
// field.
TEST(ObjectTree, AgreesWithAMapUnderRandomEdits) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto pick = [&](unsigned n) { return random() % n; };
    const int indexed[] = {0};
    SnapshotCell cell;
    ObjectIndex index(&cell, indexed);
    std::map<std::string, std::pair<Revision, std::string>> model;
    struct Taken {
      SnapshotRef snapshot;
      std::map<std::string, std::pair<Revision, std::string>> model;
    };
    std::vector<Taken> taken;
    unsigned names = 1 + pick(3000);
    // Names that differ early, or far behind the eight bytes that nodes keep of each.
    const char* middle = seed % 2 == 0 ? "" : "-5d78c9869d-";
    Revision revision = 1;
    for (int step = 0; step < 6000; ++step) {
      std::string ns = fmt::format("ns{}", pick(3));
      std::string name = fmt::format("p{}{}{}", pick(2), middle, pick(names));
      std::string key = ns + "/" + name;
      bool shrinking = (step / 1500) % 2 == 1;
      if (pick(10) < (shrinking ? 7u : 3u)) {
        auto erased = index.Erase(key);
        ASSERT_EQ(static_cast<bool>(erased), model.erase(key) == 1);
      } else {
        std::string node = fmt::format("n{}", pick(5));
        auto previous = index.Put(
            MakeObject({.ns = ns, .name = name, .fields = {{"nodeName", node}}}, ++revision));
        ASSERT_EQ(static_cast<bool>(previous), model.contains(key));
        model[key] = {revision, node};
      }
      if (pick(4) == 0) index.Publish(revision);
      if (pick(600) == 0) {
        index.Publish(revision);
        taken.push_back({cell.Load(), model});
      }
      if (taken.size() > 4) taken.erase(taken.begin() + pick(4));
    }
    index.Publish(revision);
    taken.push_back({cell.Load(), model});
    for (const auto& [snapshot, expected] : taken) {
      auto view = snapshot->objects();
      ASSERT_EQ(view.size(), expected.size());
      auto cursor = view.Seek({});
      size_t rank = 0;
      for (const auto& [key, state] : expected) {
        ASSERT_TRUE(cursor.valid());
        ASSERT_EQ(TreeOrder{}.KeyOf(*cursor.object()), key);
        ASSERT_EQ(cursor.object()->revision(), state.first);
        ASSERT_EQ(view.Find(key), cursor.object());
        ASSERT_EQ(view.Rank(key), rank++);
        cursor.Next();
      }
      ASSERT_FALSE(cursor.valid());
      auto ns1 = expected.lower_bound("ns1/"), ns2 = expected.lower_bound("ns10");
      ASSERT_EQ(view.Count("ns1/", "ns10"), static_cast<size_t>(std::distance(ns1, ns2)));
      // The index holds the same objects, grouped by field value.
      ASSERT_EQ(snapshot->index(0).size(), expected.size());
      for (int n = 0; n < 5; ++n) {
        auto node = fmt::format("n{}", n);
        TreeOrder order{0};
        auto in_index = snapshot->index(0).Seek(order.Bound(node));
        for (const auto& [key, state] : expected) {
          if (state.second != node) continue;
          ASSERT_TRUE(in_index.valid());
          ASSERT_EQ(TreeOrder{}.KeyOf(*in_index.object()), key);
          in_index.Next();
        }
      }
    }
  }
}

}  // namespace
}  // namespace keelson::storage
