#pragma once

// A server's HTTP/1.1 connection without its socket: keep-alive, pipelining, chunked bodies both
// ways, Expect: 100-continue, Upgrade. One request is served at a time; pipelined ones wait in a
// bounded buffer, then the peer is held back.

#include <deque>
#include <memory>
#include <string>

#include "base/gate.h"
#include "http/engine.h"
#include "http/h1_syntax.h"

namespace keelson::http {

class H1Engine final : public Engine {
 public:
  H1Engine(EngineHost& host, Handler& handler, const EngineOptions& options);
  ~H1Engine() override;

  void Start() override;
  void Receive(std::string_view bytes) override;
  void PeerGone(bool broken) override;
  void HungUp() override;
  void Produce(OutputBatch& batch) override;
  TimePoint OnTime(TimePoint now) override;
  void ShutDown() override;
  bool WantsBytes() const override;
  bool finished() const override { return finished_ && out_.empty(); }
  bool cut() const override { return cut_; }
  bool idle() const override;

 private:
  class Call;
  class Tunnel;
  struct TunnelState;
  enum class State : uint8_t {
    kHead,    // between requests, or in a request's head
    kBody,    // in a request's body
    kAnswer,  // the request is whole, its answer is not
    kTunnel,  // handed over by Upgrade
    kOver,    // nothing more is read
  };

  void Process();
  bool ProcessHead();
  bool ProcessBody();
  bool TakeHead(size_t size);
  void BeginCall(std::unique_ptr<Call> call);
  Task<void> RunCall(Call* call);
  void EndCallIfDone();
  void Refuse(const H1Refusal& refusal);
  void Push(Slice slice);
  void Finish(bool cut);
  void ArmDeadline(const Exchange& exchange);
  TimePoint WaitLimit() const;

  EngineHost& host_;
  Handler& handler_;
  const EngineOptions& options_;
  Gate gate_;
  ReadyList ready_;

  State state_ = State::kHead;
  std::string in_;   // received, not yet consumed
  size_t scan_ = 0;  // how far the search for the head's end came
  ChunkDecoder chunks_;
  uint64_t body_left_ = 0;
  uint64_t discarded_ = 0;  // body bytes nobody wanted
  std::unique_ptr<Call> call_;
  std::shared_ptr<TunnelState> tunnel_;

  std::deque<Slice> out_;
  size_t out_size_ = 0;
  TimePoint since_;  // when waiting for a head, or for its rest, began
  TimePoint grace_;  // during shutdown: until when to wait for a request
  TimePoint answer_deadline_ = TimePoint::max();  // of the last answer, when it is still unsent
  bool served_ = false;                           // a request has been served
  bool processing_ = false;
  bool shutting_down_ = false;
  bool peer_ended_ = false;
  bool finished_ = false;
  bool cut_ = false;
};

}  // namespace keelson::http
