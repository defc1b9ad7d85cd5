#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "base/completion.h"
#include "base/gate.h"
#include "base/log.h"
#include "http/testing/engine_bench.h"
#include "net/stream.h"
#include "net/testing/certificates.h"

namespace keelson::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A client on a blocking socket, in clear or under TLS.
class Peer {
 public:
  Peer(const net::Address& address, std::shared_ptr<const net::TlsContext> tls) {
    fd_ = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    timeval limit{.tv_sec = 20};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    connected_ = connect(fd_, address.data(), address.size()) == 0;
    if (!tls || !connected_) return;
    tls_ = *net::TlsSession::Connect(std::move(tls), "localhost");
    std::string out;
    tls_->Start(out);
    SendRaw(out);
    while (tls_->state() == net::TlsSession::State::kHandshake && Fill()) {
    }
  }
  ~Peer() { Close(); }

  bool connected() const { return connected_; }
  bool open() const {
    return connected_ && (!tls_ || tls_->state() == net::TlsSession::State::kOpen);
  }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  bool Send(std::string text) {
    if (!tls_) return SendRaw(text);
    iovec piece{text.data(), text.size()};
    std::string out;
    char record[16384];
    tls_->Encrypt({&piece, 1}, false, record, out);
    return SendRaw(out);
  }
  // Reads until `text` has been seen, the end, or an error.
  const std::string& Until(std::string_view text) {
    while (got_.find(text) == std::string::npos && Fill()) {
    }
    return got_;
  }
  const std::string& All() {
    while (Fill()) {
    }
    return got_;
  }
  std::string Get(const std::string& path) {
    got_.clear();
    Send(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path));
    Until("\r\n\r\n");
    return Until("hello");
  }
  int read_error() const { return read_error_; }

 private:
  bool SendRaw(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  bool Fill() {
    char buffer[16384];
    ssize_t count = recv(fd_, buffer, sizeof(buffer), 0);
    if (count < 0) read_error_ = errno;
    if (count <= 0) return false;
    std::string_view bytes(buffer, static_cast<size_t>(count));
    if (!tls_) {
      got_ += bytes;
      return true;
    }
    std::string out;
    char plain[16384];
    tls_->Receive(bytes, plain, out, [this](std::string_view text) {
      got_ += text;
      return true;
    });
    SendRaw(out);
    return tls_->state() != net::TlsSession::State::kFailed &&
           tls_->state() != net::TlsSession::State::kEnded;
  }

  int fd_ = -1;
  bool connected_ = false;
  int read_error_ = 0;
  std::unique_ptr<net::TlsSession> tls_;
  std::string got_;
};

Task<void> Signal(Task<void> task, std::promise<void>* done) {
  co_await std::move(task);
  done->set_value();
}

class ServerTest : public ::testing::Test {
 protected:
  // What a bench handler notes is not for several threads: one io thread.
  explicit ServerTest(int threads = 1) : pool_(*net::IoPool::Create(threads)) {
    holder_ = std::make_shared<net::TlsContextHolder>(*net::TlsContext::Server(
        {.default_pair = ca_.Issue("server"), .client_ca_pem = ca_.pem()}));
    client_ = *net::TlsContext::Client({.ca_pem = ca_.pem(), .alpn = {"http/1.1"}});
  }
  ~ServerTest() override {
    server_.reset();
    pool_->Stop();
  }
  void Start(ServerOptions options = {}) {
    options.listen.push_back({.address = *net::Address::Ip("127.0.0.1", 0), .tls = holder_});
    options.listen.push_back({.address = *net::Address::Ip("127.0.0.1", 0)});
    server_ = *Server::Create(std::move(options), *pool_, handler_);
    server_->Start();
  }
  net::Address tls_address() { return server_->addresses()[0]; }
  net::Address clear_address() { return server_->addresses()[1]; }
  void RunTask(Task<void> task) {
    std::promise<void> done;
    Gate gate;
    gate.Spawn(nullptr, Signal(std::move(task), &done));
    done.get_future().wait();
    gate.CloseAndWait();
  }
  Task<void> Stop(Duration timeout, bool* graceful) {
    co_await server_->StopListening();
    *graceful = co_await server_->GracefulShutdown(timeout);
  }
  bool Stop(Duration timeout = seconds(20)) {
    bool graceful = false;
    RunTask(Stop(timeout, &graceful));
    return graceful;
  }
  // Everything posted to the io threads before has run.
  void AwaitConnections(int64_t count) {
    while (server_->connections() != count) std::this_thread::sleep_for(milliseconds(1));
  }

