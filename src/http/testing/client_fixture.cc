#include "http/testing/client_fixture.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace keelson::http::testing {

std::string Output(ClientSession& session) {
  std::string out;
  for (;;) {
    OutputBatch batch;
    session.Produce(batch);
    if (batch.empty()) return out;
    out += batch.Flat();
  }
}

std::string Received(const ClientCall& call) {
  std::string out;
  for (const auto& slice : call.in) out += slice.view();
  return out;
}

ScriptedPeer::ScriptedPeer(std::vector<Connection> script) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  KEELSON_CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  KEELSON_CHECK(::listen(listener_, 16) == 0 && ::pipe(wake_) == 0);
  thread_ = std::thread([this, script = std::move(script)] { Run(script); });
}

ScriptedPeer::~ScriptedPeer() {
  heard();
  ::close(listener_);
  ::close(wake_[0]);
}

std::string ScriptedPeer::heard() {
  if (wake_[1] >= 0) ::close(std::exchange(wake_[1], -1));
  if (thread_.joinable()) thread_.join();
  return heard_;
}

std::string ScriptedPeer::url(std::string_view path) const {
  return fmt::format("http://127.0.0.1:{}{}", port_, path);
}

void ScriptedPeer::Run(std::vector<Connection> script) {
  // False once the fixture wants to end.
  auto readable = [&](int fd) {
    pollfd waiting[] = {{fd, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    ::poll(waiting, 2, -1);
    return waiting[1].revents == 0;
  };
  std::vector<int> staying;
  for (const auto& connection : script) {
    if (!readable(listener_)) break;
    int fd = ::accept(listener_, nullptr, nullptr);
    ++accepted_;
    bool stay = false;
    for (const auto& step : connection) {
      std::string head;
      char c;
      while (head.find("\r\n\r\n") == std::string::npos && readable(fd) && ::read(fd, &c, 1) == 1) {
        head.push_back(c);
      }
      heard_ += head;
      if (!step.answer.empty() &&
          ::send(fd, step.answer.data(), step.answer.size(), MSG_NOSIGNAL) < 0) {
        break;
      }
      stay = step.stay;
      if (step.reset) {
        linger abrupt{1, 0};
        ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
      }
    }
    if (stay) {
      staying.push_back(fd);
    } else {
      ::close(fd);
    }
  }
  if (!staying.empty()) readable(wake_[0]);
  for (int fd : staying) ::close(fd);
}

ClientFixture::ClientFixture(ClientOptions options, int threads)
    : pool_(*net::IoPool::Create(threads)) {
  Use(std::move(options));
}

ClientFixture::~ClientFixture() {
  client_.reset();
  pool_->Stop();
}

void ClientFixture::Use(ClientOptions options) {
  client_.reset();
  auto client = Client::Create(std::move(options), *pool_);
  KEELSON_CHECK(client);
  client_ = *std::move(client);
}

namespace {

Task<void> FetchTo(Client& client, ClientRequest request, size_t limit,
                   std::optional<Result<Answer>>& out) {
  auto response = co_await client.Send(std::move(request));
  if (!response) {
    out = std::unexpected(response.error());
    co_return;
  }
  Answer answer;
  answer.status = response->status();
  answer.protocol = response->protocol();
  for (const auto& [name, value] : response->headers().fields())
    answer.headers.emplace_back(name, value);
  auto body = co_await response->body().ReadAll(limit);
  if (!body) {
    out = std::unexpected(body.error());
    co_return;
  }
  answer.body = *std::move(body);
  out = std::move(answer);
}

}  // namespace

Result<Answer> ClientFixture::Fetch(ClientRequest request, size_t limit) {
  std::optional<Result<Answer>> out;
  Run(FetchTo(*client_, std::move(request), limit, out));
  return *std::move(out);
}

std::vector<Result<Answer>> ClientFixture::FetchAll(std::vector<ClientRequest> requests) {
  std::vector<std::optional<Result<Answer>>> outs(requests.size());
  Gate gate;
  for (size_t i = 0; i < requests.size(); ++i) {
    gate.Spawn(&pool_->Next(), FetchTo(*client_, std::move(requests[i]), 64 << 20, outs[i]));
  }
  gate.CloseAndWait();
  std::vector<Result<Answer>> results;
  for (auto& out : outs) results.push_back(*std::move(out));
  return results;
}

void ClientFixture::Run(Task<void> task) {
  Gate gate;
  gate.Spawn(&pool_->Next(), std::move(task));
  gate.CloseAndWait();
}

}  // namespace keelson::http::testing
