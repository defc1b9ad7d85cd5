#include "server/lifecycle.h"

#include <memory>
#include <optional>

#include "base/completion.h"
#include "base/duration.h"
#include "base/gate.h"
#include "base/log.h"

namespace keelson::server {
namespace {

using enum LifecycleEvent;

// With retry-after the drain is over when the HTTP server stops, so it needs no more than the
// second a peer has to answer GOAWAY.
constexpr Duration kStopAfterDrain = std::chrono::seconds(2);

void Raise(Signals& signals, LifecycleEvent event) {
  if (signals[event].raised()) return;
  // Said first: what waits for the signal may run inside Raise.
  if (log::V(1)) {
    log::InfoS("[graceful-termination] shutdown event", {{"name", LifecycleEventName(event)}});
  }
  signals.Raise(event);
}

Task<void> StopRequested(std::stop_token stop) {
  auto done = Completion<bool>::Create();
  std::stop_callback on_stop(stop, [done] { done->Set(true); });
  co_await Completion<bool>::Wait(done);
}

// One shutdown. Lives in RunLifecycle's frame; its tasks run through the gate it closes.
class Shutdown {
 public:
  Shutdown(const LifecycleOptions& options, LifecycleParts& parts)
      : options_(options), parts_(parts), process_(parts.process) {}

  Task<Result<void>> Run() {
    Gate gate;
    Raise(process_.signals, kShutdownInitiated);
    gate.Spawn(&process_.executor, Delay());
    gate.Spawn(&process_.executor, AcceptNoMore());
    gate.Spawn(&process_.executor, Drain());
    auto stopped = Completion<bool>::Create();
    gate.Spawn(&process_.executor, StopServing(stopped));
    auto hooks = co_await parts_.run_pre_shutdown_hooks();
    if (log::V(1)) {
      log::InfoS("[graceful-termination] pre-shutdown hooks completed",
                 {{"name", LifecycleEventName(kPreShutdownHooksStopped)}});
    }
    process_.signals.Raise(kPreShutdownHooksStopped);
    co_await process_.signals[kInFlightRequestsDrained].Wait();
    co_await parts_.audit.Shutdown();
    if (log::V(1)) log::InfoS("[graceful-termination] audit backend shutdown completed");
    co_await Completion<bool>::Wait(stopped);
    co_await gate.Close();
    if (log::V(1)) log::Info("[graceful-termination] apiserver is exiting");
    co_return hooks;
  }

 private:
  Task<void> Delay() {
    co_await SleepFor(process_.clock, options_.shutdown_delay);
    Raise(process_.signals, kAfterShutdownDelayDuration);
  }

  Task<void> AcceptNoMore() {
    co_await process_.signals[kAfterShutdownDelayDuration].Wait();
    co_await process_.signals[kPreShutdownHooksStopped].Wait();
    Raise(process_.signals, kNotAcceptingNewRequest);
  }

  Task<void> StopServing(std::shared_ptr<Completion<bool>> stopped) {
    auto when = options_.send_retry_after ? kInFlightRequestsDrained : kNotAcceptingNewRequest;
    co_await process_.signals[when].Wait();
    auto timeout = options_.send_retry_after ? kStopAfterDrain : options_.request_timeout;
    co_await parts_.serving.Stop(timeout, [this] { ListenerClosed(); });
    Raise(process_.signals, kHTTPServerStoppedListening);
    connections_gone_.Raise(process_.clock);
    stopped->Set(true);
  }

  void ListenerClosed() { Raise(process_.signals, kHTTPServerStoppedListening); }

  Task<void> Drain() {
    co_await process_.signals[kNotAcceptingNewRequest].Wait();
    Gate watches;
    watches.Spawn(&process_.executor, DrainWatches());
    co_await DrainRequests();
    co_await watches.Close();
    Raise(process_.signals, kInFlightRequestsDrained);
  }

  Task<void> DrainRequests() {
    if (options_.send_retry_after) {
      process_.requests.Close();  // the RetryAfter stage answers in front of it
      co_await WaitForRequests();
    } else {
      // Connections accepted before the listener closed may still bring a request, and it is
      // served. So the end is not a count of zero but a count of zero with the listener closed.
      co_await process_.signals[kHTTPServerStoppedListening].Wait();
      if (co_await WaitForRequests()) co_await Settle();
      process_.requests.Close();
    }
    if (log::V(1)) {
      log::Info("[graceful-termination] in-flight non long-running request(s) have drained");
    }
  }

  // Bounded by the request timeout: a handler that ignores its deadline does not hold us. False
  // when that is why it ended.
  Task<bool> WaitForRequests() {
    auto done = Completion<bool>::Create();
    auto timer =
        process_.clock.Schedule(process_.clock.Now() + options_.request_timeout + kTimeoutSlack,
                                [done] { done->Set(false); });
    process_.requests.OnEmpty([done] { done->Set(true); });
    bool drained = co_await Completion<bool>::Wait(done);
    if (!drained) {
      log::WarningS("[graceful-termination] requests are still running past their timeout",
                    {{"active", process_.requests.active()}});
    }
    process_.clock.Cancel(timer);
    co_return drained;
  }

  // Waits until no connection is left that could bring another request: all of them gone, or, when
  // long-running requests hold some open, no other request seen for a moment.
  Task<void> Settle() {
    for (;;) {
      auto quiet = Completion<bool>::Create();
      auto timer =
          process_.clock.Schedule(process_.clock.Now() + kQuietTime, [quiet] { quiet->Set(true); });
      connections_gone_.OnRaised([quiet] { quiet->Set(true); });
      co_await Completion<bool>::Wait(quiet);
      process_.clock.Cancel(timer);
      if (process_.requests.active() == 0 || !co_await WaitForRequests()) co_return;
    }
  }

  Task<void> DrainWatches() {
    if (options_.watch_termination_grace <= Duration::zero()) {
      if (log::V(1)) {
        log::InfoS("[graceful-termination] not going to wait for active watch request(s) to drain");
      }
      co_return;
    }
    auto outcome =
        co_await process_.watches.Drain(process_.clock, options_.watch_termination_grace);
    if (log::V(1)) {
      log::InfoS("[graceful-termination] active watch request(s) have drained",
                 {{"duration", FormatDuration(options_.watch_termination_grace)},
                  {"activeWatchesBefore", outcome.before},
                  {"activeWatchesAfter", outcome.after}});
    }
  }

  static constexpr Duration kTimeoutSlack = std::chrono::seconds(1);
  static constexpr Duration kQuietTime = std::chrono::seconds(1);

  const LifecycleOptions& options_;
  LifecycleParts& parts_;
  ProcessState& process_;
  Signal connections_gone_;
};

}  // namespace

Task<Result<void>> RunLifecycle(LifecycleOptions options, LifecycleParts parts,
                                std::stop_token stop) {
  if (auto started = parts.audit.Start(); !started) {
    co_return Annotate(started.error(), "failed to run the audit backend");
  }
  if (auto started = parts.serving.Start(parts.handler); !started) {
    co_await parts.audit.Shutdown();
    co_return std::unexpected(started.error());
  }
  log::Info("Serving securely on {}", parts.serving.address());
  parts.run_post_start_hooks();
  parts.notify_ready();
  if (log::V(1)) log::Info("[graceful-termination] waiting for shutdown to be initiated");
  co_await StopRequested(stop);
  Shutdown shutdown(options, parts);
  co_return co_await shutdown.Run();
}

}  // namespace keelson::server
