#include "http/h2_engine.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "http/h2_stream.h"

namespace keelson::http {
namespace {

constexpr TimePoint kNever = TimePoint::max();
constexpr Duration kGreetingTimeout = std::chrono::seconds(10);
// Between the two GOAWAYs of a shutdown, unless the peer's PING answer comes first.
constexpr Duration kNoticeTimeout = std::chrono::seconds(1);
constexpr uint8_t kNoticePing[8] = {'s', 'h', 'u', 't', 'd', 'o', 'w', 'n'};
// A header block of 1 MiB in frames of the default size.
constexpr size_t kMaxContinuations = 72;

}  // namespace

struct H2Engine::Callbacks {
  static H2Engine& Self(void* user) { return *static_cast<H2Engine*>(user); }
  static Stream* Find(nghttp2_session* session, int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnBeginFrame(nghttp2_session* session, const nghttp2_frame_hd* hd, void* user) {
    auto& self = Self(user);
    // A new stream must have a higher number than those before; nghttp2 would only ignore it.
    if (hd->type == NGHTTP2_HEADERS && hd->stream_id < self.last_request_ &&
        nghttp2_session_find_stream(session, hd->stream_id) == nullptr) {
      self.Terminate(NGHTTP2_PROTOCOL_ERROR);
    }
    return 0;
  }

  static int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto& self = Self(user);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    self.last_request_ = frame->hd.stream_id;
    auto* stream = new Stream(self, frame->hd.stream_id);
    stream->next = self.streams_;
    stream->link = &self.streams_;
    if (stream->next != nullptr) stream->next->link = &stream->next;
    self.streams_ = stream;
    ++self.open_;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
    return 0;
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void*) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;  // trailers are dropped
    auto* stream = Find(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    bool kept = stream->AddField({reinterpret_cast<const char*>(name), name_size},
                                 {reinterpret_cast<const char*>(value), value_size});
    return kept ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto& self = Self(user);
    switch (frame->hd.type) {
      case NGHTTP2_SETTINGS:
        self.greeted_ = true;
        break;
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 && self.shutting_down_ &&
            std::memcmp(frame->ping.opaque_data, kNoticePing, sizeof(kNoticePing)) == 0) {
          self.FinalGoaway();
        }
        break;
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA: {
        auto* stream = Find(session, frame->hd.stream_id);
        bool request =
            frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
        if (stream == nullptr) break;
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->BodyEnd();
        if (request) self.waiting_.push_back(stream);
        break;
      }
      default:
        break;
    }
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void*) {
    if (auto* stream = Find(session, id)) {
      stream->BodyPiece({reinterpret_cast<const char*>(data), size});
    } else {
      nghttp2_session_consume_connection(session, size);
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session* session, int32_t id, uint32_t error_code, void* user) {
    if (auto* stream = Find(session, id)) {
      nghttp2_session_set_stream_user_data(session, id, nullptr);
      Self(user).StreamClosed(stream, error_code);
    }
    return 0;
  }

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void*) {
    // The answer is whole but the request is not: tell the peer to stop sending it.
    bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 &&
                (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA);
    if (!ends) return 0;
    auto* stream = Find(session, frame->hd.stream_id);
    if (stream != nullptr && !stream->body_ended()) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static ssize_t OnSend(nghttp2_session*, const uint8_t* data, size_t size, int, void* user) {
    auto& batch = *Self(user).batch_;
    if (batch.full()) return NGHTTP2_ERR_WOULDBLOCK;
    batch.Append(std::string_view(reinterpret_cast<const char*>(data), size));
    return static_cast<ssize_t>(size);
  }

  static int OnSendData(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t size,
                        nghttp2_data_source* source, void* user) {
    constexpr size_t kFrameHead = 9;
    auto& batch = *Self(user).batch_;
    if (batch.full()) return NGHTTP2_ERR_WOULDBLOCK;
    batch.Append(std::string_view(reinterpret_cast<const char*>(head), kFrameHead));
    static_cast<Stream*>(source->ptr)->Take(size, batch);
    return 0;
  }

  static nghttp2_session_callbacks* Make() {
    nghttp2_session_callbacks* all = nullptr;
    nghttp2_session_callbacks_new(&all);
    nghttp2_session_callbacks_set_on_begin_frame_callback(all, OnBeginFrame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(all, OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(all, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(all, OnStreamClose);
    nghttp2_session_callbacks_set_on_frame_send_callback(all, OnFrameSent);
    nghttp2_session_callbacks_set_send_callback(all, OnSend);
    nghttp2_session_callbacks_set_send_data_callback(all, OnSendData);
    return all;
  }

  static nghttp2_option* MakeOptions() {
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_continuations(option, kMaxContinuations);
    return option;
  }
};

// Follows the frames on the bytes, because nghttp2 drops unknown types and frames of closed streams
// without a callback: counts those that carry no work, and tells whether a header block is open.
bool H2Engine::FramesWithinBudget(std::string_view bytes) {
  constexpr size_t kFrameHead = 9;
  while (!bytes.empty()) {
    if (skip_ > 0) {  // the preface, or a payload
      size_t count = std::min(skip_, bytes.size());
      skip_ -= count;
      bytes.remove_prefix(count);
      continue;
    }
    size_t count = std::min(kFrameHead - head_size_, bytes.size());
    std::memcpy(head_ + head_size_, bytes.data(), count);
    head_size_ += count;
    bytes.remove_prefix(count);
    if (head_size_ < kFrameHead) break;
    head_size_ = 0;
    skip_ = size_t{head_[0]} << 16 | size_t{head_[1]} << 8 | head_[2];
    frame_type_ = head_[3];
    frame_flags_ = head_[4];
    if (!FrameCarriesWork() && !idle_frames_.Take(host_.Now())) return false;
  }
  bool open = (frame_type_ == NGHTTP2_HEADERS || frame_type_ == NGHTTP2_CONTINUATION) &&
              (skip_ > 0 || (frame_flags_ & NGHTTP2_FLAG_END_HEADERS) == 0);
  if (open && !in_headers_) {
    header_since_ = host_.Now();
    host_.WakeAt(header_since_ + options_.header_timeout);
  }
  in_headers_ = open;
  return true;
}

bool H2Engine::FrameCarriesWork() const {
  switch (frame_type_) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_WINDOW_UPDATE:
    case NGHTTP2_RST_STREAM:  // counted where the stream ends
      return true;
    case NGHTTP2_CONTINUATION:
      return skip_ > 0;
    case NGHTTP2_DATA:
      return skip_ > 0 || (frame_flags_ & NGHTTP2_FLAG_END_STREAM) != 0;
    case NGHTTP2_PING:
    case NGHTTP2_SETTINGS:
      return (frame_flags_ & NGHTTP2_FLAG_ACK) != 0;
    default:
      return false;
  }
}

bool H2Engine::Budget::Take(TimePoint now) {
  double seconds = std::chrono::duration<double>(now - last).count();
  tokens = std::min(burst, tokens + seconds * per_second);
  last = now;
  if (tokens < 1) return false;
  tokens -= 1;
  return true;
}

H2Engine::H2Engine(EngineHost& host, Handler& handler, const EngineOptions& options)
    : host_(host),
      handler_(handler),
      options_(options),
      idle_frames_{.tokens = 1000, .burst = 1000, .per_second = 100, .last = host.Now()},
      lost_streams_{.tokens = 1000, .burst = 1000, .per_second = 33, .last = host.Now()},
      since_(host.Now()) {
  static nghttp2_session_callbacks* const kCallbacks = Callbacks::Make();
  static nghttp2_option* const kOptions = Callbacks::MakeOptions();
  KEELSON_CHECK(nghttp2_session_server_new2(&session_, kCallbacks, this, kOptions) == 0);
}

H2Engine::~H2Engine() {
  KEELSON_CHECK(gate_.active() == 0);
  nghttp2_session_del(session_);
  while (streams_ != nullptr) delete streams_;
}

void H2Engine::Start() {
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options_.max_concurrent_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.stream_window},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, options_.max_frame_size},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options_.max_header_bytes)},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  uint64_t window = uint64_t{options_.max_concurrent_streams} * options_.stream_window;
  nghttp2_session_set_local_window_size(
      session_, NGHTTP2_FLAG_NONE, 0, static_cast<int32_t>(std::min<uint64_t>(window, INT32_MAX)));
  host_.WakeAt(since_ + kGreetingTimeout);
  host_.OutputReady();
}

