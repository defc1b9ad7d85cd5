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

namespace rocksdb {
class Env;
}

namespace keelson::kv {

struct WalState {
  size_t intact = 0;  // bytes up to the end of the last whole batch
  bool torn = false;  // something else follows
};

// Looks at the bytes of one WAL file. kCorrupt, with the offset, when damage precedes an intact
// batch.
Result<WalState> CheckWal(std::string_view bytes);

// The same for every WAL of a RocksDB folder, oldest first; a torn write in any but the last file
// that holds batches is damage too. Cuts a torn write off, so that no later WAL can follow it.
Result<void> CheckWals(rocksdb::Env& env, const std::string& db_directory);

}  // namespace keelson::kv
