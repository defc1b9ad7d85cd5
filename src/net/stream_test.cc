#include "net/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "base/gate.h"
#include "net/listener.h"
#include "net/testing/certificates.h"

namespace keelson::net {
namespace {

using ::testing::HasSubstr;

// A stream whose events are kept, with waits for the test's thread.
class Probe final : public StreamHandler, public std::enable_shared_from_this<Probe> {
 public:
  explicit Probe(IoThread& thread) : thread_(thread) {}

  void OnOpen() override {
    Note([&] { open_ = true; });
  }
  void OnBytes(std::string_view bytes) override {
    Note([&] { received_ += bytes; });
    if (echo_) Send(std::string(bytes));
  }
  void OnEnd() override {
    Note([&] { ended_ = true; });
    if (echo_) stream_->ShutdownWrite();
  }
  void OnHangup() override {
    Note([&] { hung_up_ = true; });
  }
  void OnWritable() override { Flush(); }
  void OnError(const Error& error) override {
    Note([&] { error_ = error.message; });
  }
  std::string_view OnForeignHandshake(std::string_view first) override {
    return first.starts_with("GET ") ? "sorry" : "";
  }

  void Send(std::string text) {
    unsent_ += text;
    Flush();
  }
  void Flush() {
    while (!unsent_.empty()) {
      iovec piece{unsent_.data(), std::min<size_t>(unsent_.size(), 100'000)};
      size_t taken = stream_->Write({&piece, 1});
      unsent_.erase(0, taken);
      if (taken == 0) return;
    }
  }
  template <typename Change>
  void Note(Change change) {
    std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <typename Condition>
  ::testing::AssertionResult Await(Condition condition) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::seconds(20), condition)) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "timed out; error: " << error_;
  }
  // Runs on the io thread and waits for it.
  template <typename Do>
  void OnThread(Do&& what) {
    std::promise<void> done;
    thread_.Post([&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  }

  IoThread& thread_;
  std::unique_ptr<Stream> stream_;
  std::string unsent_;
  bool echo_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string received_, error_;
  bool open_ = false, ended_ = false, hung_up_ = false;
};

class StreamTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    pool_ = *IoPool::Create(2);
    if (GetParam()) {
      server_tls_ = *TlsContext::Server({.default_pair = ca_.Issue("server")});
      client_tls_ = *TlsContext::Client({.ca_pem = ca_.pem()});
    }
    listener_ = *Listener::Bind(*pool_, *Address::Ip("127.0.0.1", 0), {});
    listener_->Start([this](IoThread& thread, int fd) {
      auto probe = std::make_shared<Probe>(thread);
      probe->echo_ = echo_;
      probe->stream_ = *Stream::Accepted(thread, fd, probe.get(), server_tls_);
      {
        std::lock_guard lock(mutex_);
        accepted_.push_back(probe);
        arrived_.notify_all();
      }
      probe->stream_->Begin();
    });
  }
  void TearDown() override {
    RunTask(listener_->Stop());
    for (auto& probe : accepted_) probe->OnThread([&] { probe->stream_.reset(); });
    for (auto& probe : clients_) probe->OnThread([&] { probe->stream_.reset(); });
    pool_->Stop();
  }
  static Task<void> Signal(Task<void> task, std::promise<void>* done) {
    co_await std::move(task);
    done->set_value();
  }
  void RunTask(Task<void> task) {
    std::promise<void> done;
    Gate gate;
    gate.Spawn(&pool_->at(1), Signal(std::move(task), &done));
    done.get_future().wait();
    gate.CloseAndWait();
  }
  std::shared_ptr<Probe> Connect() {
    auto probe = std::make_shared<Probe>(pool_->at(1));
    probe->OnThread([&] {
      probe->stream_ = *Stream::Connect(probe->thread_, listener_->address(), probe.get(),
                                        client_tls_, "127.0.0.1");
      probe->stream_->Begin();
    });
    clients_.push_back(probe);
    return probe;
  }
  std::shared_ptr<Probe> Accepted(size_t index = 0) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return accepted_.size() > index; });
    return accepted_[index];
  }
  int RawConnect() {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, listener_->address().data(), listener_->address().size()), 0);
    return fd;
  }

  testing::TestCa ca_;
  std::shared_ptr<const TlsContext> server_tls_, client_tls_;
  bool echo_ = true;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::shared_ptr<Probe>> accepted_, clients_;
  std::unique_ptr<IoPool> pool_;
  std::unique_ptr<Listener> listener_;
};

TEST_P(StreamTest, EchoesMoreThanSocketBuffersHold) {
  auto client = Connect();
  ASSERT_TRUE(client->Await([&] { return client->open_; }));
  std::string text(8'000'000, 'a');
  for (size_t i = 0; i < text.size(); i += 97) text[i] = static_cast<char>('a' + i % 26);
  client->OnThread([&] { client->Send(text); });
  ASSERT_TRUE(client->Await([&] { return client->received_.size() >= text.size(); }));
  EXPECT_TRUE(client->received_ == text);
  client->OnThread([&] { client->stream_->ShutdownWrite(); });
  EXPECT_TRUE(client->Await([&] { return client->ended_; }));
}

