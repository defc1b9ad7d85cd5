#include "kube/relay/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/gate.h"
#include "http/server.h"

namespace keelson::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Whom requests are relayed to: tells what it was asked, echoes bytes, or refuses to.
class FakeKubelet final : public http::Handler {
 public:
  Task<void> Serve(http::Exchange& exchange) override {
    const auto& request = exchange.request;
    auto& response = *exchange.response;
    if (request.path == "/exec") {
      response.headers().Set("upgrade", "SPDY/3.1");
      response.headers().Set("connection", "Upgrade");
      response.headers().Set("x-stream-protocol-version", "v4.channel.k8s.io");
      auto stream = co_await response.Upgrade();
      if (!stream) co_return;
      for (;;) {
        auto piece = co_await (*stream)->Read();
        if (!piece || piece->empty()) break;
        if (piece->view() == "bye") break;
        if (!co_await (*stream)->Write(*std::move(piece))) break;
      }
      co_return (*stream)->Close();
    }
    if (request.path == "/refuses") {
      response.headers().Set("content-type", "text/plain");
      co_return response.Send(403, {Slice::Static("not you")});
    }
    if (request.path == "/moved") {
      response.headers().Set("location", "/new");
      co_return response.Send(302, {});
    }
    auto body = co_await exchange.body->ReadAll(1 << 20);
    std::string told = fmt::format("{} {}\n", request.method, request.target);
    for (const auto& field : request.headers.fields()) {
      told += fmt::format("{}: {}\n", field.name, field.value);
    }
    response.headers().Set("x-from", "kubelet");
    response.Send(201, {Slice::Own(told + "\n" + body.value_or("?"))});
  }
};

class NoWarnings final : public rest::WarningSink {
 public:
  void Warn(std::string_view) override {}
};

// Stands between client and kubelet and relays everything below /relay.
class Front final : public http::Handler {
 public:
  explicit Front(http::Client& client) : client_(client) {}
  Task<void> Serve(http::Exchange& exchange) override {
    http::Query query(exchange.request.raw_query);
    rest::Request request{.exchange = exchange,
                          .response = *exchange.response,
                          .query = query,
                          .warnings = warnings_,
                          .stop = exchange.cancelled.get_token()};
    RelayTarget target{origin, std::string(exchange.request.path.substr(6)),
                       std::string(exchange.request.raw_query)};
    if (AsksForUpgrade(exchange.request)) {
      co_return co_await RelayUpgrade(request, client_, std::move(target));
    }
    co_await RelayPlain(request, client_, std::move(target), "/relay");
  }
  std::string origin;

 private:
  http::Client& client_;
  NoWarnings warnings_;
};

class RelayTest : public ::testing::Test {
 protected:
  RelayTest() {
    pool_ = *net::IoPool::Create(1);
    client_ = *http::Client::Create({}, *pool_);
    front_ = std::make_unique<Front>(*client_);
    kubelet_server_ = Listen(kubelet_);
    front_server_ = Listen(*front_);
    front_->origin = OriginOf(*kubelet_server_);
  }
  ~RelayTest() override {
    front_server_.reset();
    client_.reset();
    kubelet_server_.reset();
    pool_->Stop();
  }

  std::unique_ptr<http::Server> Listen(http::Handler& handler) {
    http::ServerOptions options;
    options.listen.push_back({*net::Address::Ip("127.0.0.1", 0), nullptr, {}});
    auto server = http::Server::Create(std::move(options), *pool_, handler);
    KEELSON_CHECK(server);
    (*server)->Start();
    return *std::move(server);
  }
  static std::string OriginOf(const http::Server& server) {
    return fmt::format("http://127.0.0.1:{}", server.addresses()[0].port());
  }
  std::string Url(std::string_view path) const {
    return fmt::format("{}/relay{}", OriginOf(*front_server_), path);
  }

