#include "http/client_h2.h"

#include <gtest/gtest.h>

#include "http/testing/client_fixture.h"

namespace keelson::http {
namespace {

using testing::Output;
using testing::Received;
using testing::SessionHost;

// The other end, on nghttp2's server side: notes what it hears, says what the test submits.
class Peer {
 public:
  Peer() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks,
        [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
           const uint8_t* value, size_t value_size, uint8_t, void* user) {
          auto text = [](const uint8_t* bytes, size_t size) {
            return std::string(reinterpret_cast<const char*>(bytes), size);
          };
          static_cast<Peer*>(user)->heard += fmt::format(
              "{} {}={}\n", frame->hd.stream_id, text(name, name_size), text(value, value_size));
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          auto& self = *static_cast<Peer*>(user);
          if (frame->hd.type == NGHTTP2_PING) ++self.pings;
          if (frame->hd.type == NGHTTP2_RST_STREAM) {
            self.heard +=
                fmt::format("{} reset {}\n", frame->hd.stream_id, frame->rst_stream.error_code);
          }
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks,
        [](nghttp2_session*, uint8_t, int32_t, const uint8_t* data, size_t size, void* user) {
          static_cast<Peer*>(user)->body.append(reinterpret_cast<const char*>(data), size);
          return 0;
        });
    nghttp2_session_server_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session, 0, nullptr, 0);
  }
  ~Peer() { nghttp2_session_del(session); }

