#include "kv/rocksdb/wal_check.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "kv/rocksdb/crc32c.h"

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

// An intact batch that begins at or behind `from`; fragments can be found again at block borders,
// and behind an intact fragment.
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

}  // namespace

Result<void> CheckWal(std::string_view bytes, bool* torn) {
  *torn = false;
  size_t offset = 0;
  bool inside = false;
  while (offset < bytes.size()) {
    if (kBlock - offset % kBlock < kHeader) {
      offset = offset - offset % kBlock + kBlock;
      continue;
    }
    auto fragment = ReadFragment(bytes, offset);
    if (!fragment) break;
    inside = fragment->type == kFirst || fragment->type == kMiddle;
    offset += kHeader + fragment->payload.size();
  }
  if (offset >= bytes.size()) {
    *torn = inside;
    return {};
  }
  // Within the bad fragment's own block the next one is found by its stated size, if that is sound.
  size_t search_from = offset + 1;
  if (offset + kHeader <= bytes.size()) {
    size_t size = static_cast<unsigned char>(bytes[offset + 4]) |
                  static_cast<unsigned char>(bytes[offset + 5]) << 8;
    size_t next = offset + kHeader + size;
    if (size != 0 && next / kBlock == offset / kBlock && next < bytes.size()) {
      auto fragment = ReadFragment(bytes, next);
      if (fragment && BeginsBatch(*fragment)) {
        return Fail(ErrorCode::kCorrupt,
                    "the record at byte {} is damaged, and an intact one follows at byte {}",
                    offset, next);
      }
    }
  }
  if (auto later = FindBatch(bytes, search_from)) {
    return Fail(ErrorCode::kCorrupt,
                "the record at byte {} is damaged, and an intact one follows at byte {}", offset,
                *later);
  }
  auto rest = bytes.substr(offset);
  *torn = inside || rest.find_first_not_of('\0') != std::string_view::npos;
  return {};
}

Result<void> CheckWals(const std::string& db_directory) {
  std::vector<std::filesystem::path> logs;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(db_directory, failed)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  if (failed) return Fail(ErrorCode::kIo, "reading {}: {}", db_directory, failed.message());
  std::sort(logs.begin(), logs.end());
  std::string torn_file;
  for (const auto& path : logs) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (in.bad()) return Fail(ErrorCode::kIo, "reading {}", path.string());
    bool torn;
    if (auto checked = CheckWal(bytes, &torn); !checked) {
      return Annotate(checked.error(), path.string());
    }
    if (FindBatch(bytes, 0) && !torn_file.empty()) {
      return Fail(ErrorCode::kCorrupt, "{} ends in a damaged record, yet {} continues after it",
                  torn_file, path.string());
    }
    if (torn) torn_file = path.string();
  }
  return {};
}

}  // namespace keelson::kv
