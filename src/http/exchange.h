#pragma once

// One HTTP request and its answer, whatever the protocol version underneath.
//
// The transport (HTTP/1.1 or HTTP/2 connection) owns an Exchange and calls Handler::Serve on the
// connection's io thread; everything here is touched from that thread only, unless said otherwise.
// All string_views of a request stay valid until Serve's task has finished.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "base/task.h"

namespace keelson::http {

// Header fields in order of arrival or addition. Names are compared without regard to case; request
// names arrive in lower case. Few enough that a linear scan beats a map.
class Headers {
 public:
  struct Field {
    std::string_view name;
    std::string_view value;
  };

  // The first value of `name`, if present.
  std::optional<std::string_view> Get(std::string_view name) const;
  std::vector<std::string_view> GetAll(std::string_view name) const;
  bool Has(std::string_view name) const { return Get(name).has_value(); }

  // Keeps views only: the caller's memory must outlive the exchange (literals, request arena).
  void AddView(std::string_view name, std::string_view value) { fields_.push_back({name, value}); }
  // Copies.
  void Add(std::string_view name, std::string_view value);
  void Set(std::string_view name, std::string_view value);
  void Remove(std::string_view name);

  std::span<const Field> fields() const { return fields_; }
  bool empty() const { return fields_.empty(); }
  void Clear();

 private:
  std::string_view Keep(std::string_view text);

  std::vector<Field> fields_;
  std::vector<std::unique_ptr<char[]>> kept_;  // blocks of copied text
  char* free_ = nullptr;                       // unused rest of the last block
  size_t free_size_ = 0;
};

enum class Protocol : uint8_t { kHttp1, kHttp2 };

// The client certificate chain as presented, and whether it was verified against the client CA.
// `auth` parses the DER leaf once per connection and keeps the result in ConnectionInfo::memo.
struct PeerCertificates {
  std::vector<std::string> der;  // leaf first
  bool verified = false;         // verified during the handshake
  std::string verify_error;      // why not, when not
};

// What is true for all requests of one connection.
struct ConnectionInfo {
  uint64_t id = 0;
  std::string remote_address;  // "127.0.0.1:51324"
  std::string local_address;
  bool tls = false;
  std::string server_name;                       // SNI
  std::shared_ptr<const PeerCertificates> peer;  // null without a client certificate
  // A slot for an upper layer to keep what it derived from this connection (authenticated user).
  std::shared_ptr<void> memo;
};

struct Request {
  std::string_view method;
  std::string_view target;     // as received: "/api/v1/pods?limit=5"
  std::string_view path;       // target up to '?', still percent-encoded
  std::string_view raw_query;  // after '?', may be empty
  std::string_view host;       // Host or :authority
  Protocol protocol = Protocol::kHttp1;
  Headers headers;
  std::optional<uint64_t> content_length;
  ConnectionInfo* connection = nullptr;
  TimePoint received;
};

// The request's body, pulled by the handler; unread bytes hold back the peer by flow control.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // The next piece; an empty Slice at the end. Fails when the client goes away or breaks protocol.
  virtual Task<Result<Slice>> Read() = 0;
  // The length the client announced, if it did.
  virtual std::optional<uint64_t> announced() const { return std::nullopt; }
  // Everything, or kTooLarge as soon as more than `limit` bytes are announced or seen.
  Task<Result<std::string>> ReadAll(size_t limit);
};

// A raw byte stream taken over from a connection after Upgrade.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual Task<Result<Slice>> Read() = 0;  // empty at end of stream
  virtual Task<Result<void>> Write(Slice bytes) = 0;
  virtual void Close() = 0;
};

// The answer. Exactly one of: Send; or Start, any number of Write, Finish; or Upgrade.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  virtual Headers& headers() = 0;

  // The whole answer at once, without copying the slices. Content-Length is set from them unless
  // the status forbids a body. Never suspends: the transport keeps the slices until they are sent.
  virtual void Send(int status, std::vector<Slice> body) = 0;

  // A streamed answer: the head is sent at once.
  virtual void Start(int status) = 0;
  // Queues the slices and suspends while the peer does not keep up. Fails once the client is gone.
  virtual Task<Result<void>> Write(std::vector<Slice> slices) = 0;
  // Non-suspending form for fan-out: queues and returns the bytes now waiting to be sent, so the
  // caller can decide when a slow peer is too slow.
  virtual Result<size_t> TryWrite(Slice slice) = 0;
  virtual void Finish() = 0;

  // Switches protocols (status 101) and hands over the connection. HTTP/1.1 only.
  virtual Task<Result<std::unique_ptr<ByteStream>>> Upgrade() = 0;

  virtual bool started() const = 0;         // the head was sent
  virtual int status() const = 0;           // as sent, 0 before
  virtual uint64_t bytes_sent() const = 0;  // of the body

  // Ends the connection after this answer: Connection: close, or GOAWAY on HTTP/2.
  virtual void CloseConnection() = 0;
  // Cuts the stream without a proper end (RST_STREAM, TCP close), so that the client cannot take
  // a partial answer for a whole one.
  virtual void Abort() = 0;
};

struct Exchange {
  Request request;
  BodyReader* body = nullptr;
  ResponseWriter* response = nullptr;
  Executor* executor = nullptr;       // the connection's io thread
  std::stop_source cancelled;         // requested when the client goes away or the deadline passes
  std::optional<TimePoint> deadline;  // set by an upper layer; the transport cancels when it passes
};

class Handler {
 public:
  virtual ~Handler() = default;
  // Must produce an answer. An exception that escapes becomes a cut stream and a log line.
  virtual Task<void> Serve(Exchange& exchange) = 0;
};

}  // namespace keelson::http
