// What the pipeline costs by itself: every stage, router and metrics around an endpoint that has
// its bytes ready, without any transport.

#include <benchmark/benchmark.h>

#include "base/gate.h"
#include "server/generic_api_server.h"

namespace keelson::server {
namespace {

class StubAuthenticator final : public auth::Authenticator {
 public:
  std::optional<auth::Authentication> TryAuthenticate(const http::Request&) override {
    return auth::Authentication{.user = user_};
  }

 private:
  auth::UserPtr user_ = std::make_shared<auth::User>(auth::User{.name = "bench"});
};

class DiscardingWriter final : public http::ResponseWriter {
 public:
  http::Headers& headers() override { return headers_; }
  void Send(int status, std::vector<Slice> body) override {
    status_ = status;
    bytes_ = TotalSize(body);
  }
  void Start(int status) override { status_ = status; }
  Task<Result<void>> Write(std::vector<Slice>) override { co_return Result<void>(); }
  Result<size_t> TryWrite(Slice) override { return 0; }
  void Finish() override {}
  Task<Result<std::unique_ptr<http::ByteStream>>> Upgrade() override {
    co_return Fail(ErrorCode::kUnsupported, "no upgrade");
  }
  bool started() const override { return status_ != 0; }
  int status() const override { return status_; }
  uint64_t bytes_sent() const override { return bytes_; }
  void CloseConnection() override {}
  void Abort() override {}

 private:
  http::Headers headers_;
  int status_ = 0;
  uint64_t bytes_ = 0;
};

class StaticEndpoint final : public Endpoint {
 public:
  Pending Serve(RequestContext& context) override {
    context.response.Send(200, {body_});
    context.route = &route_;
    return std::nullopt;
  }

 private:
  const Slice body_ = Slice::Own(std::string(3400, 'x'));
  const InstrumentedRoute route_{
      {.verb = "GET", .version = "v1", .resource = "pods", .component = "apiserver"}};
};

Task<void> ServeOne(http::Handler& handler, http::Exchange& exchange) {
  co_await handler.Serve(exchange);
}

void BM_Pipeline(benchmark::State& state) {
  SystemClock clock;
  ManualExecutor executor;
  ProcessState process(clock, executor);
  auto server = *GenericApiServer::Create("bench", {},
                                          {.process = process,
                                           .authenticator = std::make_shared<StubAuthenticator>(),
                                           .authorizer = std::make_shared<auth::AlwaysAllow>(),
                                           .loopback = std::make_shared<LoopbackClientConfig>(),
                                           .fatal = [](std::string) { std::abort(); }},
                                          std::make_shared<EmptyDelegate>(NotFoundEndpoint()));
  server->mux().HandleService("/api/v1", std::make_shared<StaticEndpoint>());
  http::ConnectionInfo connection;
  for (auto _ : state) {
    DiscardingWriter writer;
    http::Exchange exchange;
    exchange.request.method = "GET";
    exchange.request.target = exchange.request.path = "/api/v1/namespaces/default/pods/a";
    exchange.request.protocol = http::Protocol::kHttp2;
    exchange.request.connection = &connection;
    exchange.request.headers.AddView("user-agent", "bench/1.0");
    exchange.request.headers.AddView("accept", "application/json");
    exchange.request.headers.AddView("authorization", "Bearer abcdefgh");
    exchange.request.received = clock.Now();
    exchange.response = &writer;
    Gate gate;
    gate.Spawn(nullptr, ServeOne(server->handler(), exchange));
    benchmark::DoNotOptimize(writer.status());
    gate.CloseAndWait();
  }
}
BENCHMARK(BM_Pipeline);

}  // namespace
}  // namespace keelson::server
