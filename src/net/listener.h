#pragma once

// A listening socket that hands accepted sockets round robin to the io threads.
//
// One socket and one acceptor, not one socket per thread: closing one of several SO_REUSEPORT
// sockets resets the connections in its queue, while a single queue can be drained. Draining is
// exact: before the queue is emptied for the last time the kernel is told to ignore new SYNs, so
// nobody is accepted by the kernel and then reset; late clients retry and are refused.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/task.h"
#include "net/address.h"
#include "net/io_thread.h"

namespace keelson::net {

struct ListenerOptions {
  int backlog = 4096;
  bool reuse_port =
      false;  // let another process listen beside, as upstream's --permit-port-sharing
  bool reuse_address = true;                     // --permit-address-sharing; sane for restarts
  Duration keepalive = std::chrono::minutes(3);  // of accepted TCP connections
  unsigned unix_mode = 0600;                     // of a Unix socket's file
};

class Listener final : private FdHandler {
 public:
  // Called on the io thread that will own the socket; non-blocking and close-on-exec are set.
  using OnAccept = std::function<void(IoThread& thread, int fd)>;

  // Binds and listens; clients may connect from now on and wait in the queue until Start.
  static Result<std::unique_ptr<Listener>> Bind(IoPool& pool, const Address& address,
                                                const ListenerOptions& options);
  ~Listener();  // after Stop, or without Start

  void Start(OnAccept on_accept);
  // Stops new connections, accepts all that the kernel has completed, then closes. When it
  // finishes, OnAccept has been called for the last of them. Called at most once, from any thread.
  Task<void> Stop();

  const Address& address() const { return address_; }

 private:
  Listener(IoPool& pool, int fd) : pool_(pool), home_(pool.at(0)), fd_(fd) {}
  void OnEvents(uint32_t events) override;
  bool AcceptSome(int limit);
  void RefuseNew();
  void Retry();
  void DrainQueue();

  IoPool& pool_;
  IoThread& home_;
  int fd_;
  Address address_;
  std::string unlink_path_;
  ListenerOptions options_;
  OnAccept on_accept_;
  std::unique_ptr<Timer> retry_;    // after running out of descriptors
  std::unique_ptr<Timer> closing_;  // the last step of Stop
  Duration retry_delay_{};
  bool watching_ = false;
};

}  // namespace keelson::net
