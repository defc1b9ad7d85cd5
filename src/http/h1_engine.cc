#include "http/h1_engine.h"

#include <algorithm>

#include "http/h1_call.h"
#include "http/h1_tunnel.h"

namespace keelson::http {
namespace {

constexpr size_t kBodyBuffer = 64 * 1024;      // received body bytes that wait for the handler
constexpr size_t kPipelineBuffer = 64 * 1024;  // later requests that wait for their turn
constexpr uint64_t kMaxDiscard = 256 * 1024;   // of a body nobody reads
constexpr TimePoint kNever = TimePoint::max();

}  // namespace

H1Engine::H1Engine(EngineHost& host, Handler& handler, const EngineOptions& options)
    : host_(host), handler_(handler), options_(options) {}

H1Engine::~H1Engine() {
  KEELSON_CHECK(gate_.active() == 0);
  if (tunnel_) {
    tunnel_->engine = nullptr;
    tunnel_->reader.Wake(ready_);
    tunnel_->writer.Wake(ready_);
    RunReady(ready_);
  }
}

void H1Engine::Start() {
  since_ = host_.Now();
  host_.WakeAt(since_ + options_.header_timeout);
}

bool H1Engine::idle() const { return gate_.active() == 0 && !tunnel_; }

bool H1Engine::WantsBytes() const {
  switch (state_) {
    case State::kHead:
    case State::kOver:
      return true;
    case State::kBody:
      return call_->body_waiting() < kBodyBuffer;
    case State::kAnswer:
      return in_.size() < kPipelineBuffer;
    case State::kTunnel:
      return tunnel_ == nullptr || tunnel_->received_size < kBodyBuffer;
  }
  return true;
}

void H1Engine::Receive(std::string_view bytes) {
  if (state_ == State::kOver) return;  // lingering: read and dropped
  if (state_ == State::kTunnel) {
    if (tunnel_) {
      tunnel_->Receive(bytes);
      tunnel_->reader.Wake(ready_);
    }
  } else {
    if (state_ == State::kHead && in_.empty() && served_) {
      since_ = host_.Now();  // the idle time is over, the head's time begins
      host_.WakeAt(since_ + options_.header_timeout);
    }
    in_ += bytes;
    Process();
  }
  RunReady(ready_);
}

void H1Engine::Process() {
  if (processing_) return;
  processing_ = true;
  bool more = true;
  while (more) {
    switch (state_) {
      case State::kHead:
        more = ProcessHead();
        break;
      case State::kBody:
        more = ProcessBody();
        break;
      default:
        more = false;
    }
  }
  processing_ = false;
  if (in_.empty() && in_.capacity() > 64) in_ = {};  // an idle connection keeps no buffer
}

bool H1Engine::ProcessHead() {
  if (in_.empty()) return false;
  size_t size = FindHeadEnd(in_, scan_);
  if (size == std::string_view::npos) {
    Refuse({400, ""});
    return false;
  }
  // Go's limit leaves 4 KiB of slack for the request line.
  if ((size == 0 ? in_.size() : size) > options_.max_header_bytes + 4096) {
    Refuse({431, ""});
    return false;
  }
  return size != 0 && TakeHead(size);
}

bool H1Engine::TakeHead(size_t size) {
  std::string head = in_.substr(0, size);
  in_.erase(0, size);
  scan_ = 0;
  auto call = std::make_unique<Call>(*this, std::move(head));
  if (auto refusal = call->Parse()) {
    Refuse(*refusal);
    return false;
  }
  BeginCall(std::move(call));
  return true;
}

void H1Engine::BeginCall(std::unique_ptr<Call> call) {
  const auto& framing = call->head().framing;
  chunks_ = {};
  discarded_ = 0;
  body_left_ = framing.content_length.value_or(0);
  state_ = framing.chunked || body_left_ > 0 ? State::kBody : State::kAnswer;
  served_ = true;
  call_ = std::move(call);
  host_.OnExchange(+1);
  gate_.Spawn(nullptr, RunCall(call_.get()));
  // Set by the pipeline before it first waits.
  if (call_) ArmDeadline(call_->exchange());
}

Task<void> H1Engine::RunCall(Call* call) {
  auto failure = co_await ServeContained(handler_, call->exchange());
  host_.OnExchange(-1);
  call->HandlerDone(failure);
  EndCallIfDone();
  host_.OutputReady();  // who waits for the last handler of a lost peer looks now
}

bool H1Engine::ProcessBody() {
  const bool chunked = call_->head().framing.chunked;
  std::string_view input = in_;
  auto deliver = [this](std::string_view piece) {
    if (call_->handler_done()) {
      discarded_ += piece.size();
    } else {
      call_->BodyPiece(piece);
    }
  };
  bool ended = false;
  if (chunked) {
    while (!input.empty() && !chunks_.done() && !chunks_.failed()) {
      auto piece = chunks_.Next(input);
      if (!piece.empty()) deliver(piece);
    }
    ended = chunks_.done();
  } else {
    auto piece = input.substr(0, static_cast<size_t>(std::min<uint64_t>(body_left_, input.size())));
    input.remove_prefix(piece.size());
    body_left_ -= piece.size();
    if (!piece.empty()) deliver(piece);
    ended = body_left_ == 0;
  }
  in_.erase(0, in_.size() - input.size());
  if (chunked && chunks_.failed()) {
    state_ = State::kOver;
    in_.clear();
    call_->PeerGone({ErrorCode::kInvalid, "malformed chunked encoding"}, false);
    EndCallIfDone();
    return false;
  }
  if (ended) {
    state_ = State::kAnswer;
    call_->BodyEnd();
    EndCallIfDone();
    return state_ == State::kHead;
  }
  if (discarded_ > kMaxDiscard) Finish(false);
  return false;
}

// Called whenever the handler, the answer or the request's body may have come to an end.
void H1Engine::EndCallIfDone() {
  if (!call_ || !call_->handler_done() || !call_->answered()) return;
  if (state_ == State::kTunnel) {
    call_.reset();
    host_.OutputReady();
    return;
  }
  auto deadline = call_->exchange().deadline;
  answer_deadline_ = deadline ? std::max(*deadline, host_.Now()) + kAnswerGrace : kNever;
  if (call_->close_after() || peer_ended_ || finished_) {
    call_.reset();
    Finish(false);
    return;
  }
  if (state_ == State::kBody) return;  // the rest of the body is read and dropped
  call_.reset();
  state_ = State::kHead;
  since_ = host_.Now();
  if (shutting_down_) grace_ = since_ + options_.idle_grace;
  host_.WakeAt(WaitLimit());
  host_.OutputReady();  // a pipelined request may be waiting
}

void H1Engine::Refuse(const H1Refusal& refusal) {
  std::string text = fmt::format("{} {}", refusal.status, ReasonPhrase(refusal.status));
  std::string body = refusal.reason.empty() ? text : fmt::format("{}: {}", text, refusal.reason);
  Push(
      Slice::Own(fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\n"
                             "Connection: close\r\n\r\n{}",
                             text, body)));
  Finish(false);
}

