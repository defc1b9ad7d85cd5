#include "http/h2_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/log.h"
#include "http/testing/engine_bench.h"

namespace keelson::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string frame;
  auto size = static_cast<uint32_t>(payload.size());
  for (int shift : {16, 8, 0}) frame += static_cast<char>(size >> shift & 0xff);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  for (int shift : {24, 16, 8, 0}) frame += static_cast<char>(stream >> shift & 0xff);
  frame += payload;
  return frame;
}

// nghttp2 as the other side.
class Client {
 public:
  struct Answer {
    std::string status;
    std::map<std::string, std::string> headers;
    std::string body;
    bool closed = false;
    uint32_t error = 0;
  };

  Client() {
    nghttp2_session_callbacks* all = nullptr;
    nghttp2_session_callbacks_new(&all);
    nghttp2_session_callbacks_set_on_header_callback(
        all, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                const uint8_t* value, size_t value_size, uint8_t, void* user) {
          auto& answer = static_cast<Client*>(user)->answers[frame->hd.stream_id];
          std::string key(reinterpret_cast<const char*>(name), name_size);
          std::string text(reinterpret_cast<const char*>(value), value_size);
          if (key == ":status") answer.status = text;
          answer.headers[key] = text;
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        all,
        [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
          static_cast<Client*>(user)->answers[id].body.append(reinterpret_cast<const char*>(data),
                                                              size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        all, [](nghttp2_session*, int32_t id, uint32_t error, void* user) {
          auto& answer = static_cast<Client*>(user)->answers[id];
          answer.closed = true;
          answer.error = error;
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        all, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          auto* self = static_cast<Client*>(user);
          if (frame->hd.type == NGHTTP2_GOAWAY) {
            self->goaways.push_back(frame->goaway.last_stream_id);
            self->goaway_error = frame->goaway.error_code;
          }
          return 0;
        });
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_session_client_new2(&session, all, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(all);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Client() { nghttp2_session_del(session); }

  int32_t Request(const std::string& path, const std::string* body = nullptr,
                  const char* method = nullptr) {
    std::string verb = method != nullptr ? method : body != nullptr ? "POST" : "GET";
    std::pair<std::string, std::string> fields[] = {
        {":method", verb}, {":scheme", "https"}, {":authority", "x"}, {":path", path}};
    std::vector<nghttp2_nv> nva;
    for (auto& [name, value] : fields) {
      nva.push_back({reinterpret_cast<uint8_t*>(name.data()),
                     reinterpret_cast<uint8_t*>(value.data()), name.size(), value.size(), 0});
    }
    nghttp2_data_provider provider{};
    if (body != nullptr) {
      bodies.push_back(*body);
      provider.source.ptr = &bodies.back();
      provider.read_callback = [](nghttp2_session*, int32_t, uint8_t* out, size_t size,
                                  uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
        auto& text = *static_cast<std::string*>(source->ptr);
        size_t count = std::min(size, text.size());
        std::copy_n(text.data(), count, out);
        text.erase(0, count);
        if (text.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
        return static_cast<ssize_t>(count);
      };
    }
    return nghttp2_submit_request(session, nullptr, nva.data(), nva.size(),
                                  body != nullptr ? &provider : nullptr, nullptr);
  }
  std::string Take() {
    std::string all;
    const uint8_t* data = nullptr;
    ssize_t size = 0;
    while ((size = nghttp2_session_mem_send(session, &data)) > 0) {
      all.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
    return all;
  }
  void Receive(const std::string& bytes) {
    EXPECT_EQ(nghttp2_session_mem_recv(session, reinterpret_cast<const uint8_t*>(bytes.data()),
                                       bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }

  nghttp2_session* session = nullptr;
  std::map<int32_t, Answer> answers;
  std::vector<int32_t> goaways;
  uint32_t goaway_error = 0;
  std::deque<std::string> bodies;
};

class H2EngineTest : public ::testing::Test {
 protected:
  H2EngineTest() { engine_.Start(); }
  ~H2EngineTest() override {
    engine_.PeerGone(true);
    EXPECT_TRUE(engine_.idle());
    EXPECT_EQ(host_.in_flight, 0);
    EXPECT_EQ(engine_.open_streams(), 0u);
  }

  void Settle() {
    for (;;) {
      auto to_server = client_.Take();
      if (!to_server.empty()) engine_.Receive(to_server);
      auto to_client = host_.Take(engine_);
      if (!to_client.empty()) client_.Receive(to_client);
      if (to_server.empty() && to_client.empty()) return;
    }
  }
  void Raw(std::string_view bytes) { engine_.Receive(bytes); }
  // A greeting by hand, for frames nghttp2 would not send.
  void Greet() { Raw(std::string(kPreface) + Frame(4, 0, 0, "")); }
  static std::string Headers(uint32_t id, uint8_t flags = 5) {
    // :method GET, :scheme https, :path /, :authority x
    return Frame(1, flags, id, std::string("\x82\x87\x84\x41\x01x", 6));
  }
  std::string Out() { return host_.Take(engine_); }

  EngineOptions options_;
  testing::BenchHost host_;
  testing::BenchHandler handler_;
  H2Engine engine_{host_, handler_, options_};
  Client client_;
};

TEST_F(H2EngineTest, AnnouncesUpstreamsSettings) {
  auto out = Out();
  EXPECT_EQ(
      out.substr(0, 9 + 24),
      Frame(4, 0, 0, std::string("\0\3\0\0\0\xfa\0\4\0\4\0\0\0\5\0\4\0\0\0\6\0\x10\0\0", 24)));
  // The connection's window: 250 streams of 256 KiB, less the 65535 that are there from the start.
  EXPECT_EQ(out.substr(33), Frame(8, 0, 0, std::string("\x03\xe7\x00\x01", 4)));
}

TEST_F(H2EngineTest, AnswersManyRequestsOfOneConnection) {
  std::vector<int32_t> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(client_.Request("/hello"));
  Settle();
  for (int32_t id : ids) {
    EXPECT_EQ(client_.answers[id].status, "200");
    EXPECT_EQ(client_.answers[id].body, "hello");
    EXPECT_EQ(client_.answers[id].headers["content-length"], "5");
    EXPECT_EQ(client_.answers[id].headers.count("date"), 1u);
    EXPECT_TRUE(client_.answers[id].closed);
  }
  EXPECT_EQ(handler_.seen.front(), "GET /hello host=x");
}

TEST_F(H2EngineTest, CarriesBodiesLargerThanTheWindow) {
  std::string body(3'000'000, 'b');
  for (size_t i = 0; i < body.size(); i += 1001) body[i] = static_cast<char>('a' + i % 26);
  auto id = client_.Request("/echo", &body);
  Settle();
  // The client's window is 64 KiB and nghttp2 renews it as data arrives.
  EXPECT_EQ(client_.answers[id].status, "200");
  EXPECT_TRUE(client_.answers[id].body == body);
}

TEST_F(H2EngineTest, StreamsAnAnswer) {
  auto id = client_.Request("/stream");
  Settle();
  EXPECT_EQ(client_.answers[id].body, "one two three");
  EXPECT_EQ(client_.answers[id].headers.count("content-length"), 0u);
}

TEST_F(H2EngineTest, HeadHasALengthAndNoBody) {
  auto id = client_.Request("/hello", nullptr, "HEAD");
  Settle();
  EXPECT_EQ(client_.answers[id].headers["content-length"], "5");
  EXPECT_EQ(client_.answers[id].body, "");
  EXPECT_EQ(client_.answers[id].error, 0u);
}

TEST_F(H2EngineTest, StopsARequestBodyNobodyReads) {
  std::string body(1'000'000, 'x');
  auto id = client_.Request("/ignore", &body);
  Settle();
  EXPECT_EQ(client_.answers[id].status, "200");
  EXPECT_EQ(client_.answers[id].body, "hello");
  EXPECT_EQ(client_.answers[id].error, static_cast<uint32_t>(NGHTTP2_NO_ERROR));
}

TEST_F(H2EngineTest, HoldsBackAWriterByTheStreamsWindow) {
  nghttp2_session_set_local_window_size(client_.session, NGHTTP2_FLAG_NONE, 0, 1 << 30);
  Greet();
  // The raw peer never renews its 64 KiB window.
  Raw(Frame(1, 5, 1, std::string("\x82\x87\x44\x06/flood\x41\x01x", 13)));
  Out();
  EXPECT_GT(handler_.flooded, 65535u);
  EXPECT_LE(handler_.flooded, 65535u + options_.write_high_water + 20'000);
}

TEST_F(H2EngineTest, ResetCancelsTheHandler) {
  auto id = client_.Request("/hang");
  Settle();
  EXPECT_EQ(handler_.cancelled, 0);
  nghttp2_submit_rst_stream(client_.session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  Settle();
  EXPECT_EQ(handler_.cancelled, 1);
}

TEST_F(H2EngineTest, ALostPeerCancelsEveryHandler) {
  for (int i = 0; i < 10; ++i) client_.Request("/hang");
  Settle();
  engine_.PeerGone(true);
  EXPECT_EQ(handler_.cancelled, 10);
  EXPECT_TRUE(engine_.finished());
}

TEST_F(H2EngineTest, CancelsAtTheDeadlineAndSendsTheAnswer) {
  handler_.deadline = host_.now + seconds(60);
  auto id = client_.Request("/hang");
  Settle();
  host_.Advance(engine_, seconds(60));
  Settle();
  EXPECT_EQ(client_.answers[id].status, "504");
}

TEST_F(H2EngineTest, CutsAnAnswerThatThePeerDoesNotTakeInTime) {
  handler_.deadline = host_.now + seconds(60);
  Greet();
  Raw(Frame(1, 5, 1, std::string("\x82\x87\x44\x04/big\x41\x01x", 11)));
  Out();
  host_.Advance(engine_, seconds(60) + kAnswerGrace);
  EXPECT_EQ(Out(), Frame(3, 0, 1, std::string("\0\0\0\2", 4)));
}

TEST_F(H2EngineTest, AnExceptionResetsTheStreamOnly) {
  log::Capture capture;
  auto bad = client_.Request("/throw");
  auto good = client_.Request("/hello");
  Settle();
  EXPECT_EQ(client_.answers[bad].error, static_cast<uint32_t>(NGHTTP2_INTERNAL_ERROR));
  EXPECT_EQ(client_.answers[good].body, "hello");
  EXPECT_THAT(capture.text(), HasSubstr("kaboom"));
}

TEST_F(H2EngineTest, AnAnswerThatIsNotWholeIsReset) {
  log::Capture capture;
  for (const char* path : {"/short", "/abort", "/nothing"}) {
    auto id = client_.Request(path);
    Settle();
    EXPECT_EQ(client_.answers[id].error, static_cast<uint32_t>(NGHTTP2_INTERNAL_ERROR)) << path;
  }
}

TEST_F(H2EngineTest, ShutdownAnnouncesThenNamesTheLastStreamAfterARoundTrip) {
  auto before = client_.Request("/hello");
  Settle();
  engine_.ShutDown();
  // On its way while the announcement is: still served.
  auto crossing = client_.Request("/hello");
  auto crossing_bytes = client_.Take();
  auto notice = host_.Take(engine_);
  engine_.Receive(crossing_bytes);
  client_.Receive(notice);
  EXPECT_THAT(client_.goaways, ElementsAre(INT32_MAX));
  EXPECT_FALSE(engine_.finished());
  Settle();
  EXPECT_EQ(client_.answers[before].body, "hello");
  EXPECT_EQ(client_.answers[crossing].body, "hello");
  EXPECT_THAT(client_.goaways, ElementsAre(INT32_MAX, crossing));
  EXPECT_EQ(client_.goaway_error, static_cast<uint32_t>(NGHTTP2_NO_ERROR));
  EXPECT_TRUE(engine_.finished());
}

TEST_F(H2EngineTest, ShutdownWaitsForWhatIsUnderWay) {
  auto id = client_.Request("/hang");
  Settle();
  engine_.ShutDown();
  Settle();
  EXPECT_FALSE(engine_.finished());
  nghttp2_submit_rst_stream(client_.session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  Settle();
  EXPECT_TRUE(engine_.finished());
}

TEST_F(H2EngineTest, ShutdownDoesNotNeedThePeersHelp) {
  Greet();
  Out();
  engine_.ShutDown();
  Out();
  EXPECT_FALSE(engine_.finished());
  host_.Advance(engine_, seconds(1));
  Out();
  EXPECT_TRUE(engine_.finished());
}

TEST_F(H2EngineTest, CloseConnectionAnswersThenGoesAway) {
  Greet();
  Raw(Frame(1, 5, 1, std::string("\x82\x87\x44\x06/close\x41\x01x", 13)));
  auto out = Out();
  EXPECT_THAT(out, HasSubstr(Frame(0, 1, 1, "bye")));
  EXPECT_THAT(out, HasSubstr(Frame(7, 0, 0, std::string("\x7f\xff\xff\xff\0\0\0\0", 8))));
  EXPECT_FALSE(engine_.finished());
  Raw(Frame(6, 1, 0, "shutdown"));  // the answer to the PING sent along
  EXPECT_EQ(Out(), Frame(7, 0, 0, std::string("\0\0\0\1\0\0\0\0", 8)));
  EXPECT_TRUE(engine_.finished());
}

TEST_F(H2EngineTest, IdleConnectionsGoAway) {
  client_.Request("/hello");
  Settle();
  host_.Advance(engine_, options_.idle_timeout - seconds(1));
  EXPECT_FALSE(engine_.finished());
  host_.Advance(engine_, seconds(1));
  Settle();
  EXPECT_TRUE(engine_.finished());
  EXPECT_EQ(client_.goaway_error, static_cast<uint32_t>(NGHTTP2_NO_ERROR));
}

TEST_F(H2EngineTest, ConnectionsWithOpenStreamsAreNotIdle) {
  client_.Request("/hang");
  Settle();
  host_.Advance(engine_, 10 * options_.idle_timeout);
  EXPECT_FALSE(engine_.finished());
}

TEST_F(H2EngineTest, SilentAndSlowPeersTimeOut) {
  host_.Advance(engine_, seconds(10));
  Out();
  EXPECT_TRUE(engine_.finished());

  testing::BenchHost host;
  H2Engine slow(host, handler_, options_);
  slow.Start();
  slow.Receive(std::string(kPreface) + Frame(4, 0, 0, "") + Headers(1, 1));  // no END_HEADERS
  host.Take(slow);
  host.Advance(slow, options_.header_timeout - seconds(1));
  EXPECT_FALSE(slow.finished());
  host.Advance(slow, seconds(1));
  host.Take(slow);
  EXPECT_TRUE(slow.finished());
}

TEST_F(H2EngineTest, AMalformedRequestEndsOnlyItself) {
  Greet();
  Raw(Frame(1, 4, 1, std::string("\x82\x87\x44\x05/hang\x41\x01x", 12)));  // stays open
  Raw(Frame(1, 5, 3, std::string("\x82\x87\x00\x01X\x01v", 7)));           // an upper-case name
  Out();
  host_.Advance(engine_, 2 * options_.header_timeout);
  Out();
  EXPECT_FALSE(engine_.finished());
  EXPECT_EQ(handler_.seen.size(), 1u);
  Raw(Headers(5));
  EXPECT_EQ(handler_.seen.size(), 2u);
}

TEST_F(H2EngineTest, RefusesAHeaderListPastItsLimitAndLives) {
  options_.max_header_bytes = 4096;
  Greet();
  std::string block("\x82\x87\x84\x41\x01x", 6);
  std::string value(100, 'v');
  for (int i = 0; i < 40; ++i) block += std::string("\x00\x01y\x64", 4) + value;
  Raw(Frame(1, 5, 1, block));
  EXPECT_THAT(Out(), HasSubstr("431 Request Header Fields Too Large"));
  EXPECT_TRUE(handler_.seen.empty());
  Raw(Headers(3));
  EXPECT_EQ(handler_.seen.size(), 1u);
}

// Each flood must end the connection long before it costs anything worth speaking of.
struct Flood {
  const char* name;
  std::string frame;
  bool opens = false;  // begins with an open request
};
class H2FloodTest : public H2EngineTest, public ::testing::WithParamInterface<Flood> {};

TEST_P(H2FloodTest, IsStopped) {
  Greet();
  if (GetParam().opens) Raw(Headers(1, 4));
  int frames = 0;
  while (!engine_.finished() && frames < 20'000) {
    Raw(GetParam().frame);
    Out();
    ++frames;
  }
  EXPECT_TRUE(engine_.finished());
  EXPECT_LT(frames, 5'000);
}

INSTANTIATE_TEST_SUITE_P(Kinds, H2FloodTest,
                         ::testing::Values(Flood{"Ping", Frame(6, 0, 0, "12345678")},
                                           Flood{"Settings", Frame(4, 0, 0, "")},
                                           Flood{"Priority", Frame(2, 0, 1, std::string(5, '\0'))},
                                           Flood{"EmptyData", Frame(0, 0, 1, ""), true},
                                           Flood{"UnknownType", Frame(0x77, 0, 0, "")}),
                         [](const auto& info) { return info.param.name; });

TEST_F(H2EngineTest, AcknowledgementsDoNotPileUpForAPeerThatDoesNotRead) {
  Greet();
  std::string pings;
  for (int i = 0; i < 3000; ++i) pings += Frame(6, 0, 0, "12345678");
  Raw(pings);
  EXPECT_LT(Out().size(), 1500u * 17);
  EXPECT_TRUE(engine_.finished());
}

TEST_F(H2EngineTest, RapidResetIsStopped) {
  Greet();
  uint32_t id = 1;
  int requests = 0;
  for (; !engine_.finished() && requests < 20'000; ++requests, id += 2) {
    Raw(Frame(1, 5, id, std::string("\x82\x87\x44\x05/hang\x41\x01x", 12)) +
        Frame(3, 0, id, std::string("\0\0\0\x08", 4)));
    Out();
  }
  EXPECT_TRUE(engine_.finished());
  EXPECT_LT(requests, 2'000);
  EXPECT_EQ(host_.in_flight, 0);
}

TEST_F(H2EngineTest, ContinuationFloodIsStopped) {
  Greet();
  Raw(Headers(1, 1));
  int frames = 0;
  while (!engine_.finished() && frames < 5'000) {
    Raw(Frame(9, 0, 1, std::string("\x00\x01y\x01v", 5)));
    Out();
    ++frames;
  }
  EXPECT_TRUE(engine_.finished());
  EXPECT_LT(frames, 100);
}

TEST_F(H2EngineTest, HandlersOfResetStreamsHoldBackNewOnes) {
  testing::StubbornHandler stubborn;
  options_.max_concurrent_streams = 10;
  H2Engine engine(host_, stubborn, options_);
  engine.Start();
  engine.Receive(std::string(kPreface) + Frame(4, 0, 0, ""));
  for (uint32_t id = 1; id < 200; id += 2) {
    engine.Receive(Headers(id));
    engine.Receive(Frame(3, 0, id, std::string("\0\0\0\x08", 4)));
  }
  EXPECT_EQ(stubborn.running, 10);
  engine.PeerGone(true);
  EXPECT_FALSE(engine.idle());
  host_.Take(engine);
  stubborn.Release();
  EXPECT_TRUE(engine.idle());
  EXPECT_TRUE(host_.output_ready);  // so that the host finds out
}

}  // namespace
}  // namespace keelson::http
