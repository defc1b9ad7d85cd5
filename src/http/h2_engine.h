#pragma once

// A server's HTTP/2 connection without its socket, on nghttp2.
//
// Requests run as soon as their headers are whole. Answers go from their slices into the batch
// without passing through nghttp2's buffers. What a hostile peer can make us keep or do is bounded:
// frames that carry no work (PING, SETTINGS, PRIORITY, empty DATA, unknown types) and streams that
// die before their answer draw on budgets that refill slowly; handlers running beyond the stream
// limit (because their streams were reset) hold back new ones; header lists, CONTINUATION frames
// and queued acknowledgements have limits. Whoever passes one gets GOAWAY with ENHANCE_YOUR_CALM.

#include <nghttp2/nghttp2.h>

#include <deque>
#include <memory>
#include <vector>

#include "base/gate.h"
#include "http/engine.h"

namespace keelson::http {

class H2Engine final : public Engine {
 public:
  H2Engine(EngineHost& host, Handler& handler, const EngineOptions& options);
  ~H2Engine() override;

  void Start() override;
  void Receive(std::string_view bytes) override;
  void PeerGone(bool broken) override;
  void Produce(OutputBatch& batch) override;
  TimePoint OnTime(TimePoint now) override;
  void ShutDown() override;
  bool WantsBytes() const override { return true; }  // flow control holds bodies back
  bool finished() const override;
  bool cut() const override { return false; }
  bool idle() const override { return running_ == 0 && gate_.active() == 0; }

  size_t open_streams() const { return open_; }

 private:
  class Stream;
  struct Callbacks;

  // Tokens that refill with time.
  struct Budget {
    double tokens;
    double burst;
    double per_second;
    TimePoint last;
    bool Take(TimePoint now);
  };

  bool FramesWithinBudget(std::string_view bytes);
  bool FrameCarriesWork() const;
  void StartWaiting();
  Task<void> RunStream(Stream* stream);
  void StreamClosed(Stream* stream, uint32_t error_code);
  void ReleaseIfDone(Stream* stream);
  void Settle();
  void ArmDeadline(const Exchange& exchange);
  void Terminate(uint32_t error_code);
  void FinalGoaway();
  void LogFailure(std::string_view what);

  EngineHost& host_;
  Handler& handler_;
  const EngineOptions& options_;
  Gate gate_;
  ReadyList ready_;
  nghttp2_session* session_ = nullptr;
  OutputBatch* batch_ = nullptr;  // during Produce

  Stream* streams_ = nullptr;              // all that are open or still run
  std::deque<Stream*> waiting_;            // whole headers, not yet started
  std::vector<Stream*> done_;              // to be freed where nobody holds them
  std::vector<std::stop_source> cancels_;  // requested where handlers may run
  int32_t last_request_ = 0;
  size_t open_ = 0;     // streams known to nghttp2
  size_t running_ = 0;  // handlers

  size_t skip_ = 24;  // bytes until the next frame's head; first the preface
  uint8_t head_[9];
  size_t head_size_ = 0;
  uint8_t frame_type_ = NGHTTP2_SETTINGS;  // of the last frame seen
  uint8_t frame_flags_ = 0;
  Budget idle_frames_;
  Budget lost_streams_;
  TimePoint since_;         // the connection began, or became idle
  TimePoint header_since_;  // an unfinished header block began
  TimePoint notice_;        // the first GOAWAY of a shutdown was submitted
  bool in_headers_ = false;
  bool terminated_ = false;  // nothing more is taken in
  bool greeted_ = false;     // the peer's SETTINGS have arrived
  bool shutting_down_ = false;
  bool final_goaway_ = false;
  bool over_ = false;  // the peer is gone or the session failed
};

}  // namespace keelson::http
