#include "kv/rocksdb/testing/fault_file_system.h"

#include <algorithm>
#include <utility>

#include "base/result.h"

namespace keelson::kv::testing {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class FaultFileSystem::File final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(FaultFileSystem* fs, std::string name, std::unique_ptr<rocksdb::FSWritableFile> target)
      : FSWritableFileOwnerWrapper(std::move(target)), fs_(fs), name_(std::move(name)) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* dbg) override {
    auto [admitted, status] = fs_->Admit(name_, data.size());
    if (admitted > 0) {
      auto appended = target()->Append(rocksdb::Slice(data.data(), admitted), options, dbg);
      if (!appended.ok()) return appended;
    }
    return status;
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo&, IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return fs_->Sync(name_); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return fs_->Sync(name_); }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }

 private:
  FaultFileSystem* const fs_;
  const std::string name_;
};

class FaultFileSystem::Directory final : public rocksdb::FSDirectory {
 public:
  Directory(FaultFileSystem* fs, std::string name) : fs_(fs), name_(std::move(name)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    auto power = fs_->CheckPower();
    if (power.ok()) fs_->SyncDirectory(name_);
    return power;
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  FaultFileSystem* const fs_;
  const std::string name_;
};

FaultFileSystem::FaultFileSystem()
    : FaultFileSystem(std::unique_ptr<rocksdb::Env>(rocksdb::NewMemEnv(rocksdb::Env::Default()))) {}

FaultFileSystem::FaultFileSystem(std::unique_ptr<rocksdb::Env> memory)
    : FileSystemWrapper(memory->GetFileSystem()), memory_(std::move(memory)) {}

void FaultFileSystem::CutPowerAfter(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  until_cut_ = bytes;
}

void FaultFileSystem::CutPower() {
  std::lock_guard lock(mutex_);
  off_ = true;
}

void FaultFileSystem::FailSyncs(bool fail) {
  std::lock_guard lock(mutex_);
  fail_syncs_ = fail;
}

void FaultFileSystem::SetSpace(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  space_ = bytes;
}

IOStatus FaultFileSystem::CheckPower() {
  std::lock_guard lock(mutex_);
  return off_ ? IOStatus::IOError("the power is off") : IOStatus::OK();
}

std::pair<size_t, IOStatus> FaultFileSystem::Admit(const std::string& name, size_t size) {
  std::lock_guard lock(mutex_);
  if (off_) return {0, IOStatus::IOError("the power is off")};
  size_t admitted = size;
  IOStatus status = IOStatus::OK();
  if (until_cut_ && *until_cut_ < admitted) {
    admitted = *until_cut_;
    off_ = true;
    status = IOStatus::IOError("the power is off");
  }
  if (space_ && *space_ < admitted) {
    admitted = *space_;
    status = IOStatus::NoSpace("no space");
    status.SetRetryable(false);
  }
  if (until_cut_) *until_cut_ -= admitted;
  if (space_) *space_ -= admitted;
  files_[name].size += admitted;
  return {admitted, status};
}

IOStatus FaultFileSystem::Sync(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (off_) return IOStatus::IOError("the power is off");
  if (fail_syncs_) return IOStatus::IOError("sync failed");
  State& state = files_[name];
  state.synced = state.size;
  return IOStatus::OK();
}

void FaultFileSystem::SyncDirectory(const std::string& directory) {
  std::lock_guard lock(mutex_);
  for (auto& [name, state] : files_) {
    if (name.starts_with(directory)) state.entry_synced = true;
  }
}

IOStatus FaultFileSystem::NewWritableFile(const std::string& name, const FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* file,
                                          IODebugContext* dbg) {
  auto status = CheckPower();
  if (!status.ok()) return status;
  std::unique_ptr<rocksdb::FSWritableFile> target;
  status = FileSystemWrapper::NewWritableFile(name, options, &target, dbg);
  if (!status.ok()) return status;
  std::lock_guard lock(mutex_);
  files_[name] = State{};
  *file = std::make_unique<File>(this, name, std::move(target));
  return status;
}

IOStatus FaultFileSystem::ReopenWritableFile(const std::string& name, const FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                                             IODebugContext* dbg) {
  auto status = CheckPower();
  if (!status.ok()) return status;
  std::unique_ptr<rocksdb::FSWritableFile> target;
  status = FileSystemWrapper::ReopenWritableFile(name, options, &target, dbg);
  if (status.ok()) *file = std::make_unique<File>(this, name, std::move(target));
  return status;
}

IOStatus FaultFileSystem::NewDirectory(const std::string& name, const IOOptions&,
                                       std::unique_ptr<rocksdb::FSDirectory>* directory,
                                       IODebugContext*) {
  auto status = CheckPower();
  if (status.ok()) *directory = std::make_unique<Directory>(this, name);
  return status;
}

IOStatus FaultFileSystem::RenameFile(const std::string& from, const std::string& to,
                                     const IOOptions& options, IODebugContext* dbg) {
  auto status = CheckPower();
  if (!status.ok()) return status;
  status = FileSystemWrapper::RenameFile(from, to, options, dbg);
  std::lock_guard lock(mutex_);
  if (status.ok()) {
    // Taken as durable at once: a rename that is undone leaves the older of two good files.
    files_[to] = files_[from];
    files_[to].entry_synced = true;
    files_.erase(from);
  }
  return status;
}

IOStatus FaultFileSystem::DeleteFile(const std::string& name, const IOOptions& options,
                                     IODebugContext* dbg) {
  auto status = CheckPower();
  if (!status.ok()) return status;
  status = FileSystemWrapper::DeleteFile(name, options, dbg);
  std::lock_guard lock(mutex_);
  if (status.ok()) files_.erase(name);
  return status;
}

void FaultFileSystem::Rewrite(const std::string& name, const std::string& bytes) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  KEELSON_CHECK(target()->NewWritableFile(name, {}, &file, nullptr).ok());
  KEELSON_CHECK(file->Append(bytes, {}, nullptr).ok());
}

