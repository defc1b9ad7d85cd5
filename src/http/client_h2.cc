#include "http/client_h2.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "http/h1_syntax.h"

namespace keelson::http {
namespace {

// Until the peer has told its limit.
constexpr uint32_t kDefaultStreams = 100;

nghttp2_nv Pair(std::string_view name, std::string_view value) {
  auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string_view View(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

struct H2ClientSession::Callbacks {
  static H2ClientSession& Self(void* user) { return *static_cast<H2ClientSession*>(user); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    if (auto* call = Self(user).Find(frame->hd.stream_id)) {
      Self(user).OnField(*call, View(name, name_size), View(value, value_size));
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto& self = Self(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      self.going_away_ = true;
      self.host_.CapacityChanged();
      return 0;
    }
    if (frame->hd.type == NGHTTP2_SETTINGS) self.host_.CapacityChanged();
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    auto* call = self.Find(frame->hd.stream_id);
    if (call == nullptr) return 0;
    bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_HEADERS) {
      self.OnHeadersEnd(*call, end);
    } else if (end) {
      call->BodyEnd();
    }
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user) {
    if (auto* call = Self(user).Find(id); call != nullptr && !call->error) {
      call->BodyPiece(Slice::Copy(View(data, size)));
    } else {
      nghttp2_session_consume_connection(session, size);
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t error_code, void* user) {
    Self(user).StreamClosed(id, error_code);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t id, uint8_t* buffer, size_t length,
                          uint32_t* flags, nghttp2_data_source*, void* user) {
    auto* call = Self(user).Find(id);
    if (call == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t copied = 0;
    while (copied < length && !call->out.empty()) {
      Slice& slice = call->out.front();
      size_t size = std::min(slice.size(), length - copied);
      std::memcpy(buffer + copied, slice.data(), size);
      copied += size;
      if (size == slice.size()) {
        call->out.pop_front();
      } else {
        slice = slice.Sub(size);
      }
    }
    if (copied > 0) call->BodySent(copied);
    if (call->out.empty() && call->out_ended) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (copied == 0) {
      call->out_deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(copied);
  }
};

H2ClientSession::H2ClientSession(ClientSessionHost& host, const ClientSessionOptions& options)
    : host_(host), options_(options), last_read_(host.Now()) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_max_settings(option, 32);
  KEELSON_CHECK(nghttp2_session_client_new2(&session_, callbacks, this, option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
}

H2ClientSession::~H2ClientSession() {
  for (auto& [id, call] : calls_) call->session = nullptr;
  nghttp2_session_del(session_);
}

void H2ClientSession::Start() {
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options_.max_header_bytes)},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<int32_t>(options_.connection_window));
  host_.OutputReady();
}

bool H2ClientSession::CanTake() const {
  if (over_ || going_away_ || nghttp2_session_check_request_allowed(session_) == 0) return false;
  uint32_t limit =
      nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  if (limit == NGHTTP2_INITIAL_MAX_CONCURRENT_STREAMS) limit = kDefaultStreams;
  return calls_.size() < limit;
}

void H2ClientSession::Begin(std::shared_ptr<ClientCall> call, const ClientRequestHead& head) {
  std::vector<nghttp2_nv> fields = {
      Pair(":method", head.method),
      Pair(":scheme", head.scheme),
      Pair(":authority", head.authority),
      Pair(":path", head.target),
  };
  std::deque<std::string> lowered;  // names must be in lower case; the strings must not move
  for (const auto& [name, value] : head.headers->fields()) {
    auto& text = lowered.emplace_back(name);
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool asks_for_trailers = text == "te" && value == "trailers";
    if (IsFramingField(text) && !asks_for_trailers) continue;
    fields.push_back(Pair(text, value));
  }
  if (head.has_body && head.body_length) {
    fields.push_back(
        Pair("content-length", lowered.emplace_back(std::to_string(*head.body_length))));
  }
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::ReadBody;
  int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                      head.has_body ? &provider : nullptr, nullptr);
  if (id < 0) {
    call->unprocessed = true;
    return call->Break({ErrorCode::kUnavailable, nghttp2_strerror(id)});
  }
  call->session = this;
  call->stream_id = id;
  call->protocol = Protocol::kHttp2;
  calls_.emplace(id, std::move(call));
  host_.OutputReady();
}

ClientCall* H2ClientSession::Find(int32_t stream) {
  auto found = calls_.find(stream);
  return found == calls_.end() ? nullptr : found->second.get();
}

void H2ClientSession::OnField(ClientCall& call, std::string_view name, std::string_view value) {
  call.responded = true;
  if (call.error) return;
  call.header_bytes += name.size() + value.size() + 32;
  if (call.header_bytes > options_.max_header_bytes) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call.stream_id, NGHTTP2_CANCEL);
    return call.Break({ErrorCode::kTooLarge, "server response headers exceeded the limit"});
  }
  if (call.head_ready) {
    call.trailers.Add(name, value);
  } else if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), call.status);
  } else {
    call.headers.Add(name, value);
  }
}

