#include "http/client_h1.h"

#include <algorithm>
#include <cstring>

namespace keelson::http {
namespace {

// A peer may announce progress, but not for ever.
constexpr int kMaxInformational = 5;

bool EqualFold(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// "HTTP/1.1 200 OK"; the reason may be empty or absent.
bool ParseStatusLine(std::string_view line, int& status, int& minor) {
  if (line.size() < 12 || !line.starts_with("HTTP/1.") || line[8] != ' ') return false;
  if (line[7] != '0' && line[7] != '1') return false;
  minor = line[7] - '0';
  status = 0;
  for (char c : line.substr(9, 3)) {
    if (c < '0' || c > '9') return false;
    status = status * 10 + (c - '0');
  }
  if (status < 100) return false;
  return line.size() == 12 || (line[12] == ' ' && IsFieldValue(line.substr(13)));
}

std::string RenderHead(const ClientRequestHead& head) {
  std::string out;
  out.reserve(512);
  auto field = [&](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  out.append(head.method).append(" ").append(head.target).append(" HTTP/1.1\r\n");
  field("Host", head.authority);
  for (const auto& [name, value] : head.headers->fields()) {
    bool switches = head.upgrade && EqualFold(name, "upgrade");
    if (!IsFramingField(name) || switches) field(name, value);
  }
  if (head.upgrade) field("Connection", "Upgrade");
  if (head.has_body && head.body_length) {
    field("Content-Length", fmt::format("{}", *head.body_length));
  } else if (head.has_body) {
    field("Transfer-Encoding", "chunked");
  } else if (head.method == "POST" || head.method == "PUT" || head.method == "PATCH") {
    field("Content-Length", "0");
  }
  out.append("\r\n");
  return out;
}

}  // namespace

bool IsFramingField(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "host",    "connection", "content-length", "transfer-encoding", "keep-alive",
      "upgrade", "te",         "trailer",        "proxy-connection",
  };
  return std::ranges::any_of(kNames, [&](auto known) { return EqualFold(name, known); });
}

H1ClientSession::~H1ClientSession() {
  if (call_) call_->session = nullptr;
}

void H1ClientSession::Begin(std::shared_ptr<ClientCall> call, const ClientRequestHead& head) {
  KEELSON_CHECK(CanTake());
  call_ = std::move(call);
  call_->session = this;
  call_->protocol = Protocol::kHttp1;
  head_ = RenderHead(head);
  chunked_ = head.has_body && !head.body_length;
  body_done_ = !head.has_body;
  upgrade_ = head.upgrade;
  informational_ = 0;
  scan_ = 0;
  close_ = false;
  state_ = State::kHead;
  host_.OutputReady();
}

void H1ClientSession::Produce(OutputBatch& batch) {
  if (!call_ || state_ == State::kOver) return;
  auto call = call_;
  if (!head_.empty()) batch.Append(Slice::Own(std::exchange(head_, {})));
  const bool framed = chunked_ && state_ != State::kTunnel;
  while (!call->out.empty() && !batch.full()) {
    Slice slice = std::move(call->out.front());
    call->out.pop_front();
    size_t size = slice.size();
    if (framed) batch.Append(fmt::format("{:x}\r\n", size));
    batch.Append(std::move(slice));
    if (framed) batch.Append("\r\n");
    call->BodySent(size);
  }
  if (call->out.empty() && call->out_ended && !body_done_) {
    if (framed) batch.Append("0\r\n\r\n");
    body_done_ = true;
  }
}

void H1ClientSession::Receive(std::string_view bytes) {
  if (bytes.empty() || state_ == State::kOver) return;
  if (state_ == State::kIdle) {  // nobody asked
    state_ = State::kOver;
    return host_.OutputReady();
  }
  call_->responded = true;
  if (state_ == State::kTunnel) {
    if (!closing_) call_->BodyPiece(Slice::Copy(bytes));
    return;
  }
  in_.append(bytes);
  while (state_ == State::kHead ? ProcessHead() : state_ == State::kBody && ProcessBody()) {
  }
}

bool H1ClientSession::ProcessHead() {
  size_t size = FindHeadEnd(in_, scan_);
  if (size == std::string::npos) {
    Fail(ErrorCode::kCorrupt, "malformed HTTP response");
    return false;
  }
  if (size > options_.max_header_bytes || (size == 0 && in_.size() > options_.max_header_bytes)) {
    Fail(ErrorCode::kTooLarge, "server response headers exceeded the limit");
    return false;
  }
  return size != 0 && TakeHead(size);
}

bool H1ClientSession::TakeHead(size_t size) {
  auto bytes = std::make_unique<char[]>(size);
  std::memcpy(bytes.get(), in_.data(), size);
  in_.erase(0, size);
  scan_ = 0;
  auto* line_end = static_cast<char*>(std::memchr(bytes.get(), '\n', size));
  int status = 0, minor = 1;
  Headers headers;
  H1Framing framing;
  std::string_view line(bytes.get(), static_cast<size_t>(line_end - bytes.get() - 1));
  if (!ParseStatusLine(line, status, minor) ||
      ParseFields(line_end + 1, bytes.get() + size - 2, headers) ||
      ReadFraming(headers, minor, framing)) {
    Fail(ErrorCode::kCorrupt, "malformed HTTP response");
    return false;
  }
  if (status < 200 && status != 101) {
    if (++informational_ <= kMaxInformational) return true;
    Fail(ErrorCode::kCorrupt, "too many 1xx informational responses");
    return false;
  }
  if (status == 101 && !upgrade_) {
    Fail(ErrorCode::kCorrupt, "unasked-for switch of protocols");
    return false;
  }
  call_->status = status;
  call_->headers = std::move(headers);
  call_->head_bytes = std::move(bytes);
  call_->content_length = framing.content_length;
  if (status == 101) {
    state_ = State::kTunnel;
    call_->HeadReady();
    call_->BodyPiece(Slice::Own(std::exchange(in_, {})));
    return false;
  }
  return BeginBody(framing, minor);
}

bool H1ClientSession::BeginBody(const H1Framing& framing, int minor) {
  close_ = framing.close || (minor == 0 && !framing.keep_alive);
  state_ = State::kBody;
  body_ = Body::kCounted;
  body_left_ = 0;
  if (call_->method != "HEAD" && !StatusForbidsBody(call_->status)) {
    if (framing.chunked) {
      body_ = Body::kChunked;
      chunks_ = {};
    } else if (framing.content_length) {
      body_left_ = *framing.content_length;
    } else {
      body_ = Body::kUntilClose;
      close_ = true;
    }
  }
  call_->HeadReady();
  return true;
}

bool H1ClientSession::ProcessBody() {
  if (body_ == Body::kChunked) {
    std::string_view rest = in_;
    for (auto data = chunks_.Next(rest); !data.empty(); data = chunks_.Next(rest)) {
      call_->BodyPiece(Slice::Copy(data));
    }
    if (chunks_.failed()) {
      Fail(ErrorCode::kCorrupt, "malformed chunked encoding");
      return false;
    }
    in_.erase(0, in_.size() - rest.size());
    if (chunks_.done()) EndResponse();
    return false;
  }
  if (body_ == Body::kUntilClose) {
    call_->BodyPiece(Slice::Own(std::exchange(in_, {})));
    return false;
  }
  size_t size = static_cast<size_t>(std::min<uint64_t>(body_left_, in_.size()));
  call_->BodyPiece(Slice::Copy(std::string_view(in_).substr(0, size)));
  in_.erase(0, size);
  body_left_ -= size;
  if (body_left_ == 0) EndResponse();
  return false;
}

void H1ClientSession::EndResponse() {
  // An answer before the end of the request leaves the connection at an unknown place, and bytes
  // after the answer belong to nobody.
  bool reusable = !close_ && body_done_ && in_.empty() && state_ == State::kBody;
  auto call = call_;
  LetGo();
  state_ = reusable ? State::kIdle : State::kOver;
  call->BodyEnd();
  host_.OutputReady();
  if (reusable) host_.CapacityChanged();
}

void H1ClientSession::PeerGone(const Error* broken) {
  if (state_ == State::kOver) return;
  if (!call_) {
    state_ = State::kOver;
    return host_.OutputReady();
  }
  if (broken == nullptr && state_ == State::kTunnel) return call_->BodyEnd();
  if (broken == nullptr && state_ == State::kBody && body_ == Body::kUntilClose) {
    return EndResponse();
  }
  call_->connection_lost = true;
  if (broken != nullptr) return Fail(broken->code, broken->message);
  Fail(ErrorCode::kUnavailable, call_->responded ? "unexpected EOF" : "EOF");
}

void H1ClientSession::Fail(ErrorCode code, std::string_view why) {
  auto call = call_;
  LetGo();
  state_ = State::kOver;
  call->Break({code, std::string(why)});
  host_.OutputReady();
}

void H1ClientSession::LetGo() {
  call_->session = nullptr;
  call_ = nullptr;
}

void H1ClientSession::Abandon(ClientCall& call) {
  KEELSON_CHECK(&call == call_.get());
  if (state_ == State::kTunnel && !call.error) {
    closing_ = true;  // what was written still goes out
  } else {
    LetGo();
    state_ = State::kOver;
  }
  host_.OutputReady();
}

bool H1ClientSession::WantsBytes() const {
  bool carries_body = state_ == State::kBody || state_ == State::kTunnel;
  return !carries_body || closing_ || call_->in_size < ClientCall::kHighWater;
}

bool H1ClientSession::finished() const {
  return state_ == State::kOver || (closing_ && call_->out.empty());
}

}  // namespace keelson::http
