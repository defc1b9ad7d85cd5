#pragma once

// A connected socket, in clear or under TLS, client or server: the one thing protocols talk to.
//
// Bytes are pushed to a StreamHandler as they arrive, from buffers of the io thread, so an idle
// stream holds none. Everything happens on the io thread that the stream was made on. A handler may
// Close the stream in any callback, but must not destroy it there: post its destruction.

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/address.h"
#include "net/io_thread.h"
#include "net/tls_context.h"
#include "net/tls_session.h"

namespace keelson::net {

class StreamHandler {
 public:
  // Connected and, under TLS, the handshake is done: facts are there, Write may be called.
  virtual void OnOpen() = 0;
  // Bytes from the peer, valid during the call.
  virtual void OnBytes(std::string_view bytes) = 0;
  // The peer will send no more. The other direction is still open.
  virtual void OnEnd() = 0;
  // The peer has closed while reading is paused; bytes may still be waiting. OnEnd or OnError
  // follow once reading goes on.
  virtual void OnHangup() {}
  // A Write that fell short can go on.
  virtual void OnWritable() = 0;
  // Everything written and the end mark of ShutdownWrite are with the kernel.
  // May be called from within ShutdownWrite.
  virtual void OnWriteShutdown() {}
  // The connection broke or could not be made. Nothing follows; the stream is closed.
  virtual void OnError(const Error& error) = 0;
  // The first bytes a TLS server received are not TLS. What is returned is sent in clear before
  // the stream fails.
  virtual std::string_view OnForeignHandshake(std::string_view first_bytes) { return {}; }

 protected:
  ~StreamHandler() = default;
};

class Stream final : private FdHandler, private TurnEnd {
 public:
  // Takes over an accepted socket, also when it fails. OnOpen follows Begin, at once in clear and
  // after the handshake under TLS.
  static Result<std::unique_ptr<Stream>> Accepted(IoThread& thread, int fd, StreamHandler* handler,
                                                  std::shared_ptr<const TlsContext> tls);
  // Begins to connect; OnOpen or OnError follow. `server_name` is for TLS.
  static Result<std::unique_ptr<Stream>> Connect(IoThread& thread, const Address& address,
                                                 StreamHandler* handler,
                                                 std::shared_ptr<const TlsContext> tls,
                                                 const std::string& server_name);
  ~Stream();  // closes

  // Starts the flow of events; called once, when the owner is ready for callbacks.
  void Begin();

  // Takes as many bytes of `pieces` as can be sent now and returns their number; when it is less
  // than all, OnWritable follows. The rest stays with the caller. Under TLS a call is taken whole
  // or not at all, so callers pass a limited batch and go on until one is not taken.
  size_t Write(std::span<const iovec> pieces);
  // No Write follows: the end mark (close_notify, FIN) goes out after what was written.
  void ShutdownWrite();

  // While paused the peer is held back by TCP. At most one buffer of bytes arrives after a Pause.
  void PauseReading() { paused_ = true; }
  void ResumeReading();

  // Ends it at once, without callbacks. Unsent bytes are lost.
  void Close();
  // The same with a reset instead of an orderly end, so that the peer sees a broken connection.
  void Reset();

  bool closed() const { return fd_ < 0; }
  bool tls() const { return tls_ != nullptr; }
  TlsSession* tls_session() { return tls_.get(); }
  IoThread& thread() { return thread_; }
  int fd() const { return fd_; }

 private:
  enum class Phase : uint8_t { kNew, kConnecting, kHandshake, kOpen };

  Stream(IoThread& thread, int fd, StreamHandler* handler)
      : thread_(thread), handler_(handler), fd_(fd) {}
  void OnEvents(uint32_t events) override;
  void OnTurnEnd() override;
  void Connected();
  void ReadSome();
  bool Deliver(std::string_view bytes);
  bool DeliverTls(std::string_view cipher);
  bool AnswerForeign(std::string_view first_bytes);
  size_t SendSome(std::string_view bytes);
  void SendCipher();
  void FlushPending();
  void BreakLater(int error_number);
  size_t WritePlain(std::span<const iovec> pieces);
  size_t WriteTls(std::span<const iovec> pieces);
  void FinishShutdown();
  void Break(Error error);

  IoThread& thread_;
  StreamHandler* handler_;
  std::unique_ptr<TlsSession> tls_;
  std::string pending_;  // encrypted, but not yet taken by the kernel
  TimePoint last_write_{};
  int fd_;
  int broken_ = 0;  // errno of a failed write, not yet told
  Phase phase_ = Phase::kNew;
  bool readable_ = false;  // the kernel may hold bytes for us
  bool paused_ = false;
  bool blocked_ = false;     // a write fell short
  bool hung_up_ = false;     // the peer's end has been seen by epoll
  bool ended_ = false;       // OnEnd was called
  bool shutting_ = false;    // ShutdownWrite was called
  bool shut_ = false;        // and carried out
  bool first_bytes_ = true;  // nothing received yet
};

}  // namespace keelson::net