void FaultFileSystem::RestorePower(std::mt19937_64& random) {
  std::lock_guard lock(mutex_);
  for (auto entry = files_.begin(); entry != files_.end();) {
    auto& [name, state] = *entry;
    if (!state.entry_synced && random() % 2 == 0) {
      (void)target()->DeleteFile(name, {}, nullptr);
      entry = files_.erase(entry);
      continue;
    }
    std::string bytes;
    KEELSON_CHECK(rocksdb::ReadFileToString(memory_.get(), name, &bytes).ok());
    uint64_t loose = bytes.size() - std::min<uint64_t>(bytes.size(), state.synced);
    uint64_t kept = loose == 0 || random() % 3 == 0 ? 0 : 1 + random() % loose;
    bytes.resize(state.synced + kept);
    if (kept > 0 && random() % 3 == 0) {
      // Sectors are written in any order: some of what was kept never got there.
      size_t from = state.synced + random() % kept;
      size_t to = std::min(bytes.size(), from + 1 + random() % 600);
      std::fill(bytes.begin() + from, bytes.begin() + to, random() % 2 == 0 ? '\0' : '\x5a');
    }
    Rewrite(name, bytes);
    state = {bytes.size(), bytes.size(), true};
    ++entry;
  }
  off_ = false;
  until_cut_.reset();
}

void FaultFileSystem::Damage(const std::string& path, uint64_t offset) {
  std::lock_guard lock(mutex_);
  std::string bytes;
  KEELSON_CHECK(rocksdb::ReadFileToString(memory_.get(), path, &bytes).ok());
  KEELSON_CHECK(offset < bytes.size());
  bytes[offset] ^= 0x10;
  Rewrite(path, bytes);
}

}  // namespace keelson::kv::testing
