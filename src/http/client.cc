#include "http/client.h"

#include <algorithm>
#include <latch>
#include <map>

#include "http/client_call.h"
#include "http/client_connection.h"
#include "http/client_tls.h"
#include "http/client_url.h"
#include "http/h1_syntax.h"

namespace keelson::http {
namespace {

constexpr int kMaxAttempts = 3;
constexpr std::string_view kUnixPrefix = "unix:";

bool Idempotent(std::string_view method) {
  static constexpr std::string_view kMethods[] = {"GET",    "HEAD",    "PUT",
                                                  "DELETE", "OPTIONS", "TRACE"};
  return std::ranges::find(kMethods, method) != std::end(kMethods);
}

// As Go writes it: Get "https://host/path": why
Error Describe(const ClientRequest& request, Error error) {
  std::string verb = request.method;
  for (char& c : verb) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (!verb.empty() && verb[0] >= 'a' && verb[0] <= 'z') verb[0] = static_cast<char>(verb[0] - 32);
  error.message = fmt::format("{} \"{}\": {}", verb, request.url, error.message);
  return error;
}

Result<void> CheckRequest(const ClientRequest& request) {
  if (!IsToken(request.method)) return Fail(ErrorCode::kInvalid, "invalid method");
  for (const auto& [name, value] : request.headers.fields()) {
    if (!IsToken(name) || !IsFieldValue(value)) {
      return Fail(ErrorCode::kInvalid, "invalid header field {}", IsToken(name) ? name : "name");
    }
  }
  if (!IsFieldValue(request.upgrade)) return Fail(ErrorCode::kInvalid, "invalid upgrade");
  return {};
}

Task<Result<void>> WriteTo(std::shared_ptr<ClientCall> call, Slice bytes) {
  call->Queue(std::move(bytes));
  co_await call->Drained();
  if (call->error) co_return std::unexpected(*call->error);
  if (call->session == nullptr) co_return Fail(ErrorCode::kUnavailable, "the connection is gone");
  co_return Result<void>();
}

Task<Result<ClientResponse>> AnswerOf(std::shared_ptr<ClientCall> call) {
  while (!call->head_ready && !call->error) co_await call->progress();
  if (!call->head_ready) co_return std::unexpected(*call->error);
  co_return ClientResponse(std::move(call));
}

// The two sides of a tunnel, after 101.
class ClientTunnel final : public ByteStream {
 public:
  explicit ClientTunnel(std::shared_ptr<ClientCall> call) : call_(std::move(call)) {}
  ~ClientTunnel() override { call_->Abandon(); }

  Task<Result<Slice>> Read() override { return call_->Read(); }
  Task<Result<void>> Write(Slice bytes) override { return WriteTo(call_, std::move(bytes)); }
  void Close() override { call_->Abandon(); }

