#include "http/client_connection.h"

#include <algorithm>

#include "http/client_h1.h"
#include "http/client_h2.h"

namespace keelson::http {
namespace {

// An address that does not answer gives way to the next one after this long.
constexpr Duration kAttempt = std::chrono::seconds(2);
constexpr int kBatchesPerTurn = 8;

OutputBatch& ThreadBatch() {
  thread_local OutputBatch batch;
  return batch;
}

}  // namespace

ClientConnection::ClientConnection(Owner& owner, net::IoThread& thread,
                                   const ClientOptions& options, std::string origin)
    : owner_(owner), thread_(thread), options_(options), origin_(std::move(origin)), timer_([this] {
        OnTimer();
      }) {
  session_options_.max_header_bytes = options.max_header_bytes;
  session_options_.ping_after = options.ping_after;
  session_options_.ping_timeout = options.ping_timeout;
}

void ClientConnection::Dial(ClientTarget target, ClientResolver& resolver) {
  target_ = std::move(target);
  limit_ = Now() + options_.connect_timeout;
  attempt_limit_ = limit_;
  thread_.timers().Arm(timer_, limit_);
  if (!target_.unix_path.empty()) {
    auto address = net::Address::Unix(target_.unix_path);
    return Resolved(address ? AddressList(std::vector{*address})
                            : AddressList(std::unexpected(address.error())));
  }
  resolver.Resolve(target_.host, target_.port, thread_,
                   [weak = weak_from_this()](AddressList addresses) {
                     if (auto self = weak.lock()) self->Resolved(std::move(addresses));
                   });
}

void ClientConnection::Resolved(AddressList addresses) {
  if (phase_ != Phase::kDialing) return;
  if (!addresses) return DialFailed(addresses.error());
  addresses_ = *std::move(addresses);
  if (options_.allow) {
    std::erase_if(addresses_, [this](const auto& address) { return !options_.allow(address); });
    if (addresses_.empty()) {
      return DialFailed(Error{ErrorCode::kDenied, "address not allowed"});
    }
  }
  TryNext();
}

void ClientConnection::TryNext() {
  while (next_address_ < addresses_.size()) {
    const auto& address = addresses_[next_address_++];
    if (stream_) failed_.push_back(std::move(stream_));
    auto stream = net::Stream::Connect(thread_, address, this, target_.tls, target_.server_name);
    if (!stream) {
      last_error_ = stream.error();
      continue;
    }
    stream_ = *std::move(stream);
    bool last = next_address_ == addresses_.size();
    attempt_limit_ = last ? limit_ : std::min(limit_, Now() + kAttempt);
    thread_.timers().Arm(timer_, attempt_limit_);
    stream_->Begin();
    return;
  }
  DialFailed(last_error_);
}

void ClientConnection::DialFailed(Error error) {
  std::string where = addresses_.empty() || next_address_ == 0
                          ? fmt::format("{}:{}", target_.host, target_.port)
                          : addresses_[next_address_ - 1].ToString();
  if (!target_.unix_path.empty()) where = target_.unix_path;
  error.message = fmt::format("dial {} {}: {}", target_.unix_path.empty() ? "tcp" : "unix", where,
                              error.message);
  Closed(&error);
}

void ClientConnection::OnOpen() {
  phase_ = Phase::kOpen;
  auto* tls = stream_->tls_session();
  multiplexed_ = tls != nullptr ? tls->TakeFacts().alpn == "h2" : target_.http2_in_clear;
  ClientSessionHost& host = *this;
  if (multiplexed_) {
    session_ = std::make_unique<H2ClientSession>(host, session_options_);
  } else {
    session_ = std::make_unique<H1ClientSession>(host, session_options_);
  }
  session_->Start();
  idle_since_ = Now();
  thread_.timers().Arm(timer_, Now() + std::min(options_.idle_timeout, options_.ping_after));
  owner_.Opened(*this);
}

void ClientConnection::OnBytes(std::string_view bytes) {
  if (phase_ != Phase::kOpen) return;
  session_->Receive(bytes);
  if (!session_->WantsBytes()) stream_->PauseReading();
}

void ClientConnection::OnEnd() {
  if (phase_ != Phase::kOpen) return DialFailed({ErrorCode::kUnavailable, "EOF"});
  session_->PeerGone(nullptr);
  OutputReady();
}

void ClientConnection::OnError(const Error& error) {
  if (phase_ == Phase::kDialing) {
    last_error_ = error;
    return TryNext();
  }
  Close(error);
}

void ClientConnection::Begin(std::shared_ptr<ClientCall> call, const ClientRequestHead& head) {
  used_ = true;
  idle_since_ = Now();
  session_->Begin(std::move(call), head);
}

void ClientConnection::OnTimer() {
  const TimePoint now = Now();
  if (phase_ == Phase::kDialing) {
    last_error_ = {ErrorCode::kTimeout, "i/o timeout"};
    if (stream_) stream_->Close();
    return now >= limit_ ? DialFailed(last_error_) : TryNext();
  }
  if (phase_ != Phase::kOpen) return;
  if (!session_->idle()) idle_since_ = now;
  if (now >= idle_since_ + options_.idle_timeout) {
    return Close({ErrorCode::kUnavailable, "idle connection closed"});
  }
  TimePoint next = std::min(session_->OnTime(now), idle_since_ + options_.idle_timeout);
  thread_.timers().Arm(timer_, next);
  OutputReady();
}

bool ClientConnection::WriteRest() {
  while (!rest_.empty()) {
    iovec piece{const_cast<char*>(rest_.front().data()), rest_.front().size()};
    size_t taken = stream_->Write({&piece, 1});
    if (taken < rest_.front().size()) {
      rest_.front() = rest_.front().Sub(taken);
      return false;
    }
    rest_.pop_front();
  }
  return true;
}

void ClientConnection::Flush() {
  if (phase_ != Phase::kOpen) return;
  auto& batch = ThreadBatch();
  bool blocked = !WriteRest();
  for (int i = 0; !blocked; ++i) {
    if (i == kBatchesPerTurn) {
      OutputReady();
      break;
    }
    session_->Produce(batch);
    if (batch.empty()) break;
    size_t taken = stream_->Write(batch.pieces());
    if (taken < batch.size()) {
      rest_ = batch.Rest(taken);
      blocked = true;
    }
    batch.Clear();
  }
  batch.Clear();
  if (session_->finished() && rest_.empty()) {
    return Close({ErrorCode::kUnavailable, "connection closed"});
  }
  if (session_->WantsBytes()) stream_->ResumeReading();
}

void ClientConnection::Close(const Error& why) {
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kDialing) return Closed(&why);
  session_->PeerGone(&why);
  Closed(nullptr);
}

void ClientConnection::Closed(const Error* dial_error) {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  auto self = shared_from_this();
  thread_.timers().Disarm(timer_);
  // What was sent last, a GOAWAY or a tunnel's end, is followed by an orderly end.
  if (stream_) {
    if (dial_error == nullptr && !stream_->closed()) stream_->ShutdownWrite();
    stream_->Close();
  }
  rest_.clear();
  owner_.Gone(*this, dial_error);
}

}  // namespace keelson::http
