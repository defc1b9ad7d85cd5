#pragma once

// A file system in memory that fails on purpose and forgets what was not synced.
//
// Power can go after any byte written: the write under way is torn there and every later operation
// fails. When it comes back, a file keeps what was synced and, of the rest, a part that chance
// decides, possibly with damaged bytes; a file whose directory entry was never synced may be gone.

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>

namespace keelson::kv::testing {

class FaultFileSystem : public rocksdb::FileSystemWrapper {
 public:
  FaultFileSystem();

  static const char* kClassName() { return "FaultFileSystem"; }
  const char* Name() const override { return kClassName(); }

  // The power goes when `bytes` more have been appended to whatever files.
  void CutPowerAfter(uint64_t bytes);
  void CutPower();
  void RestorePower(std::mt19937_64& random);

  void FailSyncs(bool fail);
  // Room for so many bytes more; nullopt is without limit.
  void SetSpace(std::optional<uint64_t> bytes);

  // Flips one bit of a file.
  void Damage(const std::string& path, uint64_t offset);

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* dbg) override;

 private:
  class File;
  class Directory;
  struct State {
    uint64_t size = 0;
    uint64_t synced = 0;
    bool entry_synced = false;
  };

  rocksdb::IOStatus CheckPower();
  // How much of an append of `size` bytes happens, and what it returns.
  std::pair<size_t, rocksdb::IOStatus> Admit(const std::string& name, size_t size);
  rocksdb::IOStatus Sync(const std::string& name);
  void SyncDirectory(const std::string& directory);
  void Rewrite(const std::string& name, const std::string& bytes);

  std::unique_ptr<rocksdb::Env> memory_;
  std::mutex mutex_;
  std::map<std::string, State> files_;
  bool off_ = false;
  bool fail_syncs_ = false;
  std::optional<uint64_t> until_cut_;
  std::optional<uint64_t> space_;

  explicit FaultFileSystem(std::unique_ptr<rocksdb::Env> memory);
};

}  // namespace keelson::kv::testing
