#include "kv/rocksdb/wal_check.h"

#include <rocksdb/env.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/log.h"
#include "kv/rocksdb/crc32c.h"
#include "kv/rocksdb/database.h"

// RocksDB's WAL: blocks of 32 KiB, filled with fragments; a block's last few bytes stay zero when
// no header fits. A batch is one FULL fragment or FIRST, MIDDLE..., LAST.
//
//   fragment = u32 LE masked crc32c over type and payload, u16 LE payload size, u8 type, payload
//   a batch's payload begins with u64 LE sequence number, u32 LE count
//
// Space that was allocated but not written reads as zero: type 0, size 0.

namespace keelson::kv {
namespace {

constexpr size_t kBlock = 32768;
constexpr size_t kHeader = 7;
constexpr size_t kBatchHeader = 12;
enum FragmentType : uint8_t { kZero = 0, kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

uint32_t Unmask(uint32_t masked) {
  uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

struct Fragment {
  FragmentType type = kZero;
  std::string_view payload;
};

// The fragment at `offset`, if an intact one stands there.
std::optional<Fragment> ReadFragment(std::string_view bytes, size_t offset) {
  size_t block_end = std::min(bytes.size(), offset - offset % kBlock + kBlock);
  if (offset + kHeader > block_end) return std::nullopt;
  const char* at = bytes.data() + offset;
  uint32_t masked;
  std::memcpy(&masked, at, sizeof(masked));
  size_t size = static_cast<unsigned char>(at[4]) | static_cast<unsigned char>(at[5]) << 8;
  auto type = static_cast<uint8_t>(at[6]);
  if (type < kFull || type > kLast || offset + kHeader + size > block_end) return std::nullopt;
  if (Unmask(masked) != Crc32c(0, {at + 6, size + 1})) return std::nullopt;
  return Fragment{static_cast<FragmentType>(type), {at + kHeader, size}};
}

// RocksDB itself writes an empty batch into a new WAL after it recovered from a torn one.
bool BeginsBatch(const Fragment& fragment) {
  if (fragment.type != kFull && fragment.type != kFirst) return false;
  if (fragment.payload.size() < kBatchHeader) return false;
  return fragment.payload.substr(8, 4) != std::string_view("\0\0\0\0", 4);
}

// An intact batch that begins in a block at or behind `from`; fragments can be found again at block
// borders, and behind an intact fragment.
std::optional<size_t> FindBatch(std::string_view bytes, size_t from) {
  size_t offset = (from + kBlock - 1) / kBlock * kBlock;
  while (offset < bytes.size()) {
    auto fragment = ReadFragment(bytes, offset);
    if (!fragment) {
      offset = offset - offset % kBlock + kBlock;
      continue;
    }
    if (BeginsBatch(*fragment)) return offset;
    offset += kHeader + fragment->payload.size();
  }
  return std::nullopt;
}

// An intact batch that begins behind the bad fragment at `offset`. Its size may be what is bad, so
// the rest of its block is searched byte by byte.
std::optional<size_t> FindBatchBehind(std::string_view bytes, size_t offset) {
  size_t block_end = std::min(bytes.size(), offset - offset % kBlock + kBlock);
  for (size_t at = offset + 1; at + kHeader <= block_end; ++at) {
    auto fragment = ReadFragment(bytes, at);
    if (fragment && BeginsBatch(*fragment)) return at;
  }
  return FindBatch(bytes, block_end);
}

}  // namespace

Result<WalState> CheckWal(std::string_view bytes) {
  WalState state;
  size_t offset = 0;
  while (offset < bytes.size()) {
    if (kBlock - offset % kBlock < kHeader) {
      offset = offset - offset % kBlock + kBlock;
      continue;
    }
    auto fragment = ReadFragment(bytes, offset);
    if (!fragment) break;
    offset += kHeader + fragment->payload.size();
    if (fragment->type == kFull || fragment->type == kLast) state.intact = offset;
  }
  if (offset < bytes.size()) {
    if (auto later = FindBatchBehind(bytes, offset)) {
      return Fail(ErrorCode::kCorrupt,
                  "the record at byte {} is damaged, and an intact one follows at byte {}", offset,
                  *later);
    }
  }
  auto rest = bytes.substr(std::min(state.intact, bytes.size()));
  state.torn = rest.find_first_not_of('\0') != std::string_view::npos;
  return state;
}

namespace {

Result<void> CutOff(rocksdb::Env& env, const std::string& path, std::string_view intact) {
  // A new file under the old name: whichever of the two a crash leaves is good.
  std::string fresh = path + ".cut";
  auto written = rocksdb::WriteStringToFile(&env, ToRocks(intact), fresh, /*should_sync=*/true);
  if (written.ok()) written = env.RenameFile(fresh, path);
  if (!written.ok()) return Fail(ErrorCode::kIo, "rewriting {}: {}", path, written.ToString());
  return {};
}

}  // namespace

Result<void> CheckWals(rocksdb::Env& env, const std::string& db_directory) {
  std::vector<std::string> names;
  auto listed = env.GetChildren(db_directory, &names);
  if (!listed.ok() && !listed.IsNotFound()) {
    return Fail(ErrorCode::kIo, "reading {}: {}", db_directory, listed.ToString());
  }
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
  // Numbered with leading zeros, so that the order of names is the order of time.
  std::sort(names.begin(), names.end());
  std::string torn_file, torn_bytes;
  for (const auto& name : names) {
    std::string path = db_directory + "/" + name;
    std::string bytes;
    auto read = rocksdb::ReadFileToString(&env, path, &bytes);
    if (!read.ok()) return Fail(ErrorCode::kIo, "reading {}: {}", path, read.ToString());
    auto state = CheckWal(bytes);
    if (!state) return Annotate(state.error(), path);
    if (FindBatch(bytes, 0) && !torn_file.empty()) {
      return Fail(ErrorCode::kCorrupt, "{} ends in a damaged record, yet {} continues after it",
                  torn_file, path);
    }
    if (!state->torn) continue;
    torn_file = path;
    torn_bytes = bytes.substr(0, state->intact);
  }
  if (torn_file.empty()) return {};
  log::InfoS("Cutting off a write that a crash interrupted", {{"file", torn_file}});
  return CutOff(env, torn_file, torn_bytes);
}

}  // namespace keelson::kv
