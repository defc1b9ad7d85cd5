#include "server/lifecycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/gate.h"
#include "base/log.h"
#include "server/testing/fake_serving.h"

namespace keelson::server {
namespace {

using enum LifecycleEvent;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RecordingAudit final : public audit::Backend {
 public:
  explicit RecordingAudit(std::vector<std::string>& events) : events_(events) {}
  Result<void> Start() override {
    events_.push_back("audit start");
    if (fails) return Fail(ErrorCode::kIo, "disk full");
    return {};
  }
  void Record(const audit::Event&) override {}
  Task<void> Shutdown() override {
    events_.push_back("audit shutdown");
    co_return;
  }
  bool fails = false;

 private:
  std::vector<std::string>& events_;
};

class NoHandler final : public http::Handler {
 public:
  Task<void> Serve(http::Exchange&) override { co_return; }
};

// A server's life in virtual time: life.Start(), life.Stop(), life.After(1s), life.Raised(event).
class Life {
 public:
  explicit Life(LifecycleOptions options = {}) : options_(options) {
    for (size_t i = 0; i < kLifecycleEvents; ++i) {
      auto event = static_cast<LifecycleEvent>(i);
      process.signals[event].OnRaised(
          [this, event] { events.emplace_back(LifecycleEventName(event)); });
    }
  }
  ~Life() { gate_.CloseAndWait(); }

  void Start() {
    gate_.Spawn(&executor, Run());
    executor.RunUntilIdle();
  }
  void Stop() {
    stop_.request_stop();
    After(Duration::zero());
  }
  void After(Duration time) {
    clock.Advance(time, [this] { executor.RunUntilIdle(); });
  }
  void Settle() { executor.RunUntilIdle(); }
  bool Raised(LifecycleEvent event) { return process.signals[event].raised(); }
  bool Finished() const { return result.has_value(); }

  FakeClock clock;
  ManualExecutor executor;
  ProcessState process{clock, executor};
  std::vector<std::string> events;
  FakeServing serving{clock, &events};
  RecordingAudit audit{events};
  NoHandler handler;
  std::shared_ptr<Completion<bool>> hook_gate;  // when set, the pre-shutdown hook waits for it
  std::string hook_error;
  std::optional<Result<void>> result;

 private:
  Task<void> Run() {
    result = co_await RunLifecycle(
        options_,
        {.process = process,
         .handler = handler,
         .serving = serving,
         .audit = audit,
         .run_post_start_hooks = [this] { events.push_back("post-start hooks"); },
         .run_pre_shutdown_hooks = [this] { return Hooks(); },
         .notify_ready = [this] { events.push_back("ready"); }},
        stop_.get_token());
  }
  Task<Result<void>> Hooks() {
    events.push_back("pre-shutdown hooks");
    if (hook_gate) co_await Completion<bool>::Wait(hook_gate);
    if (!hook_error.empty()) co_return Fail(ErrorCode::kInternal, "{}", hook_error);
    co_return Result<void>();
  }