  struct Answer {
    int status = 0;
    std::string body;
    std::string location;
    std::string from;
  };
  Answer Fetch(http::ClientRequest request) {
    Answer answer;
    Run(FetchTask(std::move(request), &answer));
    return answer;
  }
  Task<void> FetchTask(http::ClientRequest request, Answer* answer) {
    auto response = co_await client_->Send(std::move(request));
    if (!response) {
      answer->body = response.error().message;
      co_return;
    }
    answer->status = response->status();
    answer->location = response->headers().Get("location").value_or("");
    answer->from = response->headers().Get("x-from").value_or("");
    auto body = co_await response->body().ReadAll(1 << 20);
    answer->body = body ? *body : body.error().message;
  }
  void Run(Task<void> task) {
    Gate gate;
    gate.Spawn(&pool_->at(0), std::move(task));
    gate.CloseAndWait();
  }

  FakeKubelet kubelet_;
  std::unique_ptr<net::IoPool> pool_;
  std::unique_ptr<http::Client> client_;
  std::unique_ptr<Front> front_;
  std::unique_ptr<http::Server> kubelet_server_;
  std::unique_ptr<http::Server> front_server_;
};

TEST_F(RelayTest, PassesOnRequestAndAnswer) {
  http::ClientRequest request{.method = "PUT", .url = Url("/a%2Fb?x=1")};
  request.headers.Add("x-mine", "yes");
  request.headers.Add("te", "trailers");
  request.body.push_back(Slice::Static("hello"));
  auto answer = Fetch(std::move(request));
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.from, "kubelet");
  EXPECT_THAT(answer.body, StartsWith("PUT /a%2Fb?x=1\n"));
  EXPECT_THAT(answer.body, HasSubstr("x-mine: yes\n"));
  EXPECT_THAT(answer.body, HasSubstr("x-forwarded-for: 127.0.0.1\n"));
  EXPECT_THAT(answer.body, HasSubstr("x-forwarded-uri: /relay/a%2Fb\n"));
  EXPECT_THAT(answer.body, ::testing::Not(HasSubstr("te: trailers")));
  EXPECT_THAT(answer.body, ::testing::EndsWith("\n\nhello"));
}

TEST_F(RelayTest, RedirectsStayBehindTheProxy) {
  auto answer = Fetch({.url = Url("/moved")});
  EXPECT_EQ(answer.status, 302);
  EXPECT_EQ(answer.location,
            fmt::format("https://127.0.0.1:{}/relay/new", front_server_->addresses()[0].port()));
}

TEST_F(RelayTest, SaysThatNobodyAnswers) {
  kubelet_server_.reset();
  auto answer = Fetch({.url = Url("/")});
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("error trying to reach service: dial tcp 127.0.0.1:"));
  auto upgrade = Fetch({.url = Url("/exec"), .upgrade = "SPDY/3.1"});
  EXPECT_EQ(upgrade.status, 500);
  EXPECT_THAT(upgrade.body, HasSubstr("error dialing backend: dial tcp 127.0.0.1:"));
}

TEST_F(RelayTest, PassesOnARefusalToSwitchProtocols) {
  auto answer = Fetch({.url = Url("/refuses"), .upgrade = "SPDY/3.1"});
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body, "not you");
  auto plain = Fetch({.url = Url("/plain"), .upgrade = "SPDY/3.1"});
  EXPECT_EQ(plain.status, 500);
  EXPECT_THAT(plain.body, HasSubstr("invalid upgrade response: status code 201"));
}

Task<void> Converse(http::Client& client, std::string url, std::string* log) {
  auto response = co_await client.Send({.method = "POST", .url = url, .upgrade = "SPDY/3.1"});
  if (!response || response->status() != 101) co_return;
  *log += response->headers().Get("x-stream-protocol-version").value_or("");
  auto stream = response->TakeStream();
  for (auto text : {"one", "two"}) {
    if (!co_await stream->Write(Slice::Copy(text))) co_return;
    auto echo = co_await stream->Read();
    *log += " " + std::string(echo ? echo->view() : "lost");
  }
  if (!co_await stream->Write(Slice::Copy("bye"))) co_return;
  auto end = co_await stream->Read();
  *log += !end || end->empty() ? " end" : " more";
}

TEST_F(RelayTest, TunnelsUntilOneSideIsDone) {
  std::string log;
  Run(Converse(*client_, Url("/exec"), &log));
  EXPECT_EQ(log, "v4.channel.k8s.io one two end");
}

}  // namespace
}  // namespace keelson::kube
