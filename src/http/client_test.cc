#include "http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/completion.h"
#include "http/server.h"
#include "http/testing/client_fixture.h"
#include "net/testing/certificates.h"

namespace keelson::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Answer;
using testing::ClientFixture;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::ScriptedPeer;
using ::testing::StartsWith;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Answers by path: /echo the body, /big five megabytes, /who the connection, /slow never,
// /upgrade by echoing bytes, /cert who the client is.
class Handlers final : public Handler {
 public:
  Task<void> Serve(Exchange& exchange) override {
    const auto& request = exchange.request;
    auto& response = *exchange.response;
    if (request.path == "/echo") {
      auto body = co_await exchange.body->ReadAll(64 << 20);
      if (body) response.Send(200, {Slice::Own(*std::move(body))});
    } else if (request.path == "/big") {
      response.Start(200);
      Slice piece = Slice::Own(std::string(50'000, 'x'));
      for (int i = 0; i < 100; ++i) {
        if (!co_await response.Write({piece})) co_return;
      }
      response.Finish();
    } else if (request.path == "/who") {
      response.Send(200, {Slice::Own(fmt::format("{}", request.connection->id))});
    } else if (request.path == "/cert") {
      const auto& peer = request.connection->peer;
      response.Send(200, {Slice::Own(peer && peer->verified ? "verified" : "none")});
    } else if (request.path == "/upgrade") {
      auto stream = co_await response.Upgrade();
      if (!stream) co_return;
      for (;;) {
        auto piece = co_await (*stream)->Read();
        if (!piece || piece->empty()) break;
        auto written = co_await (*stream)->Write(*piece);
        if (!written) break;
      }
      (*stream)->Close();
    } else if (request.path == "/slow") {
      auto cancelled = Completion<bool>::Create();
      std::stop_callback on_stop(exchange.cancelled.get_token(), [&] { cancelled->Set(true); });
      co_await Completion<bool>::Wait(cancelled);
      response.Abort();
    } else {
      response.headers().Add("x-method", request.method);
      response.headers().Add("x-token", request.headers.Get("authorization").value_or("none"));
      response.Send(request.path == "/" ? 200 : 404, {Slice::Static("hello")});
    }
  }
};

class ClientAndServer : public ::testing::Test {
 protected:
  ClientAndServer() : ca_("client-test-ca") {
    net::TlsServerOptions tls;
    tls.default_pair = ca_.Issue("server");
    tls.client_ca_pem = ca_.pem();
    auto context = net::TlsContext::Server(tls);
    KEELSON_CHECK(context);
    socket_ = (std::filesystem::path(::testing::TempDir()) /
               fmt::format("keelson-client-{}.sock", ::getpid()))
                  .string();
    std::filesystem::remove(socket_);
    ServerOptions options;
    options.listen.push_back({*net::Address::Ip("127.0.0.1", 0), nullptr, {}});
    options.listen.push_back(
        {*net::Address::Ip("127.0.0.1", 0), std::make_shared<net::TlsContextHolder>(*context), {}});
    options.listen.push_back({*net::Address::Unix(socket_), nullptr, {}});
    server_pool_ = *net::IoPool::Create(1);
    auto server = Server::Create(std::move(options), *server_pool_, handlers_);
    KEELSON_CHECK(server);
    server_ = *std::move(server);
    server_->Start();
    fixture_.Use(Trusting());
  }
  ~ClientAndServer() override {
    fixture_.Drop();
    server_.reset();
    server_pool_->Stop();
  }

  ClientOptions Trusting() const {
    ClientOptions options;
    options.tls.ca_pem = ca_.pem();
    return options;
  }
  std::string Clear(std::string_view path) const {
    return fmt::format("http://127.0.0.1:{}{}", server_->addresses()[0].port(), path);
  }
  std::string Secure(std::string_view path, std::string_view host = "127.0.0.1") const {
    return fmt::format("https://{}:{}{}", host, server_->addresses()[1].port(), path);
  }

  net::testing::TestCa ca_;
  std::string socket_;
  Handlers handlers_;
  std::unique_ptr<net::IoPool> server_pool_;
  std::unique_ptr<Server> server_;
  ClientFixture fixture_;
};

TEST_F(ClientAndServer, SpeaksBothVersions) {
  auto clear = fixture_.Get(Clear("/"));
  ASSERT_TRUE(clear) << clear.error().message;
  EXPECT_EQ(clear->status, 200);
  EXPECT_EQ(clear->protocol, Protocol::kHttp1);
  EXPECT_EQ(clear->body, "hello");
  auto secure = fixture_.Get(Secure("/none"));
  ASSERT_TRUE(secure) << secure.error().message;
  EXPECT_EQ(secure->status, 404);
  EXPECT_EQ(secure->protocol, Protocol::kHttp2);
  EXPECT_EQ(secure->body, "hello");
  auto options = Trusting();
  options.http2 = false;
  fixture_.Use(options);
  EXPECT_EQ(fixture_.Get(Secure("/"))->protocol, Protocol::kHttp1);
}

TEST_F(ClientAndServer, ReusesConnections) {
  for (const auto& url : {Clear("/who"), Secure("/who")}) {
    auto first = fixture_.Get(url);
    ASSERT_TRUE(first) << first.error().message;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(fixture_.Get(url)->body, first->body);
  }
  EXPECT_EQ(fixture_.client().connections(), 2u);
}

TEST_F(ClientAndServer, MultiplexesManyRequestsOverOneConnection) {
  std::vector<ClientRequest> requests;
  for (int i = 0; i < 60; ++i) requests.push_back({.url = Secure("/who")});
  auto answers = fixture_.FetchAll(std::move(requests));
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, answers[0]->body);
  }
  EXPECT_EQ(fixture_.client().connections(), 1u);
}

