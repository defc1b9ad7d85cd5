// Keeps requests in flight over HTTP/2 until its standard input ends, while somebody restarts the
// server. Then says how many were answered and each that was lost: a request may find nobody at the
// port, but once a connection took it, it must get an answer below 500.
//
// usage: h2_load URL TOKEN IN_FLIGHT

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/gate.h"
#include "http/client.h"
#include "net/io_thread.h"

namespace keelson {
namespace {

struct Tally {
  std::atomic<bool> stop{false};
  std::atomic<int64_t> answered{0};
  std::atomic<int64_t> over_http2{0};
  std::mutex mutex;
  std::vector<std::string> faults;

  void Fault(std::string text) {
    std::scoped_lock lock(mutex);
    faults.push_back(std::move(text));
  }
};

bool NobodyThere(std::string_view message) {
  return message.find("connection refused") != std::string_view::npos;
}

Task<void> Ask(http::Client& client, Clock& clock, std::string url, Tally& tally) {
  while (!tally.stop) {
    auto response = co_await client.Send({.url = url});
    if (!response) {
      if (!NobodyThere(response.error().message)) tally.Fault(response.error().message);
      co_await SleepFor(clock, std::chrono::milliseconds(2));
      continue;
    }
    auto body = co_await response->body().ReadAll(1 << 20);
    if (!body) tally.Fault(body.error().message);
    if (response->status() >= 500) tally.Fault(fmt::format("answered {}", response->status()));
    ++tally.answered;
    if (response->protocol() == http::Protocol::kHttp2) ++tally.over_http2;
  }
}

int Run(const std::string& url, const std::string& token, int in_flight) {
  auto pool = net::IoPool::Create(1);
  if (!pool) return 2;
  http::ClientOptions options;
  options.tls.verify_server = false;
  options.authorize = [token](http::Headers& headers) -> Result<void> {
    headers.Set("authorization", "Bearer " + token);
    return {};
  };
  auto client = http::Client::Create(std::move(options), **pool);
  if (!client) return 2;
  SystemClock clock;
  Tally tally;
  Gate gate;
  for (int i = 0; i < in_flight; ++i) gate.Spawn(&(*pool)->at(0), Ask(**client, clock, url, tally));
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  tally.stop = true;
  gate.CloseAndWait();
  client->reset();
  fmt::print("{} answers, {} over HTTP/2, {} faults\n", tally.answered.load(),
             tally.over_http2.load(), tally.faults.size());
  for (const auto& fault : tally.faults) fmt::print("{}\n", fault);
  return tally.faults.empty() ? 0 : 1;
}

}  // namespace
}  // namespace keelson

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: h2_load URL TOKEN IN_FLIGHT\n");
    return 2;
  }
  return keelson::Run(argv[1], argv[2], std::atoi(argv[3]));
}
