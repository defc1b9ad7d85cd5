#include "kv/rocksdb/format.h"

#include <gtest/gtest.h>

#include <random>

#include "kv/rocksdb/crc32c.h"

namespace keelson::kv::format {
namespace {

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (int value : values) bytes.push_back(static_cast<char>(value));
  return bytes;
}

TEST(Format, VarintsAreLittleEndianGroupsOfSeven) {
  std::string out;
  PutVarint(out, 300);
  EXPECT_EQ(out, Bytes({0xac, 0x02}));
  std::string_view in = out;
  EXPECT_EQ(TakeVarint(in), 300u);
  EXPECT_TRUE(in.empty());
  std::string most;
  PutVarint(most, UINT64_MAX);
  in = most;
  EXPECT_EQ(TakeVarint(in), UINT64_MAX);
  std::string endless(11, '\xff');
  in = endless;
  EXPECT_FALSE(TakeVarint(in));
  in = {};
  EXPECT_FALSE(TakeVarint(in));
}

TEST(Format, LogKeysSortByRevisionThenIndex) {
  EXPECT_EQ(View(MakeLogKey(0x0102, 3)), Bytes({0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 3}));
  EXPECT_LT(View(MakeLogKey(255, 9)), View(MakeLogKey(256, 0)));
  auto position = ParseLogKey(View(MakeLogKey(77, 5)));
  ASSERT_TRUE(position);
  EXPECT_EQ(position->revision, 77);
  EXPECT_EQ(position->index, 5u);
  EXPECT_FALSE(ParseLogKey("short"));
}

TEST(Format, AStateIsFourVarintsAndTheValue) {
  KeyValue kv{.create_revision = 2, .mod_revision = 300, .version = 3, .lease = 0};
  std::string state;
  AppendStateHeader(state, kv);
  EXPECT_EQ(state, Bytes({2, 0xac, 0x02, 3, 0}));
  auto decoded = DecodeState("key", state + "value").value();
  EXPECT_EQ(decoded.key.view(), "key");
  EXPECT_EQ(decoded.value.view(), "value");
  EXPECT_EQ(decoded.mod_revision, 300);
  for (size_t cut = 0; cut < state.size(); ++cut) {
    EXPECT_FALSE(DecodeState("key", state.substr(0, cut))) << cut;
  }
}

Event Update(std::string_view before, std::string_view after) {
  Event event;
  event.kv = {.key = Slice::Copy("k"),
              .value = Slice::Copy(after),
              .create_revision = 2,
              .mod_revision = 9,
              .version = 2,
              .lease = 0};
  event.previous = {.key = Slice::Copy("k"),
                    .value = Slice::Copy(before),
                    .create_revision = 2,
                    .mod_revision = 5,
                    .version = 1,
                    .lease = 4};
  return event;
}

TEST(Format, AChangeKeepsOnlyWhatDiffersOfThePreviousValue) {
  std::string change = EncodeChange(Update("{\"n\":1,\"x\":true}", "{\"n\":25,\"x\":true}"));
  EXPECT_EQ(change, Bytes({3, 1}) + "k" + Bytes({2, 2, 0, 17}) + "{\"n\":25,\"x\":true}" +
                        Bytes({2, 5, 1, 4, 5, 10, 1}) + "1");
}

TEST(Format, ChangesRoundTrip) {
  std::mt19937_64 random(7);
  auto text = [&] {
    std::string t(random() % 60, 'a');
    for (auto& c : t) c = static_cast<char>('a' + random() % 2);
    return t;
  };
  for (int i = 0; i < 5000; ++i) {
    Event event = Update(text(), text());
    if (i % 5 == 0) event.previous = {};
    if (i % 7 == 0) {
      event.type = Event::Type::kDelete;
      event.kv = {.key = event.kv.key, .mod_revision = 9};
    }
    auto decoded = DecodeChange(9, EncodeChange(event));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->type, event.type);
    EXPECT_EQ(decoded->kv.value.view(), event.kv.value.view());
    EXPECT_EQ(decoded->kv.version, event.kv.version);
    EXPECT_EQ(decoded->previous.value.view(), event.previous.value.view());
    EXPECT_EQ(decoded->previous.lease, event.previous.lease);
    EXPECT_EQ(decoded->previous.mod_revision, event.previous.mod_revision);
  }
}

TEST(Format, DamagedChangesDoNotDecodeIntoNonsense) {
  std::string change = EncodeChange(Update("before", "after"));
  for (size_t cut = 0; cut < change.size(); ++cut) {
    EXPECT_FALSE(DecodeChange(9, change.substr(0, cut))) << cut;
  }
  EXPECT_FALSE(DecodeChange(9, change + "x"));
}

TEST(Crc32c, MatchesThePublishedVectors) {
  EXPECT_EQ(Crc32c(0, "123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(0, std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(Crc32c(0, "1234"), "56789"), 0xe3069283u);
}

}  // namespace
}  // namespace keelson::kv::format
