// Serves the same bytes to every request over TLS (HTTP/2 and HTTP/1.1) with the transport alone,
// so that its cost can be measured beside another server's. Also the target of protocol conformance
// tools: POST bodies are read to their end.
//
//   http_static [--port N] [--bytes N] [--threads N] [--clear] [--cert-file F --key-file F]
//
// Prints "listening on ADDRESS" when ready; ends gracefully on SIGINT or SIGTERM.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/gate.h"
#include "http/server.h"
#include "net/testing/certificates.h"

namespace keelson {
namespace {

class StaticHandler final : public http::Handler {
 public:
  explicit StaticHandler(size_t bytes) : answer_(Slice::Own(std::string(bytes, 'x'))) {}

  Task<void> Serve(http::Exchange& exchange) override {
    if (exchange.request.content_length != 0) {
      while (true) {
        auto piece = co_await exchange.body->Read();
        if (!piece || piece->empty()) break;
      }
    }
    exchange.response->headers().AddView("content-type", "application/json");
    exchange.response->Send(200, {answer_});
  }

 private:
  const Slice answer_;
};

struct Flags {
  uint16_t port = 0;
  size_t bytes = 3400;
  int threads = 1;
  bool clear = false;
  std::string cert_file;
  std::string key_file;
};

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    if (name == "--clear") {
      flags.clear = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : "";
    if (name == "--port") flags.port = static_cast<uint16_t>(std::atoi(value));
    if (name == "--bytes") flags.bytes = static_cast<size_t>(std::atoll(value));
    if (name == "--threads") flags.threads = std::atoi(value);
    if (name == "--cert-file") flags.cert_file = value;
    if (name == "--key-file") flags.key_file = value;
  }
  return flags;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::shared_ptr<net::TlsContextHolder> MakeTls(const Flags& flags) {
  net::TlsServerOptions options;
  if (flags.cert_file.empty()) {
    net::testing::TestCa ca;
    options.default_pair = ca.Issue("localhost");
  } else {
    options.default_pair = {ReadFile(flags.cert_file), ReadFile(flags.key_file)};
  }
  auto context = net::TlsContext::Server(options);
  if (!context) {
    fmt::print(stderr, "{}\n", context.error().message);
    std::exit(1);
  }
  return std::make_shared<net::TlsContextHolder>(*std::move(context));
}

Task<void> ShutDown(http::Server* server) {
  co_await server->StopListening();
  co_await server->GracefulShutdown(std::chrono::seconds(5));
}

int Run(const Flags& flags) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  StaticHandler handler(flags.bytes);
  auto pool = *net::IoPool::Create(flags.threads);
  http::ServerOptions options;
  options.listen.push_back({.address = *net::Address::Ip("127.0.0.1", flags.port),
                            .tls = flags.clear ? nullptr : MakeTls(flags)});
  auto server = http::Server::Create(std::move(options), *pool, handler);
  if (!server) {
    fmt::print(stderr, "{}\n", server.error().message);
    return 1;
  }
  (*server)->Start();
  fmt::print("listening on {}\n", (*server)->addresses()[0].ToString());
  std::fflush(stdout);

  int signal = 0;
  sigwait(&stop, &signal);
  Gate gate;
  gate.Spawn(nullptr, ShutDown(server->get()));
  gate.CloseAndWait();
  server->reset();
  return 0;
}

}  // namespace
}  // namespace keelson

int main(int argc, char** argv) { return keelson::Run(keelson::ParseFlags(argc, argv)); }
