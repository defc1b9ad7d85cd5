#pragma once

// An engine on the test bench: a host without a socket and a handler that tests script.

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "http/engine.h"

namespace keelson::http::testing {

class BenchHost final : public EngineHost {
 public:
  void OutputReady() override { output_ready = true; }
  void WakeAt(TimePoint when) override { wake = std::min(wake, when); }
  TimePoint Now() const override { return now; }
  Executor* executor() override { return nullptr; }
  ConnectionInfo& info() override { return connection; }
  void OnExchange(int change) override { in_flight += change; }

  // Everything the engine has to say now.
  std::string Take(Engine& engine) {
    std::string all;
    OutputBatch batch;
    for (;;) {
      output_ready = false;
      engine.Produce(batch);
      if (batch.empty() && !output_ready) return all;
      all += batch.Flat();
      batch.Clear();
    }
  }
  // Moves time forward, calling the engine whenever it asked to be.
  void Advance(Engine& engine, Duration by) {
    const TimePoint target = now + by;
    while (wake <= target) {
      now = std::max(now, wake);
      wake = TimePoint::max();
      WakeAt(engine.OnTime(now));
    }
    now = target;
  }

  TimePoint now{std::chrono::hours(1)};
  TimePoint wake = TimePoint::max();
  ConnectionInfo connection{.remote_address = "192.0.2.1:1234"};
  bool output_ready = false;
  int in_flight = 0;
};

// Does not notice that it is cancelled until the test lets it go on.
class StubbornHandler final : public Handler {
 public:
  Task<void> Serve(Exchange& exchange) override {
    ++running;
    co_await waiters.emplace_back();
    --running;
    exchange.response->Send(200, {});
  }
  void Release() {
    ReadyList ready;
    for (auto& waiter : waiters) waiter.Wake(ready);
    RunReady(ready);
  }

  int running = 0;
  std::deque<Waiter> waiters;
};

// Serves by path; what it saw and what it waits for is open to the test.
//   /hello       200 "hello"                /echo      the body back
//   /stream      two writes                 /hang      waits until cancelled
//   /throw       throws                     /short     promises more than it sends
//   /nothing     ends without an answer     /close     answers and closes the connection
//   /flood       writes without end         /upgrade   echoes over the upgraded connection
//   /ignore      answers without reading    /abort     cuts its own answer
class BenchHandler final : public Handler {
 public:
  Task<void> Serve(Exchange& exchange) override;

  std::vector<std::string> seen;  // "GET /hello host=x"
  int cancelled = 0;
  int finished = 0;
  uint64_t flooded = 0;  // bytes /flood could write before it was held back
  std::optional<TimePoint> deadline;
  Waiter hanging;  // /hang waits here too
  ReadyList ready;

 private:
  Task<void> Echo(Exchange& exchange);
  Task<void> Flood(Exchange& exchange);
  Task<void> Hang(Exchange& exchange);
  Task<void> Upgrade(Exchange& exchange);
};

}  // namespace keelson::http::testing
