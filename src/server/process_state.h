#pragma once

// What the servers of one delegation chain share: time, the executor that hooks and the lifecycle
// run on, the signals, the counts of running requests, and the metrics.

#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "server/drain.h"
#include "server/request_metrics.h"
#include "server/signals.h"

namespace keelson::server {

struct ProcessState {
  ProcessState(Clock& clock, Executor& executor)
      : clock(clock), executor(executor), signals(clock), request_metrics(metrics) {}

  Clock& clock;
  Executor& executor;
  metrics::Registry metrics;  // /metrics
  metrics::Registry slis;     // /metrics/slis
  Signals signals;
  RequestGroup requests;
  WatchGroup watches;
  RequestMetrics request_metrics;
};

}  // namespace keelson::server
