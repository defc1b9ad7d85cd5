#include "value/json_cursor.h"

#include <gtest/gtest.h>

#include <random>

#include "value/json.h"
#include "value/pod_sample.h"

namespace keelson::value {
namespace {

TEST(JsonCursor, WalksMembersAndItems) {
  JsonCursor cursor(R"({"a":1,"b":[true,"x\"y"],"c":{}})");
  std::string seen;
  for (bool more = cursor.Enter('{'); more; more = cursor.Next('}')) {
    seen += cursor.TakeKey().raw;
    if (cursor.Peek() == '[') {
      for (bool item = cursor.Enter('['); item; item = cursor.Next(']')) seen += cursor.TakeRaw();
    } else {
      seen += cursor.TakeRaw();
    }
  }
  EXPECT_EQ(seen, R"(a1btrue"x\"y"c{})");
  EXPECT_TRUE(cursor.at_end());
}

TEST(JsonCursor, TellsAndDecodesEscapes) {
  auto arena = Arena::Make();
  JsonCursor cursor(R"("plain text")");
  auto plain = cursor.TakeString();
  EXPECT_FALSE(plain.escaped);
  EXPECT_EQ(Decoded(plain, *arena).data(), plain.raw.data());
  JsonCursor other(R"("a\u003cb\n")");
  EXPECT_EQ(Decoded(other.TakeString(), *arena), "a<b\n");
}

// Containers of every length up to several blocks, so that strings, escapes and ends fall on every
// place of a block.
TEST(JsonCursor, SkipsContainersWhereverTheirPartsFall) {
  constexpr std::string_view kPieces[] = {
      R"("]")",     R"("\\")", R"("\"}")", "[[]]", R"({"}":"{"})",
      R"("\\\"[")", "1",       "null",     "{}",   R"({"k\\":["\\\\"]})"};
  std::mt19937 random(20261115);
  for (int round = 0; round < 20'000; ++round) {
    std::string json = "[";
    for (size_t pieces = random() % 40; pieces > 0; --pieces) {
      if (json.size() > 1) json += ',';
      json += kPieces[random() % std::size(kPieces)];
    }
    json += ']';
    const std::string text = json + ",7]";
    JsonCursor walk(text);
    ASSERT_EQ(walk.TakeRaw(), json);
    ASSERT_TRUE(walk.Next(']'));
    ASSERT_EQ(walk.TakeScalar(), "7");
  }
}

TEST(JsonCursor, EndsOnTextThatIsNotJson) {
  for (std::string_view text :
       {"", "{", "[1", "\"", "\"\\", "{\"a", "{\"a\"}", "[,", "{]", "nul"}) {
    const std::string copy(text);
    JsonCursor cursor(copy);
    cursor.Skip();
    EXPECT_LE(cursor.position(), copy.data() + copy.size());
    JsonCursor walk(copy);
    for (bool more = walk.Enter('{'); more; more = walk.Next('}')) {
      walk.TakeKey();
      walk.Skip();
    }
  }
}

TEST(JsonCursor, StepsOverAWholePod) {
  JsonCursor cursor(kPodSample);
  EXPECT_EQ(cursor.TakeRaw(), kPodSample);
}

}  // namespace
}  // namespace keelson::value
