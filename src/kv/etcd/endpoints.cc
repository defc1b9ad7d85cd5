#include "kv/etcd/endpoints.h"

#include <algorithm>

#include "base/log.h"
#include "http/client_url.h"

namespace keelson::kv::etcd {
namespace {

// How often each server is tried before a call that may be repeated fails, and the pause between
// rounds: an election takes about as long.
constexpr int kRounds = 4;
constexpr Duration kBetweenRounds = std::chrono::milliseconds(250);

// etcd's connections are few and long-lived; upstream's client keeps them alive in the same way.
constexpr Duration kPingAfter = std::chrono::seconds(30);
constexpr Duration kPingTimeout = std::chrono::seconds(10);

struct Known {
  std::string_view text;
  ErrorCode code;
};
// What etcd says, and what that means for a store. The status codes alone do not tell.
constexpr Known kKnown[] = {
    {"etcdserver: mvcc: required revision has been compacted", ErrorCode::kExpired},
    {"etcdserver: mvcc: required revision is a future revision", ErrorCode::kInvalid},
    {"etcdserver: mvcc: database space exceeded", ErrorCode::kExhausted},
    {"etcdserver: request is too large", ErrorCode::kTooLarge},
    {"etcdserver: too many operations in txn request", ErrorCode::kTooLarge},
    {"grpc: received message larger than max", ErrorCode::kTooLarge},
    {"etcdserver: requested lease not found", ErrorCode::kNotFound},
    {"etcdserver: lease already exists", ErrorCode::kAlreadyExists},
    {"etcdserver: too large lease TTL", ErrorCode::kInvalid},
    {"etcdserver: too many requests", ErrorCode::kUnavailable},
};

ErrorCode CodeOf(grpc::Code code) {
  switch (code) {
    case grpc::Code::kUnavailable:
    case grpc::Code::kAborted:
      return ErrorCode::kUnavailable;
    case grpc::Code::kDeadlineExceeded:
      return ErrorCode::kTimeout;
    case grpc::Code::kCancelled:
      return ErrorCode::kCancelled;
    case grpc::Code::kUnauthenticated:
    case grpc::Code::kPermissionDenied:
      return ErrorCode::kDenied;
    case grpc::Code::kInvalidArgument:
      return ErrorCode::kInvalid;
    case grpc::Code::kUnimplemented:
      return ErrorCode::kUnsupported;
    case grpc::Code::kDataLoss:
      return ErrorCode::kCorrupt;
    default:
      return ErrorCode::kInternal;
  }
}

// The server, not the request, is at fault: another one may do better.
bool IsServersFault(const grpc::Failure& failure) {
  return failure.unsent || failure.code == grpc::Code::kUnavailable ||
         (failure.code == grpc::Code::kDeadlineExceeded && !failure.from_peer);
}

}  // namespace

Error ToError(const grpc::Failure& failure) {
  for (const auto& known : kKnown) {
    if (failure.message.find(known.text) != std::string::npos) {
      return {known.code, failure.message};
    }
  }
  bool own_words = failure.from_peer && failure.message.starts_with("etcdserver:");
  return {CodeOf(failure.code), own_words ? failure.message : failure.ToString()};
}

Result<std::unique_ptr<Endpoints>> Endpoints::Create(EndpointOptions options, net::IoPool& pool,
                                                     Clock& clock) {
  if (options.urls.empty()) return Fail(ErrorCode::kInvalid, "no etcd server is named");
  http::ClientOptions client;
  client.tls.ca_pem = options.ca_pem;
  client.tls.client_pair = options.client_pair;
  client.tls.alpn = {"h2"};
  client.http2_in_clear = true;
  client.connect_timeout = options.dial_timeout;
  client.ping_after = kPingAfter;
  client.ping_timeout = kPingTimeout;
  std::unique_ptr<Endpoints> self(new Endpoints(std::move(options), pool, clock));
  TRY(self->client_, http::Client::Create(std::move(client), pool));
  for (std::string url : self->options_.urls) {
    // As upstream takes it: a host and port alone mean clear text.
    if (url.find("://") == std::string::npos) url = "http://" + url;
    while (url.ends_with('/')) url.pop_back();
    auto parsed = http::ClientUrl::Parse(url);
    if (!parsed) return Annotate(parsed.error(), fmt::format("etcd server {}", url));
    self->channels_.push_back(std::make_unique<grpc::Channel>(*self->client_, std::move(url)));
  }
  return self;
}

net::IoThread& Endpoints::Thread() {
  for (size_t i = 0; i < pool_.size(); ++i) {
    if (&pool_.at(i) == Executor::Current()) return pool_.at(i);
  }
  return pool_.Next();
}

void Endpoints::MoveOn(size_t failed) {
  size_t expected = failed;
  const size_t next = (failed + 1) % size();
  if (size() > 1 && current_.compare_exchange_strong(expected, next)) {
    log::WarningS("turning to another etcd server",
                  {{"from", at(failed).origin()}, {"to", at(next).origin()}});
  }
}

Task<Result<Slice>> Endpoints::Call(std::string_view method, Slice message, Repeat repeat,
                                    Limits limits) {
  const auto attempts = static_cast<int>(size()) * kRounds;
  for (int attempt = 1;; ++attempt) {
    const size_t server = current();
    Duration timeout = options_.call_timeout;
    if (limits.deadline) timeout = std::min(timeout, *limits.deadline - clock_.Now());
    grpc::CallOptions options{
        .timeout = timeout, .stop = limits.stop, .max_message = kMaxMessage, .metadata = {}};
    auto answer = co_await at(server).Call(std::string(method), message, std::move(options));
    if (answer) co_return *std::move(answer);
    const auto& failure = answer.error();
    if (!IsServersFault(failure)) co_return std::unexpected(ToError(failure));
    MoveOn(server);
    const bool safe = repeat == Repeat::kAlways || failure.unsent;
    const bool late = limits.deadline && clock_.Now() >= *limits.deadline;
    if (!safe || late || limits.stop.stop_requested() || attempt >= attempts) {
      co_return std::unexpected(ToError(failure));
    }
    if (attempt % static_cast<int>(size()) == 0) {
      co_await SleepFor(clock_, kBetweenRounds, limits.stop);
    }
  }
}

}  // namespace keelson::kv::etcd
