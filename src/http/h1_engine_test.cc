#include "http/h1_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "http/testing/engine_bench.h"

namespace keelson::http {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class H1EngineTest : public ::testing::Test {
 protected:
  H1EngineTest() { engine_.Start(); }
  ~H1EngineTest() override {
    engine_.PeerGone(true);
    EXPECT_TRUE(engine_.idle());
    EXPECT_EQ(host_.in_flight, 0);
  }

  std::string Send(std::string_view bytes) {
    engine_.Receive(bytes);
    return host_.Take(engine_);
  }
  // The same bytes in every cut must do the same.
  std::string SendByByte(std::string_view bytes) {
    std::string all;
    for (char c : bytes) all += Send({&c, 1});
    return all;
  }

  EngineOptions options_;
  testing::BenchHost host_;
  testing::BenchHandler handler_;
  H1Engine engine_{host_, handler_, options_};
};

TEST_F(H1EngineTest, AnswersAndKeepsTheConnection) {
  auto answer = Send("GET /hello?a=b HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: "));
  EXPECT_THAT(answer, EndsWith("\r\nContent-Length: 5\r\n\r\nhello"));
  EXPECT_THAT(handler_.seen, ElementsAre("GET /hello?a=b host=x"));
  EXPECT_FALSE(engine_.finished());
  EXPECT_THAT(Send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr("hello"));
}

TEST_F(H1EngineTest, ServesPipelinedRequestsInOrder) {
  std::string three;
  for (int i = 0; i < 3; ++i) three += fmt::format("GET /hello?{} HTTP/1.1\r\nHost: x\r\n\r\n", i);
  auto answer = Send(three);
  EXPECT_THAT(handler_.seen,
              ElementsAre("GET /hello?0 host=x", "GET /hello?1 host=x", "GET /hello?2 host=x"));
  size_t answers = 0;
  for (size_t at = 0; (at = answer.find("HTTP/1.1 200", at)) != std::string::npos; ++at) ++answers;
  EXPECT_EQ(answers, 3u);
}

TEST_F(H1EngineTest, HoldsPipelinedRequestsWhileOneRuns) {
  Send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(engine_.WantsBytes());
  for (int i = 0; i < 4000; ++i) Send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_FALSE(engine_.WantsBytes());
  EXPECT_EQ(handler_.seen.size(), 1u);
}

TEST_F(H1EngineTest, DecodesChunksHoweverTheyAreCut) {
  constexpr std::string_view kRequest =
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;name=value\r\nhello\r\n1\r\n \r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
      "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_THAT(Send(kRequest), HasSubstr("hello 0123456789"));
  EXPECT_THAT(SendByByte(kRequest), HasSubstr("hello 0123456789"));
  EXPECT_EQ(handler_.seen.size(), 4u);
}

TEST_F(H1EngineTest, StreamsWithoutALengthInChunks) {
  EXPECT_THAT(Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"),
              EndsWith("Transfer-Encoding: chunked\r\n\r\n"
                       "4\r\none \r\n3\r\ntwo\r\n6\r\n three\r\n0\r\n\r\n"));
}

TEST_F(H1EngineTest, EndsTheConnectionForAnOldClient) {
  auto answer = Send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\none two three"));
  EXPECT_TRUE(engine_.finished());
}

TEST_F(H1EngineTest, HeadHasALengthAndNoBody) {
  EXPECT_THAT(Send("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n"),
              EndsWith("Content-Length: 5\r\n\r\n"));
}

