#include "http/connection.h"

#include <algorithm>

#include "base/log.h"
#include "http/h1_engine.h"
#include "http/h2_engine.h"

namespace keelson::http {
namespace {

// How much one connection may send before others on the thread have their turn.
constexpr int kBatchesPerTurn = 8;
// After our end mark, how long the peer's last bytes are read and dropped: closing a socket with
// unread bytes resets it and may take our answer with it.
constexpr Duration kLinger = std::chrono::seconds(1);

OutputBatch& ThreadBatch() {
  thread_local OutputBatch batch;
  return batch;
}

}  // namespace

Connection::Connection(ConnectionOwner& owner, net::IoThread& thread, uint64_t id)
    : owner_(owner), thread_(thread), timer_([this] { OnTimer(); }) {
  info_.id = id;
}

Connection::~Connection() {
  if (link == nullptr) return;
  *link = next;
  if (next != nullptr) next->link = link;
}

void Connection::Begin(int fd, std::shared_ptr<const net::TlsContext> tls) {
  info_.remote_address = net::RemoteAddress(fd).ToString();
  info_.local_address = net::LocalAddress(fd).ToString();
  info_.tls = tls != nullptr;
  auto stream = net::Stream::Accepted(thread_, fd, this, std::move(tls));
  if (!stream) {
    log::Error("http: {}: {}", info_.remote_address, stream.error().message);
    return Closed();
  }
  stream_ = *std::move(stream);
  limit_ = Now() + owner_.options().handshake_timeout;
  WakeAt(limit_);
  stream_->Begin();
}

void Connection::OnOpen() {
  bool h2 = false;
  if (auto* tls = stream_->tls_session()) {
    auto facts = tls->TakeFacts();
    h2 = facts.alpn == "h2";
    info_.server_name = std::move(facts.server_name);
    if (!facts.peer_der.empty()) {
      info_.peer = std::make_shared<PeerCertificates>(PeerCertificates{
          std::move(facts.peer_der), facts.peer_verified, std::move(facts.peer_verify_error)});
    }
  }
  phase_ = Phase::kOpen;
  limit_ = TimePoint::max();
  const auto& options = owner_.options().engine;
  EngineHost& host = *this;
  if (h2) {
    engine_ = std::make_unique<H2Engine>(host, owner_.handler(), options);
  } else {
    engine_ = std::make_unique<H1Engine>(host, owner_.handler(), options);
  }
  engine_->Start();
  if (shutting_down_) engine_->ShutDown();
}

void Connection::OnBytes(std::string_view bytes) {
  if (phase_ != Phase::kOpen) return;
  engine_->Receive(bytes);
  UpdateReading();
}

void Connection::OnEnd() {
  if (phase_ == Phase::kLinger) return Closed();
  if (phase_ == Phase::kOpen) engine_->PeerGone(false);
  OutputReady();
}

void Connection::OnHangup() {
  if (phase_ == Phase::kOpen) engine_->HungUp();
}

void Connection::OnWritable() { Flush(); }

void Connection::OnError(const Error& error) {
  if (phase_ == Phase::kHandshake && stream_->tls()) {
    log::Info("http: TLS handshake error from {}: {}", info_.remote_address, error.message);
    if (auto* observer = owner_.options().observer) observer->OnHandshakeError();
  }
  Closed();
}

std::string_view Connection::OnForeignHandshake(std::string_view first_bytes) {
  // The five bytes Go looks at where a TLS record would begin.
  static constexpr std::string_view kMethods[] = {"GET /", "HEAD ", "POST ", "PUT /", "OPTIO"};
  bool http = std::ranges::any_of(kMethods, [&](auto m) { return first_bytes.starts_with(m); });
  return http ? "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
              : "";
}

void Connection::OutputReady() { thread_.AtTurnEnd(*this); }

void Connection::WakeAt(TimePoint when) {
  if (when == TimePoint::max()) return;
  if (!timer_.armed() || when < timer_.when()) thread_.timers().Arm(timer_, when);
}

void Connection::OnTimer() {
  if (phase_ == Phase::kClosed) return;
  const TimePoint now = Now();
  const auto& options = owner_.options();
  if (now >= limit_) {
    if (phase_ == Phase::kHandshake) {
      stream_->Close();
      return OnError({ErrorCode::kTimeout, "i/o timeout"});
    }
    return Closed();
  }
  if (!rest_.empty() && now >= progress_ + options.write_stall_timeout) return Kill();
  WakeAt(limit_);
  if (!rest_.empty()) WakeAt(progress_ + options.write_stall_timeout);
  if (phase_ == Phase::kOpen) WakeAt(engine_->OnTime(now));
  OutputReady();
}

bool Connection::WriteRest() {
  iovec pieces[64];
  while (!rest_.empty()) {
    size_t count = 0;
    size_t size = 0;
    for (; count < std::size(pieces) && count < rest_.size(); ++count) {
      pieces[count] = {const_cast<char*>(rest_[count].data()), rest_[count].size()};
      size += rest_[count].size();
    }
    size_t taken = stream_->Write({pieces, count});
    if (taken > 0) progress_ = Now();
    bool all = taken == size;
    while (taken > 0) {
      size_t first = rest_.front().size();
      if (taken < first) {
        rest_.front() = rest_.front().Sub(taken);
        break;
      }
      taken -= first;
      rest_.pop_front();
    }
    if (!all) return false;
  }
  return true;
}

// Returns false when the socket takes no more.
bool Connection::Write(OutputBatch& batch) {
  size_t taken = stream_->Write(batch.pieces());
  if (taken == batch.size()) return true;
  rest_ = batch.Rest(taken);
  progress_ = Now();
  WakeAt(progress_ + owner_.options().write_stall_timeout);
  return false;
}

void Connection::Flush() {
  if (phase_ == Phase::kClosed) return ReleaseIfDone();
  if (phase_ != Phase::kOpen) return;
  auto& batch = ThreadBatch();
  bool blocked = !WriteRest();
  for (int i = 0; !blocked && phase_ == Phase::kOpen; ++i) {
    if (i == kBatchesPerTurn) {
      OutputReady();
      break;
    }
    engine_->Produce(batch);
    if (batch.empty()) break;
    blocked = !Write(batch);
    batch.Clear();
  }
  batch.Clear();
  if (phase_ != Phase::kOpen) return;
  if (engine_->finished() && rest_.empty()) return CloseSoon();
  if (blocked && engine_->finished() && engine_->cut()) return CloseSoon();
  UpdateReading();
}

void Connection::UpdateReading() {
  if (phase_ != Phase::kOpen) return;
  if (engine_->WantsBytes()) {
    stream_->ResumeReading();
  } else {
    stream_->PauseReading();
  }
}

void Connection::CloseSoon() {
  if (engine_->cut()) {
    stream_->Reset();
    return Closed();
  }
  phase_ = Phase::kLinger;
  limit_ = Now() + kLinger;
  WakeAt(limit_);
  stream_->ResumeReading();
  stream_->ShutdownWrite();
}

void Connection::ShutDown() {
  shutting_down_ = true;
  if (phase_ == Phase::kOpen) engine_->ShutDown();
}

void Connection::Kill() {
  if (phase_ == Phase::kClosed) return;
  if (stream_) stream_->Reset();
  Closed();
}

void Connection::Closed() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  thread_.timers().Disarm(timer_);
  if (stream_) stream_->Close();
  rest_.clear();
  if (engine_) engine_->PeerGone(true);
  OutputReady();  // handlers may already have ended
}

void Connection::ReleaseIfDone() {
  if (engine_ && !engine_->idle()) return;  // the last handler's end calls OutputReady
  if (!std::exchange(released_, true)) owner_.Release(this);
}

}  // namespace keelson::http