void H2ClientSession::OnHeadersEnd(ClientCall& call, bool end_stream) {
  if (!call.head_ready && call.status >= 200) {
    if (auto length = call.headers.Get("content-length")) {
      uint64_t number = 0;  // nghttp2 has checked it
      std::from_chars(length->data(), length->data() + length->size(), number);
      call.content_length = number;
    }
    call.HeadReady();
  } else if (!call.head_ready) {  // informational
    call.headers.Clear();
    call.status = 0;
  }
  if (end_stream) call.BodyEnd();
}

void H2ClientSession::StreamClosed(int32_t stream, uint32_t error_code) {
  auto found = calls_.find(stream);
  if (found == calls_.end()) return;
  auto call = std::move(found->second);
  calls_.erase(found);
  call->session = nullptr;
  // Unread bytes no longer hold back the connection's window.
  if (call->in_size > 0) nghttp2_session_consume_connection(session_, call->in_size);
  call->unprocessed = error_code == NGHTTP2_REFUSED_STREAM && !call->head_ready;
  call->Break({ErrorCode::kUnavailable, fmt::format("stream error: stream ID {}; {}", stream,
                                                    nghttp2_http2_strerror(error_code))});
  host_.CapacityChanged();
}

void H2ClientSession::Receive(std::string_view bytes) {
  if (over_) return;
  last_read_ = host_.Now();
  ping_sent_ = TimePoint::max();
  ssize_t taken = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()),
                                           bytes.size());
  if (taken < 0) BreakAll({ErrorCode::kCorrupt, "malformed HTTP/2 from the server"});
  host_.OutputReady();
}

void H2ClientSession::BreakAll(const Error& why) {
  over_ = true;
  auto calls = std::exchange(calls_, {});
  for (auto& [id, call] : calls) {
    call->session = nullptr;
    call->connection_lost = true;
    call->Break(why);
  }
  host_.OutputReady();
}

void H2ClientSession::PeerGone(const Error* broken) {
  if (over_) return;
  BreakAll(broken != nullptr ? *broken
                             : Error{ErrorCode::kUnavailable, "http2: server closed connection"});
}

void H2ClientSession::Produce(OutputBatch& batch) {
  while (!batch.full()) {
    const uint8_t* bytes = nullptr;
    ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size <= 0) break;
    batch.Append(View(bytes, static_cast<size_t>(size)));
  }
}

TimePoint H2ClientSession::OnTime(TimePoint now) {
  if (over_) return TimePoint::max();
  if (ping_sent_ != TimePoint::max()) {
    if (now < ping_sent_ + options_.ping_timeout) return ping_sent_ + options_.ping_timeout;
    BreakAll({ErrorCode::kUnavailable, "http2: client connection lost"});
    return TimePoint::max();
  }
  if (now < last_read_ + options_.ping_after) return last_read_ + options_.ping_after;
  ping_sent_ = now;
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  host_.OutputReady();
  return now + options_.ping_timeout;
}

bool H2ClientSession::finished() const {
  if (over_ || (going_away_ && calls_.empty())) return true;
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

void H2ClientSession::BodyQueued(ClientCall& call) {
  if (std::exchange(call.out_deferred, false)) {
    nghttp2_session_resume_data(session_, call.stream_id);
  }
  host_.OutputReady();
}

void H2ClientSession::Consumed(ClientCall& call, size_t size) {
  nghttp2_session_consume(session_, call.stream_id, size);
  host_.OutputReady();
}

void H2ClientSession::Abandon(ClientCall& call) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call.stream_id, NGHTTP2_CANCEL);
  if (call.in_size > 0) nghttp2_session_consume_connection(session_, call.in_size);
  call.session = nullptr;
  calls_.erase(call.stream_id);
  host_.OutputReady();
  host_.CapacityChanged();
}

}  // namespace keelson::http
