// Serves the same bytes to every request through the whole generic server: TLS, HTTP/2, every stage
// of the pipeline with a stub for authentication, router, metrics. Beside http_static and another
// server's cost it shows what the pipeline itself costs.
//
//   pipeline_static --cert-dir DIR [--port N] [--bytes N]
//
// Logs "Serving securely on ADDRESS" when ready; ends gracefully on SIGINT or SIGTERM.

#include <signal.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/gate.h"
#include "server/generic_api_server.h"
#include "server/https_serving.h"
#include "server/reply.h"

namespace keelson {
namespace {

// Everybody is the same user, as if a cached token had been looked up.
class StubAuthenticator final : public auth::Authenticator {
 public:
  std::optional<auth::Authentication> TryAuthenticate(const http::Request&) override {
    return auth::Authentication{.user = user_};
  }

 private:
  auth::UserPtr user_ =
      std::make_shared<auth::User>(auth::User{.name = "bench", .groups = {"system:authenticated"}});
};

// Answers as a resource route does: instrumented, without copying the body.
class StaticEndpoint final : public server::Endpoint {
 public:
  explicit StaticEndpoint(size_t bytes) : body_(Slice::Own(std::string(bytes, 'x'))) {}
  server::Pending Serve(server::RequestContext& context) override {
    context.response.headers().AddView("Content-Type", "application/json");
    context.response.Send(200, {body_});
    context.route = &route_;
    return std::nullopt;
  }

 private:
  const Slice body_;
  const server::InstrumentedRoute route_{
      {.verb = "GET", .version = "v1", .resource = "pods", .component = "apiserver"}};
};

Task<void> Run(server::GenericApiServer& server, server::Serving& serving, std::stop_token stop) {
  auto result = co_await server.Run(serving, std::move(stop));
  if (!result) fmt::print(stderr, "{}\n", result.error().message);
}

int Main(int argc, char** argv) {
  server::SecureServingOptions serving_options{.bind_address = "127.0.0.1"};
  size_t bytes = 3400;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string_view name = argv[i];
    if (name == "--port") serving_options.secure_port = std::atoi(argv[i + 1]);
    if (name == "--bytes") bytes = static_cast<size_t>(std::atoll(argv[i + 1]));
    if (name == "--cert-dir") serving_options.cert_dir = argv[i + 1];
  }
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGINT);
  sigaddset(&stop_signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);

  SystemClock clock;
  ThreadExecutor executor("lifecycle");
  server::ProcessState process(clock, executor);
  auto pool = *net::IoPool::Create(1);
  auto serving =
      server::HttpsServing::Create(serving_options, "", *pool, clock, process.request_metrics);
  if (!serving) {
    fmt::print(stderr, "{}\n", serving.error().message);
    return 1;
  }
  auto server = *server::GenericApiServer::Create(
      "bench", {},
      {.process = process,
       .authenticator = std::make_shared<StubAuthenticator>(),
       .authorizer = std::make_shared<auth::AlwaysAllow>(),
       .loopback = (*serving)->Loopback("none"),
       .fatal = [](std::string) { std::abort(); }},
      std::make_shared<server::EmptyDelegate>(server::NotFoundEndpoint()));
  server->mux().HandleService("/api/v1", std::make_shared<StaticEndpoint>(bytes));
  if (!server->Prepare()) return 1;
  std::stop_source stop;
  Gate running;
  running.Spawn(&executor, Run(*server, **serving, stop.get_token()));
  int number = 0;
  sigwait(&stop_signals, &number);
  stop.request_stop();
  running.CloseAndWait();
  return 0;
}

}  // namespace
}  // namespace keelson

int main(int argc, char** argv) { return keelson::Main(argc, argv); }
