#pragma once

// A file system that does not wait for RocksDB's OPTIONS files.
//
// RocksDB notes its settings in a file at every opening and at every new column family, and syncs
// the file and its folder each time. Nothing ever depends on those notes: the settings come from
// tuning.cc. Not waiting for them saves a third of the time it takes to open or create a store.

#include <rocksdb/file_system.h>

#include <memory>

namespace keelson::kv {

std::shared_ptr<rocksdb::FileSystem> NewQuickOpenFileSystem(
    std::shared_ptr<rocksdb::FileSystem> target);

}  // namespace keelson::kv
