// Feeds a server's HTTP/2 connection with arbitrary bytes after the preface, in arbitrary cuts. The
// first byte chooses the cut and what else happens; with its top bit set the preface is left to the
// input too.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "http/h2_engine.h"
#include "http/testing/engine_bench.h"

namespace keelson::http {

void FuzzH2(std::string_view input) {
  EngineOptions options;
  options.max_header_bytes = 8192;
  options.max_concurrent_streams = 8;
  testing::BenchHost host;
  testing::BenchHandler handler;
  H2Engine engine(host, handler, options);
  engine.Start();
  const auto mode = static_cast<uint8_t>(input.front());
  input.remove_prefix(1);
  if (mode < 128) engine.Receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  if (mode % 3 == 0) handler.deadline = host.now + std::chrono::seconds(5);
  const size_t step = mode % 4 == 0 ? input.size() : 1u + mode % 61;
  for (int round = 0; !input.empty() && !engine.finished(); ++round) {
    auto piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    engine.Receive(piece);
    OutputBatch batch;
    for (int i = 0; i < 4; ++i) engine.Produce(batch);
    if (mode % 5 == 0 && round == 3) host.Advance(engine, std::chrono::seconds(12));
    if (mode % 7 == 0 && round == 2) engine.ShutDown();
  }
  engine.PeerGone(mode % 2 == 0);
  if (!engine.idle() || host.in_flight != 0 || engine.open_streams() != 0) std::abort();
}

}  // namespace keelson::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool kQuiet = [] {
    keelson::log::SetSink([](std::string_view) {});
    return true;
  }();
  (void)kQuiet;
  if (size > 0) keelson::http::FuzzH2({reinterpret_cast<const char*>(data), size});
  return 0;
}
