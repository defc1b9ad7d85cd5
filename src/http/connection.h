#pragma once

// A server's connection: a socket, the engine of the protocol it negotiated, and the time limits
// that belong to neither. Lives on one io thread; private to this module.

#include <deque>
#include <memory>
#include <string>

#include "http/engine.h"
#include "http/server.h"
#include "net/stream.h"

namespace keelson::http {

// What the connections of one io thread share.
class ConnectionOwner {
 public:
  virtual const ServerOptions& options() const = 0;
  virtual Handler& handler() = 0;
  virtual void ExchangesChanged(int change) = 0;
  // The connection is closed and no handler runs: free it, but not before this turn has ended.
  virtual void Release(class Connection* connection) = 0;

 protected:
  ~ConnectionOwner() = default;
};

class Connection final : private net::StreamHandler, private EngineHost, private net::TurnEnd {
 public:
  Connection(ConnectionOwner& owner, net::IoThread& thread, uint64_t id);
  ~Connection();

  // Takes over `fd`; the connection may already be on its way out when this returns.
  void Begin(int fd, std::shared_ptr<const net::TlsContext> tls);
  // Ends politely.
  void ShutDown();
  // Ends at once; handlers are cancelled.
  void Kill();

  Connection* next = nullptr;
  Connection** link = nullptr;  // in the owner's list

 private:
  enum class Phase : uint8_t { kHandshake, kOpen, kLinger, kClosed };

  // net::StreamHandler
  void OnOpen() override;
  void OnBytes(std::string_view bytes) override;
  void OnEnd() override;
  void OnHangup() override;
  void OnWritable() override;
  void OnError(const Error& error) override;
  std::string_view OnForeignHandshake(std::string_view first_bytes) override;
  // EngineHost
  void OutputReady() override;
  void WakeAt(TimePoint when) override;
  TimePoint Now() const override { return thread_.Now(); }
  Executor* executor() override { return &thread_; }
  ConnectionInfo& info() override { return info_; }
  void OnExchange(int change) override { owner_.ExchangesChanged(change); }
  // net::TurnEnd
  void OnTurnEnd() override { Flush(); }

  void OnTimer();
  void Flush();
  bool WriteRest();
  bool Write(OutputBatch& batch);
  void UpdateReading();
  void CloseSoon();
  void Closed();
  void ReleaseIfDone();

  ConnectionOwner& owner_;
  net::IoThread& thread_;
  ConnectionInfo info_;
  std::unique_ptr<net::Stream> stream_;
  std::unique_ptr<Engine> engine_;
  std::deque<Slice> rest_;  // produced, not yet taken by the socket
  net::Timer timer_;
  TimePoint limit_ = TimePoint::max();     // of the handshake or the linger
  TimePoint progress_ = TimePoint::max();  // when the socket stopped taking bytes
  Phase phase_ = Phase::kHandshake;
  bool shutting_down_ = false;
  bool released_ = false;
};

}  // namespace keelson::http
