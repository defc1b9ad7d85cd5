// Laws that hold for every object and patch, tried on many random ones.

#include <gtest/gtest.h>

#include "patch/json_patch.h"
#include "patch/merge_patch.h"
#include "patch/random_tree.h"
#include "patch/strategic_merge.h"
#include "patch/test_types.h"

namespace keelson::patch {
namespace {

using value::Document;
using value::Member;
using value::Value;

constexpr uint32_t kSeed = 20261115;
constexpr int kRounds = 3000;

bool HasNull(const Value& value) {
  if (value.is_null()) return true;
  for (const Member& member : value.members()) {
    if (HasNull(member.value)) return true;
  }
  return false;
}

// The merge patch that leads from one object to another, for objects without nulls.
void AppendDiff(std::string& out, const Value& from, const Value& to) {
  out += '{';
  auto comma = [&] {
    if (out.back() != '{') out += ',';
  };
  for (const Member& member : from.members()) {
    if (to.Find(*member.name)) continue;
    comma();
    out += "\"" + std::string(member.key()) + "\":null";
  }
  for (const Member& member : to.members()) {
    const Value* before = from.Find(*member.name);
    if (before && *before == member.value) continue;
    comma();
    out += "\"" + std::string(member.key()) + "\":";
    if (before && before->is_object() && member.value.is_object()) {
      AppendDiff(out, *before, member.value);
    } else {
      out += Text(member.value);
    }
  }
  out += '}';
}

TEST(MergePatchLaws, TheDifferenceLeadsFromOneObjectToTheOther) {
  RandomTree random(kSeed);
  int tried = 0;
  for (int round = 0; round < kRounds; ++round) {
    Document from = Parse(random.Object());
    Document to = Parse(random.Object());
    if (HasNull(from.root()) || HasNull(to.root())) continue;
    ++tried;
    std::string patch;
    AppendDiff(patch, from.root(), to.root());
    auto merged = ApplyMergePatch(from, Parse(patch));
    // A list may hold objects with nulls, which a list put in place of an object keeps.
    if (Text(to).contains("null")) continue;
    ASSERT_EQ(Text(*merged), Text(to))
        << "round " << round << " of seed " << kSeed << ": " << patch;
  }
  EXPECT_GT(tried, kRounds / 20);
}

TEST(MergePatchLaws, TwiceIsOnce) {
  RandomTree random(kSeed + 1);
  for (int round = 0; round < kRounds; ++round) {
    Document object = Parse(random.Object());
    Document patch = Parse(random.Object());
    auto once = ApplyMergePatch(object, patch);
    auto twice = ApplyMergePatch(*once, patch);
    // Upstream keeps the nulls of a list that replaces an object, and prunes them the next time.
    if (Text(*once).contains("null")) continue;
    ASSERT_EQ(Text(*twice), Text(*once)) << "round " << round << " of seed " << kSeed + 1;
  }
}

TEST(MergePatchLaws, InputsAreLeftAsTheyWere) {
  RandomTree random(kSeed + 2);
  for (int round = 0; round < kRounds; ++round) {
    Document object = Parse(random.Object());
    Document patch = Parse(random.Object());
    std::string object_before = Text(object);
    std::string patch_before = Text(patch);
    ASSERT_TRUE(ApplyMergePatch(object, patch).has_value());
    ASSERT_EQ(Text(object), object_before);
    ASSERT_EQ(Text(patch), patch_before);
  }
}

ApiResult<Document> Patched(const Document& object, const std::string& patch) {
  Document document = Parse(patch);
  return ApplyJsonPatch(object, *DecodeJsonPatch(document), document);
}

TEST(JsonPatchLaws, AddThenTestHoldsAndRemoveUndoes) {
  RandomTree random(kSeed + 3);
  for (int round = 0; round < kRounds; ++round) {
    Document object = Parse(random.Object());
    std::string value = random.Any();
    auto added = Patched(object, R"([{"op":"add","path":"/new","value":)" + value +
                                     R"(},{"op":"test","path":"/new","value":)" + value + "}]");
    ASSERT_TRUE(added.has_value()) << "round " << round;
    auto removed = Patched(*added, R"([{"op":"remove","path":"/new"}])");
    ASSERT_EQ(Text(*removed), Text(object)) << "round " << round;
  }
}

TEST(JsonPatchLaws, MoveIsCopyAndRemove) {
  RandomTree random(kSeed + 4);
  for (int round = 0; round < kRounds; ++round) {
    Document object = Parse(random.Object());
    auto moved = Patched(object, R"([{"op":"move","from":"/a","path":"/z"}])");
    auto copied =
        Patched(object, R"([{"op":"copy","from":"/a","path":"/z"},{"op":"remove","path":"/a"}])");
    ASSERT_EQ(moved.has_value(), copied.has_value()) << "round " << round;
    if (moved) ASSERT_EQ(Text(*moved), Text(*copied)) << "round " << round;
  }
}

TEST(JsonPatchLaws, AFailedPatchLeavesNothingBehind) {
  RandomTree random(kSeed + 5);
  for (int round = 0; round < kRounds; ++round) {
    Document object = Parse(random.Object());
    std::string before = Text(object);
    EXPECT_FALSE(
        Patched(
            object,
            R"([{"op":"add","path":"/a","value":{"x":1}},{"op":"add","path":"/a/y","value":2},{"op":"test","path":"/a/x","value":2}])")
            .has_value());
    ASSERT_EQ(Text(object), before);
  }
}

TestTypes types(R"(
Thing: a Node o, b []Node o merge:a, c []string o merge, d {}string o
Node: a string o, b []Node o merge:a, c []string o merge, d {}string o
)");

std::string Node(RandomTree& random, int depth, bool patch) {
  std::string text = "{\"a\":\"" + random.Word() + "\"";
  if (depth < 3 && random.Chance(50)) {
    text += ",\"b\":[";
    std::string keys;
    for (unsigned i = random.Below(4); i > 0; --i) {
      // Upstream keeps the nulls of an item that is new to a list.
      std::string item = Node(random, depth + 1, false);
      if (keys.contains(item[6])) continue;
      text += (keys.empty() ? "" : ",") + item;
      keys += item[6];
    }
    text += "]";
  }
  if (random.Chance(40)) {
    text += ",\"c\":[";
    std::string words;
    for (char word : std::string("abcd")) {
      if (random.Chance(40)) words += (words.empty() ? "\"" : ",\"") + std::string(1, word) + "\"";
    }
    text += words + "]";
  }
  if (random.Chance(40))
    text += ",\"d\":" + (patch && random.Chance(20) ? "null" : random.Strings("abc"));
  return text + "}";
}
std::string Thing(RandomTree& random, bool patch) {
  std::string node = Node(random, 0, patch);
  return "{\"a\":" + node + node.substr(node.find('"', 7) + 1);
}

TEST(StrategicMergeLaws, TwiceIsOnceAndThePatchHoldsAfterwards) {
  RandomTree random(kSeed + 6);
  for (int round = 0; round < kRounds; ++round) {
    std::string object_text = Thing(random, false);
    std::string patch_text = Thing(random, true);
    Document object = Parse(object_text);
    Document patch = Parse(patch_text);
    auto once = ApplyStrategicMergePatch(object, patch, types["Thing"]);
    ASSERT_TRUE(once.has_value()) << once.error().message << "\n"
                                  << object_text << "\n"
                                  << patch_text;
    auto twice = ApplyStrategicMergePatch(*once, patch, types["Thing"]);
    ASSERT_EQ(Text(*twice), Text(*once)) << "round " << round << "\n"
                                         << object_text << "\n"
                                         << patch_text;
    for (const Value& item : patch.root()["c"].items()) {
      Value merged = once->root()["c"];
      ASSERT_TRUE(std::any_of(merged.items().begin(), merged.items().end(),
                              [&](const Value& other) { return other == item; }));
    }
    ASSERT_EQ(Text(object), Text(Parse(object_text))) << "the object was changed";
  }
}

TEST(StrategicMergeLaws, WithoutListsItIsMergePatch) {
  RandomTree random(kSeed + 7);
  for (int round = 0; round < kRounds; ++round) {
    Document object = Parse("{\"d\":" + random.Strings("abcd") + "}");
    Document patch = Parse("{\"d\":" + random.Strings("abcd") + "}");
    ASSERT_EQ(Text(*ApplyStrategicMergePatch(object, patch, types["Thing"])),
              Text(*ApplyMergePatch(object, patch)));
  }
}

}  // namespace
}  // namespace keelson::patch