  void Hear(std::string_view bytes) {
    nghttp2_session_mem_recv(session, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  std::string Say() {
    std::string out;
    const uint8_t* bytes = nullptr;
    for (ssize_t n; (n = nghttp2_session_mem_send(session, &bytes)) > 0;) {
      out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    }
    return out;
  }
  void Answer(int32_t stream, std::string status, bool end) {
    std::string name = ":status";
    nghttp2_nv field{reinterpret_cast<uint8_t*>(name.data()),
                     reinterpret_cast<uint8_t*>(status.data()), name.size(), status.size(), 0};
    nghttp2_submit_headers(session, end ? NGHTTP2_FLAG_END_STREAM : 0, stream, nullptr, &field, 1,
                           nullptr);
  }
  void Trailers(int32_t stream, std::string value) {
    std::string name = "x-late";
    nghttp2_nv field{reinterpret_cast<uint8_t*>(name.data()),
                     reinterpret_cast<uint8_t*>(value.data()), name.size(), value.size(), 0};
    nghttp2_submit_headers(session, NGHTTP2_FLAG_END_STREAM, stream, nullptr, &field, 1, nullptr);
  }
  // `size` bytes of data, as far as the window allows.
  void Data(int32_t stream, size_t size) {
    left = size;
    nghttp2_data_provider provider{};
    provider.source.ptr = this;
    provider.read_callback = [](nghttp2_session*, int32_t, uint8_t* buffer, size_t length,
                                uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
      auto& self = *static_cast<Peer*>(source->ptr);
      size_t size = std::min(length, self.left);
      std::fill_n(buffer, size, 'd');
      self.left -= size;
      if (self.left == 0) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(size);
    };
    nghttp2_submit_data(session, NGHTTP2_FLAG_END_STREAM, stream, &provider);
  }

  nghttp2_session* session = nullptr;
  std::string heard;
  std::string body;
  int pings = 0;
  size_t left = 0;
};

class H2Client : public ::testing::Test {
 protected:
  H2Client() {
    session_.Start();
    Settle();
  }

  void Settle() {
    for (;;) {
      auto out = Output(session_);
      peer_.Hear(out);
      auto in = peer_.Say();
      if (in.empty() && out.empty()) return;
      if (!in.empty()) session_.Receive(in);
    }
  }
  std::shared_ptr<ClientCall> Begin(std::string method = "GET", bool body = false) {
    auto call = std::make_shared<ClientCall>(host_);
    call->method = method;
    ClientRequestHead head{.method = call->method,
                           .scheme = "https",
                           .authority = "a",
                           .target = "/p",
                           .headers = &headers_,
                           .has_body = body,
                           .body_length = {}};
    session_.Begin(call, head);
    if (!body) call->EndBody();
    Settle();
    return call;
  }

  std::shared_ptr<SessionHost> host_ = std::make_shared<SessionHost>();
  ClientSessionOptions options_;
  Headers headers_;
  H2ClientSession session_{*host_, options_};
  Peer peer_;
};

TEST_F(H2Client, SendsPseudoHeadersAndLowersNames) {
  headers_.Add("X-Up", "V");
  headers_.Add("Connection", "close");
  Begin();
  EXPECT_EQ(peer_.heard, "1 :method=GET\n1 :scheme=https\n1 :authority=a\n1 :path=/p\n1 x-up=V\n");
}

TEST_F(H2Client, TellsInformationalAnswersFromTheRealOne) {
  auto call = Begin();
  peer_.Answer(1, "103", false);
  Settle();
  EXPECT_FALSE(call->head_ready);
  peer_.Answer(1, "404", true);
  Settle();
  EXPECT_EQ(call->status, 404);
  EXPECT_TRUE(call->in_ended);
  EXPECT_TRUE(session_.idle());
}

TEST_F(H2Client, KeepsTrailersApartAndBounded) {
  headers_.Add("TE", "trailers");
  options_.max_header_bytes = 1000;
  auto call = Begin();
  EXPECT_TRUE(peer_.heard.ends_with("1 te=trailers\n"));
  peer_.Answer(1, "200", false);
  Settle();
  peer_.Trailers(1, std::string(100, 'v'));
  Settle();
  EXPECT_FALSE(call->headers.Has("x-late"));
  EXPECT_EQ(call->trailers.Get("x-late"), std::string(100, 'v'));
  EXPECT_TRUE(call->in_ended);

  auto flooded = Begin();
  peer_.Answer(3, "200", false);
  peer_.Trailers(3, std::string(1000, 'v'));
  Settle();
  ASSERT_TRUE(flooded->error);
  EXPECT_EQ(flooded->error->code, ErrorCode::kTooLarge);
}

TEST_F(H2Client, ReceivesNoMoreThanAWindowThatNobodyReads) {
  auto call = Begin();
  peer_.Answer(1, "200", false);
  peer_.Data(1, 3 << 20);
  Settle();
  EXPECT_EQ(call->in_size, options_.stream_window);
  // Reading opens the window again.
  size_t total = 0;
  while (!call->in.empty()) {
    size_t size = call->in.front().size();
    call->in.pop_front();
    call->in_size -= size;
    total += size;
    if (call->session != nullptr) session_.Consumed(*call, size);
    Settle();
  }
  EXPECT_EQ(total, size_t{3} << 20);
  EXPECT_TRUE(call->in_ended);
}

TEST_F(H2Client, SendsBodiesAsTheyCome) {
  auto call = Begin("POST", true);
  call->Queue(Slice::Static("one"));
  Settle();
  EXPECT_EQ(peer_.body, "one");
  call->Queue(Slice::Static("two"));
  call->EndBody();
  Settle();
  EXPECT_EQ(peer_.body, "onetwo");
}

TEST_F(H2Client, MarksRequestsAGoawayLeavesOutAsUnprocessed) {
  auto kept = Begin();
  auto left_out = Begin("POST");
  nghttp2_submit_goaway(peer_.session, 0, 1, NGHTTP2_NO_ERROR, nullptr, 0);
  Settle();
  EXPECT_FALSE(session_.CanTake());
  EXPECT_FALSE(session_.finished());
  EXPECT_TRUE(left_out->error);
  EXPECT_TRUE(left_out->unprocessed);
  EXPECT_FALSE(kept->error);
  peer_.Answer(1, "200", true);
  Settle();
  EXPECT_EQ(kept->status, 200);
  EXPECT_TRUE(session_.finished());
}

TEST_F(H2Client, TellsRefusedStreamsFromBrokenOnes) {
  auto refused = Begin();
  auto broken = Begin();
  nghttp2_submit_rst_stream(peer_.session, 0, 1, NGHTTP2_REFUSED_STREAM);
  nghttp2_submit_rst_stream(peer_.session, 0, 3, NGHTTP2_INTERNAL_ERROR);
  Settle();
  EXPECT_TRUE(refused->unprocessed);
  EXPECT_FALSE(broken->unprocessed);
  EXPECT_EQ(broken->error->message, "stream error: stream ID 3; INTERNAL_ERROR");
  EXPECT_TRUE(session_.CanTake());
}

TEST_F(H2Client, ResetsWhatIsAbandoned) {
  auto call = Begin();
  peer_.heard.clear();
  call->Abandon();
  Settle();
  EXPECT_EQ(peer_.heard, fmt::format("1 reset {}\n", static_cast<int>(NGHTTP2_CANCEL)));
  EXPECT_TRUE(session_.idle());
}

TEST_F(H2Client, PingsASilentPeerAndGivesItUp) {
  auto call = Begin();
  auto start = host_->now;
  EXPECT_EQ(session_.OnTime(start), start + options_.ping_after);
  host_->now = start + options_.ping_after;
  EXPECT_EQ(session_.OnTime(host_->now), host_->now + options_.ping_timeout);
  peer_.Hear(Output(session_));
  EXPECT_EQ(peer_.pings, 1);
  // The answer proves that it lives.
  session_.Receive(peer_.Say());
  EXPECT_EQ(session_.OnTime(host_->now), host_->now + options_.ping_after);
  // Without one it is dead.
  host_->now += options_.ping_after;
  session_.OnTime(host_->now);
  host_->now += options_.ping_timeout;
  EXPECT_EQ(session_.OnTime(host_->now), TimePoint::max());
  EXPECT_EQ(call->error->message, "http2: client connection lost");
  EXPECT_TRUE(session_.finished());
}

TEST_F(H2Client, KeepsToThePeersStreamLimit) {
  nghttp2_settings_entry limit{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2};
  nghttp2_submit_settings(peer_.session, 0, &limit, 1);
  Settle();
  auto one = Begin();
  EXPECT_TRUE(session_.CanTake());
  auto two = Begin();
  EXPECT_FALSE(session_.CanTake());
  peer_.Answer(1, "200", true);
  Settle();
  EXPECT_TRUE(session_.CanTake());
}

TEST_F(H2Client, BoundsHeaders) {
  options_.max_header_bytes = 1000;
  auto call = Begin();
  std::string name = "x", value(200, 'v'), status = ":status", ok = "200";
  auto bytes = [](std::string& text) { return reinterpret_cast<uint8_t*>(text.data()); };
  std::vector<nghttp2_nv> fields = {{bytes(status), bytes(ok), status.size(), ok.size(), 0}};
  for (int i = 0; i < 12; ++i) fields.push_back({bytes(name), bytes(value), 1, value.size(), 0});
  nghttp2_submit_headers(peer_.session, 0, 1, nullptr, fields.data(), fields.size(), nullptr);
  Settle();
  ASSERT_TRUE(call->error);
  EXPECT_EQ(call->error->code, ErrorCode::kTooLarge);
}

TEST_F(H2Client, FailsCallsWhenTheConnectionBreaks) {
  auto call = Begin();
  session_.PeerGone(nullptr);
  EXPECT_TRUE(call->connection_lost);
  EXPECT_EQ(call->error->message, "http2: server closed connection");
  auto other = std::make_shared<ClientCall>(host_);
  EXPECT_FALSE(session_.CanTake());
}

}  // namespace
}  // namespace keelson::http
