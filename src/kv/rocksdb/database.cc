#include "kv/rocksdb/database.h"

#include <fcntl.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/ids.h"
#include "base/log.h"
#include "kv/rocksdb/format.h"
#include "kv/rocksdb/quick_open.h"
#include "kv/rocksdb/tuning.h"
#include "kv/rocksdb/wal_check.h"

namespace keelson::kv {
namespace {

Result<bool> MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return true;
  if (errno == EEXIST) return false;
  return FailErrno(errno, "creating " + path);
}

// Whether the folder holds files that only a store that has lived can have.
bool HasFiles(rocksdb::Env& env, const std::string& path,
              std::initializer_list<std::string_view> extensions) {
  std::vector<std::string> names;
  (void)env.GetChildren(path, &names);
  for (const auto& name : names) {
    for (auto extension : extensions) {
      if (name.ends_with(extension)) return true;
    }
  }
  return false;
}

}  // namespace

Result<void> SyncDirectory(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FailErrno(errno, "opening " + path);
  int result = fsync(fd);
  int saved = errno;
  close(fd);
  if (result != 0) return FailErrno(saved, "syncing " + path);
  return {};
}

// RocksDB's own log lines of weight go to ours; the rest is dropped, and so is its LOG file.
class Database::LogSink final : public rocksdb::Logger {
 public:
  LogSink() : Logger(rocksdb::InfoLogLevel::ERROR_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    vsnprintf(line, sizeof(line), format, arguments);
    log::WarningS("rocksdb", {{"line", line}});
  }
};

class Database::FailureListener final : public rocksdb::EventListener {
 public:
  explicit FailureListener(Database* database) : database_(database) {}
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    database_->SetFailure(database_->ToError(*status, "writing the store"));
  }
  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& info) override {
    if (info.condition.cur != rocksdb::WriteStallCondition::kNormal) ++database_->stalls_;
  }

 private:
  Database* const database_;
};

Database::Database(const RocksDbStoreOptions& options, Mode mode)
    : options_(options),
      mode_(mode),
      owned_env_(rocksdb::NewCompositeEnv(NewQuickOpenFileSystem(
          (options.env != nullptr ? options.env : rocksdb::Env::Default())->GetFileSystem()))),
      env_(owned_env_.get()),
      files_directory_(options.directory + "/db") {}

Database::~Database() {
  if (db_) {
    if (mode_ == Mode::kServe && !failure()) {
      // A failure costs a replay at the next opening, nothing else.
      (void)db_->Flush({}, families_);
    }
    for (auto* family : families_) (void)db_->DestroyColumnFamilyHandle(family);
    (void)db_->Close();
  }
  if (!attach_directory_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(attach_directory_, ignored);
  }
}

Result<std::unique_ptr<Database>> Database::Open(const RocksDbStoreOptions& options, Mode mode) {
  std::unique_ptr<Database> database(new Database(options, mode));
  auto opened = mode == Mode::kServe ? database->OpenServing() : database->OpenAttached();
  if (!opened) return Annotate(opened.error(), "opening the store in " + options.directory);
  return database;
}

rocksdb::DBOptions Database::DbOptions() {
  auto options = TunedDbOptions(options_);
  options.env = env_;
  options.info_log = std::make_shared<LogSink>();
  options.listeners.push_back(std::make_shared<FailureListener>(this));
  return options;
}

Result<void> Database::OpenServing() {
  TRY(bool made, MakeDirectory(options_.directory));
  TRY(lock_, DirectoryLock::Acquire(options_.directory));
  TRY(bool made_files, MakeDirectory(files_directory_));
  if (made || made_files) {
    TRY_VOID(SyncDirectory(options_.directory));
    TRY_VOID(SyncDirectory(std::filesystem::path(options_.directory + "/..").lexically_normal()));
  }
  (void)env_->CreateDirIfMissing(files_directory_);  // for an env with folders of its own
  TRY_VOID(CheckWals(*env_, files_directory_));
  TRY_VOID(OpenFiles());
  // A WAL that recovery has dealt with must be gone before the next one gets its first batch:
  // CheckWals takes a torn file with a successor for damage.
  (void)db_->DisableFileDeletions();
  (void)db_->EnableFileDeletions(/*force=*/true);
  return CheckFormat();
}

