#pragma once

// The protocol half of a server's connection: bytes in, handlers run, bytes out. No sockets.
//
// An Engine (h1_engine.h, h2_engine.h) is driven by its host, which owns the socket: it is fed with
// Receive, asked to Produce when it said OutputReady, and called at the times it asked for. All on
// one thread. Handlers are started by the engine and may outlive the peer; an engine may be
// destroyed only when idle() says that none is left.

#include <sys/uio.h>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "http/exchange.h"

namespace keelson::http {

struct EngineOptions {
  uint32_t max_concurrent_streams = 250;
  uint32_t stream_window = 256 * 1024;
  uint32_t max_frame_size = 256 * 1024;
  size_t max_header_bytes = 1 << 20;
  Duration idle_timeout = std::chrono::seconds(90);
  Duration header_timeout = std::chrono::seconds(32);
  // How long an idle HTTP/1.1 connection is kept during shutdown for a request that may be on its
  // way to us, to be answered with Connection: close instead of a reset.
  Duration idle_grace = std::chrono::seconds(1);
  // Bytes waiting to be sent above which Write suspends.
  size_t write_high_water = 64 * 1024;
};

// How long after its deadline an answer may still be on its way to a slow peer.
constexpr Duration kAnswerGrace = std::chrono::seconds(5);

// Bytes gathered for one write: small pieces are copied together, larger ones referred to.
class OutputBatch {
 public:
  OutputBatch();

  void Append(std::string_view bytes);
  void Append(Slice slice);

  // Producers stop here; a batch may be somewhat larger.
  bool full() const { return size_ >= kTarget || pieces_.size() >= kMaxPieces; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const iovec> pieces() const { return pieces_; }
  std::string Flat() const;
  // What lies past the first `sent` bytes, as slices of their own.
  std::deque<Slice> Rest(size_t sent) const;
  void Clear();

 private:
  static constexpr size_t kTarget = 64 * 1024;
  static constexpr size_t kArena = 32 * 1024;
  static constexpr size_t kMaxPieces = 256;
  static constexpr size_t kCopyBelow = 256;
  void Refer(Slice slice);

  std::unique_ptr<char[]> arena_;
  size_t used_ = 0;
  size_t size_ = 0;
  std::vector<iovec> pieces_;
  std::vector<Slice> owners_;
  std::vector<int> owner_of_;  // index into owners_ per piece, -1 for the arena
};

class EngineHost {
 public:
  // There may be something to Produce, and WantsBytes may have changed: look at the end of the
  // turn.
  virtual void OutputReady() = 0;
  // Call OnTime at or after `when`, if not before.
  virtual void WakeAt(TimePoint when) = 0;
  virtual TimePoint Now() const = 0;
  virtual Executor* executor() = 0;
  virtual ConnectionInfo& info() = 0;
  // A handler has started or ended.
  virtual void OnExchange(int change) = 0;

 protected:
  ~EngineHost() = default;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual void Start() = 0;
  // Consumes all of `bytes`.
  virtual void Receive(std::string_view bytes) = 0;
  // The peer will send no more; with `broken`, it will not take anything either.
  virtual void PeerGone(bool broken) = 0;
  // The peer closed its side while it is held back; what it sent before is still to come.
  virtual void HungUp() {}
  // Appends what may be sent now, until the batch is full.
  virtual void Produce(OutputBatch& batch) = 0;
  // Returns when to be called again; TimePoint::max() for never.
  virtual TimePoint OnTime(TimePoint now) = 0;
  // Ends politely: what is under way is answered, nothing new begins.
  virtual void ShutDown() = 0;

  // False holds the peer back.
  virtual bool WantsBytes() const = 0;
  // Everything has been said: close once what was produced is sent.
  virtual bool finished() const = 0;
  // The end must look broken to the peer (an answer was cut).
  virtual bool cut() const = 0;
  // No handler and no tunnel is left.
  virtual bool idle() const = 0;
};

// One coroutine of this thread waiting for something. Waking moves it to a list that the engine
// runs where it is safe to, outside of callbacks.
using ReadyList = std::vector<std::coroutine_handle<>>;
class Waiter {
 public:
  bool waiting() const { return handle_ != nullptr; }
  void Wake(ReadyList& ready) {
    if (handle_) ready.push_back(std::exchange(handle_, nullptr));
  }
  struct Awaiter {
    Waiter* self;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle) { self->handle_ = handle; }
    void await_resume() const {}
  };
  Awaiter operator co_await() {
    KEELSON_CHECK(!handle_);
    return {this};
  }

 private:
  std::coroutine_handle<> handle_;
};
void RunReady(ReadyList& ready);

// Runs the handler; returns the text of an exception that escaped, "" without one.
Task<std::string> ServeContained(Handler& handler, Exchange& exchange);

// "Sun, 06 Nov 1994 08:49:37 GMT", renewed once a second.
std::string_view HttpDate();
// True for a status that has no body whatever the handler gives.
bool StatusForbidsBody(int status);
std::string_view ReasonPhrase(int status);

}  // namespace keelson::http