  LifecycleOptions options_;
  Gate gate_;
  std::stop_source stop_;
};

TEST(Lifecycle, StartsAuditThenListenerThenHooksThenReady) {
  Life life;
  life.Start();
  EXPECT_THAT(life.events, ElementsAre("audit start", "listen", "post-start hooks", "ready"));
  life.Stop();
  EXPECT_TRUE(life.Finished());
}

TEST(Lifecycle, FailingListenerOrAuditIsReturned) {
  Life busy;
  busy.serving.start_error = "address already in use";
  busy.Start();
  EXPECT_EQ(busy.result->error().message, "address already in use");
  EXPECT_EQ(busy.events.back(), "audit shutdown");
  Life full;
  full.audit.fails = true;
  full.Start();
  EXPECT_EQ(full.result->error().message, "failed to run the audit backend: disk full");
  EXPECT_THAT(full.events, Not(Contains("listen")));
}

TEST(Lifecycle, WithoutRetryAfterTheListenerClosesBeforeTheDrain) {
  Life life({.shutdown_delay = seconds(70)});
  life.serving.connections = 1;
  life.Start();
  ASSERT_TRUE(life.process.requests.Enter());
  life.events.clear();
  life.Stop();
  EXPECT_THAT(life.events,
              ElementsAre("ShutdownInitiated", "pre-shutdown hooks", "PreShutdownHooksStopped"));
  life.After(seconds(69));
  EXPECT_TRUE(life.serving.listening);
  EXPECT_FALSE(life.Raised(kAfterShutdownDelayDuration));
  life.After(seconds(1));
  EXPECT_TRUE(life.Raised(kNotAcceptingNewRequest));
  EXPECT_FALSE(life.serving.listening);
  EXPECT_TRUE(life.Raised(kHTTPServerStoppedListening));
  EXPECT_FALSE(life.Raised(kInFlightRequestsDrained));
  EXPECT_EQ(life.serving.stop_timeout, std::chrono::minutes(1));
  // A request on a connection that was accepted before is still let in.
  EXPECT_TRUE(life.process.requests.Enter());
  life.process.requests.Leave();
  life.process.requests.Leave();
  life.serving.Disconnect();
  life.Settle();
  EXPECT_TRUE(life.Finished());
  EXPECT_THAT(life.events,
              ElementsAre("ShutdownInitiated", "pre-shutdown hooks", "PreShutdownHooksStopped",
                          "AfterShutdownDelayDuration", "NotAcceptingNewRequest", "close listener",
                          "HTTPServerStoppedListening", "connections gone",
                          "InFlightRequestsDrained", "audit shutdown"));
}

TEST(Lifecycle, WithRetryAfterTheListenerStaysUntilDrained) {
  Life life({.send_retry_after = true});
  life.serving.connections = 1;
  life.Start();
  ASSERT_TRUE(life.process.requests.Enter());
  life.events.clear();
  life.Stop();
  life.After(Duration::zero());
  EXPECT_TRUE(life.Raised(kNotAcceptingNewRequest));
  EXPECT_TRUE(life.serving.listening);
  EXPECT_FALSE(life.process.requests.Enter());
  life.process.requests.Leave();
  life.Settle();
  EXPECT_TRUE(life.Raised(kInFlightRequestsDrained));
  EXPECT_FALSE(life.serving.listening);
  EXPECT_EQ(life.serving.stop_timeout, seconds(2));
  EXPECT_FALSE(life.Finished());
  life.After(seconds(2));
  EXPECT_TRUE(life.Finished());
}

TEST(Lifecycle, SlowPreShutdownHookHoldsBackTheEndOfServing) {
  Life life({.shutdown_delay = seconds(1)});
  life.hook_gate = Completion<bool>::Create();
  life.Start();
  life.Stop();
  life.After(seconds(30));
  EXPECT_TRUE(life.Raised(kAfterShutdownDelayDuration));
  EXPECT_FALSE(life.Raised(kNotAcceptingNewRequest));
  EXPECT_TRUE(life.serving.listening);
  life.hook_gate->Set(true);
  life.Settle();
  EXPECT_TRUE(life.Finished());
}

TEST(Lifecycle, FailedPreShutdownHookIsReturnedAfterACompleteShutdown) {
  Life life;
  life.hook_error = "lease not released";
  life.Start();
  life.Stop();
  life.After(Duration::zero());
  ASSERT_TRUE(life.Finished());
  EXPECT_EQ(life.result->error().message, "lease not released");
  EXPECT_TRUE(life.Raised(kInFlightRequestsDrained));
  EXPECT_TRUE(life.Raised(kHTTPServerStoppedListening));
}

TEST(Lifecycle, RequestThatIgnoresItsDeadlineDoesNotHoldTheServer) {
  for (bool retry_after : {false, true}) {
    Life life({.send_retry_after = retry_after});
    life.Start();
    ASSERT_TRUE(life.process.requests.Enter());
    life.Stop();
    life.After(seconds(60));
    EXPECT_FALSE(life.Raised(kInFlightRequestsDrained));
    log::Capture capture;
    life.After(seconds(130));
    EXPECT_TRUE(life.Finished());
    EXPECT_THAT(capture.text(), HasSubstr("still running past their timeout"));
    life.process.requests.Leave();
  }
}

TEST(Lifecycle, LongRunningRequestsDelayOnlyTheEnd) {
  Life life;
  life.serving.connections = 1;  // a watch holds it
  life.Start();
  life.Stop();
  life.After(seconds(2));
  EXPECT_TRUE(life.Raised(kInFlightRequestsDrained));
  EXPECT_FALSE(life.Finished());
  life.After(seconds(60));
  EXPECT_TRUE(life.Finished());
}

TEST(Lifecycle, WatchesAreEndedWithinTheirGrace) {
  Life life({.watch_termination_grace = seconds(10)});
  life.Start();
  std::vector<WatchGroup::Ticket> watches;
  int told = 0;
  for (int i = 0; i < 100; ++i) watches.push_back(life.process.watches.Enter());
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> callbacks;
  for (auto& watch : watches) {
    callbacks.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(
        watch.stop(), [&told] { ++told; }));
  }
  life.Stop();
  life.After(Duration::zero());
  EXPECT_EQ(told, 1);  // a burst of one
  life.After(milliseconds(100));
  EXPECT_EQ(told, 21);  // 200 per second
  life.After(milliseconds(395));
  EXPECT_EQ(told, 100);
  EXPECT_FALSE(life.Raised(kInFlightRequestsDrained));
  callbacks.clear();
  watches.clear();
  life.After(seconds(1));
  EXPECT_TRUE(life.Raised(kInFlightRequestsDrained));
}

TEST(Lifecycle, ManyWatchesAreEndedFasterThanTheFloor) {
  FakeClock clock;
  ManualExecutor executor;
  WatchGroup group;
  std::vector<WatchGroup::Ticket> watches;
  for (int i = 0; i < 10000; ++i) watches.push_back(group.Enter());
  Gate gate;
  std::optional<WatchGroup::Outcome> outcome;
  struct Drainer {
    static Task<void> Run(WatchGroup& group, Clock& clock,
                          std::optional<WatchGroup::Outcome>& outcome) {
      outcome = co_await group.Drain(clock, seconds(10));
    }
  };
  gate.Spawn(&executor, Drainer::Run(group, clock, outcome));
  auto told = [&] {
    return std::count_if(watches.begin(), watches.end(),
                         [](const auto& watch) { return watch.stop().stop_requested(); });
  };
  clock.Advance(seconds(1), [&] { executor.RunUntilIdle(); });
  EXPECT_NEAR(static_cast<double>(told()), 1000, 2);
  EXPECT_FALSE(group.Enter());
  watches.resize(4000);
  clock.Advance(seconds(10), [&] { executor.RunUntilIdle(); });
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->before, 10000);
  EXPECT_EQ(outcome->after, 4000);
  gate.CloseAndWait();
}

