#include "http/server.h"

#include <condition_variable>
#include <mutex>

#include "base/completion.h"
#include "base/gate.h"
#include "http/connection.h"

namespace keelson::http {

// Fires once when no connection is left. Whoever waits holds it; the server may be waited for by
// GracefulShutdown and by its destructor.
struct Server::Drain {
  std::mutex mutex;
  std::condition_variable empty;
  std::shared_ptr<Completion<bool>> completion;
};

// The connections of one io thread. Everything but the constructor runs there.
class Server::Shard final : public ConnectionOwner {
 public:
  Shard(Server& server, net::IoThread& thread) : server_(server), thread_(thread) {}

  void Accept(int fd, const std::shared_ptr<net::TlsContextHolder>& tls) {
    auto* connection = new Connection(*this, thread_, server_.next_id_.fetch_add(1));
    connection->next = connections_;
    connection->link = &connections_;
    if (connection->next != nullptr) connection->next->link = &connection->next;
    connections_ = connection;
    server_.connections_.fetch_add(1);
    if (server_.options_.observer != nullptr) server_.options_.observer->OnConnection(+1);
    if (server_.shutting_down_.load()) connection->ShutDown();
    connection->Begin(fd, tls ? tls->Get() : nullptr);
  }

  // A connection may take itself out of the list on the way.
  template <typename Do>
  void ForEach(Do action) {
    for (Connection* connection = connections_; connection != nullptr;) {
      Connection* next = connection->next;
      action(*connection);
      connection = next;
    }
  }

  net::IoThread& thread() { return thread_; }

  // ConnectionOwner
  const ServerOptions& options() const override { return server_.options_; }
  Handler& handler() override { return server_.handler_; }
  void ExchangesChanged(int change) override { server_.in_flight_.fetch_add(change); }
  void Release(Connection* connection) override {
    thread_.Post([this, connection] {
      delete connection;
      if (server_.options_.observer != nullptr) server_.options_.observer->OnConnection(-1);
      server_.ConnectionGone();
    });
  }

 private:
  Server& server_;
  net::IoThread& thread_;
  Connection* connections_ = nullptr;
};

Server::Server(ServerOptions options, net::IoPool& pool, Handler& handler)
    : options_(std::move(options)),
      pool_(pool),
      handler_(handler),
      drain_(std::make_shared<Drain>()) {
  for (size_t i = 0; i < pool.size(); ++i) {
    shards_.push_back(std::make_unique<Shard>(*this, pool.at(i)));
  }
}

Result<std::unique_ptr<Server>> Server::Create(ServerOptions options, net::IoPool& pool,
                                               Handler& handler) {
  std::unique_ptr<Server> self(new Server(std::move(options), pool, handler));
  for (const auto& listen : self->options_.listen) {
    TRY(auto listener, net::Listener::Bind(pool, listen.address, listen.socket));
    self->listeners_.push_back(std::move(listener));
  }
  return self;
}

void Server::Start() {
  started_ = listening_ = true;
  for (size_t i = 0; i < listeners_.size(); ++i) {
    listeners_[i]->Start([this, tls = options_.listen[i].tls](net::IoThread& thread, int fd) {
      for (auto& shard : shards_) {
        if (&shard->thread() == &thread) return shard->Accept(fd, tls);
      }
    });
  }
}

std::vector<net::Address> Server::addresses() const {
  std::vector<net::Address> all;
  for (const auto& listener : listeners_) all.push_back(listener->address());
  return all;
}

Task<void> Server::StopListening() {
  if (!std::exchange(listening_, false)) co_return;
  for (auto& listener : listeners_) {
    auto stopping = listener->Stop();
    co_await std::move(stopping);
  }
}

void Server::ConnectionGone() {
  // Under the lock from the count on: whoever waits may destroy the server once it is released.
  auto drain = drain_;
  std::shared_ptr<Completion<bool>> completion;
  {
    std::lock_guard lock(drain->mutex);
    if (connections_.fetch_sub(1) != 1) return;
    completion = drain->completion;
    drain->empty.notify_all();
  }
  if (completion) completion->Set(true);
}

Task<bool> Server::GracefulShutdown(Duration timeout) {
  if (!started_) co_return true;
  shutting_down_.store(true);
  auto done = Completion<bool>::Create();
  {
    std::lock_guard lock(drain_->mutex);
    drain_->completion = done;
  }
  for (auto& shard : shards_) {
    shard->thread().Post([shard = shard.get()] {
      shard->ForEach([](Connection& connection) { connection.ShutDown(); });
    });
  }
  auto& thread = pool_.at(0);
  auto timer = std::make_shared<net::Timer>([done] { done->Set(false); });
  thread.Post([this, &thread, timer, timeout, done] {
    if (connections_.load() == 0) {
      done->Set(true);
    } else {
      thread.timers().Arm(*timer, thread.Now() + timeout);
    }
  });
  bool drained = co_await Completion<bool>::Wait(done);
  thread.Post([timer = std::move(timer)]() mutable { timer.reset(); });
  if (!drained) {
    for (auto& shard : shards_) {
      shard->thread().Post([shard = shard.get()] {
        shard->ForEach([](Connection& connection) { connection.Kill(); });
      });
    }
  }
  co_return drained;
}

Server::~Server() {
  if (!started_) return;
  if (listening_) {
    Gate gate;
    gate.Spawn(nullptr, StopListening());
    gate.CloseAndWait();
  }
  for (auto& shard : shards_) {
    shard->thread().Post([shard = shard.get()] {
      shard->ForEach([](Connection& connection) { connection.Kill(); });
    });
  }
  auto drain = drain_;
  std::unique_lock lock(drain->mutex);
  drain->empty.wait(lock, [this] { return connections_.load() == 0; });
  lock.unlock();
  // The posts above refer to the shards; wait until every thread is past them.
  std::atomic<size_t> left = shards_.size();
  std::mutex mutex;
  std::condition_variable passed;
  for (auto& shard : shards_) {
    shard->thread().Post([&] {
      std::lock_guard guard(mutex);
      if (left.fetch_sub(1) == 1) passed.notify_all();
    });
  }
  std::unique_lock wait(mutex);
  passed.wait(wait, [&] { return left.load() == 0; });
}

}  // namespace keelson::http
