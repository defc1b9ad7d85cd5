#pragma once

// A client's connection: a socket, from name look-up to close, and the session it carries. Private
// to the client's sources; one io thread.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "http/client.h"
#include "http/client_resolver.h"
#include "http/client_session.h"
#include "net/stream.h"

namespace keelson::http {

// Where a connection leads to, and how.
struct ClientTarget {
  std::string unix_path;  // when not empty, host and port do not count
  std::string host;
  uint16_t port = 0;
  std::shared_ptr<const net::TlsContext> tls;  // null in clear
  bool http2_in_clear = false;
  std::string server_name;
};

class ClientConnection final : public std::enable_shared_from_this<ClientConnection>,
                               private net::StreamHandler,
                               private ClientSessionHost,
                               private net::TurnEnd {
 public:
  // What the pool wants to hear of its connections.
  class Owner {
   public:
    virtual void Opened(ClientConnection& connection) = 0;
    virtual void CapacityChanged(ClientConnection& connection) = 0;
    // The connection is out of use. `error` is set when it never opened. The owner keeps it alive
    // to the end of the turn.
    virtual void Gone(ClientConnection& connection, const Error* error) = 0;

   protected:
    ~Owner() = default;
  };

  ClientConnection(Owner& owner, net::IoThread& thread, const ClientOptions& options,
                   std::string origin);
  ~ClientConnection() = default;

  void Dial(ClientTarget target, ClientResolver& resolver);
  void Begin(std::shared_ptr<ClientCall> call, const ClientRequestHead& head);
  void Close(const Error& why);

  const std::string& origin() const { return origin_; }
  bool open() const { return phase_ == Phase::kOpen; }
  bool CanTake() const { return open() && session_->CanTake() && !session_->finished(); }
  bool idle() const { return open() && session_->idle(); }
  bool multiplexed() const { return multiplexed_; }
  bool used() const { return used_; }

 private:
  enum class Phase : uint8_t { kDialing, kOpen, kClosed };

  // net::StreamHandler
  void OnOpen() override;
  void OnBytes(std::string_view bytes) override;
  void OnEnd() override;
  void OnWritable() override { Flush(); }
  void OnError(const Error& error) override;
  // ClientSessionHost
  void OutputReady() override { thread_.AtTurnEnd(*this); }
  TimePoint Now() const override { return thread_.Now(); }
  void CapacityChanged() override {
    idle_since_ = Now();
    owner_.CapacityChanged(*this);
  }
  // net::TurnEnd
  void OnTurnEnd() override { Flush(); }

  void Resolved(AddressList addresses);
  void TryNext();
  void OnTimer();
  void Flush();
  bool WriteRest();
  void DialFailed(Error error);
  void Closed(const Error* dial_error);

  Owner& owner_;
  net::IoThread& thread_;
  const ClientOptions& options_;
  const std::string origin_;
  ClientTarget target_;
  std::vector<net::Address> addresses_;
  size_t next_address_ = 0;
  Error last_error_;

  std::unique_ptr<net::Stream> stream_;
  std::vector<std::unique_ptr<net::Stream>> failed_;  // kept until they may be destroyed
  ClientSessionOptions session_options_;
  std::unique_ptr<ClientSession> session_;
  std::deque<Slice> rest_;
  net::Timer timer_;
  TimePoint limit_;          // of dialing
  TimePoint attempt_limit_;  // of the current address
  TimePoint idle_since_;
  Phase phase_ = Phase::kDialing;
  bool multiplexed_ = false;
  bool used_ = false;
};

}  // namespace keelson::http
