#pragma once

// An HTTP client: HTTP/1.1 and HTTP/2, TLS, pooled connections, streamed bodies, full-duplex
// streams, upgrade tunnels.
//
//   http::ClientRequest request{.method = "GET", .url = "https://10.0.0.1:6443/readyz"};
//   CO_TRY(auto response, co_await client->Send(std::move(request)));
//   CO_TRY(auto text, co_await response.body().ReadAll(1 << 20));
//
// A client is a configuration (trust, certificate, credentials, limits) with a pool of connections
// per io thread. Send must be called on a thread of the IoPool; everything about the request, its
// response included, then stays on that thread.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "http/exchange.h"
#include "net/address.h"
#include "net/io_thread.h"
#include "net/tls_context.h"

namespace keelson::http {

class ClientCall;

struct ClientOptions {
  net::TlsClientOptions tls;  // trusted roots, client certificate, verification
  std::string server_name;    // for SNI and the certificate, instead of the URL's host
  // Where to connect instead of the URL's host: "host:port" or "unix:<path>".
  std::string endpoint;
  // Which addresses may be connected to; all when empty. Asked after names have been looked up, so
  // a name cannot lead where its address may not.
  std::function<bool(const net::Address&)> allow;
  // Called for every request, to add credentials that may change (a bearer token).
  std::function<Result<void>(Headers&)> authorize;
  bool http2 = true;            // offered by ALPN
  bool http2_in_clear = false;  // without TLS, speak HTTP/2 at once: the peer is known to

  Duration connect_timeout = std::chrono::seconds(30);  // look-up, TCP and TLS together
  Duration response_header_timeout = Duration::zero();  // from the request's end; zero: none
  Duration idle_timeout = std::chrono::seconds(90);
  size_t max_idle_per_host = 25;  // per io thread
  size_t max_per_host = 1000;     // per io thread; further requests wait
  size_t max_header_bytes = 1 << 20;
  Duration ping_after = std::chrono::seconds(30);  // HTTP/2, of a silent connection
  Duration ping_timeout = std::chrono::seconds(15);
};

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::vector<Slice> body;
  // A streamed body, read to its end before the answer is waited for; must outlive Send.
  BodyReader* body_stream = nullptr;
  std::optional<Duration> timeout;  // of everything, reading the body included
  std::stop_token stop;
  // Asks to switch protocols: an Upgrade header of this value. HTTP/1.1 is used.
  std::string upgrade;
};

class ClientResponse {
 public:
  explicit ClientResponse(std::shared_ptr<ClientCall> call) : call_(std::move(call)) {}
  ClientResponse(ClientResponse&&) noexcept = default;
  ClientResponse& operator=(ClientResponse&& other) noexcept;
  // What has not been read is abandoned: the stream is reset, or the connection closed.
  ~ClientResponse();

  int status() const;
  Protocol protocol() const;
  const Headers& headers() const;
  BodyReader& body();
  // What came behind the body, once that has been read to its end. HTTP/2 only.
  const Headers& trailers() const;

  // After status 101: the connection as plain bytes. It outlives the response.
  std::unique_ptr<ByteStream> TakeStream();

 private:
  std::shared_ptr<ClientCall> call_;
};

// A request whose body is written while its answer is read. One coroutine may write while another
// one reads. HTTP/2 only.
class ClientStream {
 public:
  explicit ClientStream(std::shared_ptr<ClientCall> call) : call_(std::move(call)) {}
  ClientStream(ClientStream&&) noexcept = default;
  ClientStream& operator=(ClientStream&& other) noexcept;
  // Ends the answer, too, unless that has been read to its end: the stream is reset.
  ~ClientStream();

  // Queues the bytes and suspends while the peer does not keep up. Fails once the stream is over.
  Task<Result<void>> Write(Slice bytes);
  // The same without waiting; what is queued beyond the peer's pace is the caller's concern.
  void Queue(Slice bytes);
  // The request's body ends here.
  void Finish();

  // The head of the answer. Called once.
  Task<Result<ClientResponse>> Answer();
  // After a failure: the peer did nothing with the request, so it may be sent again.
  bool unprocessed() const;

 private:
  std::shared_ptr<ClientCall> call_;
};

class Client {
 public:
  // kInvalid when certificates, keys or the endpoint do not parse.
  static Result<std::unique_ptr<Client>> Create(ClientOptions options, net::IoPool& pool);
  // Cancels what is under way and closes all connections. Not on an io thread; the pool must still
  // be running.
  ~Client();

  // The head of the answer, whatever its status. Failures carry Go's wording:
  // Get "https://...": context deadline exceeded. A request is repeated on a new connection only
  // where that is safe: the peer refused it unprocessed, or a reused connection broke before any
  // byte of the answer and the method is idempotent.
  Task<Result<ClientResponse>> Send(ClientRequest request);

  // Begins a full-duplex request; its `body` goes first, `body_stream` and `upgrade` do not count.
  // A failure means that nothing was sent. Not repeated by itself.
  Task<Result<ClientStream>> Open(ClientRequest request);

  // Open connections, over all threads; for tests and metrics.
  size_t connections() const;

 private:
  class Shard;
  friend class ClientConnection;
  struct State;
  explicit Client(std::unique_ptr<State> state);
  const std::shared_ptr<Shard>& CurrentShard() const;

  std::unique_ptr<State> state_;
};

}  // namespace keelson::http