TEST_P(StreamTest, PausedReaderHoldsThePeerBackAndSeesItGo) {
  echo_ = false;
  auto client = Connect();
  auto server = Accepted();
  ASSERT_TRUE(server->Await([&] { return server->open_; }));
  server->OnThread([&] { server->stream_->PauseReading(); });
  client->OnThread([&] { client->Send(std::string(10'000, 'x')); });
  client->OnThread([&] { client->stream_->Close(); });
  ASSERT_TRUE(server->Await([&] { return server->hung_up_; }));
  EXPECT_TRUE(server->received_.empty());
  server->OnThread([&] { server->stream_->ResumeReading(); });
  EXPECT_TRUE(server->Await([&] { return server->ended_ || !server->error_.empty(); }));
  EXPECT_FALSE(server->received_.empty());
}

TEST_P(StreamTest, AcceptedSocketsProbeIdlePeersAsUpstreamDoes) {
  Connect();
  auto server = Accepted();
  int on = 0, idle = 0;
  socklen_t size = sizeof(int);
  ASSERT_EQ(getsockopt(server->stream_->fd(), SOL_SOCKET, SO_KEEPALIVE, &on, &size), 0);
  ASSERT_EQ(getsockopt(server->stream_->fd(), IPPROTO_TCP, TCP_KEEPIDLE, &idle, &size), 0);
  EXPECT_EQ(on, 1);
  EXPECT_EQ(idle, 180);
}

TEST_P(StreamTest, ResetIsAnError) {
  auto client = Connect();
  auto server = Accepted();
  ASSERT_TRUE(server->Await([&] { return server->open_; }));
  client->OnThread([&] { client->stream_->Reset(); });
  EXPECT_TRUE(server->Await([&] { return !server->error_.empty(); }));
  EXPECT_THAT(server->error_, HasSubstr("reset"));
}

TEST_P(StreamTest, RefusedConnectionIsAnError) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto any = *Address::Ip("127.0.0.1", 0);
  ASSERT_EQ(bind(fd, any.data(), any.size()), 0);  // bound but not listening
  auto address = LocalAddress(fd);
  auto probe = std::make_shared<Probe>(pool_->at(1));
  probe->OnThread([&] {
    probe->stream_ = *Stream::Connect(probe->thread_, address, probe.get(), client_tls_, "x");
    probe->stream_->Begin();
  });
  clients_.push_back(probe);
  EXPECT_TRUE(probe->Await([&] { return !probe->error_.empty(); }));
  EXPECT_THAT(probe->error_, HasSubstr("refused"));
  close(fd);
}

TEST_P(StreamTest, StopServesWhatTheKernelHadAccepted) {
  echo_ = false;
  // The acceptor's thread is held, so every connection waits in the kernel's queue.
  std::promise<void> held, release;
  pool_->at(0).Post([&] {
    held.set_value();
    release.get_future().wait();
  });
  held.get_future().wait();
  std::vector<int> sockets;
  for (int i = 0; i < 50; ++i) sockets.push_back(RawConnect());
  std::thread releaser([&] { release.set_value(); });
  RunTask(listener_->Stop());
  releaser.join();
  EXPECT_EQ(accepted_.size(), 50u);
  int late = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_NE(connect(late, listener_->address().data(), listener_->address().size()), 0);
  close(late);
  for (int fd : sockets) close(fd);
}

INSTANTIATE_TEST_SUITE_P(Transport, StreamTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Tls" : "Clear"; });

using TlsStreamTest = StreamTest;

TEST_P(TlsStreamTest, AnswersClearTextInClearAndFails) {
  int fd = RawConnect();
  ASSERT_EQ(write(fd, "GET / HTTP/1.1\r\n\r\n", 18), 18);
  char answer[16];
  EXPECT_EQ(recv(fd, answer, sizeof(answer), MSG_WAITALL), 5);
  auto server = Accepted();
  EXPECT_TRUE(server->Await([&] { return !server->error_.empty(); }));
  EXPECT_THAT(server->error_, HasSubstr("HTTP request to an HTTPS server"));
  close(fd);
}

INSTANTIATE_TEST_SUITE_P(Transport, TlsStreamTest, ::testing::Values(true));

TEST(Address, ParsesAndPrints) {
  EXPECT_EQ(Address::Ip("127.0.0.1", 80)->ToString(), "127.0.0.1:80");
  EXPECT_EQ(Address::Ip("[::1]", 80)->ToString(), "[::1]:80");
  EXPECT_EQ(Address::Ip("", 80)->ToString(), "[::]:80");
  EXPECT_EQ(Address::Unix("/tmp/x")->ToString(), "/tmp/x");
  EXPECT_FALSE(Address::Ip("localhost", 80));
  EXPECT_FALSE(Address::Unix(std::string(200, 'x')));
}

}  // namespace
}  // namespace keelson::net