  net::testing::TestCa ca_;
  std::unique_ptr<net::IoPool> pool_;
  std::shared_ptr<net::TlsContextHolder> holder_;
  std::shared_ptr<const net::TlsContext> client_;
  testing::BenchHandler handler_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ServesInClearAndUnderTls) {
  Start();
  EXPECT_THAT(Peer(clear_address(), nullptr).Get("/hello"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(Peer(tls_address(), client_).Get("/hello"), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(ServerTest, ServesAUnixSocket) {
  auto path = std::filesystem::temp_directory_path() / fmt::format("server_test_{}.sock", getpid());
  auto address = *net::Address::Unix(path.string());
  ServerOptions options;
  options.listen.push_back({.address = address});
  server_ = *Server::Create(std::move(options), *pool_, handler_);
  server_->Start();
  EXPECT_THAT(Peer(address, nullptr).Get("/hello"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_TRUE(Stop());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ServerTest, BindingAPortTwiceIsAnError) {
  Start();
  ServerOptions options;
  options.listen.push_back({.address = clear_address()});
  auto second = Server::Create(std::move(options), *pool_, handler_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(clear_address().ToString()));
}

TEST_F(ServerTest, AFailedHandshakeIsOneLineAndHarmsNobody) {
  Start();
  Peer steady(tls_address(), client_);
  EXPECT_THAT(steady.Get("/hello"), HasSubstr("200 OK"));
  log::Capture capture;
  {
    Peer garbage(tls_address(), nullptr);
    garbage.Send(std::string(300, '\x16'));
    garbage.All();
    Peer http(tls_address(), nullptr);
    http.Send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(http.All(),
              "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
    auto unknown = *net::TlsContext::Client({.ca_pem = net::testing::TestCa("other").pem()});
    EXPECT_FALSE(Peer(tls_address(), unknown).open());
  }
  AwaitConnections(1);
  EXPECT_THAT(steady.Get("/hello"), HasSubstr("200 OK"));
  auto text = capture.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("http: TLS handshake error from 127.0.0.1:"));
}

TEST_F(ServerTest, HandshakesTimeOut) {
  ServerOptions options;
  options.handshake_timeout = milliseconds(50);
  Start(std::move(options));
  log::Capture capture;
  Peer silent(tls_address(), nullptr);
  EXPECT_EQ(silent.All(), "");
  AwaitConnections(0);
  EXPECT_THAT(capture.text(), HasSubstr("i/o timeout"));
}

TEST_F(ServerTest, NewConnectionsTakeTheNewCertificate) {
  Start();
  net::testing::TestCa other("other");
  holder_->Set(*net::TlsContext::Server({.default_pair = other.Issue("server")}));
  EXPECT_FALSE(Peer(tls_address(), client_).open());
  EXPECT_TRUE(
      Peer(tls_address(), *net::TlsContext::Client({.ca_pem = other.pem(), .alpn = {"http/1.1"}}))
          .open());
}

TEST_F(ServerTest, ALeavingClientCancelsItsRequest) {
  Start();
  {
    Peer peer(tls_address(), client_);
    peer.Send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n");
    while (server_->in_flight() == 0) std::this_thread::sleep_for(milliseconds(1));
  }
  while (server_->in_flight() != 0) std::this_thread::sleep_for(milliseconds(1));
  AwaitConnections(0);
  EXPECT_EQ(handler_.cancelled, 1);
}

TEST_F(ServerTest, UpgradesOverARealSocket) {
  Start();
  Peer peer(tls_address(), client_);
  peer.Send("GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  EXPECT_THAT(peer.Until("\r\n\r\n"), StartsWith("HTTP/1.1 101"));
  peer.Send("marco");
  EXPECT_THAT(peer.Until("marco"), EndsWith("marco"));
}

TEST_F(ServerTest, ARefusalReachesAClientThatStillSends) {
  Start();
  Peer peer(clear_address(), nullptr);
  // More than a socket buffer arrives after the refusal: closing at once would reset the answer
  // away.
  peer.Send("GET /hello HTTP/1.1\nHost: x\n\n");
  std::thread sender([&] { peer.Send(std::string(4'000'000, 'x')); });
  EXPECT_THAT(peer.Until("400 Bad Request\r\n"), StartsWith("HTTP/1.1 400 Bad Request"));
  sender.join();
}

TEST_F(ServerTest, AStalledReaderIsCut) {
  ServerOptions options;
  options.write_stall_timeout = milliseconds(100);
  Start(std::move(options));
  Peer peer(clear_address(), nullptr);
  peer.Send("GET /flood HTTP/1.1\r\nHost: x\r\n\r\n");
  while (server_->connections() == 0) std::this_thread::sleep_for(milliseconds(1));
  AwaitConnections(0);
  EXPECT_LT(handler_.flooded, 20'000'000u);  // what the kernel's buffers took
}

TEST_F(ServerTest, ShutdownAnswersWhatIsUnderWayAndTellsTheRestToGo) {
  ServerOptions options;
  options.engine.idle_grace = seconds(3);  // a late connect below waits a second to be refused
  Start(std::move(options));
  Peer idle(tls_address(), client_);
  EXPECT_THAT(idle.Get("/hello"), HasSubstr("200 OK"));
  Peer busy(tls_address(), client_);
  auto stopping = std::async(std::launch::async, [&] { return Stop(); });
  // The listener closes first; the busy client's request still comes in time.
  while (Peer(tls_address(), nullptr).connected()) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_THAT(busy.Get("/hello"), HasSubstr("Connection: close\r\n"));
  busy.All();
  EXPECT_EQ(busy.read_error(), 0);
  idle.All();
  EXPECT_EQ(idle.read_error(), 0);
  EXPECT_TRUE(stopping.get());
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(ServerTest, ShutdownCutsWhatDoesNotEnd) {
  Start();
  Peer peer(tls_address(), client_);
  peer.Send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n");
  while (server_->in_flight() == 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_FALSE(Stop(milliseconds(50)));
  AwaitConnections(0);
  EXPECT_EQ(handler_.cancelled, 1);
}

TEST_F(ServerTest, DestructionEndsEverything) {
  Start();
  Peer hanging(tls_address(), client_);
  hanging.Send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n");
  Peer flooded(clear_address(), nullptr);
  flooded.Send("GET /flood HTTP/1.1\r\nHost: x\r\n\r\n");
  while (server_->in_flight() != 2) std::this_thread::sleep_for(milliseconds(1));
  server_.reset();
  EXPECT_EQ(handler_.cancelled, 1);
}

// A handler without state, for several threads.
class HelloHandler final : public Handler {
 public:
  Task<void> Serve(Exchange& exchange) override {
    exchange.response->Send(200, {Slice::Static("hello")});
    co_return;
  }
};

// The promise that matters most: restarts under load lose nothing.
class RestartTest : public ::testing::TestWithParam<bool> {};

TEST_P(RestartTest, NoRequestIsLostOnceItsConnectionWasAccepted) {
  const bool kept = GetParam();
  log::Capture capture;
  net::testing::TestCa ca;
  auto tls = *net::TlsContext::Server({.default_pair = ca.Issue("server")});
  auto client = *net::TlsContext::Client({.ca_pem = ca.pem(), .alpn = {"http/1.1"}});
  auto pool = *net::IoPool::Create(2);
  HelloHandler handler;
  std::atomic<int> served = 0, lost = 0;
  for (int restart = 0; restart < 5; ++restart) {
    ServerOptions options;
    options.listen.push_back({.address = *net::Address::Ip("127.0.0.1", 0),
                              .tls = std::make_shared<net::TlsContextHolder>(tls)});
    auto server = *Server::Create(std::move(options), *pool, handler);
    server->Start();
    auto address = server->addresses()[0];
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        for (;;) {
          Peer peer(address, client);
          if (!peer.connected()) return;  // refused: never accepted
          do {
            auto answer = peer.Get("/hello");
            if (!answer.ends_with("hello")) {
              ++lost;
              break;
            }
            ++served;
            if (answer.find("Connection: close") != std::string::npos) break;
          } while (kept);
        }
      });
    }
    const int before = served.load();
    while (served.load() < before + 50) std::this_thread::sleep_for(milliseconds(1));
    std::promise<void> done;
    Gate gate;
    struct Stopping {
      static Task<void> Run(Server* server) {
        co_await server->StopListening();
        EXPECT_TRUE(co_await server->GracefulShutdown(seconds(20)));
      }
    };
    gate.Spawn(nullptr, Signal(Stopping::Run(server.get()), &done));
    done.get_future().wait();
    gate.CloseAndWait();
    server.reset();
    for (auto& thread : clients) thread.join();
  }
  EXPECT_EQ(lost.load(), 0);
  EXPECT_GT(served.load(), 250);
  pool->Stop();
}

INSTANTIATE_TEST_SUITE_P(Connections, RestartTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "KeptAlive" : "Fresh"; });

}  // namespace
}  // namespace keelson::http
