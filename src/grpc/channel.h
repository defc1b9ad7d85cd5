#pragma once

// gRPC calls to one server over an http::Client that speaks HTTP/2: unary ones and streams in both
// directions. Messages are bytes; protobuf_wire.h reads and writes them.
//
//   grpc::Channel etcd(client, "http://10.0.0.1:2379");
//   auto answer = co_await etcd.Call("/etcdserverpb.KV/Range", request, {.timeout = 5s});
//
// Everything of a call happens on the io thread it was begun on. Nothing is repeated by itself: a
// Failure says whether that is safe.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/task.h"
#include "grpc/message_reader.h"
#include "grpc/status.h"
#include "http/client.h"

namespace keelson::grpc {

struct CallOptions {
  std::optional<Duration> timeout;  // of everything
  std::stop_token stop;
  size_t max_message = size_t{4} << 20;  // of one received message
  std::vector<std::pair<std::string, std::string>> metadata;
};

// A stream in both directions. One coroutine may write while another one reads. Destroying it
// cancels the call.
class Stream {
 public:
  Stream(http::ClientStream stream, size_t max_message)
      : stream_(std::move(stream)), reader_(max_message) {}

  // Suspends while the peer does not keep up. A failure says only that the stream is over; Read
  // tells why.
  Task<CallResult<void>> Write(std::string message);
  // The same without waiting, for small messages now and then.
  void Queue(std::string message);
  // No Write follows.
  void Finish() { stream_.Finish(); }

  // The next message, or nothing at the end of a call that succeeded.
  Task<CallResult<std::optional<Slice>>> Read();

 private:
  Task<CallResult<void>> AwaitHead();
  CallResult<void> End() const;
  Failure Lost(const Error& error) const { return FromTransport(error, stream_.unprocessed()); }

  http::ClientStream stream_;
  std::optional<http::ClientResponse> response_;
  MessageReader reader_;
  bool ended_ = false;
};

class Channel {
 public:
  // `client` must outlive the channel and all calls; `origin` is "http://host:port" or https.
  Channel(http::Client& client, std::string origin) : client_(client), origin_(std::move(origin)) {}

  const std::string& origin() const { return origin_; }

  // `method` is "/package.Service/Method".
  Task<CallResult<Slice>> Call(std::string method, Slice message, CallOptions options = {});
  Task<CallResult<std::unique_ptr<Stream>>> Open(std::string method, CallOptions options = {});

 private:
  http::Client& client_;
  const std::string origin_;
};

}  // namespace keelson::grpc