TEST_F(H1EngineTest, ContinuesWhenTheHandlerReads) {
  EXPECT_EQ(
      Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"),
      "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(Send("hi"), EndsWith("\r\n\r\nhi"));
  EXPECT_FALSE(engine_.finished());
}

TEST_F(H1EngineTest, ClosesWhenAnExpectedBodyWasNeverAskedFor) {
  auto answer =
      Send("POST /ignore HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("100 Continue")));
}

TEST_F(H1EngineTest, DropsAnUnreadBodyAndGoesOn) {
  Send("POST /ignore HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_FALSE(engine_.finished());
  EXPECT_THAT(Send(std::string(1000, 'x') + "GET /hello HTTP/1.1\r\nHost: y\r\n\r\n"),
              HasSubstr("hello"));
  EXPECT_THAT(handler_.seen.back(), HasSubstr("host=y"));
}

TEST_F(H1EngineTest, HoldsBackABodyNobodyReads) {
  Send("POST /hang HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n");
  EXPECT_TRUE(engine_.WantsBytes());
  Send(std::string(65536, 'x'));
  EXPECT_FALSE(engine_.WantsBytes());
}

TEST_F(H1EngineTest, HoldsBackAWriterWhosePeerDoesNotRead) {
  engine_.Receive("GET /flood HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_GT(handler_.flooded, options_.write_high_water);
  EXPECT_LT(handler_.flooded, options_.write_high_water + 30'000);
  engine_.PeerGone(true);
  EXPECT_EQ(handler_.finished, 1);
}

TEST_F(H1EngineTest, CancelsWhenThePeerGoesWhileTheHandlerWaits) {
  Send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n");
  engine_.PeerGone(false);
  EXPECT_EQ(handler_.cancelled, 1);
}

TEST_F(H1EngineTest, OutlivesItsPeerUntilTheHandlerEnds) {
  testing::StubbornHandler stubborn;
  H1Engine engine(host_, stubborn, options_);
  engine.Receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  engine.PeerGone(true);
  EXPECT_TRUE(engine.finished());
  EXPECT_FALSE(engine.idle());
  host_.Take(engine);
  stubborn.Release();
  EXPECT_TRUE(engine.idle());
  EXPECT_TRUE(host_.output_ready);  // so that the host finds out
}

TEST_F(H1EngineTest, CancelsAtTheDeadline) {
  handler_.deadline = host_.now + seconds(60);
  Send("GET /hang HTTP/1.1\r\nHost: x\r\n\r\n");
  host_.Advance(engine_, seconds(59));
  EXPECT_EQ(handler_.cancelled, 0);
  host_.Advance(engine_, seconds(1));
  EXPECT_EQ(handler_.cancelled, 1);
  EXPECT_THAT(host_.Take(engine_), StartsWith("HTTP/1.1 504"));
}

TEST_F(H1EngineTest, AnExceptionCutsTheConnectionAndIsLogged) {
  log::Capture capture;
  EXPECT_EQ(Send("GET /throw HTTP/1.1\r\nHost: x\r\n\r\n"), "");
  EXPECT_TRUE(engine_.finished() && engine_.cut());
  EXPECT_THAT(capture.text(), HasSubstr("panic serving 192.0.2.1:1234: kaboom"));
}

TEST_F(H1EngineTest, AnAnswerThatIsNotWholeIsCut) {
  log::Capture capture;
  for (const char* path : {"/short", "/abort", "/nothing"}) {
    testing::BenchHost host;
    H1Engine engine(host, handler_, options_);
    engine.Receive(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path));
    host.Take(engine);
    EXPECT_TRUE(engine.finished() && engine.cut()) << path;
  }
}

TEST_F(H1EngineTest, UpgradeHandsOverTheConnectionWithEarlyBytes) {
  auto answer =
      Send("GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(answer, HasSubstr("Connection: Upgrade\r\nUpgrade: echo\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nearly"));
  EXPECT_EQ(Send("GET / HTTP/1.1\n"), "GET / HTTP/1.1\n");
  engine_.PeerGone(false);
  EXPECT_EQ(handler_.finished, 1);
  EXPECT_TRUE(engine_.finished());
}

TEST_F(H1EngineTest, TimesOutSlowHeadsAndIdleConnections) {
  Send("GET /hello HT");
  host_.Advance(engine_, options_.header_timeout - seconds(1));
  Send("TP/1.1");  // a drop now and then does not help
  EXPECT_FALSE(engine_.finished());
  host_.Advance(engine_, seconds(1));
  EXPECT_TRUE(engine_.finished());

  testing::BenchHost host;
  H1Engine idle(host, handler_, options_);
  idle.Start();
  idle.Receive("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  host.Take(idle);
  host.Advance(idle, options_.idle_timeout - seconds(1));
  EXPECT_FALSE(idle.finished());
  host.Advance(idle, seconds(1));
  EXPECT_TRUE(idle.finished());
}

TEST_F(H1EngineTest, ShutdownSaysCloseOnTheLastAnswerAndWaitsForOneOnItsWay) {
  Send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  engine_.ShutDown();
  EXPECT_FALSE(engine_.finished());
  EXPECT_THAT(Send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(engine_.finished());

  testing::BenchHost host;
  H1Engine idle(host, handler_, options_);
  idle.Start();
  idle.ShutDown();
  host.Advance(idle, options_.idle_grace);
  EXPECT_TRUE(idle.finished());
}

TEST_F(H1EngineTest, HandlersCannotSplitAnswers) {
  struct Splitter : Handler {
    Task<void> Serve(Exchange& exchange) override {
      exchange.response->headers().Add("x-evil", "a\r\nset-cookie: b");
      exchange.response->Send(204, {});
      co_return;
    }
  } splitter;
  H1Engine engine(host_, splitter, options_);
  engine.Receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(host_.Take(engine), HasSubstr("X-Evil: a  set-cookie: b\r\n"));
}

struct Refused {
  const char* name;
  std::string bytes;
  int status = 400;
};

class H1RefusalTest : public ::testing::TestWithParam<Refused> {};

TEST_P(H1RefusalTest, IsAnsweredAndClosed) {
  for (bool by_byte : {false, true}) {
    EngineOptions options;
    testing::BenchHost host;
    testing::BenchHandler handler;
    H1Engine engine(host, handler, options);
    engine.Start();
    std::string answer;
    if (by_byte) {
      for (char c : GetParam().bytes) engine.Receive({&c, 1});
    } else {
      engine.Receive(GetParam().bytes);
    }
    answer = host.Take(engine);
    EXPECT_THAT(answer, StartsWith(fmt::format("HTTP/1.1 {} ", GetParam().status)));
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(engine.finished());
    // What follows must never be taken for a request of its own.
    engine.Receive("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(host.Take(engine), IsEmpty());
    for (const auto& seen : handler.seen) EXPECT_THAT(seen, Not(HasSubstr("smuggled")));
  }
}

std::string Get(const std::string& fields) {
  return "GET /hello HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}
std::string Post(const std::string& fields, const std::string& body) {
  return "POST /echo HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body;
}
std::string Chunked(const std::string& body) {
  return Post("Transfer-Encoding: chunked\r\n", body);
}

INSTANTIATE_TEST_SUITE_P(
    Smuggling, H1RefusalTest,
    ::testing::Values(
        Refused{"LengthAndChunked",
                Post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        Refused{"ChunkedAndLength",
                Post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
        Refused{"TwoLengths", Post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!")},
        Refused{"SameLengthTwice", Post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")},
        Refused{"LengthList", Post("Content-Length: 5, 5\r\n", "hello")},
        Refused{"LengthWithPlus", Post("Content-Length: +5\r\n", "hello")},
        Refused{"NegativeLength", Post("Content-Length: -5\r\n", "hello")},
        Refused{"HexLength", Post("Content-Length: 0x5\r\n", "hello")},
        Refused{"EmptyLength", Post("Content-Length:\r\n", "hello")},
        Refused{"HugeLength", Post("Content-Length: 99999999999999999999\r\n", "hello")},
        Refused{"TwoCodings",
                Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n")},
        Refused{"CodingList", Post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501},
        Refused{"UnknownCoding", Post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501},
        Refused{"CodingWithControl", Post("Transfer-Encoding: \x0b"
                                          "chunked\r\n",
                                          "0\r\n\r\n")},
        Refused{"CodingForOldClient",
                "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        Refused{"SpaceBeforeColon", Post("Content-Length : 5\r\n", "hello")},
        Refused{"SpaceInName", Get("X Y: z\r\n")}, Refused{"EmptyName", Get(": z\r\n")},
        Refused{"NoColon", Get("nothing\r\n")}, Refused{"FoldedLine", Get("A: b\r\n c\r\n")},
        Refused{"FoldedFirstLine", "GET /hello HTTP/1.1\r\n Host: x\r\n\r\n"},
        Refused{"BareLf", "GET /hello HTTP/1.1\nHost: x\n\n"},
        Refused{"BareLfInFields", "GET /hello HTTP/1.1\r\nHost: x\nA: b\r\n\r\n"},
        Refused{"BareCrInValue", Get("A: b\rc\r\n")},
        Refused{"NulInValue", Get(std::string("A: b\0c\r\n", 8))},
        Refused{"NulInTarget", std::string("GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 29)},
        Refused{"LeadingEmptyLine", "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"},
        Refused{"NoHost", "GET /hello HTTP/1.1\r\n\r\n"}, Refused{"TwoHosts", Get("Host: y\r\n")},
        Refused{"BadHost", "GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n"},
        Refused{"TwoSpaces", "GET  /hello HTTP/1.1\r\nHost: x\r\n\r\n"},
        Refused{"TabInLine", "GET\t/hello HTTP/1.1\r\nHost: x\r\n\r\n"},
        Refused{"NoVersion", "GET /hello\r\nHost: x\r\n\r\n"},
        Refused{"BadVersion", "GET /hello HTTP/1.x\r\nHost: x\r\n\r\n"},
        Refused{"OtherVersion", "GET /hello HTTP/2.0\r\nHost: x\r\n\r\n", 505},
        Refused{"BadMethod", "GE(T /hello HTTP/1.1\r\nHost: x\r\n\r\n"},
        Refused{"RelativeTarget", "GET hello HTTP/1.1\r\nHost: x\r\n\r\n"},
        Refused{"BytesInTarget", "GET /\x80 HTTP/1.1\r\nHost: x\r\n\r\n"},
        Refused{"TlsOnClearPort", std::string("\x16\x03\x01\x02\x00\x01\x00", 7)},
        Refused{"UnknownExpectation", Get("Expect: more\r\n"), 417},
        Refused{"EmptyChunkSize", Chunked("\r\nhello\r\n0\r\n\r\n")},
        Refused{"ChunkSizeWithSign", Chunked("+5\r\nhello\r\n0\r\n\r\n")},
        Refused{"ChunkSizeWithSpace", Chunked("5 \r\nhello\r\n0\r\n\r\n")},
        Refused{"ChunkSizeWithPrefix", Chunked("0x5\r\nhello\r\n0\r\n\r\n")},
        Refused{"ChunkSizeOverflow", Chunked("10000000000000005\r\nhello\r\n0\r\n\r\n")},
        Refused{"ChunkSizeBareLf", Chunked("5\nhello\r\n0\r\n\r\n")},
        Refused{"ChunkExtensionBareLf", Chunked("5;a\nhello\r\n0\r\n\r\n")},
        Refused{"ChunkTooLong", Chunked("5\r\nhelloX\r\n0\r\n\r\n")},
        Refused{"TrailerWithSpace", Chunked("0\r\nA b: c\r\n\r\n")},
        Refused{"HugeField", Get("A: " + std::string(2 << 20, 'x') + "\r\n"), 431},
        Refused{"ManyFields",
                [] {
                  std::string f;
                  for (int i = 0; i < 3000; ++i) f += "a:b\r\n";
                  return Get(f);
                }(),
                431}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace keelson::http
