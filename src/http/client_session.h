#pragma once

// The protocol half of a client's connection: calls in, bytes out, bytes in, answers. No sockets.
// Private to the client's sources. Driven by a ClientConnection as a server's Engine is by its
// host; one io thread.

#include <memory>
#include <string_view>

#include "http/client_call.h"
#include "http/engine.h"

namespace keelson::http {

struct ClientSessionOptions {
  size_t max_header_bytes = 1 << 20;
  uint32_t stream_window = 1 << 20;       // HTTP/2
  uint32_t connection_window = 16 << 20;  // HTTP/2
  // Without a byte from the peer for this long, an HTTP/2 connection is pinged; without an answer
  // to that for so long, it is dead.
  Duration ping_after = std::chrono::seconds(30);
  Duration ping_timeout = std::chrono::seconds(15);
};

class ClientSessionHost {
 public:
  // There may be something to Produce, and WantsBytes or finished may have changed.
  virtual void OutputReady() = 0;
  virtual TimePoint Now() const = 0;
  // CanTake may have become true.
  virtual void CapacityChanged() = 0;

 protected:
  ~ClientSessionHost() = default;
};

class ClientSession {
 public:
  virtual ~ClientSession() = default;

  virtual void Start() = 0;
  // Whether another call may begin now.
  virtual bool CanTake() const = 0;
  virtual void Begin(std::shared_ptr<ClientCall> call, const ClientRequestHead& head) = 0;

  virtual void Receive(std::string_view bytes) = 0;
  // The peer will send no more. `broken` says why; null for an orderly end.
  virtual void PeerGone(const Error* broken) = 0;
  virtual void Produce(OutputBatch& batch) = 0;
  // Returns when to be called again; TimePoint::max() for never.
  virtual TimePoint OnTime(TimePoint now) = 0;
  virtual bool WantsBytes() const = 0;
  // Close once what was produced is sent.
  virtual bool finished() const = 0;
  // No call is under way.
  virtual bool idle() const = 0;

  // --- from calls
  virtual void BodyQueued(ClientCall& call) = 0;
  virtual void Consumed(ClientCall& call, size_t size) = 0;
  virtual void Abandon(ClientCall& call) = 0;
};

// Fields that belong to the connection or are written by the session itself.
bool IsFramingField(std::string_view name);

}  // namespace keelson::http