TEST_F(ClientAndServer, OpensOneConnectionPerConcurrentHttp1RequestUpToTheLimit) {
  auto options = Trusting();
  options.max_per_host = 4;
  options.max_idle_per_host = 2;
  fixture_.Use(options);
  std::vector<ClientRequest> requests;
  for (int i = 0; i < 40; ++i) requests.push_back({.url = Clear("/big")});
  for (const auto& answer : fixture_.FetchAll(std::move(requests))) {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body.size(), 5'000'000u);
  }
  EXPECT_LE(fixture_.client().connections(), 4u);
}

TEST_F(ClientAndServer, CarriesLargeBodiesBothWays) {
  const std::string big(3'000'001, 'b');
  for (const auto& url : {Clear("/echo"), Secure("/echo")}) {
    ClientRequest request{.method = "POST", .url = url};
    request.body = {Slice::Copy(big), Slice::Static("end")};
    auto answer = fixture_.Fetch(std::move(request));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, big + "end");
  }
}

// A body of unknown length.
class Pieces final : public BodyReader {
 public:
  explicit Pieces(int count) : left_(count) {}
  Task<Result<Slice>> Read() override {
    if (left_-- <= 0) co_return Slice();
    co_return Slice::Own(std::string(10'000, 'p'));
  }

 private:
  int left_;
};

TEST_F(ClientAndServer, StreamsBodiesOfUnknownLength) {
  for (const auto& url : {Clear("/echo"), Secure("/echo")}) {
    Pieces pieces(100);
    ClientRequest request{.method = "PUT", .url = url, .body_stream = &pieces};
    auto answer = fixture_.Fetch(std::move(request));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, std::string(1'000'000, 'p'));
  }
}

TEST_F(ClientAndServer, LimitsWhatIsRead) {
  for (const auto& url : {Clear("/big"), Secure("/big")}) {
    auto answer = fixture_.Fetch(ClientRequest{.url = url}, 1000);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kTooLarge);
  }
  // An abandoned answer does not harm the next request.
  EXPECT_TRUE(fixture_.Get(Clear("/")));
  EXPECT_TRUE(fixture_.Get(Secure("/")));
}

TEST_F(ClientAndServer, EndsAtTheDeadline) {
  for (const auto& url : {Clear("/slow"), Secure("/slow")}) {
    auto answer = fixture_.Fetch(ClientRequest{.url = url, .timeout = milliseconds(50)});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error(), (Error{ErrorCode::kTimeout,
                                     fmt::format("Get \"{}\": context deadline exceeded", url)}));
  }
}

