// The lifecycle as operators see it: JSON at /debug/lifecycle, and metrics.

#include <ctime>

#include "base/duration.h"
#include "base/status.h"
#include "server/lifecycle.h"

namespace keelson::server {
namespace {

std::string Rfc3339(WallTime time) {
  auto since_epoch = time.time_since_epoch();
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
  auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(since_epoch - seconds).count();
  std::time_t whole = seconds.count();
  std::tm utc{};
  gmtime_r(&whole, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, micros);
}

std::string_view ModeName(LifecycleEdge::Mode mode) {
  switch (mode) {
    case LifecycleEdge::Mode::kAlways:
      return "always";
    case LifecycleEdge::Mode::kWithoutRetryAfter:
      return "withoutRetryAfter";
    case LifecycleEdge::Mode::kWithRetryAfter:
      return "withRetryAfter";
  }
  return "";
}

}  // namespace

std::string LifecycleJson(const Signals& signals, const LifecycleOptions& options) {
  std::string out = fmt::format(
      R"({{"started":"{}","sendRetryAfter":{},"shutdownDelay":"{}","requestTimeout":"{}",)"
      R"("watchTerminationGrace":"{}","signals":[)",
      Rfc3339(signals.created()), options.send_retry_after, FormatDuration(options.shutdown_delay),
      FormatDuration(options.request_timeout), FormatDuration(options.watch_termination_grace));
  for (size_t i = 0; i < kLifecycleEvents; ++i) {
    auto event = static_cast<LifecycleEvent>(i);
    auto time = signals[event].raised_at();
    out += fmt::format(R"({}{{"name":"{}","signaled":{})", i == 0 ? "" : ",",
                       LifecycleEventName(event), time.has_value());
    if (time) out += fmt::format(R"(,"time":"{}")", Rfc3339(*time));
    out += '}';
  }
  out += R"(],"graph":[)";
  bool first = true;
  for (const auto& edge : ShutdownGraph()) {
    out += fmt::format(R"({}{{"from":"{}","to":"{}","mode":"{}")", first ? "" : ",",
                       edge.from ? LifecycleEventName(*edge.from) : "stop",
                       LifecycleEventName(edge.to), ModeName(edge.mode));
    if (!edge.through.empty()) out += fmt::format(R"(,"through":"{}")", edge.through);
    out += '}';
    first = false;
  }
  return out + "]}";
}

void RegisterLifecycleMetrics(ProcessState& process) {
  auto& times = process.metrics.GaugeVector(
      {.name = "keelson_lifecycle_signal_timestamp_seconds",
       .help = "When each lifecycle signal was raised, in seconds since the epoch; 0 if not yet.",
       .stability = metrics::Stability::kAlpha,
       .labels = {"signal"}});
  for (size_t i = 0; i < kLifecycleEvents; ++i) {
    auto event = static_cast<LifecycleEvent>(i);
    auto& gauge = times.With({LifecycleEventName(event)});
    auto& signal = process.signals[event];
    signal.OnRaised([&gauge, &clock = process.clock] {
      gauge.Set(std::chrono::duration<double>(clock.WallNow().time_since_epoch()).count());
    });
  }
}

}  // namespace keelson::server