// Walks the declared graph: in every mode and with every part slow in turn, no signal comes before
// one that it must follow.
TEST(Lifecycle, SignalsKeepTheDeclaredOrder) {
  for (bool retry_after : {false, true}) {
    for (int slow = 0; slow < 4; ++slow) {
      Life life({.shutdown_delay = slow == 0 ? seconds(5) : seconds(0),
                 .watch_termination_grace = seconds(3),
                 .send_retry_after = retry_after});
      life.serving.connections = 1;
      if (slow == 1) life.hook_gate = Completion<bool>::Create();
      life.Start();
      ASSERT_TRUE(life.process.requests.Enter());
      auto watch = life.process.watches.Enter();
      life.Stop();
      life.After(seconds(6));
      if (life.hook_gate) life.hook_gate->Set(true);
      if (slow == 2) life.After(seconds(6));
      life.process.requests.Leave();
      if (slow == 3) life.After(seconds(6));
      watch = {};
      life.After(seconds(70));
      ASSERT_TRUE(life.Finished());
      auto position = [&](LifecycleEvent event) {
        auto found = std::find(life.events.begin(), life.events.end(), LifecycleEventName(event));
        EXPECT_NE(found, life.events.end()) << LifecycleEventName(event);
        return found - life.events.begin();
      };
      for (const auto& edge : ShutdownGraph()) {
        using Mode = LifecycleEdge::Mode;
        if (edge.mode == (retry_after ? Mode::kWithoutRetryAfter : Mode::kWithRetryAfter)) continue;
        if (!edge.from) continue;
        EXPECT_LT(position(*edge.from), position(edge.to))
            << LifecycleEventName(*edge.from) << " -> " << LifecycleEventName(edge.to)
            << " retry_after=" << retry_after << " slow=" << slow;
      }
    }
  }
}

TEST(Lifecycle, EventsAreLoggedInUpstreamsWords) {
  log::Capture capture;
  log::SetVerbosity(1);
  Life life;
  life.Start();
  life.Stop();
  life.After(seconds(1));
  log::SetVerbosity(0);
  for (auto event : {kShutdownInitiated, kAfterShutdownDelayDuration, kNotAcceptingNewRequest,
                     kInFlightRequestsDrained, kHTTPServerStoppedListening}) {
    EXPECT_THAT(capture.text(),
                HasSubstr(fmt::format("\"[graceful-termination] shutdown event\" name=\"{}\"\n",
                                      LifecycleEventName(event))));
  }
  EXPECT_THAT(capture.text(), HasSubstr("\"[graceful-termination] pre-shutdown hooks completed\" "
                                        "name=\"PreShutdownHooksStopped\"\n"));
  EXPECT_THAT(capture.text(), HasSubstr("[graceful-termination] apiserver is exiting\n"));
}

TEST(Lifecycle, SignalsShowInJsonAndMetrics) {
  Life life;
  RegisterLifecycleMetrics(life.process);
  life.process.signals.Raise(kHasBeenReady);
  EXPECT_THAT(
      LifecycleJson(life.process.signals, {}),
      HasSubstr(R"({"name":"HasBeenReady","signaled":true,"time":"2026-01-01T00:00:00.000000Z"})"));
  EXPECT_THAT(LifecycleJson(life.process.signals, {}),
              HasSubstr(R"({"name":"ShutdownInitiated","signaled":false})"));
  auto text = life.process.metrics.Text();
  EXPECT_THAT(text, HasSubstr("keelson_lifecycle_signal_timestamp_seconds{signal=\"HasBeenReady\"} "
                              "1.7672256e+09\n"));
  EXPECT_THAT(
      text,
      HasSubstr("keelson_lifecycle_signal_timestamp_seconds{signal=\"ShutdownInitiated\"} 0\n"));
}

TEST(Signal, IsRaisedOnceAndTellsLateComers) {
  FakeClock clock;
  Signal signal;
  int told = 0;
  signal.OnRaised([&] { ++told; });
  EXPECT_TRUE(signal.Raise(clock));
  EXPECT_FALSE(signal.Raise(clock));
  signal.OnRaised([&] { ++told; });
  EXPECT_EQ(told, 2);
  EXPECT_EQ(signal.raised_at(), clock.WallNow());
}

}  // namespace
}  // namespace keelson::server
