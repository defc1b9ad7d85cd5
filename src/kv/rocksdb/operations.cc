#include "kv/rocksdb/operations.h"

#include <rocksdb/iterator.h>

#include <filesystem>
#include <unordered_map>

#include "kv/rocksdb/database.h"
#include "kv/rocksdb/format.h"
#include "kv/rocksdb/snapshot.h"
#include "kv/rocksdb/wal_check.h"

namespace keelson::kv {
namespace {

constexpr uint64_t kRowsBetweenReports = 10000;
constexpr size_t kRestoreBatchBytes = size_t{1} << 20;

Result<std::unique_ptr<Database>> Attach(const std::string& directory) {
  // The serving process may delete a file between our reading the list and opening it; then the
  // list has changed, too.
  constexpr int kAttempts = 5;
  for (int attempt = 1;; ++attempt) {
    auto database = Database::Open({.directory = directory}, Database::Mode::kAttach);
    if (database || attempt == kAttempts || database.error().code == ErrorCode::kNotFound) {
      return database;
    }
  }
}

// "/registry/pods/" of "/registry/pods/default/a".
std::string ResourceOf(std::string_view key) {
  size_t second = key.find('/', 1);
  size_t third = second == std::string_view::npos ? second : key.find('/', second + 1);
  return std::string(third == std::string_view::npos ? key : key.substr(0, third + 1));
}

// Walks a store and gathers what is wrong with it.
class Verification {
 public:
  Verification(Database& database, const CheckValue& check, const Progress& progress)
      : database_(database), check_(check), progress_(progress) {
    database.db().GetAggregatedIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &total_);
  }

  Result<VerifyReport> Run() {
    TRY(meta_, database_.ReadMeta({}));
    CheckFiles();
    Walk(database_.meta(), Family::kMeta);
    Walk(database_.log(), Family::kLog);
    if (last_logged_ != 0 && last_logged_ != meta_.revision) {
      Problem("the log ends at revision {}, the store stands at {}", last_logged_, meta_.revision);
    }
    if (last_logged_ == 0 && meta_.revision != std::max(meta_.compacted, kFirstRevision)) {
      Problem("the log is empty, but {} revisions are not compacted",
              meta_.revision - meta_.compacted);
    }
    Walk(database_.current(), Family::kCurrent);
    for (const auto& [key, revision] : last_change_) {
      if (revision > 0) Problem("key \"{}\" of revision {} is missing", key, revision);
    }
    if (progress_) progress_("verify", rows_, rows_);
    TRY(report_.info, info_.Finish());
    return std::move(report_);
  }