void H2Engine::Receive(std::string_view bytes) {
  if (over_ || terminated_) return;
  if (!FramesWithinBudget(bytes)) return Terminate(NGHTTP2_ENHANCE_YOUR_CALM);
  ssize_t consumed = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (consumed < 0) {
    // nghttp2 has queued the GOAWAY where the peer can still make sense of one.
    Terminate(consumed == NGHTTP2_ERR_CALLBACK_FAILURE ? NGHTTP2_ENHANCE_YOUR_CALM
                                                       : NGHTTP2_PROTOCOL_ERROR);
  }
  StartWaiting();
  Settle();
  host_.OutputReady();
}

void H2Engine::StartWaiting() {
  while (!waiting_.empty() && running_ < options_.max_concurrent_streams) {
    Stream* stream = waiting_.front();
    waiting_.pop_front();
    if (!stream->open()) {  // reset before its turn
      delete stream;
      continue;
    }
    stream->MarkHandlerStarted();
    ++running_;
    host_.OnExchange(+1);
    gate_.Spawn(nullptr, RunStream(stream));
  }
}

Task<void> H2Engine::RunStream(Stream* stream) {
  std::string failure;
  if (int refusal = stream->Prepare()) {
    stream->headers().AddView("content-type", "text/plain; charset=utf-8");
    stream->Send(refusal, {Slice::Own(fmt::format("{} {}", refusal, ReasonPhrase(refusal)))});
  } else {
    auto serving = ServeContained(handler_, stream->exchange());
    failure = co_await std::move(serving);
  }
  --running_;
  host_.OnExchange(-1);
  stream->HandlerDone(failure);
  ReleaseIfDone(stream);
  // A waiting stream may take its place, and who waits for the last handler of a lost peer looks
  // now.
  if (over_ || !waiting_.empty()) host_.OutputReady();
}

