#include "kv/rocksdb/quick_open.h"

#include <string>
#include <string_view>
#include <utility>

namespace keelson::kv {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

bool IsOptionsFile(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with("OPTIONS-");
}

class UnsyncedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
};

class Directory final : public rocksdb::FSDirectoryWrapper {
 public:
  using FSDirectoryWrapper::FSDirectoryWrapper;
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& why) override {
    if (why.reason == rocksdb::DirFsyncOptions::kFileRenamed &&
        IsOptionsFile(why.renamed_new_name)) {
      return IOStatus::OK();
    }
    return FSDirectoryWrapper::FsyncWithDirOptions(options, debug, why);
  }
};

class QuickOpenFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "QuickOpenFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    auto status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
    if (status.ok() && IsOptionsFile(name))
      *file = std::make_unique<UnsyncedFile>(std::move(*file));
    return status;
  }

  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* directory,
                        IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSDirectory> target;
    auto status = FileSystemWrapper::NewDirectory(name, options, &target, debug);
    if (status.ok()) *directory = std::make_unique<Directory>(std::move(target));
    return status;
  }
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> NewQuickOpenFileSystem(
    std::shared_ptr<rocksdb::FileSystem> target) {
  return std::make_shared<QuickOpenFileSystem>(target);
}

}  // namespace keelson::kv