TEST_F(ClientAndServer, EndsWhenCancelled) {
  for (const auto& url : {Clear("/slow"), Secure("/slow")}) {
    std::stop_source stop;
    std::jthread canceller([&] {
      while (server_->in_flight() == 0) std::this_thread::yield();
      stop.request_stop();
    });
    auto answer = fixture_.Fetch(ClientRequest{.url = url, .stop = stop.get_token()});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
    EXPECT_THAT(answer.error().message, EndsWith("context canceled"));
    while (server_->in_flight() != 0) std::this_thread::yield();  // the server learns of it
  }
}

TEST_F(ClientAndServer, WaitsForHeadersNoLongerThanAllowed) {
  auto options = Trusting();
  options.response_header_timeout = milliseconds(50);
  fixture_.Use(options);
  auto answer = fixture_.Get(Secure("/slow"));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, EndsWith("timeout awaiting response headers"));
}

TEST_F(ClientAndServer, TrustsOnlyItsAuthority) {
  ClientOptions stranger;
  stranger.tls.ca_pem = net::testing::TestCa("stranger").pem();
  fixture_.Use(stranger);
  auto refused = fixture_.Get(Secure("/"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("tls: "));
  stranger.tls.verify_server = false;
  fixture_.Use(stranger);
  EXPECT_TRUE(fixture_.Get(Secure("/")));
}

TEST_F(ClientAndServer, ChecksTheServersName) {
  auto options = Trusting();
  options.server_name = "elsewhere.example";
  fixture_.Use(options);
  EXPECT_FALSE(fixture_.Get(Secure("/")));
  options.server_name = "localhost";
  fixture_.Use(options);
  EXPECT_TRUE(fixture_.Get(Secure("/")));
}

TEST_F(ClientAndServer, PresentsItsCertificate) {
  EXPECT_EQ(fixture_.Get(Secure("/cert"))->body, "none");
  auto options = Trusting();
  options.tls.client_pair = ca_.Issue("client");
  fixture_.Use(options);
  EXPECT_EQ(fixture_.Get(Secure("/cert"))->body, "verified");
}

TEST_F(ClientAndServer, AddsCredentialsToEachRequest) {
  auto options = Trusting();
  int calls = 0;
  options.authorize = [&calls](Headers& headers) -> Result<void> {
    headers.Set("authorization", fmt::format("Bearer {}", ++calls));
    return {};
  };
  fixture_.Use(options);
  for (const auto& url : {Clear("/"), Secure("/")}) {
    auto answer = *fixture_.Get(url);
    EXPECT_THAT(answer.headers, ::testing::Contains(std::pair<std::string, std::string>(
                                    "x-token", fmt::format("Bearer {}", calls))));
  }
  EXPECT_EQ(calls, 2);
}

TEST_F(ClientAndServer, ConnectsToAUnixSocket) {
  auto options = Trusting();
  options.endpoint = "unix:" + socket_;
  fixture_.Use(options);
  auto answer = fixture_.Get("http://localhost/");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "hello");
}

TEST_F(ClientAndServer, ConnectsToAnotherEndpointAndToNames) {
  auto options = Trusting();
  options.endpoint = fmt::format("localhost:{}", server_->addresses()[1].port());
  fixture_.Use(options);
  auto answer = fixture_.Get("https://localhost/");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->protocol, Protocol::kHttp2);
}

Task<void> Converse(Client& client, std::string url, std::string& heard, int& status) {
  auto response = co_await client.Send({.url = url, .upgrade = "websocket"});
  if (!response) co_return;
  status = response->status();
  if (status != 101) co_return;
  auto stream = response->TakeStream();
  for (int i = 0; i < 3; ++i) {
    auto written = co_await stream->Write(Slice::Copy(fmt::format("message {};", i)));
    if (!written) co_return;
    auto piece = co_await stream->Read();
    if (!piece) co_return;
    heard += piece->view();
  }
  stream->Close();
}