void H2Engine::StreamClosed(Stream* stream, uint32_t error_code) {
  --open_;
  if (open_ == 0) {
    since_ = host_.Now();
    host_.WakeAt(since_ + options_.idle_timeout);
  }
  // Whoever ended it, and however: work was asked for and thrown away.
  if (error_code != NGHTTP2_NO_ERROR && !stream->answered() && !over_ &&
      !lost_streams_.Take(host_.Now())) {
    Terminate(NGHTTP2_ENHANCE_YOUR_CALM);
  }
  bool was_waiting =
      !stream->started_handler() && std::ranges::find(waiting_, stream) != waiting_.end();
  stream->Closed();
  if (!was_waiting) ReleaseIfDone(stream);
}

// Gives up a stream that neither nghttp2 nor a handler knows any more.
void H2Engine::ReleaseIfDone(Stream* stream) {
  bool unused = stream->handler_done() || !stream->started_handler();
  if (!stream->open() && unused && stream->Release()) done_.push_back(stream);
}

// Runs what callbacks have put off: cancellations, woken handlers, frees.
void H2Engine::Settle() {
  while (!cancels_.empty() || !ready_.empty()) {
    for (auto& cancel : std::exchange(cancels_, {})) cancel.request_stop();
    RunReady(ready_);
  }
  for (Stream* stream : done_) delete stream;
  done_.clear();
}

bool H2Engine::finished() const {
  if (over_) return true;
  return !nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_);
}

void H2Engine::PeerGone(bool) {
  // Without the peer's side nothing can be flow-controlled or acknowledged: both mean the end.
  if (std::exchange(over_, true)) return;
  for (Stream* stream = streams_; stream != nullptr;) {
    Stream* next = stream->next;
    if (stream->open()) {
      nghttp2_session_set_stream_user_data(session_, stream->id(), nullptr);
      --open_;
      bool was_waiting = !stream->started_handler();
      stream->Closed();
      if (was_waiting) {
        std::erase(waiting_, stream);
        delete stream;
      } else {
        ReleaseIfDone(stream);
      }
    }
    stream = next;
  }
  Settle();
  host_.OutputReady();
}

void H2Engine::Produce(OutputBatch& batch) {
  StartWaiting();
  if (!over_) {
    batch_ = &batch;
    int outcome = nghttp2_session_send(session_);
    batch_ = nullptr;
    if (outcome != 0) PeerGone(true);
  }
  Settle();
}

TimePoint H2Engine::OnTime(TimePoint now) {
  TimePoint next = kNever;
  auto check = [&](TimePoint limit) {
    if (now >= limit) return true;
    next = std::min(next, limit);
    return false;
  };
  if (!over_) {
    if (!greeted_ && check(since_ + kGreetingTimeout)) Terminate(NGHTTP2_SETTINGS_TIMEOUT);
    if (in_headers_ && check(header_since_ + options_.header_timeout)) {
      Terminate(NGHTTP2_PROTOCOL_ERROR);
    }
    if (shutting_down_ && !final_goaway_ && check(notice_ + kNoticeTimeout)) FinalGoaway();
    if (open_ == 0 && greeted_ && check(since_ + options_.idle_timeout)) FinalGoaway();
  }
  for (Stream* stream = streams_; stream != nullptr;) {
    Stream* following = stream->next;
    if (stream->exchange().deadline && check(*stream->exchange().deadline)) {
      stream->Cancel();
      // The handler has done its part and the peer does not take it.
      if (check(*stream->exchange().deadline + kAnswerGrace) && stream->handler_done()) {
        stream->Abort();
      }
    }
    stream = following;
  }
  Settle();
  host_.OutputReady();
  return next;
}

void H2Engine::ArmDeadline(const Exchange& exchange) {
  if (exchange.deadline) host_.WakeAt(*exchange.deadline);
}

void H2Engine::Terminate(uint32_t error_code) {
  terminated_ = true;
  nghttp2_session_terminate_session(session_, error_code);
  host_.OutputReady();
}

// Two GOAWAYs: the first only announces, so that requests already on their way are still served;
// the second, a round trip later, names the last one that is.
void H2Engine::ShutDown() {
  if (over_ || std::exchange(shutting_down_, true)) return;
  notice_ = host_.Now();
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kNoticePing);
  host_.WakeAt(notice_ + kNoticeTimeout);
  host_.OutputReady();
}

void H2Engine::FinalGoaway() {
  if (std::exchange(final_goaway_, true)) return;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  host_.OutputReady();
}

void H2Engine::LogFailure(std::string_view what) { log::Error("http2: {}", what); }

}  // namespace keelson::http
