#include "server/in_flight.h"

#include "server/reply.h"
#include "server/request_metrics.h"
#include "server/stages.h"

namespace keelson::server {
namespace {

class MaxInFlight final : public Stage {
 public:
  MaxInFlight(InFlightLimits& limits, RequestMetrics& metrics)
      : limits_(limits), metrics_(metrics) {}
  std::string_view name() const override { return "MaxInFlightLimit"; }

  Verdict Before(RequestContext& context) override {
    if (context.long_running) return Verdict::kPass;
    auto& limit = context.info.IsReadOnly() ? limits_.read_only : limits_.mutating;
    if (limit.unlimited()) return Verdict::kPass;
    if (limit.Enter()) {
      context.in_flight = &limit;
      return Verdict::kPass;
    }
    // The most privileged always get an answer: the loopback client must not starve.
    if (context.user && context.user->InGroup(auth::kPrivilegedGroup)) return Verdict::kPass;
    metrics_.RecordDropped(context);
    metrics_.RecordTermination(context, 429);
    context.response.headers().AddView("Retry-After", "1");
    SendError(context, 429, "Too many requests, please try again later.");
    return Verdict::kAnswer;
  }

  void After(RequestContext& context) noexcept override {
    if (context.in_flight != nullptr) context.in_flight->Leave();
  }

 private:
  InFlightLimits& limits_;
  RequestMetrics& metrics_;
};

}  // namespace

StagePtr MaxInFlightStage(InFlightLimits& limits, RequestMetrics& metrics) {
  return std::make_unique<MaxInFlight>(limits, metrics);
}

Task<void> MaintainWatermarks(InFlightLimits& limits, metrics::Vector<metrics::Gauge>& gauges,
                              Clock& clock, std::stop_token stop) {
  auto& read_only = gauges.With({"readOnly"});
  auto& mutating = gauges.With({"mutating"});
  do {
    read_only.Set(static_cast<double>(limits.read_only.TakeWatermark()));
    mutating.Set(static_cast<double>(limits.mutating.TakeWatermark()));
  } while (co_await SleepFor(clock, std::chrono::seconds(1), stop));
}

}  // namespace keelson::server
