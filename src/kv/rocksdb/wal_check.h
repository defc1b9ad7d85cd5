#pragma once

// Telling a torn last write from damage.
//
// After a crash the end of the WAL may hold a write that was under way: it was never acknowledged
// and is dropped. Anything else that does not check is damage to acknowledged data, and RocksDB's
// point-in-time recovery would silently drop it together with all that follows. The store writes
// one batch at a time and syncs it before the next, so the two can be told apart: when an intact
// batch begins anywhere behind a bad record, the bad one had been acknowledged.

#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::kv {

// Looks at the bytes of one WAL file. kCorrupt, with the offset, when damage precedes an intact
// batch. Sets `torn` when the file ends in a torn write.
Result<void> CheckWal(std::string_view bytes, bool* torn);

// The same for every WAL of a RocksDB folder, oldest first; a torn write in any but the last file
// that holds batches is damage too.
Result<void> CheckWals(const std::string& db_directory);

}  // namespace keelson::kv
