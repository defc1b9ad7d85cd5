#include "kv/rocksdb/directory_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <utility>

namespace keelson::kv {
namespace {

std::string WhoAmI() {
  char host[256] = "?";
  gethostname(host, sizeof(host) - 1);
  std::string program = "?";
  std::ifstream("/proc/self/comm") >> program;
  return fmt::format("process {} ({}) on {} since {:%Y-%m-%d %H:%M:%S} UTC\n", getpid(), program,
                     host, fmt::gmtime(std::time(nullptr)));
}

std::string ReadHolder(int fd) {
  char text[512];
  ssize_t size = pread(fd, text, sizeof(text), 0);
  if (size <= 0) return "another process";
  std::string_view line(text, size);
  return std::string(line.substr(0, line.find('\n')));
}

}  // namespace

Result<DirectoryLock> DirectoryLock::Acquire(const std::string& directory) {
  std::string path = directory + "/holder";
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return FailErrno(errno, "opening " + path);
  DirectoryLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FailErrno(errno, "locking " + path);
    return Fail(ErrorCode::kUnavailable, "the store in {} is in use by {}", directory,
                ReadHolder(fd));
  }
  // Only for people: a full disk must not keep a store from opening.
  std::string who = WhoAmI();
  if (ftruncate(fd, 0) == 0) (void)!pwrite(fd, who.data(), who.size(), 0);
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace keelson::kv
