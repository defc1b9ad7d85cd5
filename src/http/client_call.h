#pragma once

// One request on its way and its answer, shared by the coroutine that wants it and the session
// that carries it; either may let go first. Private to the client's sources; one io thread.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "http/engine.h"
#include "http/exchange.h"
#include "net/timer_wheel.h"

namespace keelson::http {

class ClientSession;

// Runs woken coroutines where no callback is on the stack.
class ClientWaker {
 public:
  virtual void WakeLater(Waiter& waiter) = 0;

 protected:
  ~ClientWaker() = default;
};

// What goes out before the body. Referred to during ClientSession::Begin only.
struct ClientRequestHead {
  std::string_view method;
  std::string_view scheme;
  std::string_view authority;
  std::string_view target;
  const Headers* headers = nullptr;
  bool has_body = false;
  std::optional<uint64_t> body_length;  // absent: streamed
  bool upgrade = false;
};

class ClientCall final : public BodyReader, public std::enable_shared_from_this<ClientCall> {
 public:
  explicit ClientCall(std::shared_ptr<ClientWaker> waker) : waker_(std::move(waker)) {}
  ~ClientCall() override;

  // --- for the requesting coroutine
  // The next piece of the answer's body.
  Task<Result<Slice>> Read() override;
  std::optional<uint64_t> announced() const override { return content_length; }
  // Adds to the request's body; Drained completes when little of it waits, or nobody wants it.
  void Queue(Slice slice);
  void EndBody();
  Task<void> Drained();
  // Completes when something has changed: head_ready, error, or a chance for a connection.
  Waiter& progress() { return progress_; }
  // No longer interested: the stream is reset, or the connection closed.
  void Abandon();

  // --- for the session and timers
  void HeadReady();
  void BodyPiece(Slice slice);
  void BodyEnd();
  // The first failure counts.
  void Break(Error why);
  // Break from outside of the session: a deadline or a cancellation.
  void GiveUp(Error why);
  void WakeProgress() { waker_->WakeLater(progress_); }
  // Bytes of the request's body have left.
  void BodySent(size_t size);

  static constexpr size_t kHighWater = 256 * 1024;

  // --- state, read by both sides
  ClientSession* session = nullptr;  // null before, and once the session has let go
  int32_t stream_id = 0;             // HTTP/2
  std::string method;

  std::deque<Slice> out;
  size_t out_size = 0;
  bool out_ended = false;
  bool out_deferred = false;  // nghttp2 waits for more

  int status = 0;
  Protocol protocol = Protocol::kHttp1;
  Headers headers;
  std::unique_ptr<char[]> head_bytes;  // what headers point into
  size_t header_bytes = 0;
  Headers trailers;
  std::optional<uint64_t> content_length;
  bool head_ready = false;
  std::deque<Slice> in;
  size_t in_size = 0;
  bool in_ended = false;

  std::optional<Error> error;
  bool responded = false;    // at least one byte of an answer has come
  bool unprocessed = false;  // the peer says it did nothing with the request
  bool connection_lost = false;
  bool reused = false;       // went out on a connection that had served others
  bool stream_read = false;  // part of a streamed body is used up

  std::optional<net::Timer> timer;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;

 private:
  const std::shared_ptr<ClientWaker> waker_;
  Waiter progress_;
  Waiter writer_;
};

}  // namespace keelson::http
