#pragma once

// A client's HTTP/1.1 connection without its socket: one call at a time, keep-alive, chunked and
// counted bodies both ways, informational answers, and after 101 a tunnel of plain bytes.
// Private to the client's sources.

#include <deque>
#include <string>

#include "http/client_session.h"
#include "http/h1_syntax.h"

namespace keelson::http {

class H1ClientSession final : public ClientSession {
 public:
  H1ClientSession(ClientSessionHost& host, const ClientSessionOptions& options)
      : host_(host), options_(options) {}
  ~H1ClientSession() override;

  void Start() override {}
  bool CanTake() const override { return state_ == State::kIdle; }
  void Begin(std::shared_ptr<ClientCall> call, const ClientRequestHead& head) override;
  void Receive(std::string_view bytes) override;
  void PeerGone(const Error* broken) override;
  void Produce(OutputBatch& batch) override;
  TimePoint OnTime(TimePoint) override { return TimePoint::max(); }
  bool WantsBytes() const override;
  bool finished() const override;
  bool idle() const override { return call_ == nullptr; }

  void BodyQueued(ClientCall&) override { host_.OutputReady(); }
  void Consumed(ClientCall&, size_t) override { host_.OutputReady(); }
  void Abandon(ClientCall& call) override;

 private:
  enum class State : uint8_t { kIdle, kHead, kBody, kTunnel, kOver };
  enum class Body : uint8_t { kCounted, kChunked, kUntilClose };

  bool ProcessHead();
  bool ProcessBody();
  bool TakeHead(size_t size);
  bool BeginBody(const H1Framing& framing, int minor);
  void EndResponse();
  void Fail(ErrorCode code, std::string_view why);
  void LetGo();

  ClientSessionHost& host_;
  const ClientSessionOptions& options_;
  State state_ = State::kIdle;
  std::shared_ptr<ClientCall> call_;

  std::string head_;      // of the request, not yet produced
  bool chunked_ = false;  // the request's body
  bool body_done_ = false;
  bool upgrade_ = false;

  std::string in_;
  size_t scan_ = 0;
  int informational_ = 0;
  Body body_ = Body::kCounted;
  uint64_t body_left_ = 0;
  ChunkDecoder chunks_;
  bool close_ = false;    // the peer closes after this answer
  bool closing_ = false;  // our side of a tunnel is closed
};

}  // namespace keelson::http
