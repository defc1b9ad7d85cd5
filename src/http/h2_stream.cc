#include "http/h2_stream.h"

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "http/h1_syntax.h"

namespace keelson::http {
namespace {

nghttp2_nv Pair(std::string_view name, std::string_view value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

bool SameName(std::string_view name, std::string_view lower) {
  return name.size() == lower.size() && std::ranges::equal(name, lower, [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b;
         });
}

// Fields that speak about an HTTP/1.1 connection and are malformed here.
bool IsConnectionField(std::string_view name) {
  return SameName(name, "connection") || SameName(name, "keep-alive") ||
         SameName(name, "proxy-connection") || SameName(name, "transfer-encoding") ||
         SameName(name, "upgrade");
}

}  // namespace

H2Engine::Stream::Stream(H2Engine& engine, int32_t id) : engine_(engine), id_(id) {
  exchange_.body = this;
  exchange_.response = this;
  exchange_.executor = engine_.host_.executor();
}

H2Engine::Stream::~Stream() {
  if (link == nullptr) return;
  *link = next;
  if (next != nullptr) next->link = link;
}

bool H2Engine::Stream::AddField(std::string_view name, std::string_view value) {
  constexpr size_t kFieldOverhead = 32;  // RFC 9113, 6.5.2
  header_bytes_ += name.size() + value.size() + kFieldOverhead;
  const size_t limit = engine_.options_.max_header_bytes;
  // Past the limit fields are only counted; far past it the peer is not worth decoding for.
  if (header_bytes_ > limit) return header_bytes_ <= 4 * limit;
  (name.starts_with(':') ? pseudo_ : exchange_.request.headers).Add(name, value);
  return true;
}

int H2Engine::Stream::Prepare() {
  auto& request = exchange_.request;
  request.protocol = Protocol::kHttp2;
  request.connection = &engine_.host_.info();
  request.received = engine_.host_.Now();
  if (header_bytes_ > engine_.options_.max_header_bytes) return 431;
  request.method = pseudo_.Get(":method").value_or("");
  request.target = pseudo_.Get(":path").value_or("");
  request.host = pseudo_.Get(":authority").value_or("");
  if (request.host.empty()) request.host = request.headers.Get("host").value_or("");
  if (auto value = request.headers.Get("content-length")) {
    uint64_t length = 0;  // nghttp2 has checked the syntax, and will check the body against it
    std::from_chars(value->data(), value->data() + value->size(), length);
    request.content_length = length;
  }
  if (request.target.empty()) return 405;  // CONNECT
  auto question = request.target.find('?');
  request.path = request.target.substr(0, question);
  if (question != std::string_view::npos) request.raw_query = request.target.substr(question + 1);
  if (body_ended_ && !request.content_length) request.content_length = 0;
  return 0;
}

void H2Engine::Stream::BodyPiece(std::string_view bytes) {
  if (handler_done_) {
    nghttp2_session_consume(engine_.session_, id_, bytes.size());
    return;
  }
  body_.push_back(Slice::Copy(bytes));
  reader_.Wake(engine_.ready_);
}

void H2Engine::Stream::BodyEnd() {
  body_ended_ = true;
  reader_.Wake(engine_.ready_);
}

void H2Engine::Stream::Closed() {
  open_ = false;
  // Bytes nobody will read still count against the connection's window.
  size_t unread = TotalSize(std::vector<Slice>(body_.begin(), body_.end()));
  if (unread > 0) nghttp2_session_consume_connection(engine_.session_, unread);
  body_.clear();
  out_.clear();
  out_next_ = out_offset_ = out_size_ = 0;
  reader_.Wake(engine_.ready_);
  writer_.Wake(engine_.ready_);
  if (!handler_done_) Cancel();
}

void H2Engine::Stream::HandlerDone(const std::string& failure) {
  handler_done_ = true;
  if (!failure.empty()) {
    engine_.LogFailure(
        fmt::format("panic serving {}: {}", engine_.host_.info().remote_address, failure));
  } else if (!ended_ && open_) {
    engine_.LogFailure(fmt::format("no complete answer to {} {}", exchange_.request.method,
                                   exchange_.request.path));
  }
  if (!ended_ && open_) Abort();
  size_t unread = 0;
  for (const auto& piece : body_) unread += piece.size();
  if (open_ && unread > 0) nghttp2_session_consume(engine_.session_, id_, unread);
  body_.clear();
}

std::unexpected<Error> H2Engine::Stream::GoneError() const {
  return Fail(ErrorCode::kCancelled, "the client went away");
}

Task<Result<Slice>> H2Engine::Stream::Read() {
  engine_.ArmDeadline(exchange_);
  while (body_.empty() && !body_ended_ && open_) co_await reader_;
  if (body_.empty()) {
    if (!body_ended_ || !open_) co_return GoneError();
    co_return Slice();
  }
  Slice piece = std::move(body_.front());
  body_.pop_front();
  nghttp2_session_consume(engine_.session_, id_, piece.size());
  engine_.host_.OutputReady();  // a WINDOW_UPDATE may be due
  co_return piece;
}

void H2Engine::Stream::SendHead(int status, std::optional<uint64_t> length, bool has_body) {
  KEELSON_CHECK(status_ == 0);
  engine_.ArmDeadline(exchange_);
  status_ = status;
  bodyless_ = StatusForbidsBody(status) || exchange_.request.method == "HEAD";
  length_ = length;
  if (!open_) return;

  thread_local std::vector<nghttp2_nv> fields;
  fields.clear();
  char status_text[4];
  std::to_chars(status_text, status_text + 3, status);
  fields.push_back(Pair(":status", {status_text, 3}));
  bool has_date = false;
  for (const auto& [name, value] : headers_.fields()) {
    if (IsConnectionField(name)) {
      if (SameName(name, "connection") && ListContains(value, "close")) CloseConnection();
      continue;
    }
    if (SameName(name, "content-length")) {
      if (length_) continue;
      uint64_t parsed = 0;
      std::from_chars(value.data(), value.data() + value.size(), parsed);
      length_ = parsed;
      continue;
    }
    has_date |= SameName(name, "date");
    if (!IsFieldValue(value)) continue;  // would be malformed; nothing a peer may see
    fields.push_back(Pair(name, value));
  }
  if (!has_date) fields.push_back(Pair("date", HttpDate()));
  char length_text[20];
  if (length_ && !StatusForbidsBody(status)) {
    auto end = std::to_chars(length_text, length_text + sizeof(length_text), *length_).ptr;
    fields.push_back(Pair("content-length", {length_text, static_cast<size_t>(end - length_text)}));
  }

  nghttp2_data_provider provider{.source = {.ptr = this}, .read_callback = ReadAnswer};
  in_body_ = has_body && !bodyless_;
  int outcome = nghttp2_submit_response(engine_.session_, id_, fields.data(), fields.size(),
                                        in_body_ ? &provider : nullptr);
  if (outcome != 0) {
    nghttp2_submit_rst_stream(engine_.session_, NGHTTP2_FLAG_NONE, id_, NGHTTP2_INTERNAL_ERROR);
  }
  engine_.host_.OutputReady();
}

bool H2Engine::Stream::Queue(Slice slice) {
  if (slice.empty()) return true;
  if (length_ && slice.size() > *length_ - body_sent_) return false;
  body_sent_ += slice.size();
  if (!in_body_) return true;
  out_size_ += slice.size();
  out_.push_back(std::move(slice));
  return true;
}

// Tells nghttp2 that a stream it found empty has something to send.
void H2Engine::Stream::Resume() {
  if (std::exchange(deferred_, false)) nghttp2_session_resume_data(engine_.session_, id_);
  engine_.host_.OutputReady();
}

void H2Engine::Stream::Send(int status, std::vector<Slice> body) {
  size_t size = TotalSize(body);
  SendHead(status, size, size > 0);
  ended_ = true;
  body_sent_ = size;
  if (!open_ || !in_body_) return;
  out_ = std::move(body);
  out_size_ = size;
}

void H2Engine::Stream::Start(int status) { SendHead(status, std::nullopt, true); }

Task<Result<void>> H2Engine::Stream::Write(std::vector<Slice> slices) {
  KEELSON_CHECK(started() && (!ended_ || !open_));
  engine_.ArmDeadline(exchange_);
  if (!open_) co_return GoneError();
  for (auto& slice : slices) {
    if (!Queue(std::move(slice))) {
      co_return Fail(ErrorCode::kInvalid, "the body exceeds its Content-Length");
    }
  }
  Resume();
  while (out_size_ > engine_.options_.write_high_water && open_) co_await writer_;
  if (!open_) co_return GoneError();
  co_return Result<void>();
}

Result<size_t> H2Engine::Stream::TryWrite(Slice slice) {
  KEELSON_CHECK(started() && (!ended_ || !open_));
  if (!open_) return GoneError();
  if (!Queue(std::move(slice))) {
    return Fail(ErrorCode::kInvalid, "the body exceeds its Content-Length");
  }
  Resume();
  return out_size_;
}

void H2Engine::Stream::Finish() {
  if (ended_ || !open_) return;
  KEELSON_CHECK(started());
  if (length_ && !bodyless_ && body_sent_ < *length_) return Abort();
  ended_ = true;
  if (in_body_) Resume();
}

Task<Result<std::unique_ptr<ByteStream>>> H2Engine::Stream::Upgrade() {
  co_return Fail(ErrorCode::kUnsupported, "HTTP/2 has no Upgrade");
}

void H2Engine::Stream::CloseConnection() { engine_.ShutDown(); }

void H2Engine::Stream::Abort() {
  if (!open_ || (ended_ && out_size_ == 0)) return;
  ended_ = true;
  nghttp2_submit_rst_stream(engine_.session_, NGHTTP2_FLAG_NONE, id_, NGHTTP2_INTERNAL_ERROR);
  engine_.host_.OutputReady();
}

ssize_t H2Engine::Stream::Available(size_t limit, uint32_t* flags) {
  if (out_size_ == 0 && !ended_) {
    deferred_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  size_t size = std::min(limit, out_size_);
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (size == out_size_ && ended_) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

void H2Engine::Stream::Take(size_t size, OutputBatch& batch) {
  out_size_ -= size;
  while (size > 0) {
    Slice& front = out_[out_next_];
    size_t left = front.size() - out_offset_;
    if (left <= size) {
      size -= left;
      batch.Append(out_offset_ == 0 ? std::move(front) : front.Sub(out_offset_));
      front = Slice();
      ++out_next_;
      out_offset_ = 0;
    } else {
      batch.Append(front.Sub(out_offset_, size));
      out_offset_ += size;
      size = 0;
    }
  }
  if (out_next_ == out_.size()) {
    out_.clear();
    out_next_ = 0;
  }
  if (out_size_ <= engine_.options_.write_high_water) writer_.Wake(engine_.ready_);
}

ssize_t H2Engine::Stream::ReadAnswer(nghttp2_session*, int32_t, uint8_t*, size_t length,
                                     uint32_t* flags, nghttp2_data_source* source, void*) {
  return static_cast<Stream*>(source->ptr)->Available(length, flags);
}

}  // namespace keelson::http
