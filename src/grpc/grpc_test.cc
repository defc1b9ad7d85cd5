#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/gate.h"
#include "grpc/channel.h"
#include "grpc/protobuf_wire.h"
#include "http/testing/client_fixture.h"
#include "http/testing/h2_peer.h"

namespace keelson::grpc {
namespace {

using http::testing::ClientFixture;
using http::testing::H2Peer;
using std::chrono::milliseconds;
using std::chrono::seconds;

// --- pieces

TEST(MessageReader, FindsMessagesHoweverTheyArrive) {
  std::string body = MessageHeader(3) + "one" + MessageHeader(0) + MessageHeader(7) + "another";
  for (size_t step : {1, 2, 3, 5, 100}) {
    MessageReader reader(100);
    std::vector<std::string> messages;
    for (size_t at = 0; at < body.size(); at += step) {
      reader.Put(Slice::Copy(std::string_view(body).substr(at, step)));
      for (;;) {
        auto message = reader.Take();
        ASSERT_TRUE(message);
        if (!*message) break;
        messages.emplace_back((*message)->view());
      }
    }
    EXPECT_THAT(messages, ::testing::ElementsAre("one", "", "another"));
    EXPECT_TRUE(reader.between_messages());
  }
}

TEST(MessageReader, RefusesWhatIsTooLargeOrCompressed) {
  MessageReader reader(10);
  reader.Put(Slice::Own(MessageHeader(11)));
  EXPECT_EQ(reader.Take().error().message, "grpc: received message larger than max (11 vs. 10)");
  MessageReader other(10);
  other.Put(Slice::Static({"\1\0\0\0\1x", 6}));
  EXPECT_EQ(other.Take().error().code, Code::kInternal);
}

TEST(ProtobufWire, ReadsWhatItWrites) {
  MessageWriter writer;
  writer.Int(1, -5);
  writer.Int(2, 0);
  writer.Bytes(3, "text");
  writer.Message(4, [](MessageWriter& inner) {
    inner.SetInt(1, 0);
    inner.Message(2, [](MessageWriter& innermost) { innermost.Bytes(1, std::string(300, 'x')); });
  });
  writer.Bool(100, true);
  auto bytes = writer.Take();
  FieldReader fields(bytes);
  std::string seen;
  while (fields.Next()) {
    if (fields.number() == 4) {
      FieldReader inner(fields.AsBytes());
      ASSERT_TRUE(inner.Next());
      EXPECT_EQ(inner.number(), 1u);
      ASSERT_TRUE(inner.Next());
      EXPECT_EQ(inner.AsBytes().size(), 300u + 3);
      EXPECT_FALSE(inner.Next());
      EXPECT_TRUE(inner.ok());
    }
    seen += fmt::format("{}:{}:{} ", fields.number(), fields.AsInt(),
                        fields.number() == 4 ? "" : fields.AsBytes());
  }
  EXPECT_TRUE(fields.ok());
  EXPECT_EQ(seen, "1:-5: 3:0:text 4:0: 100:1: ");
}

TEST(ProtobufWire, StopsAtWhatIsMalformed) {
  using std::string_view_literals::operator""sv;
  for (auto bytes : {"\x08"sv, "\x0a\x05\x01\x01"sv, "\x0b"sv, "\x00\x01"sv, "\x09\x01\x02"sv,
                     "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv}) {
    FieldReader fields(bytes);
    while (fields.Next()) {
    }
    EXPECT_FALSE(fields.ok());
  }
}

TEST(GrpcStatus, ReadsCodesAndMessages) {
  http::Headers trailers;
  EXPECT_EQ(ReadStatus(trailers).error().code, Code::kInternal);
  trailers.Set("grpc-status", "0");
  EXPECT_TRUE(ReadStatus(trailers));
  trailers.Set("grpc-status", "14");
  trailers.Set("grpc-message", "50%25 of %E2%82%AC, 100% sure%");
  EXPECT_EQ(ReadStatus(trailers).error().ToString(),
            "rpc error: code = Unavailable desc = 50% of €, 100% sure%");
  trailers.Set("grpc-status", "99");
  EXPECT_EQ(ReadStatus(trailers).error().code, Code::kUnknown);
  trailers.Set("grpc-status", "x");
  EXPECT_EQ(ReadStatus(trailers).error().code, Code::kUnknown);
}

TEST(GrpcStatus, WritesTimeouts) {
  EXPECT_EQ(EncodeTimeout(seconds(5)), "5000000u");
  EXPECT_EQ(EncodeTimeout(milliseconds(1) + Duration(1)), "1000001n");
  EXPECT_EQ(EncodeTimeout(std::chrono::hours(100)), "360000S");
  EXPECT_EQ(EncodeTimeout(-seconds(1)), "0n");
}

// --- calls

http::ClientOptions InClear(std::string endpoint = "") {
  http::ClientOptions options;
  options.http2_in_clear = true;
  options.endpoint = std::move(endpoint);
  return options;
}

const H2Peer::Fields kGrpcHead = {{"content-type", "application/grpc"}};

// /echo answers each message with itself; other paths do what their name says.
void Serve(H2Peer::Stream& stream) {
  if (stream.path == "/echo") {
    if (stream.body.empty() && !stream.ended) stream.Head("200", kGrpcHead);
    stream.Data(std::exchange(stream.body, ""));
    if (stream.ended) stream.Trailers({{"grpc-status", "0"}});
  } else if (stream.path == "/hang") {
    return;
  } else if (!stream.ended) {
    return;
  } else if (stream.path == "/refuse") {
    stream.HeadOnly({kGrpcHead[0], {"grpc-status", "8"}, {"grpc-message", "no%20room"}});
  } else if (stream.path == "/late-failure") {
    stream.Head("200", kGrpcHead);
    stream.Data(MessageHeader(2) + "ok");
    stream.Trailers({{"grpc-status", "13"}, {"grpc-message", "after all"}});
  } else if (stream.path == "/cut") {
    stream.Head("200", kGrpcHead);
    stream.Data(MessageHeader(20) + "ok");
    stream.Trailers({{"grpc-status", "0"}});
  } else if (stream.path == "/twice") {
    stream.Head("200", kGrpcHead);
    stream.Data(MessageHeader(1) + "1" + MessageHeader(1) + "2");
    stream.Trailers({{"grpc-status", "0"}});
  } else if (stream.path == "/web") {
    stream.Head("503", {{"content-type", "text/html"}});
    stream.Trailers({{"x", "y"}});
  } else {  // what the request said
    stream.Head("200", kGrpcHead);
    auto said = stream.headers["grpc-timeout"] + " " + stream.headers["te"] + " " +
                stream.headers["hasleader"];
    stream.Data(MessageHeader(said.size()) + said);
    stream.Trailers({{"grpc-status", "0"}});
  }
}

class GrpcCalls : public ::testing::Test {
 protected:
  static Task<void> Into(Channel& channel, std::string method, std::string message,
                         CallOptions options, std::optional<CallResult<Slice>>& out) {
    out.emplace(co_await channel.Call(std::move(method), Slice::Own(std::move(message)),
                                      std::move(options)));
  }
  CallResult<Slice> Call(std::string method, std::string message = "", CallOptions options = {}) {
    Channel channel(fixture_.client(), peer_.url());
    std::optional<CallResult<Slice>> out;
    fixture_.Run(Into(channel, std::move(method), std::move(message), std::move(options), out));
    return *std::move(out);
  }
  std::string FailureOf(std::string method, CallOptions options = {}) {
    auto result = Call(std::move(method), "", std::move(options));
    return result ? "none" : result.error().ToString();
  }

  H2Peer peer_{Serve};
  ClientFixture fixture_{InClear()};
};

TEST_F(GrpcCalls, AnswersComeBack) {
  EXPECT_EQ(Call("/echo", "hello").value().view(), "hello");
  EXPECT_EQ(Call("/echo", "").value().view(), "");
  std::string big(3 << 20, 'b');
  EXPECT_EQ(Call("/echo", big).value().view(), big);
  EXPECT_EQ(peer_.accepted(), 1);
}

TEST_F(GrpcCalls, SaysDeadlineAndMetadata) {
  EXPECT_EQ(Call("/said", "", {.timeout = seconds(7), .metadata = {{"hasleader", "true"}}})
                .value()
                .view(),
            "7000000u trailers true");
}

TEST_F(GrpcCalls, TellsHowTheyFailed) {
  EXPECT_EQ(FailureOf("/refuse"), "rpc error: code = ResourceExhausted desc = no room");
  EXPECT_EQ(FailureOf("/late-failure"), "rpc error: code = Internal desc = after all");
  EXPECT_EQ(FailureOf("/cut"),
            "rpc error: code = Internal desc = the stream ends inside a message");
  EXPECT_EQ(FailureOf("/twice"), "rpc error: code = Internal desc = a call with two answers");
  EXPECT_EQ(FailureOf("/web"),
            "rpc error: code = Unavailable desc = unexpected HTTP status code received from "
            "server: 503");
  auto late = Call("/hang", "", {.timeout = milliseconds(50)});
  EXPECT_EQ(late.error().code, Code::kDeadlineExceeded);
  EXPECT_FALSE(late.error().unsent);
  EXPECT_FALSE(late.error().from_peer);
}

TEST_F(GrpcCalls, BoundsAnswers) {
  auto result = Call("/echo", std::string(100, 'x'), {.max_message = 99});
  EXPECT_EQ(result.error().code, Code::kResourceExhausted);
}

TEST_F(GrpcCalls, KnowsWhenNothingWasSent) {
  fixture_.Use(InClear("127.0.0.1:1"));
  auto result = Call("/echo");
  EXPECT_EQ(result.error().code, Code::kUnavailable);
  EXPECT_TRUE(result.error().unsent);
}

TEST(GrpcUnixSocket, CarriesCalls) {
  auto path = (std::filesystem::path(::testing::TempDir()) /
               fmt::format("keelson-grpc-{}.sock", ::getpid()))
                  .string();
  std::filesystem::remove(path);
  H2Peer peer(Serve, path);
  ClientFixture fixture(InClear("unix:" + path));
  Channel channel(fixture.client(), "http://localhost");
  std::optional<CallResult<Slice>> out;
  struct Run {
    static Task<void> Once(Channel& channel, std::optional<CallResult<Slice>>& out) {
      out.emplace(co_await channel.Call("/echo", Slice::Static("over a socket")));
    }
  };
  fixture.Run(Run::Once(channel, out));
  EXPECT_EQ(out->value().view(), "over a socket");
  std::filesystem::remove(path);
}

Task<void> Converse(Channel& channel, std::string& heard) {
  auto stream = co_await channel.Open("/echo");
  if (!stream) co_return;
  for (int i = 0; i < 3; ++i) {
    auto written = co_await (*stream)->Write(fmt::format("message {};", i));
    if (!written) co_return;
    auto answer = co_await (*stream)->Read();
    if (!answer || !*answer) co_return;
    heard += (*answer)->view();
  }
  (*stream)->Finish();
  auto end = co_await (*stream)->Read();
  if (end && !*end) heard += "end";
}

TEST_F(GrpcCalls, StreamsRunBothWaysAtOnce) {
  Channel channel(fixture_.client(), peer_.url());
  std::string heard;
  fixture_.Run(Converse(channel, heard));
  EXPECT_EQ(heard, "message 0;message 1;message 2;end");
}

Task<void> ReadUntilFailure(Channel& channel, std::stop_token stop, std::atomic<bool>& opened,
                            std::string& failure) {
  auto stream = co_await channel.Open("/hang", {.stop = std::move(stop)});
  if (!stream) co_return;
  (*stream)->Queue("a");
  opened = true;
  auto message = co_await (*stream)->Read();
  if (!message) failure = message.error().ToString();
}

TEST_F(GrpcCalls, StreamsEndWhenCancelledOrCut) {
  Channel channel(fixture_.client(), peer_.url());
  for (bool cancel : {true, false}) {
    std::stop_source stop;
    std::atomic<bool> opened = false;
    std::string failure;
    std::jthread other([&] {
      while (!opened) std::this_thread::yield();
      if (cancel) stop.request_stop();
      if (!cancel) peer_.DropConnections();
    });
    fixture_.Run(ReadUntilFailure(channel, stop.get_token(), opened, failure));
    EXPECT_THAT(failure, ::testing::StartsWith(cancel ? "rpc error: code = Canceled"
                                                      : "rpc error: code = Unavailable"));
  }
}

}  // namespace
}  // namespace keelson::grpc
