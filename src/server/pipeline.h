#pragma once

// The way every request takes: an ordered list of named stages, then the router.
//
// The runner does once, around every stage, what each would otherwise do for itself: it contains
// exceptions (500, the server lives), measures the tracked stages, enforces the deadline while an
// endpoint waits, and writes the slow-request line. One coroutine per request; stages are plain
// calls unless one says that it must wait.

#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/exchange.h"
#include "server/endpoint.h"
#include "server/request_metrics.h"
#include "server/stage.h"

namespace keelson::server {

struct PipelineOptions {
  // A request slower than this leaves a line with the time each tracked stage took.
  Duration slow_request_threshold = std::chrono::milliseconds(500);
};

class Pipeline final : public http::Handler {
 public:
  // `router` answers what every stage lets pass; both references outlive the pipeline.
  Pipeline(PipelineOptions options, const Clock& clock, RequestMetrics& metrics, Endpoint& router,
           std::vector<std::unique_ptr<Stage>> stages);
  ~Pipeline() override;

  Task<void> Serve(http::Exchange& exchange) override;

  // In request order.
  std::vector<std::string_view> StageNames() const;

 private:
  class TimeoutGuard;
  class LongRunningCount;
  struct Entry {
    std::unique_ptr<Stage> stage;
    metrics::Histogram* latency = nullptr;
  };

  Task<void> ServeWaiting(RequestContext& context, Task<void> endpoint);
  Task<Verdict> StageWaiting(RequestContext& context, Stage& stage);
  // Ends the tracked stage that is running, if any, and begins the next.
  void Mark(RequestContext& context, std::string_view stage, metrics::Histogram* latency);
  void AnswerException(RequestContext& context, const char* what);
  void AnswerTimeout(RequestContext& context);
  void Conclude(RequestContext& context, size_t passed);

  const PipelineOptions options_;
  const Clock& clock_;
  RequestMetrics& metrics_;
  Endpoint& router_;
  std::vector<Entry> entries_;
};

}  // namespace keelson::server
