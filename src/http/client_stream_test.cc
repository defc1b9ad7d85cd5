// Full-duplex streams over HTTP/2 in clear text, against a peer that says what it is told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "http/client.h"
#include "http/testing/client_fixture.h"
#include "http/testing/h2_peer.h"

namespace keelson::http {
namespace {

using std::chrono::milliseconds;
using testing::ClientFixture;
using testing::H2Peer;

ClientOptions InClear() {
  ClientOptions options;
  options.http2_in_clear = true;
  return options;
}

// Says every line back as soon as it is whole; the end of the request ends the answer.
void EchoLines(H2Peer::Stream& stream) {
  if (stream.body.empty() && !stream.ended) stream.Head("200", {{"x-kind", "echo"}});
  for (size_t end; (end = stream.body.find('\n')) != std::string::npos;) {
    stream.Data(stream.body.substr(0, end + 1));
    stream.body.erase(0, end + 1);
  }
  if (stream.ended) stream.Trailers({{"x-lines", "done"}});
}

struct Heard {
  std::string lines;
  std::string trailer;
  std::optional<Error> failure;
  int status = 0;
};

Task<void> TalkInTurns(Client& client, std::string url, Heard& heard) {
  auto stream = co_await client.Open({.method = "POST", .url = std::move(url)});
  if (!stream) {
    heard.failure = stream.error();
    co_return;
  }
  auto response = co_await stream->Answer();
  if (!response) {
    heard.failure = response.error();
    co_return;
  }
  heard.status = response->status();
  for (int i = 0; i < 3; ++i) {
    auto written = co_await stream->Write(Slice::Own(fmt::format("line {}\n", i)));
    auto piece = co_await response->body().Read();
    if (!written || !piece) co_return;
    heard.lines += piece->view();
  }
  stream->Finish();
  auto rest = co_await response->body().ReadAll(1000);
  if (rest) heard.lines += *rest;
  heard.trailer = response->trailers().Get("x-lines").value_or("");
}

TEST(ClientStream, WritesWhileItReads) {
  H2Peer peer(EchoLines);
  ClientFixture fixture(InClear());
  Heard heard;
  fixture.Run(TalkInTurns(fixture.client(), peer.url("/talk"), heard));
  EXPECT_FALSE(heard.failure) << heard.failure->message;
  EXPECT_EQ(heard.status, 200);
  EXPECT_EQ(heard.lines, "line 0\nline 1\nline 2\n");
  EXPECT_EQ(heard.trailer, "done");
}

TEST(ClientStream, SharesOneConnectionInClear) {
  H2Peer peer(EchoLines);
  ClientFixture fixture(InClear());
  Heard heard[20];
  Gate gate;
  for (auto& each : heard) {
    gate.Spawn(&fixture.pool().Next(), TalkInTurns(fixture.client(), peer.url("/"), each));
  }
  gate.CloseAndWait();
  for (auto& each : heard) EXPECT_EQ(each.trailer, "done");
  EXPECT_EQ(peer.accepted(), 1);
}

Task<void> WriteMuch(Client& client, std::string url, size_t& written) {
  auto stream = co_await client.Open({.method = "POST", .url = std::move(url)});
  if (!stream) co_return;
  Slice piece = Slice::Own(std::string(100'000, 'x'));
  for (int i = 0; i < 30; ++i) {
    if (auto done = co_await stream->Write(piece); !done) co_return;
    written += piece.size();
  }
  stream->Finish();
  (void)co_await stream->Answer();
}

TEST(ClientStream, SendsPastThePeersWindow) {
  std::atomic<size_t> received = 0;
  H2Peer peer([&](H2Peer::Stream& stream) {
    received += std::exchange(stream.body, "").size();
    if (stream.ended) stream.HeadOnly({});
  });
  ClientFixture fixture(InClear());
  size_t written = 0;
  fixture.Run(WriteMuch(fixture.client(), peer.url("/"), written));
  EXPECT_EQ(written, 3'000'000u);
  EXPECT_EQ(received, 3'000'000u);
}

Task<void> AskOnce(Client& client, ClientRequest request, Heard& heard, bool& unprocessed) {
  auto stream = co_await client.Open(std::move(request));
  if (!stream) {
    heard.failure = stream.error();
    co_return;
  }
  stream->Finish();
  auto response = co_await stream->Answer();
  unprocessed = stream->unprocessed();
  if (!response) {
    heard.failure = response.error();
  } else {
    heard.status = response->status();
  }
}

TEST(ClientStream, TellsARefusedRequestFromAFailedOne) {
  H2Peer peer([](H2Peer::Stream& stream) {
    stream.Reset(stream.path == "/refuse" ? NGHTTP2_REFUSED_STREAM : NGHTTP2_INTERNAL_ERROR);
  });
  ClientFixture fixture(InClear());
  for (const auto* path : {"/refuse", "/break"}) {
    Heard heard;
    bool unprocessed = false;
    fixture.Run(
        AskOnce(fixture.client(), {.method = "POST", .url = peer.url(path)}, heard, unprocessed));
    EXPECT_TRUE(heard.failure);
    EXPECT_EQ(unprocessed, path == std::string_view("/refuse"));
  }
}

TEST(ClientStream, EndsAtTheDeadlineAndWhenCancelled) {
  H2Peer peer([](H2Peer::Stream&) {});
  ClientFixture fixture(InClear());
  Heard heard;
  bool unprocessed = false;
  fixture.Run(AskOnce(fixture.client(),
                      {.method = "POST", .url = peer.url("/"), .timeout = milliseconds(50)}, heard,
                      unprocessed));
  EXPECT_EQ(heard.failure.value().code, ErrorCode::kTimeout);
  std::stop_source stop;
  std::jthread canceller([&] { stop.request_stop(); });
  heard = {};
  fixture.Run(AskOnce(fixture.client(),
                      {.method = "POST", .url = peer.url("/"), .stop = stop.get_token()}, heard,
                      unprocessed));
  EXPECT_EQ(heard.failure.value().code, ErrorCode::kCancelled);
}

TEST(ClientStream, NoticesAPeerThatHasStopped) {
  std::atomic<bool> asked = false;
  H2Peer peer([&](H2Peer::Stream&) { asked = true; });
  auto options = InClear();
  options.ping_after = milliseconds(100);
  options.ping_timeout = milliseconds(100);
  ClientFixture fixture(options);
  Heard heard;
  bool unprocessed = false;
  std::jthread freezer([&] {
    while (!asked || peer.pings() == 0) std::this_thread::yield();
    peer.Freeze(true);
  });
  fixture.Run(
      AskOnce(fixture.client(), {.method = "POST", .url = peer.url("/")}, heard, unprocessed));
  EXPECT_EQ(heard.failure.value().message, "http2: client connection lost");
  EXPECT_FALSE(unprocessed);
}

TEST(ClientStream, NothingWasSentWhenOpeningFails) {
  std::string url;
  {
    H2Peer peer([](H2Peer::Stream&) {});
    url = peer.url("/");
  }
  ClientFixture fixture(InClear());
  Heard heard;
  bool unprocessed = false;
  fixture.Run(AskOnce(fixture.client(), {.method = "POST", .url = url}, heard, unprocessed));
  EXPECT_THAT(heard.failure.value().message, ::testing::HasSubstr("connection refused"));
}

}  // namespace
}  // namespace keelson::http