void H1Engine::Push(Slice slice) {
  if (finished_ || slice.empty()) return;
  out_size_ += slice.size();
  out_.push_back(std::move(slice));
  host_.OutputReady();
}

void H1Engine::HungUp() {
  if (state_ == State::kAnswer && call_) call_->Cancel();
  RunReady(ready_);
}

void H1Engine::Finish(bool cut) {
  if (cut) {
    cut_ = true;
    out_.clear();
    out_size_ = 0;
  }
  finished_ = true;
  state_ = State::kOver;
  in_ = {};
  host_.OutputReady();
}

void H1Engine::PeerGone(bool broken) {
  peer_ended_ = true;
  Error why{ErrorCode::kCancelled, "the client went away"};
  if (call_) call_->PeerGone(why, broken);
  if (tunnel_) {
    tunnel_->ended = true;
    if (broken) tunnel_->engine = nullptr;
    tunnel_->reader.Wake(ready_);
    tunnel_->writer.Wake(ready_);
    if (broken) tunnel_ = nullptr;
  }
  if (broken) {
    Finish(true);
  } else if (state_ == State::kHead) {
    Finish(false);
  } else if (state_ == State::kBody) {
    state_ = State::kOver;
    EndCallIfDone();
  }
  RunReady(ready_);
}

void H1Engine::Produce(OutputBatch& batch) {
  if (!in_.empty() && (state_ == State::kHead || state_ == State::kBody)) Process();
  while (!out_.empty() && !batch.full()) {
    out_size_ -= out_.front().size();
    batch.Append(std::move(out_.front()));
    out_.pop_front();
  }
  if (call_) call_->OutputDrained();
  if (tunnel_ && out_size_ <= options_.write_high_water) tunnel_->writer.Wake(ready_);
  RunReady(ready_);
}

// Until when a request, or the rest of its head, may take to arrive.
TimePoint H1Engine::WaitLimit() const {
  bool between = in_.empty() && served_;
  auto limit = since_ + (between ? options_.idle_timeout : options_.header_timeout);
  return shutting_down_ && in_.empty() ? std::min(limit, grace_) : limit;
}

TimePoint H1Engine::OnTime(TimePoint now) {
  TimePoint next = kNever;
  if (state_ == State::kHead && !call_) {
    next = WaitLimit();
    if (now >= next) {
      Finish(false);
      next = kNever;
    }
  }
  if (!out_.empty() && !call_) {
    // The handler has done its part and the peer does not take it.
    if (now >= answer_deadline_) {
      Finish(true);
    } else {
      next = std::min(next, answer_deadline_);
    }
  }
  if (call_ && call_->exchange().deadline) {
    auto deadline = *call_->exchange().deadline;
    if (now < deadline) {
      next = std::min(next, deadline);
    } else {
      call_->Cancel();
    }
  }
  RunReady(ready_);
  return next;
}

void H1Engine::ArmDeadline(const Exchange& exchange) {
  if (exchange.deadline) host_.WakeAt(*exchange.deadline);
}

void H1Engine::ShutDown() {
  if (std::exchange(shutting_down_, true)) return;
  grace_ = host_.Now() + options_.idle_grace;
  host_.WakeAt(grace_);
}

}  // namespace keelson::http
