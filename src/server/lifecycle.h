#pragma once

// Running and stopping in upstream's order, over whatever the parts really are.
//
//   stop ──► ShutdownInitiated ──(delay)──► AfterShutdownDelayDuration ─┐
//     └────► (pre-shutdown hooks) ──► PreShutdownHooksStopped ──────────┤
//                                                     NotAcceptingNewRequest
//   without retry-after: the listener closes, what was accepted is served
//   with retry-after:    the listener stays, new requests get 429 (stages_shutdown.cc)
//                        (requests end, watches are drained) ──► InFlightRequestsDrained
//                        ──► audit shuts down; with retry-after the listener closes now
//                                                     HTTPServerStoppedListening
//
// ShutdownGraph() in signals.h is the same picture as data.

#include <functional>
#include <stop_token>

#include "audit/backend.h"
#include "base/result.h"
#include "base/task.h"
#include "http/exchange.h"
#include "server/process_state.h"
#include "server/serving.h"

namespace keelson::server {

struct LifecycleOptions {
  Duration shutdown_delay{};
  Duration request_timeout = std::chrono::minutes(1);
  Duration watch_termination_grace{};  // zero: watches are not waited for
  bool send_retry_after = false;
};

// What the lifecycle drives. All outlive RunLifecycle.
struct LifecycleParts {
  ProcessState& process;
  http::Handler& handler;
  Serving& serving;
  audit::Backend& audit;
  // Called once the listener is bound.
  std::function<void()> run_post_start_hooks;
  std::function<Task<Result<void>>()> run_pre_shutdown_hooks;
  // Told when everything has started: systemd's READY=1.
  std::function<void()> notify_ready;
};

// Starts everything, waits for `stop`, shuts down. Returns the first failure to start, or the
// errors of pre-shutdown hooks after a complete shutdown.
Task<Result<void>> RunLifecycle(LifecycleOptions options, LifecycleParts parts,
                                std::stop_token stop);

// Told what happened to the signals, with their times: the body of /debug/lifecycle.
std::string LifecycleJson(const Signals& signals, const LifecycleOptions& options);

// keelson_lifecycle_signal_timestamp_seconds{signal}: when each was raised.
void RegisterLifecycleMetrics(ProcessState& process);

}  // namespace keelson::server