Result<void> Database::OpenFiles() {
  bool exists = env_->FileExists(files_directory_ + "/CURRENT").ok();
  if (!exists && HasFiles(*env_, files_directory_, {".sst", ".log"})) {
    return Fail(ErrorCode::kCorrupt, "{}/CURRENT is missing, but there are data files",
                files_directory_);
  }
  auto db_options = DbOptions();
  db_options.create_if_missing = !exists;
  db_options.create_missing_column_families = !exists;
  if (exists) {
    // A crash while the store was being created may have left it without all column families;
    // then it is still empty. Otherwise a missing one is damage.
    std::vector<std::string> names;
    auto listed = rocksdb::DB::ListColumnFamilies(db_options, files_directory_, &names);
    if (!listed.ok()) return std::unexpected(ToError(listed, "reading its MANIFEST"));
    bool complete = std::count(names.begin(), names.end(), kCurrentFamily) != 0 &&
                    std::count(names.begin(), names.end(), kLogFamily) != 0;
    if (!complete && HasFiles(*env_, files_directory_, {".sst"})) {
      return Fail(ErrorCode::kCorrupt, "a column family is missing, but there is data");
    }
    db_options.create_missing_column_families = !complete;
  }
  rocksdb::DB* db = nullptr;
  auto status =
      rocksdb::DB::Open(db_options, files_directory_, TunedFamilies(options_), &families_, &db);
  if (!status.ok()) return std::unexpected(ToError(status, "opening its files"));
  db_.reset(db);
  return {};
}

// A secondary instance reads the primary's files and WAL as they are now, and keeps its own (empty)
// scratch folder.
Result<void> Database::OpenAttached() {
  std::string pattern = (std::filesystem::temp_directory_path() / "keelson-store-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return FailErrno(errno, "creating " + pattern);
  attach_directory_ = pattern;
  if (!env_->FileExists(files_directory_ + "/CURRENT").ok()) {
    return Fail(ErrorCode::kNotFound, "there is no store");
  }
  auto db_options = DbOptions();
  db_options.max_open_files = -1;
  rocksdb::DB* db = nullptr;
  auto status = rocksdb::DB::OpenAsSecondary(db_options, files_directory_, attach_directory_,
                                             TunedFamilies(options_), &families_, &db);
  if (!status.ok()) return std::unexpected(ToError(status, "opening its files"));
  db_.reset(db);
  status = db_->TryCatchUpWithPrimary();
  if (!status.ok()) return std::unexpected(ToError(status, "following the serving process"));
  return CheckFormat();
}

Result<void> Database::CheckFormat() {
  std::string format;
  auto status = db_->Get({}, meta(), ToRocks(format::kFormatKey), &format);
  if (status.IsNotFound()) {
    std::unique_ptr<rocksdb::Iterator> any(db_->NewIterator({}, meta()));
    any->SeekToFirst();
    if (mode_ != Mode::kServe || any->Valid() || db_->GetLatestSequenceNumber() != 0) {
      return Fail(ErrorCode::kCorrupt, "it has data but no format version");
    }
    return Initialise();
  }
  if (!status.ok()) return std::unexpected(ToError(status, "reading the format version"));
  auto version = format::DecodeU32(format);
  if (!version) return Fail(ErrorCode::kCorrupt, "its format version does not decode");
  if (*version > format::kFormatVersion) {
    return Fail(ErrorCode::kUnsupported,
                "it has format {}, this program knows formats up to {}; use a newer one", *version,
                format::kFormatVersion);
  }
  // Upgrades from older formats go here, one step per version, each ending in the new version
  // number in the same batch as its changes.
  TRY_VOID(ReadMeta({}));
  return {};
}

Result<void> Database::Initialise() {
  std::string id(16, '\0');
  RandomBytes({reinterpret_cast<unsigned char*>(id.data()), id.size()});
  rocksdb::WriteBatch batch;
  batch.Put(meta(), ToRocks(format::kFormatKey), format::EncodeU32(format::kFormatVersion));
  batch.Put(meta(), ToRocks(format::kStoreIdKey), id);
  batch.Put(meta(), ToRocks(format::kRevisionKey), format::EncodeU64(kFirstRevision));
  batch.Put(meta(), ToRocks(format::kCompactedKey), format::EncodeU64(0));
  return Write(batch);
}

Result<void> Database::Write(rocksdb::WriteBatch& batch) {
  rocksdb::WriteOptions write;
  write.sync = true;
  // RocksDB knows how long it held the write back; asking it costs a few readings of the clock.
  auto& times = *rocksdb::get_perf_context();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableTimeExceptForMutex);
  const uint64_t held_before = times.write_delay_time;
  auto status = db_->Write(write, &batch);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  const uint64_t held = times.write_delay_time - held_before;
  if (held > longest_stall_nanos()) longest_stall_nanos_.store(held, std::memory_order_relaxed);
  if (status.ok()) return {};
  Error error = ToError(status, "writing the store");
  SetFailure(error);
  return std::unexpected(std::move(error));
}