 private:
  template <typename... Args>
  void Problem(fmt::format_string<Args...> format, Args&&... args) {
    if (Enough()) return;
    report_.problems.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  bool Enough() const { return report_.problems.size() >= VerifyReport::kMostProblems; }

  void CheckFiles() {
    auto status = database_.db().VerifyChecksum();
    if (!status.ok()) Problem("{}", database_.ToError(status, "checking files").message);
  }

  void Walk(rocksdb::ColumnFamilyHandle* handle, Family family) {
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    read.readahead_size = size_t{1} << 20;
    std::unique_ptr<rocksdb::Iterator> rows(database_.db().NewIterator(read, handle));
    for (rows->SeekToFirst(); rows->Valid() && !Enough(); rows->Next()) {
      auto key = FromRocks(rows->key()), value = FromRocks(rows->value());
      (void)info_.Add(family, key, value);
      if (family == Family::kLog) CheckChange(key, value);
      if (family == Family::kCurrent) CheckState(key, value);
      if (progress_ && ++rows_ % kRowsBetweenReports == 0) progress_("verify", rows_, total_);
    }
    if (!rows->status().ok()) {
      Problem("{}", database_.ToError(rows->status(), "reading rows").message);
    }
  }

  void CheckChange(std::string_view row, std::string_view change) {
    auto position = format::ParseLogKey(row);
    if (!position) return Problem("a key of the log does not decode");
    // What is compacted but shares a file with what is not.
    if (position->revision <= meta_.compacted) return;
    Revision expected = last_logged_ == 0 ? std::max(meta_.compacted, kFirstRevision) + 1
                                          : last_logged_ + (position->index == 0 ? 1 : 0);
    if (position->revision != expected ||
        (position->index != 0 && position->index != last_index_ + 1)) {
      Problem("the log continues at revision {} index {}, where revision {} was to be",
              position->revision, position->index, expected);
    }
    last_logged_ = position->revision;
    last_index_ = position->index;
    auto event = format::DecodeChange(position->revision, change);
    if (!event) return Problem("{}", event.error().message);
    bool put = event->type == Event::Type::kPut;
    last_change_[std::string(event->kv.key.view())] =
        put ? position->revision : -position->revision;
  }

  void CheckState(std::string_view key, std::string_view state) {
    ++report_.keys_per_resource[ResourceOf(key)];
    auto header = format::ParseState(state);
    if (!header) return Problem("the state of key \"{}\" does not decode", key);
    if (header->mod_revision > meta_.revision) {
      Problem("key \"{}\" has revision {}, the store stands at {}", key, header->mod_revision,
              meta_.revision);
    }
    auto change = last_change_.find(std::string(key));
    if (change != last_change_.end()) {
      if (change->second != header->mod_revision) {
        Problem("key \"{}\" has revision {}, its last change in the log is {}", key,
                header->mod_revision, change->second);
      }
      last_change_.erase(change);
    } else if (header->mod_revision > meta_.compacted) {
      Problem("the change of key \"{}\" at revision {} is not in the log", key,
              header->mod_revision);
    }
    if (!check_) return;
    if (auto checked = check_(key, header->value); !checked) {
      Problem("the value of key \"{}\": {}", key, checked.error().message);
    }
  }

  Database& database_;
  const CheckValue& check_;
  const Progress& progress_;
  StoreMeta meta_;
  VerifyReport report_;
  InfoCollector info_;
  uint64_t rows_ = 0;
  uint64_t total_ = 0;
  Revision last_logged_ = 0;
  uint32_t last_index_ = 0;
  // Per key in the log the revision of its last change, negative for a deletion.
  std::unordered_map<std::string, Revision> last_change_;
};

}  // namespace

Result<SnapshotInfo> SnapshotStore(const std::string& directory, const std::string& file,
                                   const Progress& progress) {
  TRY(auto database, Attach(directory));
  return WriteSnapshot(*database, file, progress);
}

Result<SnapshotInfo> CheckSnapshot(const std::string& file, const Progress& progress) {
  InfoCollector info;
  uint64_t rows = 0;
  TRY(uint64_t total, ReadSnapshot(file, [&](Family family, auto key, auto value) -> Result<void> {
        if (progress && ++rows % kRowsBetweenReports == 0) progress("check", rows, 0);
        return info.Add(family, key, value);
      }));
  if (progress) progress("check", total, total);
  TRY(auto result, info.Finish());
  result.file_bytes = std::filesystem::file_size(file);
  return result;
}

Result<SnapshotInfo> RestoreStore(const std::string& file, const std::string& directory,
                                  const Progress& progress) {
  if (std::filesystem::exists(directory)) {
    return Fail(ErrorCode::kAlreadyExists, "{} exists; restore makes a new folder", directory);
  }
  // All of the file is checked before any of it is believed.
  TRY(auto info, CheckSnapshot(file, progress));
  std::string building = directory + ".restoring";
  std::error_code failed;
  std::filesystem::remove_all(building, failed);
  {
    TRY(auto database, Database::Open({.directory = building}, Database::Mode::kServe));
    rocksdb::ColumnFamilyHandle* families[] = {database->meta(), database->current(),
                                               database->log()};
    rocksdb::WriteBatch batch;
    uint64_t rows = 0;
    auto filled = ReadSnapshot(file, [&](Family family, auto key, auto value) -> Result<void> {
      batch.Put(families[static_cast<int>(family)], ToRocks(key), ToRocks(value));
      if (progress && ++rows % kRowsBetweenReports == 0) {
        progress("restore", rows, info.keys + info.changes);
      }
      if (batch.GetDataSize() < kRestoreBatchBytes) return {};
      TRY_VOID(database->Write(batch));
      batch.Clear();
      return {};
    });
    if (!filled) return std::unexpected(filled.error());
    TRY_VOID(database->Write(batch));
  }
  std::filesystem::rename(building, directory, failed);
  if (failed) return Fail(ErrorCode::kIo, "renaming {}: {}", building, failed.message());
  TRY_VOID(SyncDirectory(std::filesystem::absolute(directory).parent_path()));
  if (progress) progress("restore", info.keys + info.changes, info.keys + info.changes);
  return info;
}

Result<VerifyReport> VerifyStore(const std::string& directory, const CheckValue& check,
                                 const Progress& progress) {
  TRY(auto database, Attach(directory));
  return Verification(*database, check, progress).Run();
}

Result<RocksDbStoreStats> CompactStore(const std::string& directory) {
  if (!std::filesystem::exists(directory)) {
    return Fail(ErrorCode::kNotFound, "there is no store in {}", directory);
  }
  {
    TRY(auto database, Database::Open({.directory = directory}, Database::Mode::kServe));
    TRY(auto meta, database->ReadMeta({}));
    rocksdb::WriteBatch batch;
    if (meta.compacted < meta.revision) {
      batch.Put(database->meta(), ToRocks(format::kCompactedKey),
                format::EncodeU64(static_cast<uint64_t>(meta.revision)));
    }
    auto first = format::MakeLogKey(0, 0), end = format::MakeLogKey(meta.revision + 1, 0);
    batch.DeleteRange(database->log(), ToRocks(format::View(first)), ToRocks(format::View(end)));
    TRY_VOID(database->Write(batch));
    rocksdb::ColumnFamilyHandle* families[] = {database->log(), database->meta(),
                                               database->current()};
    for (auto* family : families) {
      rocksdb::CompactRangeOptions all;
      all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
      auto status = database->db().CompactRange(all, family, nullptr, nullptr);
      if (!status.ok()) return std::unexpected(database->ToError(status, "compacting"));
    }
  }
  return ReadStoreStats(directory);
}

Result<RocksDbStoreStats> ReadStoreStats(const std::string& directory) {
  TRY(auto database, Attach(directory));
  TRY(auto meta, database->ReadMeta({}));
  RocksDbStoreStats stats;
  auto& db = database->db();
  using Properties = rocksdb::DB::Properties;
  stats.revision = meta.revision;
  stats.compacted_revision = meta.compacted;
  db.GetIntProperty(database->current(), Properties::kEstimateNumKeys, &stats.estimated_keys);
  db.GetIntProperty(database->log(), Properties::kTotalSstFilesSize, &stats.history_bytes);
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(database->files_directory(), ignored)) {
    stats.disk_bytes += entry.file_size(ignored);
  }
  return stats;
}

}  // namespace keelson::kv
