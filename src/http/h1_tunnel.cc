#include "http/h1_tunnel.h"

namespace keelson::http {

Task<Result<Slice>> H1Engine::Tunnel::Read() {
  auto state = state_;
  while (state->received.empty() && !state->ended && !state->closed && state->engine != nullptr) {
    co_await state->reader;
  }
  if (state->closed) co_return Fail(ErrorCode::kCancelled, "the stream was closed");
  if (state->received.empty()) {
    if (state->ended) co_return Slice();
    co_return Fail(ErrorCode::kUnavailable, "the connection is gone");
  }
  Slice piece = std::move(state->received.front());
  state->received.pop_front();
  state->received_size -= piece.size();
  if (state->engine != nullptr) state->engine->host_.OutputReady();
  co_return piece;
}

Task<Result<void>> H1Engine::Tunnel::Write(Slice bytes) {
  auto state = state_;
  if (state->engine != nullptr && !state->closed) state->engine->Push(std::move(bytes));
  while (state->engine != nullptr && !state->closed &&
         state->engine->out_size_ > state->engine->options_.write_high_water) {
    co_await state->writer;
  }
  if (state->engine == nullptr || state->closed) {
    co_return Fail(ErrorCode::kUnavailable, "the connection is gone");
  }
  co_return Result<void>();
}

void H1Engine::Tunnel::Close() {
  if (std::exchange(state_->closed, true)) return;
  H1Engine* engine = state_->engine;
  if (engine == nullptr) return;
  state_->reader.Wake(engine->ready_);
  state_->writer.Wake(engine->ready_);
  engine->tunnel_ = nullptr;
  state_->engine = nullptr;
  engine->Finish(false);
}

}  // namespace keelson::http
