#include "kv/rocksdb/tuning.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>

namespace keelson::kv {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// At rest: one block cache and one write buffer per large column family.
size_t CacheBytes(size_t memory) { return std::max(memory / 4, kMiB); }
size_t WriteBufferBytes(size_t memory) { return std::max(memory * 3 / 8, kMiB); }

rocksdb::ColumnFamilyOptions BaseFamily(size_t memory) {
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = WriteBufferBytes(memory);
  family.max_write_buffer_number = 4;
  // Small steps: an idle store pays for one of them per column family.
  family.arena_block_size = 64 << 10;
  family.compression = rocksdb::kNoCompression;
  family.level_compaction_dynamic_level_bytes = true;
  family.target_file_size_base = 16 * kMiB;
  family.max_bytes_for_level_base = 64 * kMiB;
  family.paranoid_file_checks = false;
  return family;
}

rocksdb::BlockBasedTableOptions BaseTable(std::shared_ptr<rocksdb::Cache> cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = std::move(cache);
  // Indexes and filters count against the cache; those of the newest files stay.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  return table;
}

}  // namespace

rocksdb::DBOptions TunedDbOptions(const RocksDbStoreOptions& options) {
  rocksdb::DBOptions db;
  db.paranoid_checks = true;
  // CheckWals has told a torn last write from damage before RocksDB gets to see the WAL.
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  db.track_and_verify_wals_in_manifest = true;

  // One thread writes out, two merge, so that small merges need not wait for a large one. Merging
  // writes in steps, so that a commit's sync never waits for a mountain of somebody else's dirty
  // pages.
  db.max_background_jobs = 3;
  db.max_subcompactions = 1;
  db.bytes_per_sync = kMiB / 2;
  db.max_total_wal_size = std::max(12 * WriteBufferBytes(options.memory_bytes), 8 * kMiB);
  db.delayed_write_rate = 64 * kMiB;

  // The store commits from one thread; the machinery for many costs memory and latency.
  db.allow_concurrent_memtable_write = false;
  db.enable_write_thread_adaptive_yield = false;

  // Nothing periodic, no files but those needed, a quick start.
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  db.keep_log_file_num = 1;
  db.max_manifest_file_size = 8 * kMiB;
  db.manifest_preallocation_size = 64 << 10;
  db.max_open_files = 256;
  db.max_file_opening_threads = 1;
  return db;
}

std::vector<rocksdb::ColumnFamilyDescriptor> TunedFamilies(const RocksDbStoreOptions& options) {
  auto cache = rocksdb::NewLRUCache(CacheBytes(options.memory_bytes), /*num_shard_bits=*/1);

  auto meta = BaseFamily(options.memory_bytes);
  meta.write_buffer_size = kMiB;
  meta.table_factory.reset(rocksdb::NewBlockBasedTableFactory(BaseTable(cache)));

  // Creating a key begins with not finding it, hence the filters.
  auto current = BaseFamily(options.memory_bytes);
  auto current_table = BaseTable(cache);
  current_table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  current_table.optimize_filters_for_memory = true;
  // A lookup among a million keys reads a few kilobytes of index, not all of a file's: the cache is
  // small, and every write looks up what it replaces. Filters are whole: those of a million keys
  // take a third of the cache, and looking into parts of them costs a quarter of a commit.
  current_table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  current_table.metadata_block_size = 4096;
  current_table.pin_top_level_index_and_filter = true;
  current.table_factory.reset(rocksdb::NewBlockBasedTableFactory(current_table));
  current.memtable_prefix_bloom_size_ratio = 0.02;
  current.memtable_whole_key_filtering = true;
  // Updates fall anywhere among the keys. Merging level by level would write each of them a dozen
  // times; merging runs of like size writes it four times, at the price of up to twice the space,
  // and of looking at more runs when reading, which the filters make cheap. Only the oldest run,
  // which holds most, is compressed.
  current.compaction_style = rocksdb::kCompactionStyleUniversal;
  current.level_compaction_dynamic_level_bytes = false;
  current.compression = rocksdb::kLZ4Compression;
  current.compaction_options_universal.compression_size_percent = 50;
  current.compaction_options_universal.max_size_amplification_percent = 100;
  current.compaction_options_universal.size_ratio = 10;
  current.compaction_options_universal.min_merge_width = 4;
  current.compaction_options_universal.allow_trivial_move = true;
  // Under load three write buffers become one run.
  current.min_write_buffer_number_to_merge = 3;
  current.max_write_buffer_number = 6;
  // The largest merge takes seconds; what comes in meanwhile must find room.
  current.level0_file_num_compaction_trigger = 8;
  current.level0_slowdown_writes_trigger = 60;
  current.level0_stop_writes_trigger = 80;

  // Only ever appended to at one end and dropped, file by file, at the other.
  auto log = BaseFamily(options.memory_bytes);
  auto log_table = BaseTable(cache);
  log_table.block_size = 16 << 10;
  log.table_factory.reset(rocksdb::NewBlockBasedTableFactory(log_table));

  return {{rocksdb::kDefaultColumnFamilyName, meta}, {kCurrentFamily, current}, {kLogFamily, log}};
}

}  // namespace keelson::kv
