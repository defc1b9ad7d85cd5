// Laws of server-side apply, tried on random configurations of several appliers and updaters.

#include <gtest/gtest.h>

#include <map>

#include "patch/ownership.h"
#include "patch/random_tree.h"
#include "patch/test_types.h"

namespace keelson::patch {
namespace {

using value::Document;

constexpr uint32_t kSeed = 20261116;
constexpr int kRounds = 1500;

TestTypes types(R"(
Thing: apiVersion string o, kind string o, metadata Meta, data {}string o, items []Item#name o, tags []string= o, whole Whole o p
Meta: name string o, uid string o, managedFields []Entry! o
Entry: manager string o, operation string o, apiVersion string o, time time o p, fieldsType string o, fieldsV1 fieldsV1 o p, subresource string o
Item: name string, value string o, sub {}string o
Whole atomic: a string o, b string o
)");

const Ownership& Things() {
  static const Ownership ownership([] {
    OwnershipOptions options;
    options.type = &types["Thing"];
    options.kind = {"", "v1", "Thing"};
    return options;
  }());
  return ownership;
}

// Configuration over the given names: two appliers with different names share nothing. Lists and
// maps are not empty: nobody owns an empty list, and decoding by type drops it.
std::string Config(RandomTree& random, std::string_view names) {
  std::string text = R"({"apiVersion":"v1","kind":"Thing")";
  if (random.Chance(70)) text += ",\"data\":" + random.Strings(names);
  if (random.Chance(60)) {
    text += ",\"items\":[";
    bool first = true;
    for (char name : names) {
      if (!first && !random.Chance(60)) continue;
      text += std::string(first ? "" : ",") + "{\"name\":\"" + name + "\"";
      if (random.Chance(50)) text += ",\"value\":\"" + random.Word() + "\"";
      if (random.Chance(50)) text += ",\"sub\":" + random.Strings("xy");
      text += "}";
      first = false;
    }
    text += "]";
  }
  if (random.Chance(40)) {
    std::string tags;
    for (char name : names) {
      if (tags.empty() || random.Chance(50))
        tags += (tags.empty() ? "\"" : ",\"") + std::string(1, name) + "\"";
    }
    text += ",\"tags\":[" + tags + "]";
  }
  return text + "}";
}

WallTime At(int second) { return WallTime(std::chrono::seconds(1767225600 + second)); }

Document Apply(const Document& live, const std::string& config, std::string_view manager,
               bool force, int second = 0) {
  auto applied = Things().Apply(live, Parse(config), manager, force, At(second));
  EXPECT_TRUE(applied.has_value()) << applied.error().message << "\n" << config;
  return applied ? *applied : live;
}

// The object without managedFields, lists of items in order of their keys.
std::string Content(const Document& object) {
  value::Builder builder(object);
  builder.root().Field("metadata").RemoveField("managedFields");
  for (const char* list : {"items", "tags"}) {
    std::vector<Value> items;
    Value all = object.root()[list];
    if (!all.is_list()) continue;
    for (const Value& item : all.items()) items.push_back(item);
    std::sort(items.begin(), items.end(),
              [](const Value& a, const Value& b) { return Text(a) < Text(b); });
    builder.root().SetField(list, builder.List(items));
  }
  return Text(std::move(builder).Finish());
}
std::map<std::string, std::string> Owners(const Document& object) {
  std::map<std::string, std::string> owners;
  Value entries = object.root()["metadata"]["managedFields"];
  for (const Value& entry : entries.items()) {
    owners[std::string(entry["manager"].AsString()) + " " +
           std::string(entry["operation"].AsString())] = Text(entry["fieldsV1"]);
  }
  return owners;
}

// Some object that has been through a few writes.
Document Lived(RandomTree& random) {
  Document live = Things().NewObject();
  for (unsigned i = random.Below(5); i > 0; --i) {
    std::string manager = "m" + random.Word();
    if (random.Chance(50)) {
      live = Apply(live, Config(random, "abcd"), manager, true);
    } else {
      live = Things().Update(live, Parse(Config(random, "abcd")), manager, At(0));
    }
  }
  return live;
}

TEST(ApplyLaws, ApplyingTwiceIsApplyingOnce) {
  RandomTree random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    Document live = Lived(random);
    std::string config = Config(random, "abcd");
    Document once = Apply(live, config, "me", true, 1);
    Document twice = Apply(once, config, "me", false, 2);
    ASSERT_EQ(Text(twice), Text(once)) << "round " << round << " of seed " << kSeed << "\n"
                                       << config;
  }
}

TEST(ApplyLaws, TheApplierOwnsExactlyWhatItApplied) {
  RandomTree random(kSeed + 1);
  for (int round = 0; round < kRounds; ++round) {
    Document live = Lived(random);
    std::string config = Config(random, "abcd");
    Document applied = Apply(live, config, "me", true, 1);
    auto arena = Arena::Make();
    Document parsed = Parse(config);
    schema::PathElement api_version[] = {schema::PathElement::Field("apiVersion")};
    schema::PathElement kind[] = {schema::PathElement::Field("kind")};
    FieldSet expected = ToFieldSet(*arena, types["Thing"], parsed.root());
    expected = Difference(*arena, expected, SinglePath(*arena, api_version));
    expected = Difference(*arena, expected, SinglePath(*arena, kind));
    std::string mine = Owners(applied)["me Apply"];
    ASSERT_EQ(mine.empty() ? "{}" : mine, Text(schema::ToFieldsV1(*arena, expected)))
        << "round " << round;
  }
}

// No write makes up owners: what others own afterwards they owned before, and every owned leaf
// that the write left alone keeps its owners.
TEST(ApplyLaws, OwnershipIsConserved) {
  RandomTree random(kSeed + 2);
  for (int round = 0; round < kRounds; ++round) {
    Document live = Lived(random);
    std::string config = Config(random, "abcd");
    bool apply = random.Chance(50);
    Document written = apply ? Apply(live, config, "me", true, 1)
                             : Things().Update(live, Parse(config), "me", At(1));
    auto arena = Arena::Make();
    auto before = *ManagedFields::Decode(*arena, live.root()["metadata"]["managedFields"]);
    auto after = *ManagedFields::Decode(*arena, written.root()["metadata"]["managedFields"]);
    auto changes = *Compare(*arena, types["Thing"], live.root(), written.root());
    FieldSet touched =
        Union(*arena, changes.removed, Union(*arena, changes.modified, changes.added));
    if (before.empty()) continue;
    for (const ManagedEntry& owner : before.entries()) {
      ManagedEntry* left = after.Find(owner);
      FieldSet fields = left ? left->fields : FieldSet();
      FieldSet kept = Difference(*arena, owner.fields, touched);
      if (owner.manager == "me") continue;
      ASSERT_EQ(fields, kept) << "round " << round << " " << owner.Identifier() << "\n"
                              << Text(live) << "\n"
                              << config;
    }
  }
}

TEST(ApplyLaws, DisjointAppliersMayComeInAnyOrder) {
  RandomTree random(kSeed + 3);
  for (int round = 0; round < kRounds; ++round) {
    std::string ab = Config(random, "ab");
    std::string cd = Config(random, "cd");
    Document base = Things().NewObject();
    Document first = Apply(Apply(base, ab, "m1", false), cd, "m2", false);
    Document second = Apply(Apply(base, cd, "m2", false), ab, "m1", false);
    ASSERT_EQ(Content(first), Content(second)) << "round " << round << "\n" << ab << "\n" << cd;
    ASSERT_EQ(Owners(first), Owners(second)) << "round " << round << "\n" << ab << "\n" << cd;
  }
}

TEST(ApplyLaws, ApplyingNothingTakesBackExactlyWhatWasApplied) {
  RandomTree random(kSeed + 4);
  for (int round = 0; round < kRounds; ++round) {
    std::string theirs = Config(random, "ab");
    Document base = Apply(Things().NewObject(), theirs, "other", false);
    Document with = Apply(base, Config(random, "cd"), "me", false);
    Document without = Apply(with, R"({"apiVersion":"v1","kind":"Thing"})", "me", false);
    ASSERT_EQ(Owners(without), Owners(base)) << "round " << round;
    auto arena = Arena::Make();
    auto changes = *Compare(*arena, types["Thing"], base.root(), without.root());
    FieldSet leaves = Leaves(*arena, ToFieldSet(*arena, types["Thing"], base.root()));
    ASSERT_TRUE(
        Intersection(*arena, leaves, Union(*arena, changes.removed, changes.modified)).empty())
        << "round " << round << "\n"
        << Text(base) << "\n"
        << Text(without);
  }
}

}  // namespace
}  // namespace keelson::patch
