#include "http/client_h1.h"

#include <gtest/gtest.h>

#include "http/client_url.h"
#include "http/testing/client_fixture.h"

namespace keelson::http {
namespace {

using testing::Output;
using testing::Received;
using testing::SessionHost;

class H1Client : public ::testing::Test {
 protected:
  std::shared_ptr<ClientCall> Begin(std::string method = "GET", bool body = false,
                                    std::optional<uint64_t> length = {}) {
    auto call = std::make_shared<ClientCall>(host_);
    call->method = method;
    ClientRequestHead head{.method = call->method,
                           .scheme = "http",
                           .authority = "a",
                           .target = "/",
                           .headers = &headers_,
                           .has_body = body,
                           .body_length = length,
                           .upgrade = upgrade_};
    session_.Begin(call, head);
    if (!body) call->EndBody();
    return call;
  }

  std::shared_ptr<SessionHost> host_ = std::make_shared<SessionHost>();
  ClientSessionOptions options_;
  Headers headers_;
  bool upgrade_ = false;
  H1ClientSession session_{*host_, options_};
};

TEST_F(H1Client, ReadsAnAnswerInPiecesOfAnySize) {
  constexpr std::string_view kAnswer =
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
      "5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\n";
  for (size_t size = 1; size <= kAnswer.size(); ++size) {
    auto call = Begin();
    EXPECT_EQ(Output(session_), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    for (size_t at = 0; at < kAnswer.size(); at += size) session_.Receive(kAnswer.substr(at, size));
    EXPECT_EQ(call->status, 200);
    EXPECT_EQ(call->headers.Get("x-a"), "b");
    EXPECT_EQ(Received(*call), "hello!");
    EXPECT_TRUE(call->in_ended);
    ASSERT_TRUE(session_.CanTake());
  }
}

TEST_F(H1Client, FramesStreamedBodiesAsChunks) {
  auto call = Begin("POST", true);
  call->Queue(Slice::Static("hello"));
  EXPECT_EQ(Output(session_),
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  call->Queue(Slice::Static("x"));
  call->EndBody();
  EXPECT_EQ(Output(session_), "1\r\nx\r\n0\r\n\r\n");
  EXPECT_EQ(Output(session_), "");
}

TEST_F(H1Client, CountsBodiesOfKnownLength) {
  auto call = Begin("PUT", true, 5);
  call->Queue(Slice::Static("hello"));
  call->EndBody();
  EXPECT_EQ(Output(session_), "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
}

TEST_F(H1Client, DoesNotReuseAConnectionAnsweredBeforeTheRequestEnded) {
  auto call = Begin("POST", true, 100);
  call->Queue(Slice::Static("part"));
  Output(session_);
  session_.Receive("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(call->status, 413);
  EXPECT_TRUE(call->in_ended);
  EXPECT_TRUE(session_.finished());
}

TEST_F(H1Client, KnowsAnswersWithoutBody) {
  auto head = Begin("HEAD");
  session_.Receive("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
  EXPECT_TRUE(head->in_ended);
  EXPECT_EQ(head->content_length, 10u);
  auto unchanged = Begin();
  session_.Receive("HTTP/1.1 304 Not Modified\r\n\r\n");
  EXPECT_TRUE(unchanged->in_ended);
  EXPECT_TRUE(session_.CanTake());
}

TEST_F(H1Client, ObeysConnectionClose) {
  auto call = Begin();
  session_.Receive("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(call->in_ended);
  EXPECT_TRUE(session_.finished());
}

TEST_F(H1Client, HoldsTheSenderBackWhileNobodyReads) {
  auto call = Begin();
  session_.Receive("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_TRUE(session_.WantsBytes());
  session_.Receive(std::string(300'000, 'x'));
  EXPECT_FALSE(session_.WantsBytes());
}

TEST_F(H1Client, PassesTunnelBytesThrough) {
  upgrade_ = true;
  headers_.Add("upgrade", "SPDY/3.1");
  auto call = Begin();
  EXPECT_EQ(Output(session_),
            "GET / HTTP/1.1\r\nHost: a\r\nupgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n");
  session_.Receive("HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\n\r\n\x80\x03");
  session_.Receive(std::string_view("\0\r\n\r\n", 5));
  EXPECT_EQ(call->status, 101);
  EXPECT_EQ(Received(*call), std::string("\x80\x03\0\r\n\r\n", 7));
  call->Queue(Slice::Static("raw"));
  call->Abandon();
  EXPECT_FALSE(session_.finished());
  EXPECT_EQ(Output(session_), "raw");
  EXPECT_TRUE(session_.finished());
}

TEST(ClientUrl, SplitsUrls) {
  auto url = ClientUrl::Parse("https://Example.com:8443/a/b?c=d#e");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "Example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->authority, "Example.com:8443");
  EXPECT_EQ(url->target, "/a/b?c=d");
  EXPECT_EQ(ClientUrl::Parse("https://a:443")->authority, "a");
  EXPECT_EQ(ClientUrl::Parse("http://a?x")->target, "/?x");
  EXPECT_EQ(ClientUrl::Parse("http://[::1]:80/")->authority, "[::1]");
  EXPECT_EQ(ClientUrl::Parse("http://[::1]:80/")->host, "::1");
}

TEST(ClientUrl, RefusesWhatItDoesNotUnderstand) {
  for (std::string_view url :
       {"", "a", "ftp://a/", "https://", "https:///x", "https://a:b/", "https://a:0/",
        "https://a:65536/", "https://u:p@a/", "https://[::1/", "https://::1/", "http://a/ b",
        "http://a/\r\nX: y", "http://a b/", "http://[::1]x/"}) {
    EXPECT_FALSE(ClientUrl::Parse(url)) << url;
  }
}

}  // namespace
}  // namespace keelson::http