Result<StoreMeta> Database::ReadMeta(const rocksdb::ReadOptions& read) {
  StoreMeta found;
  std::string revision, compacted;
  for (auto [key, value] :
       {std::pair{format::kStoreIdKey, &found.store_id}, std::pair{format::kRevisionKey, &revision},
        std::pair{format::kCompactedKey, &compacted}}) {
    auto status = db_->Get(read, meta(), ToRocks(key), value);
    if (status.IsNotFound()) return Fail(ErrorCode::kCorrupt, "meta row \"{}\" is missing", key);
    if (!status.ok()) return std::unexpected(ToError(status, "reading meta rows"));
  }
  auto r = format::DecodeU64(revision);
  auto c = format::DecodeU64(compacted);
  if (!r || !c || *r < kFirstRevision || *r > INT64_MAX || *c > *r) {
    return Fail(ErrorCode::kCorrupt, "the meta rows contradict each other");
  }
  found.revision = static_cast<Revision>(*r);
  found.compacted = static_cast<Revision>(*c);
  return found;
}

Result<std::optional<KeyValue>> Database::ReadState(const rocksdb::ReadOptions& read,
                                                    std::string_view key) {
  rocksdb::PinnableSlice state;
  auto status = db_->Get(read, current(), ToRocks(key), &state);
  if (status.IsNotFound()) return KeyValue{};
  if (status.IsIncomplete()) return std::nullopt;
  if (!status.ok()) return std::unexpected(ToError(status, "reading a key"));
  return format::DecodeState(key, FromRocks(state));
}

Result<std::vector<KeyValue>> Database::ReadStates(const std::vector<std::string_view>& keys) {
  std::vector<rocksdb::Slice> slices;
  slices.reserve(keys.size());
  for (auto key : keys) slices.push_back(ToRocks(key));
  std::vector<rocksdb::PinnableSlice> states(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db_->MultiGet({}, current(), keys.size(), slices.data(), states.data(), statuses.data(),
                /*sorted_input=*/true);
  std::vector<KeyValue> found(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    if (!statuses[i].ok()) return std::unexpected(ToError(statuses[i], "reading keys"));
    TRY(found[i], format::DecodeState(keys[i], FromRocks(states[i])));
  }
  return found;
}

Result<std::optional<Revision>> Database::ReadRevision(const rocksdb::ReadOptions& read) {
  rocksdb::PinnableSlice bytes;
  auto status = db_->Get(read, meta(), ToRocks(format::kRevisionKey), &bytes);
  if (status.IsIncomplete()) return std::nullopt;
  if (!status.ok()) return std::unexpected(ToError(status, "reading the revision"));
  auto revision = format::DecodeU64(FromRocks(bytes));
  if (!revision) return Fail(ErrorCode::kCorrupt, "the revision does not decode");
  return static_cast<Revision>(*revision);
}

std::optional<Error> Database::failure() const {
  std::lock_guard lock(failure_mutex_);
  return failure_;
}

void Database::SetFailure(Error error) {
  std::lock_guard lock(failure_mutex_);
  if (!failure_) log::ErrorS("The store cannot write", {{"err", error.message}});
  failure_ = std::move(error);
}

// Whether what is in memory would fit on the disk. RocksDB's Resume costs a few leaked kilobytes
// each time it fails for want of space, and a disk may stay full for days.
Result<void> Database::ProbeSpace() {
  uint64_t unwritten = 0;
  db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &unwritten);
  std::string path = files_directory_ + "/space-probe";
  auto status = rocksdb::WriteStringToFile(env_, std::string(unwritten + (1 << 20), '\0'), path,
                                           /*should_sync=*/true);
  (void)env_->DeleteFile(path);
  if (!status.ok()) return std::unexpected(ToError(status, "writing the store"));
  return {};
}

Result<void> Database::Recover() {
  auto failed = failure();
  if (!failed) return {};
  if (failed->code == ErrorCode::kExhausted) TRY_VOID(ProbeSpace());
  auto status = db_->Resume();
  if (!status.ok()) {
    Error error = ToError(status, "recovering the store");
    SetFailure(error);
    return std::unexpected(std::move(error));
  }
  // See OpenServing: the WAL with the failed write must not outlive the next batch.
  (void)db_->DisableFileDeletions();
  (void)db_->EnableFileDeletions(/*force=*/true);
  std::lock_guard lock(failure_mutex_);
  failure_.reset();
  log::InfoS("The store can write again");
  return {};
}

Error Database::ToError(const rocksdb::Status& status, std::string_view doing) const {
  ErrorCode code = ErrorCode::kIo;
  if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace) {
    return {ErrorCode::kExhausted,
            fmt::format("{}: no space left on the device of {}", doing, options_.directory)};
  }
  if (status.IsCorruption()) code = ErrorCode::kCorrupt;
  if (status.IsNotSupported()) code = ErrorCode::kUnsupported;
  if (status.IsShutdownInProgress()) code = ErrorCode::kUnavailable;
  return {code, fmt::format("{}: {}", doing, status.ToString())};
}

}  // namespace keelson::kv