TEST_F(ClientAndServer, TunnelsAfterAnUpgrade) {
  for (const auto& url : {Clear("/upgrade"), Secure("/upgrade")}) {
    std::string heard;
    int status = 0;
    fixture_.Run(Converse(fixture_.client(), url, heard, status));
    EXPECT_EQ(status, 101);
    EXPECT_EQ(heard, "message 0;message 1;message 2;");
  }
}

TEST_F(ClientAndServer, MovesOnAfterTheServersGoaway) {
  auto first = fixture_.Get(Secure("/who"));
  ASSERT_TRUE(first);
  // Every connection is told to go; the listener stays.
  struct Once final : Handler {
    Task<void> Serve(Exchange& exchange) override {
      exchange.response->CloseConnection();
      exchange.response->Send(200,
                              {Slice::Own(fmt::format("{}", exchange.request.connection->id))});
      co_return;
    }
  };
  Once once;
  ServerOptions options;
  net::TlsServerOptions tls;
  tls.default_pair = ca_.Issue("server");
  options.listen.push_back({*net::Address::Ip("127.0.0.1", 0),
                            std::make_shared<net::TlsContextHolder>(*net::TlsContext::Server(tls)),
                            {}});
  auto server = *Server::Create(std::move(options), *server_pool_, once);
  server->Start();
  auto url = fmt::format("https://127.0.0.1:{}/", server->addresses()[0].port());
  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) {
    auto answer = fixture_.Fetch({.method = "POST", .url = url});
    ASSERT_TRUE(answer) << answer.error().message;
    ids.push_back(answer->body);
  }
  EXPECT_NE(ids.front(), ids.back());
  fixture_.Drop();
}

Task<void> SendInto(Client& client, std::string url, std::optional<Error>& failure) {
  auto response = co_await client.Send({.url = std::move(url)});
  if (!response) failure = response.error();
}

TEST_F(ClientAndServer, CancelsWhatIsUnderWayWhenDestroyed) {
  std::optional<Error> failure;
  Gate gate;
  gate.Spawn(&fixture_.pool().Next(), SendInto(fixture_.client(), Secure("/slow"), failure));
  while (server_->in_flight() == 0) std::this_thread::yield();
  fixture_.Drop();
  gate.CloseAndWait();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, ErrorCode::kCancelled);
}

// --- peers that misbehave

class ClientAndPeer : public ::testing::Test {
 protected:
  Error FailureOf(std::string answer) {
    ScriptedPeer peer({{{.answer = std::move(answer)}}});
    auto result = fixture_.Get(peer.url());
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  }
  ClientFixture fixture_;
};

TEST_F(ClientAndPeer, ReportsTruncatedAnswers) {
  EXPECT_THAT(FailureOf("").message, EndsWith(": EOF"));
  EXPECT_THAT(FailureOf("HTTP/1.1 200 OK\r\nContent-").message, EndsWith("unexpected EOF"));
  EXPECT_EQ(FailureOf("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell").message,
            "unexpected EOF");
  EXPECT_EQ(
      FailureOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n").message,
      "unexpected EOF");
}

TEST_F(ClientAndPeer, RefusesMalformedAnswers) {
  for (std::string_view answer : {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n",
                                  "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
                                  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
                                  "Content-Length: 6\r\n\r\n",
                                  "HTTP/1.1 101 Switching Protocols\r\n\r\n"}) {
    EXPECT_EQ(FailureOf(std::string(answer)).code, ErrorCode::kCorrupt) << answer;
  }
  EXPECT_EQ(FailureOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").code,
            ErrorCode::kCorrupt);
  std::string informational;
  for (int i = 0; i < 6; ++i) informational += "HTTP/1.1 103 Early Hints\r\n\r\n";
  EXPECT_EQ(FailureOf(informational + std::string(kOk)).code, ErrorCode::kCorrupt);
}

TEST_F(ClientAndPeer, BoundsTheHead) {
  EXPECT_EQ(FailureOf("HTTP/1.1 200 OK\r\nA: " + std::string(2 << 20, 'a')).code,
            ErrorCode::kTooLarge);
}

