#include "http/h1_call.h"

#include <algorithm>

#include "base/log.h"
#include "http/h1_tunnel.h"

namespace keelson::http {
namespace {

// A body that nobody reads is worth this many bytes to keep the connection, as in Go.
constexpr uint64_t kWorthDiscarding = 256 * 1024;

// "content-type" as "Content-Type": what Go's servers write.
void AppendCanonical(std::string& out, std::string_view name) {
  bool upper = true;
  for (char c : name) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    upper = c == '-';
    out += c;
  }
}

void AppendField(std::string& out, std::string_view name, std::string_view value) {
  AppendCanonical(out, name);
  out += ": ";
  // A handler's value must not be able to end its line.
  for (char c : value) out += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
  out += "\r\n";
}

}  // namespace

std::optional<H1Refusal> H1Engine::Call::Parse() {
  auto& request = exchange_.request;
  if (auto refusal = ParseRequestHead(bytes_.data(), bytes_.size(), head_, request.headers)) {
    return refusal;
  }
  request.method = head_.method;
  request.target = head_.target;
  auto question = head_.target.find('?');
  request.path = head_.target.substr(0, question);
  if (question != std::string_view::npos) request.raw_query = head_.target.substr(question + 1);
  request.host = head_.host;
  request.protocol = Protocol::kHttp1;
  if (!head_.framing.chunked) request.content_length = head_.framing.content_length.value_or(0);
  request.connection = &engine_.host_.info();
  request.received = engine_.host_.Now();
  exchange_.body = this;
  exchange_.response = this;
  exchange_.executor = engine_.host_.executor();
  close_ = head_.framing.close || (head_.minor == 0 && !head_.framing.keep_alive);
  body_ended_ = request.content_length == 0;
  continue_owed_ = head_.expect_continue && !body_ended_;
  return std::nullopt;
}

void H1Engine::Call::BodyPiece(std::string_view bytes) {
  body_.push_back(Slice::Copy(bytes));
  body_size_ += bytes.size();
  reader_.Wake(engine_.ready_);
}

void H1Engine::Call::BodyEnd() {
  body_ended_ = true;
  reader_.Wake(engine_.ready_);
}

void H1Engine::Call::PeerGone(Error why, bool broken) {
  if (!body_ended_ && !gone_) gone_ = why;
  if (broken) {
    gone_ = std::move(why);
    broken_ = true;
    writer_.Wake(engine_.ready_);
  }
  close_ = true;
  reader_.Wake(engine_.ready_);
  Cancel();
}

void H1Engine::Call::Cancel() {
  // The handler may end, and this call with it, before request_stop returns.
  auto cancelled = exchange_.cancelled;
  cancelled.request_stop();
}

void H1Engine::Call::OutputDrained() {
  if (engine_.out_size_ <= engine_.options_.write_high_water) writer_.Wake(engine_.ready_);
}

void H1Engine::Call::HandlerDone(const std::string& failure) {
  handler_done_ = true;
  if (!failure.empty()) {
    log::Error("http: panic serving {}: {}", engine_.host_.info().remote_address, failure);
  } else if (!ended_ && !broken_) {
    log::Error("http: no complete answer to {} {}", exchange_.request.method,
               exchange_.request.path);
  }
  Abort();
}

Task<Result<Slice>> H1Engine::Call::Read() {
  engine_.ArmDeadline(exchange_);
  if (std::exchange(continue_owed_, false) && !started()) {
    engine_.Push(Slice::Static("HTTP/1.1 100 Continue\r\n\r\n"));
  }
  while (body_.empty() && !body_ended_ && !gone_) co_await reader_;
  if (body_.empty()) {
    if (!body_ended_) co_return GoneError();
    co_return Slice();
  }
  Slice piece = std::move(body_.front());
  body_.pop_front();
  body_size_ -= piece.size();
  engine_.host_.OutputReady();  // the peer may be let go on
  co_return piece;
}

std::unexpected<Error> H1Engine::Call::GoneError() const {
  if (gone_) return std::unexpected(*gone_);
  return Fail(ErrorCode::kCancelled, "the answer was cut");
}

// Whether keeping the connection would mean to read a long body that nobody wants.
bool H1Engine::Call::BodyWouldStall() const {
  if (body_ended_) return false;
  return continue_owed_ ||
         (engine_.state_ == State::kBody && engine_.body_left_ > kWorthDiscarding);
}

