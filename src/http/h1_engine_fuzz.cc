// Feeds a server's HTTP/1.1 connection with arbitrary bytes in arbitrary cuts. The first byte
// chooses how the rest is cut and when the peer goes away.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "http/h1_engine.h"
#include "http/testing/engine_bench.h"

namespace keelson::http {

void FuzzH1(std::string_view input) {
  EngineOptions options;
  options.max_header_bytes = 8192;
  testing::BenchHost host;
  testing::BenchHandler handler;
  H1Engine engine(host, handler, options);
  engine.Start();
  const auto mode = static_cast<uint8_t>(input.front());
  input.remove_prefix(1);
  const size_t step = mode % 4 == 0 ? input.size() : 1u + mode % 61;
  for (int round = 0; !input.empty() && !engine.finished(); ++round) {
    auto piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    if (engine.WantsBytes()) engine.Receive(piece);
    // /flood never ends: take only so much.
    OutputBatch batch;
    for (int i = 0; i < 4; ++i) engine.Produce(batch);
    if (mode % 5 == 0 && round == 3) host.Advance(engine, std::chrono::seconds(40));
    if (mode % 7 == 0 && round == 2) engine.ShutDown();
  }
  if (mode % 2 == 0) engine.PeerGone(false);
  engine.PeerGone(true);
  if (!engine.idle() || host.in_flight != 0) std::abort();
}

}  // namespace keelson::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool kQuiet = [] {
    keelson::log::SetSink([](std::string_view) {});
    return true;
  }();
  (void)kQuiet;
  if (size > 0) keelson::http::FuzzH1({reinterpret_cast<const char*>(data), size});
  return 0;
}
