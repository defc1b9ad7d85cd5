#pragma once

// Small languages for the client's tests: a session driven by hand, a scripted peer on a socket,
// and a client on real io threads.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/gate.h"
#include "http/client.h"
#include "http/client_call.h"
#include "http/client_session.h"

namespace keelson::http::testing {

// Stands in for connection and pool of a session without sockets.
class SessionHost final : public ClientSessionHost, public ClientWaker {
 public:
  void OutputReady() override {}
  TimePoint Now() const override { return now; }
  void CapacityChanged() override {}
  void WakeLater(Waiter& waiter) override { waiter.Wake(ready); }

  TimePoint now{std::chrono::hours(1)};
  ReadyList ready;
};

// Everything a session has to send, flat.
std::string Output(ClientSession& session);

// The whole of a call's body as received so far.
std::string Received(const ClientCall& call);

// A server that says exactly what it is told, one connection after another: for each connection a
// list of answers, each sent after one more request head has arrived; then the connection is
// closed. Listens on a port of the kernel's choosing.
class ScriptedPeer {
 public:
  struct Step {
    std::string answer;
    bool stay = false;   // keep the connection open afterwards until the peer is destroyed
    bool reset = false;  // close with a reset
  };
  using Connection = std::vector<Step>;

  explicit ScriptedPeer(std::vector<Connection> script);
  ~ScriptedPeer();

  std::string url(std::string_view path = "/") const;
  int accepted() const { return accepted_; }
  // Request heads as received, separated by blank lines. After the peer's thread has ended.
  std::string heard();

 private:
  void Run(std::vector<Connection> script);

  int listener_ = -1;
  int wake_[2] = {-1, -1};
  uint16_t port_ = 0;
  std::atomic<int> accepted_{0};
  std::string heard_;
  std::thread thread_;
};

struct Answer {
  int status = 0;
  Protocol protocol = Protocol::kHttp1;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// A client and the threads it runs on.
class ClientFixture {
 public:
  explicit ClientFixture(ClientOptions options = {}, int threads = 1);
  ~ClientFixture();

  net::IoPool& pool() { return *pool_; }
  Client& client() { return *client_; }
  void Use(ClientOptions options);
  void Drop() { client_.reset(); }

  // Sends and reads the whole answer.
  Result<Answer> Fetch(ClientRequest request, size_t limit = 64 << 20);
  Result<Answer> Get(std::string url) { return Fetch(ClientRequest{.url = std::move(url)}); }
  // All at once, on the pool's threads in turn.
  std::vector<Result<Answer>> FetchAll(std::vector<ClientRequest> requests);
  // Runs any task on an io thread to its end.
  void Run(Task<void> task);

 private:
  std::unique_ptr<net::IoPool> pool_;
  std::unique_ptr<Client> client_;
};

}  // namespace keelson::http::testing
