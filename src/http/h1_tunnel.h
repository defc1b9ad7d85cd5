#pragma once

// The byte stream a handler gets from Upgrade; private to the HTTP/1.1 sources. The engine and the
// stream share a state, so either may go first.

#include <deque>
#include <memory>

#include "http/h1_engine.h"

namespace keelson::http {

struct H1Engine::TunnelState {
  H1Engine* engine = nullptr;  // null once the connection is gone
  std::deque<Slice> received;
  size_t received_size = 0;
  bool ended = false;   // the peer sent its end
  bool closed = false;  // our side is done
  Waiter reader;
  Waiter writer;

  void Receive(std::string_view bytes) {
    received.push_back(Slice::Copy(bytes));
    received_size += bytes.size();
  }
};

class H1Engine::Tunnel final : public ByteStream {
 public:
  explicit Tunnel(std::shared_ptr<TunnelState> state) : state_(std::move(state)) {}
  ~Tunnel() override { Close(); }

  Task<Result<Slice>> Read() override;
  Task<Result<void>> Write(Slice bytes) override;
  void Close() override;

 private:
  std::shared_ptr<TunnelState> state_;
};

}  // namespace keelson::http
