#pragma once

// The claim of one process to a store's folder: an exclusive flock on DIR/holder, whose text says
// who it is. The kernel drops the lock when the process dies, however it dies.

#include <string>

#include "base/result.h"

namespace keelson::kv {

class DirectoryLock {
 public:
  // kUnavailable, naming the holder, when somebody else has it.
  static Result<DirectoryLock> Acquire(const std::string& directory);

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace keelson::kv