TEST_F(ClientAndPeer, SkipsInformationalAnswersAndReadsToTheClose) {
  ScriptedPeer peer(
      {{{.answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nL: x\r\n\r\n"
                   "HTTP/1.0 200 OK\r\n\r\nuntil the end"}}});
  auto answer = fixture_.Get(peer.url());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "until the end");
}

TEST_F(ClientAndPeer, RepeatsAnIdempotentRequestThatALostConnectionSwallowed) {
  ScriptedPeer peer(
      {{{.answer = std::string(kOk)}, {.answer = ""}}, {{.answer = std::string(kOk)}}});
  EXPECT_TRUE(fixture_.Get(peer.url("/1")));
  auto second = fixture_.Get(peer.url("/2"));
  EXPECT_TRUE(second) << second.error().message;
  EXPECT_EQ(peer.accepted(), 2);
}

TEST_F(ClientAndPeer, DoesNotRepeatWhatMayHaveHadAnEffect) {
  ScriptedPeer peer(
      {{{.answer = std::string(kOk)}, {.answer = ""}}, {{.answer = std::string(kOk)}}});
  EXPECT_TRUE(fixture_.Get(peer.url("/1")));
  auto second = fixture_.Fetch({.method = "POST", .url = peer.url("/2")});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, StartsWith("Post \"http://"));
  EXPECT_EQ(peer.accepted(), 1);
}

TEST_F(ClientAndPeer, DoesNotRepeatAfterTheFirstByteOfAnAnswer) {
  ScriptedPeer peer({{{.answer = std::string(kOk)}, {.answer = "H", .reset = true}},
                     {{.answer = std::string(kOk)}}});
  EXPECT_TRUE(fixture_.Get(peer.url("/1")));
  EXPECT_FALSE(fixture_.Get(peer.url("/2")));
  EXPECT_EQ(peer.accepted(), 1);
}

TEST_F(ClientAndPeer, DropsConnectionsThatSpeakUnasked) {
  ScriptedPeer peer(
      {{{.answer = std::string(kOk) + "HTTP/1.1 200 OK\r\n\r\n"}}, {{.answer = std::string(kOk)}}});
  EXPECT_EQ(fixture_.Get(peer.url())->body, "ok");
  EXPECT_EQ(fixture_.Get(peer.url())->body, "ok");
  EXPECT_EQ(peer.accepted(), 2);
}

TEST_F(ClientAndPeer, ReportsARefusedConnection) {
  std::string url;
  {
    url = ScriptedPeer({}).url();
  }  // the port is free again
  auto answer = fixture_.Get(url);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              StartsWith(fmt::format("Get \"{}\": dial tcp 127.0.0.1:", url)));
  EXPECT_EQ(fixture_.client().connections(), 0u);
}

TEST_F(ClientAndPeer, RefusesRequestsThatCouldSmuggle) {
  EXPECT_FALSE(fixture_.Fetch({.method = "GET /x HTTP/1.1\r\nX:", .url = "http://127.0.0.1:1/"}));
  EXPECT_FALSE(fixture_.Get("http://127.0.0.1:1/a b"));
  EXPECT_FALSE(fixture_.Get("ftp://127.0.0.1/"));
  ClientRequest request{.url = "http://127.0.0.1:1/"};
  request.headers.Add("x", "a\r\nHost: b");
  EXPECT_EQ(fixture_.Fetch(std::move(request)).error().code, ErrorCode::kInvalid);
}

TEST_F(ClientAndPeer, SendsWhatItShould) {
  ScriptedPeer peer({{{.answer = "HTTP/1.1 204 No Content\r\n\r\n"}}});
  ClientRequest request{.method = "POST", .url = peer.url("/a?b=c#d")};
  request.headers.Add("Content-Type", "text/plain");
  request.headers.Add("Connection", "close");
  request.headers.Add("Transfer-Encoding", "gzip");
  EXPECT_EQ(fixture_.Fetch(std::move(request))->status, 204);
  auto port = peer.url().substr(7);
  port.pop_back();
  EXPECT_EQ(peer.heard(), fmt::format("POST /a?b=c HTTP/1.1\r\nHost: {}\r\n"
                                      "Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n",
                                      port));
}

}  // namespace
}  // namespace keelson::http
