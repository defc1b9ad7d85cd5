#pragma once

// A real etcd server, started for a test on free ports with a data folder of its own, and gone with
// the test.

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace keelson::kv::testing {

// The programs there are: $ETCD_BIN or `etcd` in $PATH, and $PEER_BIN/etcd. May be empty.
std::vector<std::string> EtcdPrograms();

class EtcdProcess {
 public:
  // Starts it and waits until it serves. `arguments` are added to the usual ones.
  static Result<std::unique_ptr<EtcdProcess>> Start(const std::string& program,
                                                    std::vector<std::string> arguments = {});
  ~EtcdProcess();

  const std::string& url() const { return url_; }
  // kill -9, and the same server on the same port again.
  void Kill();
  Result<void> Restart();
  // Stops and continues the process, as a machine that hangs does.
  void Pause(bool paused);

 private:
  EtcdProcess() = default;
  Result<void> Launch();

  std::string program_;
  std::vector<std::string> arguments_;
  std::string folder_;
  std::string url_;
  uint16_t port_ = 0;
  pid_t pid_ = -1;
};

// A port that nobody listens on now.
uint16_t FreePort();

}  // namespace keelson::kv::testing
