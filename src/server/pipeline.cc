#include "server/pipeline.h"

#include <exception>
#include <stop_token>
#include <utility>

#include "base/duration.h"
#include "base/log.h"
#include "server/reply.h"

namespace keelson::server {

Pipeline::Pipeline(PipelineOptions options, const Clock& clock, RequestMetrics& metrics,
                   Endpoint& router, std::vector<std::unique_ptr<Stage>> stages)
    : options_(options), clock_(clock), metrics_(metrics), router_(router) {
  size_t tracked = 0;
  for (auto& stage : stages) {
    auto label = stage->latency_label();
    tracked += label.empty() ? 0 : 1;
    entries_.push_back({std::move(stage), label.empty() ? nullptr : &metrics.FilterLatency(label)});
  }
  KEELSON_CHECK(tracked < RequestContext::kMaxMarks);
}

Pipeline::~Pipeline() = default;

std::vector<std::string_view> Pipeline::StageNames() const {
  std::vector<std::string_view> names;
  for (const auto& entry : entries_) names.push_back(entry.stage->name());
  return names;
}

Task<void> Pipeline::Serve(http::Exchange& exchange) {
  RequestContext context(exchange);
  size_t passed = 0;
  // An exception is noted and answered outside the handler, where nothing is in flight any more.
  std::optional<std::string> thrown;
  try {
    bool answered = false;
    for (; passed < entries_.size(); ++passed) {
      const Entry& entry = entries_[passed];
      if (entry.latency != nullptr) Mark(context, entry.stage->latency_label(), entry.latency);
      Verdict verdict = entry.stage->Before(context);
      if (verdict == Verdict::kWait) verdict = co_await StageWaiting(context, *entry.stage);
      if (verdict == Verdict::kAnswer) {
        answered = true;
        break;
      }
    }
    Mark(context, "handler", nullptr);
    if (!answered) {
      if (auto pending = router_.Serve(context)) {
        co_await ServeWaiting(context, *std::move(pending));
      }
    }
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "unknown exception";
  }
  if (thrown) AnswerException(context, thrown->c_str());
  if (context.timed_out) metrics_.RecordPostTimeout(thrown.has_value());
  Conclude(context, passed);
}

// Answers in the endpoint's place when the deadline passes while it waits. The transport requests
// the exchange's stop on this io thread, both then and when the client goes away.
class Pipeline::TimeoutGuard {
 public:
  TimeoutGuard(Pipeline& pipeline, RequestContext& context)
      : callback_(context.exchange.cancelled.get_token(), Callback{pipeline, context}) {}

 private:
  struct Callback {
    Pipeline& pipeline;
    RequestContext& context;
    void operator()() const {
      if (context.deadline && pipeline.clock_.Now() >= *context.deadline) {
        pipeline.AnswerTimeout(context);
      }
    }
  };
  std::stop_callback<Callback> callback_;
};

Task<Verdict> Pipeline::StageWaiting(RequestContext& context, Stage& stage) {
  TimeoutGuard guard(*this, context);
  auto verdict = co_await stage.BeforeWaiting(context);
  co_return context.response.cut() ? Verdict::kAnswer : verdict;
}

// Counts a request as long as it lives.
class Pipeline::LongRunningCount {
 public:
  LongRunningCount(RequestMetrics& metrics, RequestContext& context)
      : gauge_(context.long_running ? &metrics.LongRunning(context) : nullptr) {
    if (gauge_ != nullptr) gauge_->Add(1);
  }
  ~LongRunningCount() {
    if (gauge_ != nullptr) gauge_->Add(-1);
  }
  LongRunningCount(const LongRunningCount&) = delete;
  LongRunningCount& operator=(const LongRunningCount&) = delete;

 private:
  metrics::Gauge* const gauge_;
};

Task<void> Pipeline::ServeWaiting(RequestContext& context, Task<void> endpoint) {
  TimeoutGuard guard(*this, context);
  LongRunningCount count(metrics_, context);
  co_await std::move(endpoint);
}

void Pipeline::Mark(RequestContext& context, std::string_view stage, metrics::Histogram* latency) {
  TimePoint now = clock_.Now();
  if (context.mark_count > 0) {
    auto& running = context.marks[context.mark_count - 1];
    if (running.latency != nullptr) {
      running.latency->Observe(std::chrono::duration<double>(now - running.at).count());
    }
  }
  context.marks[context.mark_count++] = {stage, now, latency};
}

void Pipeline::AnswerException(RequestContext& context, const char* what) {
  log::ErrorS("apiserver panic'd", {{"method", context.request.method},
                                    {"URI", context.request.target},
                                    {"auditID", context.audit_id},
                                    {"exception", what}});
  if (context.response.cut()) return;
  if (context.response.started()) {
    metrics_.RecordAbort(context);
    context.response.Abort();
    return;
  }
  SendError(context, 500, "This request caused apiserver to panic. Look in the logs for details.");
}

void Pipeline::AnswerTimeout(RequestContext& context) {
  if (context.long_running || context.response.cut()) return;
  context.timed_out = true;
  metrics_.RecordTermination(context, 504);
  if (context.response.started()) {
    // Too late for another answer: the client must not take half of one for the whole.
    metrics_.RecordAbort(context);
    context.response.Abort();
  } else {
    // Upstream writes this one past its codecs: no kind, and the type is guessed from the text.
    SendBody(
        context, 504, "text/plain; charset=utf-8",
        "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Timeout: request did not complete "
        "within the allotted timeout\",\"reason\":\"Timeout\",\"details\":{},\"code\":504}\n");
  }
  context.response.Cut();
}

void Pipeline::Conclude(RequestContext& context, size_t passed) {
  if (!context.response.started() && !context.exchange.cancelled.stop_requested()) {
    log::ErrorS("no answer was produced",
                {{"method", context.request.method}, {"URI", context.request.target}});
    SendInternalError(context, "no answer was produced");
  }
  while (passed > 0) entries_[--passed].stage->After(context);
  if (context.long_running && context.route == nullptr) return;
  TimePoint now = clock_.Now();
  Duration total = now - context.request.received;
  if (context.route != nullptr) metrics_.Monitor(context, *context.route, total);
  if (context.long_running) return;
  if (total < options_.slow_request_threshold) return;
  std::string stages;
  for (size_t i = 0; i < context.mark_count; ++i) {
    TimePoint end = i + 1 < context.mark_count ? context.marks[i + 1].at : now;
    stages += fmt::format("{}{}:{}", stages.empty() ? "" : ",", context.marks[i].stage,
                          FormatDuration(end - context.marks[i].at));
  }
  log::InfoS("Slow request", {{"verb", context.info.verb},
                              {"URI", context.request.target},
                              {"auditID", context.audit_id},
                              {"code", context.response.status()},
                              {"total", FormatDuration(total)},
                              {"stages", stages}});
}

}  // namespace keelson::server
