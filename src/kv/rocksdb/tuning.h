#pragma once

// How RocksDB is set up, in one place: what is kept in memory, when it is written out and merged,
// and what is checked. Included only by sources of this folder.

#include <rocksdb/db.h>

#include <vector>

#include "kv/rocksdb/rocksdb_store.h"

namespace keelson::kv {

inline constexpr const char* kCurrentFamily = "current";
inline constexpr const char* kLogFamily = "log";

rocksdb::DBOptions TunedDbOptions(const RocksDbStoreOptions& options);

// "default", "current" and "log", in this order.
std::vector<rocksdb::ColumnFamilyDescriptor> TunedFamilies(const RocksDbStoreOptions& options);

}  // namespace keelson::kv
