#pragma once

// The snapshot file: rows in checked blocks.
//
//   file    = "KEELSNAP", u32 version (1), u32 format version of the rows; block...; end
//   block   = u32 payload size (not 0), u32 crc32c of the payload, payload
//   payload = row...
//   row     = u8 column family (0 meta, 1 current, 2 log), varint key size, key,
//             varint value size, value
//   end     = u32 0, u32 crc32c of the 8 bytes that follow, u64 number of rows
//
// Numbers are big endian. Rows are those of the store's column families, in their order.

#include <rocksdb/env.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kv/rocksdb/database.h"
#include "kv/rocksdb/operations.h"

namespace keelson::kv {

enum class Family : uint8_t { kMeta = 0, kCurrent = 1, kLog = 2 };

// Copies the store, as of now, to `file`. Any thread; the store may be in use.
Result<SnapshotInfo> WriteSnapshot(Database& database, const std::string& file,
                                   const Progress& progress);

// Hands every row to `visit`, block by block, each after its checksum was compared. A file that
// ends early or continues after its end is kCorrupt.
using VisitRow =
    std::function<Result<void>(Family family, std::string_view key, std::string_view value)>;
Result<uint64_t> ReadSnapshot(const std::string& file, const VisitRow& visit);

// The facts about a snapshot or a store, gathered row by row.
class InfoCollector {
 public:
  Result<void> Add(Family family, std::string_view key, std::string_view value);
  // Fails when the rows that every store has are missing.
  Result<SnapshotInfo> Finish() const;

 private:
  SnapshotInfo info_;
  int meta_rows_ = 0;
};

}  // namespace keelson::kv
