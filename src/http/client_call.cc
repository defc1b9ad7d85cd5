#include "http/client_call.h"

#include "http/client_session.h"

namespace keelson::http {

ClientCall::~ClientCall() = default;

Task<Result<Slice>> ClientCall::Read() {
  auto self = shared_from_this();
  while (in.empty() && !in_ended && !error) co_await progress_;
  // What came before a failure is still good.
  if (!in.empty()) {
    Slice piece = std::move(in.front());
    in.pop_front();
    in_size -= piece.size();
    if (session != nullptr) session->Consumed(*this, piece.size());
    co_return piece;
  }
  if (error) co_return std::unexpected(*error);
  co_return Slice();
}

void ClientCall::Queue(Slice slice) {
  if (slice.empty() || error) return;
  out_size += slice.size();
  out.push_back(std::move(slice));
  if (session != nullptr) session->BodyQueued(*this);
}

void ClientCall::EndBody() {
  out_ended = true;
  if (session != nullptr) session->BodyQueued(*this);
}

Task<void> ClientCall::Drained() {
  auto self = shared_from_this();
  while (out_size > kHighWater && !error && session != nullptr) co_await writer_;
}

void ClientCall::BodySent(size_t size) {
  bool was_high = out_size > kHighWater;
  out_size -= size;
  if (was_high && out_size <= kHighWater) waker_->WakeLater(writer_);
}

void ClientCall::Abandon() {
  auto self = shared_from_this();
  timer.reset();
  on_stop.reset();
  if (session != nullptr) session->Abandon(*this);
  in.clear();
  in_size = 0;
  if (session != nullptr && !error) {  // a tunnel still sends what it was given
    error = Error{ErrorCode::kCancelled, "the stream was closed"};
    WakeProgress();
    waker_->WakeLater(writer_);
  } else {
    Break({ErrorCode::kCancelled, "the request was abandoned"});
  }
}

void ClientCall::GiveUp(Error why) {
  auto self = shared_from_this();
  Break(std::move(why));
  if (session != nullptr) session->Abandon(*this);
}

void ClientCall::HeadReady() {
  head_ready = true;
  WakeProgress();
}

void ClientCall::BodyPiece(Slice slice) {
  if (slice.empty()) return;
  in_size += slice.size();
  in.push_back(std::move(slice));
  WakeProgress();
}

void ClientCall::BodyEnd() {
  in_ended = true;
  timer.reset();
  WakeProgress();
  waker_->WakeLater(writer_);
}

void ClientCall::Break(Error why) {
  if (error || in_ended) return;
  error = std::move(why);
  out.clear();
  out_size = 0;
  WakeProgress();
  waker_->WakeLater(writer_);
}

}  // namespace keelson::http
