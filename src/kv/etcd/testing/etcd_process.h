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
  // Three or so servers of one cluster. What members say to each other goes through `relays`, one
  // port per member, which lead to the port before: {name, listens at, reached at}.
  struct Member {
    std::string name;
    uint16_t peer_port = 0;
    uint16_t relay_port = 0;
  };
  static Result<std::vector<std::unique_ptr<EtcdProcess>>> StartCluster(
      const std::string& program, const std::vector<Member>& members);
  ~EtcdProcess();

  const std::string& url() const { return url_; }
  // kill -9, and the same server on the same port again.
  void Kill();
  Result<void> Restart();
  bool running() const { return pid_ > 0; }
  // Stops and continues the process, as a machine that hangs does.
  void Pause(bool paused);

 private:
  EtcdProcess() = default;
  static Result<std::unique_ptr<EtcdProcess>> Make(const std::string& program);
  Result<void> Launch();
  void Spawn();
  Result<void> AwaitServing();

  std::string program_;
  std::vector<std::string> place_;  // arguments that tell it its place in a cluster
  std::vector<std::string> arguments_;
  std::string folder_;
  std::string url_;
  uint16_t port_ = 0;
  pid_t pid_ = -1;
};

// A port that nobody listens on now.
uint16_t FreePort();

}  // namespace keelson::kv::testing
