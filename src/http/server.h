#pragma once

// An HTTP server: listeners, TLS, HTTP/2 and HTTP/1.1, and an orderly end.
//
// Connections are spread over the pool's threads; the handler is called on the thread of the
// connection. The stop order is: StopListening (everybody the kernel has accepted is served),
// GracefulShutdown (what is under way is answered, peers are told to go), destroy. The pool and the
// handler must outlive the server.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "http/engine.h"
#include "net/listener.h"
#include "net/tls_context.h"

namespace keelson::http {

// Told about events that metrics count; called on io threads, must be quick.
class ServerObserver {
 public:
  virtual void OnConnection(int change) {}  // +1 opened, -1 closed
  virtual void OnHandshakeError() {}

 protected:
  ~ServerObserver() = default;
};

struct ServerOptions {
  EngineOptions engine;
  Duration handshake_timeout = std::chrono::seconds(32);
  // A peer that takes no byte for this long while some are waiting is cut.
  Duration write_stall_timeout = std::chrono::minutes(5);
  ServerObserver* observer = nullptr;

  struct Listen {
    net::Address address;
    std::shared_ptr<net::TlsContextHolder> tls;  // null: in clear, HTTP/1.1 only
    net::ListenerOptions socket;
  };
  std::vector<Listen> listen;
};

class Server {
 public:
  // Binds every listener; a failure names the address.
  static Result<std::unique_ptr<Server>> Create(ServerOptions options, net::IoPool& pool,
                                                Handler& handler);
  // Cuts what is left and waits for its handlers to end. Not on an io thread.
  ~Server();

  // Begins to accept.
  void Start();

  // Accepts what the kernel has completed, then closes the listeners. At most once.
  Task<void> StopListening();

  // Tells every connection to end: GOAWAY, Connection: close, idle ones closed. Finishes when all
  // are gone, or after `timeout`, when the rest is cut; true when none had to be. At most once.
  Task<bool> GracefulShutdown(Duration timeout);

  // As bound, in the order of ServerOptions::listen.
  std::vector<net::Address> addresses() const;
  // Who sees a count fall also sees what led to it.
  int64_t connections() const { return connections_.load(std::memory_order_acquire); }
  int64_t in_flight() const { return in_flight_.load(std::memory_order_acquire); }

 private:
  class Shard;
  struct Drain;
  Server(ServerOptions options, net::IoPool& pool, Handler& handler);
  void ConnectionGone();

  const ServerOptions options_;
  net::IoPool& pool_;
  Handler& handler_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::vector<std::unique_ptr<Shard>> shards_;  // one per io thread
  std::atomic<int64_t> connections_ = 0;
  std::atomic<int64_t> in_flight_ = 0;
  std::atomic<uint64_t> next_id_ = 1;
  std::atomic<bool> shutting_down_ = false;
  std::shared_ptr<Drain> drain_;
  bool started_ = false;
  bool listening_ = false;
};

}  // namespace keelson::http