void H1Engine::Call::SendHead(int status, std::optional<uint64_t> length) {
  KEELSON_CHECK(status_ == 0);
  engine_.ArmDeadline(exchange_);
  status_ = status;
  bodyless_ = StatusForbidsBody(status) || exchange_.request.method == "HEAD";
  length_ = length;
  close_ |= engine_.shutting_down_ || BodyWouldStall();

  std::string head;
  head.reserve(512);
  head += fmt::format("HTTP/1.1 {} {}\r\n", status, ReasonPhrase(status));
  bool has_date = false;
  for (const auto& [name, value] : headers_.fields()) {
    if (ListContains(name, "connection")) {
      close_ |= ListContains(value, "close");
      if (status != 101) continue;  // ours to say
    } else if (ListContains(name, "content-length")) {
      if (!length_ && !StatusForbidsBody(status))
        length_ = std::strtoull(std::string(value).c_str(), nullptr, 10);
      continue;
    } else if (ListContains(name, "transfer-encoding")) {
      continue;
    } else if (ListContains(name, "date")) {
      has_date = true;
    }
    AppendField(head, name, value);
  }
  if (!has_date) AppendField(head, "Date", HttpDate());
  if (length_ && !StatusForbidsBody(status)) {
    AppendField(head, "Content-Length", std::to_string(*length_));
  } else if (!StatusForbidsBody(status)) {
    // Without a length: chunks, or for HTTP/1.0 the end of the connection.
    chunked_ = head_.minor >= 1 && !bodyless_;
    if (head_.minor >= 1) AppendField(head, "Transfer-Encoding", "chunked");
    if (head_.minor == 0) close_ = true;
  }
  if (status != 101) {
    if (close_)
      AppendField(head, "Connection", "close");
    else if (head_.minor == 0)
      AppendField(head, "Connection", "keep-alive");
  }
  head += "\r\n";
  engine_.Push(Slice::Own(std::move(head)));
}

// Queues a piece of the body; false when it does not fit the announced length.
bool H1Engine::Call::QueueBody(Slice slice) {
  if (slice.empty()) return true;
  if (length_ && slice.size() > *length_ - body_sent_) return false;
  body_sent_ += slice.size();
  if (bodyless_) return true;
  if (chunked_) {
    engine_.Push(Slice::Own(fmt::format("{:x}\r\n", slice.size())));
    engine_.Push(std::move(slice));
    engine_.Push(Slice::Static("\r\n"));
  } else {
    engine_.Push(std::move(slice));
  }
  return true;
}

void H1Engine::Call::Send(int status, std::vector<Slice> body) {
  SendHead(status, TotalSize(body));
  for (auto& slice : body) QueueBody(std::move(slice));
  ended_ = true;
  engine_.EndCallIfDone();
}

void H1Engine::Call::Start(int status) { SendHead(status, std::nullopt); }

Task<Result<void>> H1Engine::Call::Write(std::vector<Slice> slices) {
  engine_.ArmDeadline(exchange_);
  if (broken_) co_return GoneError();
  KEELSON_CHECK(started() && !ended_);
  for (auto& slice : slices) {
    if (!QueueBody(std::move(slice))) {
      co_return Fail(ErrorCode::kInvalid, "the body exceeds its Content-Length");
    }
  }
  while (engine_.out_size_ > engine_.options_.write_high_water && !broken_) co_await writer_;
  if (broken_) co_return GoneError();
  co_return Result<void>();
}

Result<size_t> H1Engine::Call::TryWrite(Slice slice) {
  if (broken_) return GoneError();
  KEELSON_CHECK(started() && !ended_);
  if (!QueueBody(std::move(slice))) {
    return Fail(ErrorCode::kInvalid, "the body exceeds its Content-Length");
  }
  return engine_.out_size_;
}

void H1Engine::Call::Finish() {
  if (broken_ || ended_) return;
  KEELSON_CHECK(started());
  // An answer shorter than it promised must not pass for a whole one.
  if (length_ && !bodyless_ && body_sent_ < *length_) return Abort();
  if (chunked_) engine_.Push(Slice::Static("0\r\n\r\n"));
  ended_ = true;
  engine_.EndCallIfDone();
}

Task<Result<std::unique_ptr<ByteStream>>> H1Engine::Call::Upgrade() {
  KEELSON_CHECK(!started());
  if (broken_) co_return GoneError();
  if (!body_ended_) {
    co_return Fail(ErrorCode::kInvalid, "the request's body must be read before an upgrade");
  }
  SendHead(101, std::nullopt);
  ended_ = true;
  auto state = std::make_shared<TunnelState>();
  state->engine = &engine_;
  engine_.tunnel_ = state;
  engine_.state_ = State::kTunnel;
  if (!engine_.in_.empty()) state->Receive(std::exchange(engine_.in_, {}));
  state->ended = engine_.peer_ended_;
  co_return std::make_unique<Tunnel>(std::move(state));
}

void H1Engine::Call::Abort() {
  if (ended_) return;
  ended_ = true;
  broken_ = true;
  writer_.Wake(engine_.ready_);
  engine_.Finish(true);
  engine_.EndCallIfDone();
}

}  // namespace keelson::http
