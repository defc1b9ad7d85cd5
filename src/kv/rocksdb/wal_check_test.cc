#include "kv/rocksdb/wal_check.h"

#include <gtest/gtest.h>

#include "kv/rocksdb/crc32c.h"

namespace keelson::kv {
namespace {

// A WAL as RocksDB would write it: batches of the given payload sizes.
std::string Wal(std::initializer_list<size_t> sizes) {
  constexpr size_t kBlock = 32768;
  std::string wal;
  int batch_number = 0;
  for (size_t size : sizes) {
    std::string payload(size, static_cast<char>('a' + ++batch_number));
    payload.replace(8, 4, std::string("\1\0\0\0", 4));
    bool first = true;
    while (first || !payload.empty()) {
      size_t room = kBlock - wal.size() % kBlock;
      if (room < 7) {
        wal.append(room, '\0');
        continue;
      }
      std::string part = payload.substr(0, room - 7);
      payload.erase(0, part.size());
      char type = first ? (payload.empty() ? 1 : 2) : (payload.empty() ? 4 : 3);
      uint32_t crc = Crc32c(0, std::string(1, type) + part);
      uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
      wal.append(reinterpret_cast<const char*>(&masked), 4);
      wal.push_back(static_cast<char>(part.size()));
      wal.push_back(static_cast<char>(part.size() >> 8));
      wal.push_back(type);
      wal += part;
      first = false;
    }
  }
  return wal;
}

TEST(CheckWal, AcceptsWholeBatchesAndAllocatedSpace) {
  std::string wal = Wal({100, 40000, 12, 90000});
  for (const auto& bytes : {wal, wal + std::string(5000, '\0'), std::string()}) {
    auto state = CheckWal(bytes);
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_FALSE(state->torn);
    EXPECT_EQ(state->intact, bytes.empty() ? 0 : wal.size());
  }
}

TEST(CheckWal, AWriteTornAtAnyByteIsTornNotDamaged) {
  std::string before = Wal({100, 3000});
  std::string whole = Wal({100, 3000, 70000});
  for (size_t cut = before.size() + 1; cut < whole.size(); cut += 97) {
    auto state = CheckWal(std::string_view(whole).substr(0, cut));
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_TRUE(state->torn) << cut;
    EXPECT_EQ(state->intact, before.size());
  }
}

TEST(CheckWal, ALastWriteWithAHoleIsTornNotDamaged) {
  std::string before = Wal({100, 3000});
  std::string whole = Wal({100, 3000, 70000});
  for (size_t at = before.size(); at + 512 < whole.size(); at += 1009) {
    std::string holed = whole;
    std::fill_n(holed.begin() + at, 512, '\0');
    auto state = CheckWal(holed);
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_TRUE(state->torn);
    EXPECT_EQ(state->intact, before.size());
  }
}

TEST(CheckWal, AFlippedBitAnywhereBeforeTheLastBatchIsDamage) {
  std::string earlier = Wal({100, 3000, 40000});
  std::string wal = Wal({100, 3000, 40000, 500});
  for (size_t at = 0; at < earlier.size(); at += 53) {
    std::string flipped = wal;
    flipped[at] ^= 1;
    auto state = CheckWal(flipped);
    ASSERT_FALSE(state) << "byte " << at;
    EXPECT_EQ(state.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace keelson::kv