 private:
  std::shared_ptr<ClientCall> call_;
};

}  // namespace

// --- ClientResponse

ClientResponse& ClientResponse::operator=(ClientResponse&& other) noexcept {
  std::swap(call_, other.call_);
  return *this;
}
ClientResponse::~ClientResponse() {
  if (call_) call_->Abandon();
}
int ClientResponse::status() const { return call_->status; }
Protocol ClientResponse::protocol() const { return call_->protocol; }
const Headers& ClientResponse::headers() const { return call_->headers; }
BodyReader& ClientResponse::body() { return *call_; }
const Headers& ClientResponse::trailers() const { return call_->trailers; }

std::unique_ptr<ByteStream> ClientResponse::TakeStream() {
  KEELSON_CHECK(call_ && call_->status == 101);
  return std::make_unique<ClientTunnel>(std::exchange(call_, nullptr));
}

// --- ClientStream

ClientStream& ClientStream::operator=(ClientStream&& other) noexcept {
  std::swap(call_, other.call_);
  return *this;
}
ClientStream::~ClientStream() {
  if (call_) call_->Abandon();
}
Task<Result<void>> ClientStream::Write(Slice bytes) { return WriteTo(call_, std::move(bytes)); }
void ClientStream::Queue(Slice bytes) { call_->Queue(std::move(bytes)); }
void ClientStream::Finish() { call_->EndBody(); }
bool ClientStream::unprocessed() const { return call_->unprocessed; }

Task<Result<ClientResponse>> ClientStream::Answer() { return AnswerOf(call_); }

// --- Shard: the connections of one io thread

class Client::Shard final : public std::enable_shared_from_this<Shard>,
                            private ClientConnection::Owner,
                            public ClientWaker,
                            private net::TurnEnd {
 public:
  Shard(net::IoThread& thread, std::shared_ptr<const ClientOptions> options,
        std::shared_ptr<ClientTls> tls, std::shared_ptr<ClientResolver> resolver)
      : thread_(thread),
        options_(std::move(options)),
        tls_(std::move(tls)),
        resolver_(std::move(resolver)) {}

  net::IoThread& thread() { return thread_; }
  size_t connections() const { return open_.load(std::memory_order_relaxed); }

  static Task<Result<ClientResponse>> Send(std::shared_ptr<Shard> self, ClientRequest request);
  static Task<Result<ClientStream>> Open(std::shared_ptr<Shard> self, ClientRequest request);
  void Stop();

 private:
  struct Origin {
    std::vector<std::shared_ptr<ClientConnection>> connections;
    std::deque<std::shared_ptr<ClientCall>> waiters;
    size_t dialing = 0;
    bool multiplexed = false;  // the last connection was
    bool known = false;        // there has been one
  };

  Result<ClientUrl> Prepare(ClientRequest& request) const;
  std::shared_ptr<ClientCall> NewCall(const ClientRequest& request, TimePoint deadline);
  static Task<Result<std::shared_ptr<ClientConnection>>> Acquire(std::shared_ptr<Shard> self,
                                                                 const ClientUrl& url, bool h1_only,
                                                                 std::shared_ptr<ClientCall> call);
  static Task<Result<void>> Try(std::shared_ptr<Shard> self, ClientRequest& request,
                                const ClientUrl& url, std::shared_ptr<ClientCall> call);
  TimePoint DeadlineOf(const ClientRequest& request) const {
    return request.timeout ? thread_.Now() + *request.timeout : TimePoint::max();
  }
  void Limit(ClientCall& call, TimePoint when, Error why);
  std::shared_ptr<ClientConnection> FindFree(const std::string& key);
  bool MayDial(const Origin& origin) const;
  void Dial(const std::string& key, const ClientUrl& url, bool h1_only);
  void WakeWaiters(Origin& origin, const Error* error);
  void StopWaiting(const std::string& key, const std::shared_ptr<ClientCall>& call);
  void TrimIdle(Origin& origin);

  void Opened(ClientConnection& connection) override;
  void CapacityChanged(ClientConnection& connection) override;
  void Gone(ClientConnection& connection, const Error* error) override;
  void WakeLater(Waiter& waiter) override {
    waiter.Wake(ready_);
    if (!ready_.empty()) thread_.AtTurnEnd(*this);
  }
  void OnTurnEnd() override {
    auto self = shared_from_this();  // what runs may let go of the last of us
    RunReady(ready_);
  }

  net::IoThread& thread_;
  const std::shared_ptr<const ClientOptions> options_;
  const std::shared_ptr<ClientTls> tls_;
  const std::shared_ptr<ClientResolver> resolver_;
  std::map<std::string, Origin> origins_;
  ReadyList ready_;
  std::atomic<size_t> open_{0};
  bool stopped_ = false;
};

Result<ClientUrl> Client::Shard::Prepare(ClientRequest& request) const {
  TRY(auto url, ClientUrl::Parse(request.url));
  if (options_->authorize) TRY_VOID(options_->authorize(request.headers));
  if (!request.upgrade.empty()) request.headers.Set("upgrade", request.upgrade);
  TRY_VOID(CheckRequest(request));
  return url;
}

std::shared_ptr<ClientCall> Client::Shard::NewCall(const ClientRequest& request,
                                                   TimePoint deadline) {
  auto call = std::make_shared<ClientCall>(shared_from_this());
  call->method = request.method;
  Limit(*call, deadline, {ErrorCode::kTimeout, "context deadline exceeded"});
  if (request.stop.stop_possible()) {
    call->on_stop.emplace(request.stop, [weak = std::weak_ptr(call), thread = &thread_] {
      thread->Post([weak] {
        if (auto live = weak.lock()) live->GiveUp({ErrorCode::kCancelled, "context canceled"});
      });
    });
  }
  return call;
}

Task<Result<ClientStream>> Client::Shard::Open(std::shared_ptr<Shard> self, ClientRequest request) {
  auto url = self->Prepare(request);
  if (!url) co_return std::unexpected(Describe(request, url.error()));
  auto call = self->NewCall(request, self->DeadlineOf(request));
  ClientStream stream(call);
  auto connection = co_await Acquire(self, *url, /*h1_only=*/false, call);
  if (!connection) co_return std::unexpected(Describe(request, connection.error()));
  if (!(*connection)->multiplexed()) {
    Error why{ErrorCode::kUnsupported, "the server does not speak HTTP/2"};
    co_return std::unexpected(Describe(request, std::move(why)));
  }
  ClientRequestHead head;
  head.method = request.method;
  head.scheme = url->tls ? "https" : "http";
  head.authority = url->authority;
  head.target = url->target;
  head.headers = &request.headers;
  head.has_body = true;
  (*connection)->Begin(call, head);
  if (call->error) co_return std::unexpected(Describe(request, *call->error));
  for (auto& slice : request.body) call->Queue(std::move(slice));
  co_return stream;
}

Task<Result<ClientResponse>> Client::Shard::Send(std::shared_ptr<Shard> self,
                                                 ClientRequest request) {
  auto url = self->Prepare(request);
  if (!url) co_return std::unexpected(Describe(request, url.error()));
  const TimePoint deadline = self->DeadlineOf(request);
  for (int attempt = 1;; ++attempt) {
    auto call = self->NewCall(request, deadline);
    auto done = co_await Try(self, request, *url, call);
    if (done) co_return ClientResponse(std::move(call));
    // Retried where the peer cannot have acted on it, or may act on it twice.
    bool replayable = request.body_stream == nullptr || !call->stream_read;
    bool retry = replayable && attempt < kMaxAttempts &&
                 (call->unprocessed || (call->connection_lost && call->reused && !call->responded &&
                                        Idempotent(request.method)));
    call->Abandon();
    if (!retry) co_return std::unexpected(Describe(request, std::move(done).error()));
  }
}

void Client::Shard::Limit(ClientCall& call, TimePoint when, Error why) {
  if (when == TimePoint::max()) return;
  // The call owns the timer, so it outlives it.
  call.timer.emplace([&call, why = std::move(why)] {
    auto live = call.shared_from_this();
    live->GiveUp(why);
  });
  thread_.timers().Arm(*call.timer, when);
}

// A connection that takes the call at once: one of the pool, or a new one. `url` outlives it.
Task<Result<std::shared_ptr<ClientConnection>>> Client::Shard::Acquire(
    std::shared_ptr<Shard> self, const ClientUrl& url, bool h1_only,
    std::shared_ptr<ClientCall> call) {
  const std::string key =
      fmt::format("{}{}{}", url.tls ? "https://" : "http://", url.authority, h1_only ? "#1" : "");
  for (;;) {
    if (self->stopped_) call->Break({ErrorCode::kCancelled, "the client was stopped"});
    if (call->error) {
      self->StopWaiting(key, call);
      co_return std::unexpected(*call->error);
    }
    if (auto connection = self->FindFree(key)) co_return connection;
    self->origins_[key].waiters.push_back(call);
    if (self->MayDial(self->origins_[key])) self->Dial(key, url, h1_only);
    // A dial may end, well or badly, before it returns; nobody is woken who does not wait yet.
    if (call->error || self->FindFree(key)) {
      self->StopWaiting(key, call);
      continue;
    }
    co_await call->progress();
  }
}

Task<Result<void>> Client::Shard::Try(std::shared_ptr<Shard> self, ClientRequest& request,
                                      const ClientUrl& url, std::shared_ptr<ClientCall> call) {
  const bool h1_only = !request.upgrade.empty() || !self->options_->http2;
  CO_TRY(auto connection, co_await Acquire(self, url, h1_only, call));
  ClientRequestHead head;
  head.method = request.method;
  head.scheme = url.tls ? "https" : "http";
  head.authority = url.authority;
  head.target = url.target;
  head.headers = &request.headers;
  head.has_body = request.body_stream != nullptr || TotalSize(request.body) > 0;
  head.body_length = request.body_stream != nullptr ? request.body_stream->announced()
                                                    : std::optional(TotalSize(request.body));
  head.upgrade = !request.upgrade.empty();
  call->reused = connection->used();
  connection->Begin(call, head);
  for (const auto& slice : request.body) call->Queue(slice);
  while (request.body_stream != nullptr && !call->error && !call->head_ready) {
    call->stream_read = true;
    auto piece = co_await request.body_stream->Read();
    if (!piece) {
      call->GiveUp(piece.error());
      break;
    }
    if (piece->empty()) break;
    call->Queue(*std::move(piece));
    co_await call->Drained();
  }
  call->EndBody();

  std::optional<net::Timer> header_timer;
  if (self->options_->response_header_timeout > Duration::zero()) {
    header_timer.emplace([&call] {
      if (!call->head_ready) {
        call->GiveUp({ErrorCode::kTimeout, "timeout awaiting response headers"});
      }
    });
    self->thread_.timers().Arm(*header_timer,
                               self->thread_.Now() + self->options_->response_header_timeout);
  }
  while (!call->head_ready && !call->error) co_await call->progress();
  if (!call->head_ready) co_return std::unexpected(*call->error);
  co_return Result<void>();
}

std::shared_ptr<ClientConnection> Client::Shard::FindFree(const std::string& key) {
  auto found = origins_.find(key);
  if (found == origins_.end()) return nullptr;
  auto& connections = found->second.connections;
  // The most recently used first, so that the others may grow old and go.
  for (size_t i = connections.size(); i-- > 0;) {
    if (connections[i]->CanTake()) return connections[i];
  }
  return nullptr;
}

bool Client::Shard::MayDial(const Origin& origin) const {
  if (origin.connections.size() >= options_->max_per_host) return false;
  // Until it is known what the peer speaks, and if it multiplexes, one dial serves all who wait.
  bool one_is_enough = !origin.known || origin.multiplexed;
  return origin.dialing < (one_is_enough ? 1 : origin.waiters.size());
}

void Client::Shard::Dial(const std::string& key, const ClientUrl& url, bool h1_only) {
  ClientTarget target;
  target.host = url.host;
  target.port = url.port;
  if (options_->endpoint.starts_with(kUnixPrefix)) {
    target.unix_path = options_->endpoint.substr(kUnixPrefix.size());
  } else if (!options_->endpoint.empty()) {
    auto parts = SplitHostPort(options_->endpoint, url.port);
    KEELSON_CHECK(parts);  // checked by Create
    target.host = parts->first;
    target.port = parts->second;
  }
  if (url.tls) {
    auto context = tls_->Get(h1_only);
    if (!context) return WakeWaiters(origins_[key], &context.error());
    target.tls = *std::move(context);
    target.server_name = options_->server_name.empty() ? url.host : options_->server_name;
  }
  target.http2_in_clear = options_->http2_in_clear && !h1_only;
  ClientConnection::Owner& owner = *this;
  auto connection = std::make_shared<ClientConnection>(owner, thread_, *options_, key);
  auto& origin = origins_[key];
  origin.connections.push_back(connection);
  ++origin.dialing;
  open_.fetch_add(1, std::memory_order_relaxed);
  connection->Dial(std::move(target), *resolver_);
}

void Client::Shard::WakeWaiters(Origin& origin, const Error* error) {
  auto waiters = std::exchange(origin.waiters, {});
  for (auto& call : waiters) {
    if (error != nullptr) call->Break(*error);
    call->WakeProgress();
  }
}

void Client::Shard::StopWaiting(const std::string& key, const std::shared_ptr<ClientCall>& call) {
  auto found = origins_.find(key);
  if (found == origins_.end()) return;
  std::erase(found->second.waiters, call);
  if (found->second.connections.empty() && found->second.waiters.empty()) origins_.erase(found);
}

void Client::Shard::Opened(ClientConnection& connection) {
  auto& origin = origins_[connection.origin()];
  --origin.dialing;
  origin.known = true;
  origin.multiplexed = connection.multiplexed();
  WakeWaiters(origin, nullptr);
}

void Client::Shard::CapacityChanged(ClientConnection& connection) {
  auto& origin = origins_[connection.origin()];
  bool awaited = !origin.waiters.empty();
  WakeWaiters(origin, nullptr);
  if (!awaited) TrimIdle(origin);
}

void Client::Shard::TrimIdle(Origin& origin) {
  size_t idle = 0;
  std::vector<std::shared_ptr<ClientConnection>> surplus;
  for (size_t i = origin.connections.size(); i-- > 0;) {
    if (origin.connections[i]->idle() && ++idle > options_->max_idle_per_host) {
      surplus.push_back(origin.connections[i]);
    }
  }
  for (auto& connection : surplus) {
    thread_.Post([connection] {
      if (connection->idle()) connection->Close({ErrorCode::kUnavailable, "too many idle"});
    });
  }
}

void Client::Shard::Gone(ClientConnection& connection, const Error* error) {
  auto found = origins_.find(connection.origin());
  if (found == origins_.end()) return;
  auto& origin = found->second;
  if (error != nullptr) --origin.dialing;
  auto at = std::ranges::find(origin.connections, &connection,
                              [](const auto& pointer) { return pointer.get(); });
  if (at != origin.connections.end()) {
    thread_.Post([kept = *at] {});  // not destroyed inside its own callback
    origin.connections.erase(at);
    open_.fetch_sub(1, std::memory_order_relaxed);
  }
  // A failed dial fails those who waited for it; a lost connection makes room for another.
  WakeWaiters(origin, error);
  if (origin.connections.empty() && origin.waiters.empty()) origins_.erase(found);
}

void Client::Shard::Stop() {
  stopped_ = true;
  const Error why{ErrorCode::kCancelled, "the client was stopped"};
  std::vector<std::shared_ptr<ClientConnection>> all;
  for (auto& [key, origin] : origins_) {
    for (auto& call : origin.waiters) call->Break(why);
    origin.waiters.clear();
    all.insert(all.end(), origin.connections.begin(), origin.connections.end());
  }
  for (auto& connection : all) connection->Close(why);
}

// --- Client

struct Client::State {
  std::vector<std::shared_ptr<Shard>> shards;
};

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Client>> Client::Create(ClientOptions options, net::IoPool& pool) {
  if (!options.endpoint.empty() && !options.endpoint.starts_with(kUnixPrefix)) {
    TRY(auto checked, SplitHostPort(options.endpoint, 443));
    (void)checked;
  }
  TRY(auto tls, ClientTls::Create(options.tls));
  auto shared = std::make_shared<const ClientOptions>(std::move(options));
  auto resolver = std::make_shared<ClientResolver>();
  auto state = std::make_unique<State>();
  for (size_t i = 0; i < pool.size(); ++i) {
    state->shards.push_back(std::make_shared<Shard>(pool.at(i), shared, tls, resolver));
  }
  return std::unique_ptr<Client>(new Client(std::move(state)));
}

Client::~Client() {
  const auto count = static_cast<ptrdiff_t>(state_->shards.size());
  // That every thread has answered also puts all of its calls of Send before what follows.
  std::latch stopped(count);
  for (auto& shard : state_->shards) {
    shard->thread().Post([&stopped, shard = shard.get()] {
      shard->Stop();
      stopped.count_down();
    });
  }
  stopped.wait();
  // Given away, so that a shard ends on its own thread, whoever holds it last.
  std::latch released(count);
  for (auto& shard : state_->shards) {
    net::IoThread& thread = shard->thread();
    thread.Post([&released, shard = std::move(shard)]() mutable {
      shard.reset();
      released.count_down();
    });
  }
  released.wait();
}

const std::shared_ptr<Client::Shard>& Client::CurrentShard() const {
  auto found = std::ranges::find(state_->shards, Executor::Current(),
                                 [](const auto& shard) { return &shard->thread(); });
  KEELSON_CHECK(found != state_->shards.end());  // not on one of the pool's io threads
  return *found;
}

Task<Result<ClientResponse>> Client::Send(ClientRequest request) {
  return Shard::Send(CurrentShard(), std::move(request));
}

Task<Result<ClientStream>> Client::Open(ClientRequest request) {
  return Shard::Open(CurrentShard(), std::move(request));
}

size_t Client::connections() const {
  size_t total = 0;
  for (const auto& shard : state_->shards) total += shard->connections();
  return total;
}

}  // namespace keelson::http
