#include "server/request_metrics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <set>
#include <string>
#include <unordered_map>

namespace keelson::server {
namespace {

using metrics::Description;
using metrics::Stability;

constexpr std::string_view kComponent = "apiserver";

const std::vector<double> kLatencyBounds{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8,
                                         1.0,   1.25,  1.5,  2,   3,   4,   5,   6,
                                         8,     10,    15,   20,  30,  45,  60};
const std::vector<double> kSliBounds{0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3,
                                     4,    5,   6,   8,   10,  15,  20,  30,   45,  60};
const std::vector<double> kFilterBounds{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1,
                                        0.3,    1.0,    5.0,   10.0,  15.0, 30.0};

Description Described(std::string_view name, std::string_view help, Stability stability,
                      std::vector<std::string> labels) {
  return {.name = "apiserver_" + std::string(name),
          .help = std::string(help),
          .stability = stability,
          .labels = std::move(labels)};
}

const std::vector<std::string> kRoute{"verb",        "group", "version",  "resource",
                                      "subresource", "scope", "component"};

std::vector<std::string> RouteAnd(std::initializer_list<std::string> more) {
  auto labels = kRoute;
  labels.insert(labels.end(), more);
  return labels;
}

bool AnyOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string CodeText(int code) { return std::to_string(code); }

// The dryRun parameter's values sorted and joined; "invalid" for any that upstream does not know.
std::string DryRunLabel(RequestContext& context) {
  if (context.request.raw_query.find("dryRun") == std::string_view::npos) return "";
  std::set<std::string_view> values;
  for (auto value : context.query().GetAll("dryRun")) {
    if (value != "All") return "invalid";
    values.insert(value);
  }
  std::string joined;
  for (auto value : values) joined += (joined.empty() ? "" : ",") + std::string(value);
  return joined;
}

RouteLabels LabelsOf(const RequestInfo& info) {
  if (!info.is_resource_request) {
    return {.subresource = info.path, .scope = ScopeOf(info), .component = kComponent};
  }
  return {.group = info.api_group,
          .version = info.api_version,
          .resource = info.resource,
          .subresource = info.subresource,
          .scope = ScopeOf(info),
          .component = kComponent};
}

uint64_t NextId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::string_view ReportedVerb(RequestContext& context, std::string_view scope) {
  const auto& info = context.info;
  std::string_view verb = context.request.method;
  if (info.is_resource_request &&
      AnyOf(info.subresource, {"log", "exec", "portforward", "attach", "proxy"})) {
    return "CONNECT";
  }
  if (verb == "GET" || verb == "HEAD") {
    if (info.verb == "watch") return "WATCH";
    return scope == "resource" || scope.empty() ? "GET" : "LIST";
  }
  if (verb == "PATCH") {
    auto type = context.request.headers.Get("content-type");
    return type == "application/apply-patch+yaml" ? "APPLY" : "PATCH";
  }
  if (verb == "POST" || verb == "PUT" || verb == "DELETE" || verb == "CONNECT") return verb;
  return "other";
}

struct RequestMetrics::Handles {
  metrics::Counter* requests = nullptr;
  metrics::Histogram* latency = nullptr;
  metrics::Histogram* slo = nullptr;
  metrics::Histogram* sli = nullptr;
  metrics::Histogram* size = nullptr;
};

RequestMetrics::RequestMetrics(metrics::Registry& registry)
    : requests_(registry.CounterVector(Described(
          "request_total",
          "Counter of apiserver requests broken out for each verb, dry run value, group, version, "
          "resource, scope, component, and HTTP response code.",
          Stability::kStable, RouteAnd({"dry_run", "code"})))),
      latencies_(registry.HistogramVector(
          Described("request_duration_seconds",
                    "Response latency distribution in seconds for each verb, dry run value, group, "
                    "version, resource, subresource, scope and component.",
                    Stability::kStable, RouteAnd({"dry_run"})),
          kLatencyBounds)),
      slo_latencies_(registry.HistogramVector(
          Described("request_slo_duration_seconds",
                    "(Deprecated since 1.27.0) Response latency distribution (not counting webhook "
                    "duration and priority & fairness queue wait times) in seconds for each verb, "
                    "group, version, resource, subresource, scope and component.",
                    Stability::kAlpha, kRoute),
          kSliBounds)),
      sli_latencies_(registry.HistogramVector(
          Described("request_sli_duration_seconds",
                    "Response latency distribution (not counting webhook duration and priority & "
                    "fairness queue wait times) in seconds for each verb, group, version, "
                    "resource, subresource, scope and component.",
                    Stability::kAlpha, kRoute),
          kSliBounds)),
      response_sizes_(registry.HistogramVector(
          Described("response_sizes",
                    "Response size distribution in bytes for each group, version, verb, resource, "
                    "subresource, scope and component.",
                    Stability::kStable, kRoute),
          metrics::ExponentialBuckets(1000, 10, 7))),
      self_requests_(registry.CounterVector(
          Described("selfrequest_total",
                    "Counter of apiserver self-requests broken out for each verb, API resource and "
                    "subresource.",
                    Stability::kAlpha, {"verb", "group", "resource", "subresource"}))),
      terminations_(registry.CounterVector(
          Described("request_terminations_total",
                    "Number of requests which apiserver terminated in self-defense.",
                    Stability::kAlpha, RouteAnd({"code"})))),
      aborts_(registry.CounterVector(Described(
          "request_aborts_total",
          "Number of requests which apiserver aborted possibly due to a timeout, for "
          "each group, version, verb, resource, subresource and scope",
          Stability::kAlpha, {"verb", "group", "version", "resource", "subresource", "scope"}))),
      post_timeout_(registry.CounterVector(
          Described("request_post_timeout_total",
                    "Tracks the activity of the request handlers after the associated requests "
                    "have been timed out by the apiserver",
                    Stability::kAlpha, {"source", "status"}))),
      filter_duration_(registry.HistogramVector(
          Described("request_filter_duration_seconds",
                    "Request filter latency distribution in seconds, for each filter type",
                    Stability::kAlpha, {"filter"}),
          kFilterBounds)),
      long_running_(registry.GaugeVector(
          Described("longrunning_requests",
                    "Gauge of all active long-running apiserver requests broken out by verb, "
                    "group, version, resource, scope and component. Not all requests are tracked "
                    "this way.",
                    Stability::kStable, kRoute))),
      current_inflight_(registry.GaugeVector(
          Described("current_inflight_requests",
                    "Maximal number of currently used inflight request limit of this apiserver per "
                    "request kind in last second.",
                    Stability::kStable, {"request_kind"}))),
      tls_handshake_errors_(registry.NewCounter(
          Described("tls_handshake_errors_total",
                    "Number of requests dropped with 'TLS handshake error from' error",
                    Stability::kAlpha, {}))),
      id_(NextId()) {}

RequestMetrics::Handles RequestMetrics::Resolve(std::string_view verb, std::string_view dry_run,
                                                std::string_view code, const RouteLabels& route,
                                                bool sizes) {
  auto with = [&](auto& vector, std::initializer_list<std::string_view> more) -> auto& {
    std::vector<std::string_view> values{verb,           route.group,       route.version,
                                         route.resource, route.subresource, route.scope,
                                         route.component};
    values.insert(values.end(), more);
    return vector.With(values);
  };
  Handles handles{.requests = &with(requests_, {dry_run, code}),
                  .latency = &with(latencies_, {dry_run})};
  if (dry_run.empty()) {
    handles.slo = &with(slo_latencies_, {});
    handles.sli = &with(sli_latencies_, {});
  }
  if (sizes) handles.size = &with(response_sizes_, {});
  return handles;
}

void RequestMetrics::Monitor(RequestContext& context, const RouteLabels& route, Duration elapsed) {
  auto verb = ReportedVerb(context, route.scope);
  auto dry_run = DryRunLabel(context);
  auto code = CodeText(context.response.status());

  thread_local std::unordered_map<std::string, Handles> cache;
  thread_local std::string key;
  key.assign(reinterpret_cast<const char*>(&id_), sizeof id_);
  for (std::string_view part :
       {verb, std::string_view(dry_run), std::string_view(code), route.group, route.version,
        route.resource, route.subresource, route.scope, route.component}) {
    key += part;
    key += '\0';
  }
  auto found = cache.find(key);
  if (found == cache.end()) {
    bool sizes = route.verb == "GET" || route.verb == "LIST";
    found = cache.emplace(key, Resolve(verb, dry_run, code, route, sizes)).first;
  }
  const Handles& handles = found->second;
  double seconds = std::chrono::duration<double>(elapsed).count();
  handles.requests->Add();
  handles.latency->Observe(seconds);
  if (handles.sli != nullptr) {
    handles.slo->Observe(seconds);
    handles.sli->Observe(seconds);
  }
  if (handles.size != nullptr) {
    handles.size->Observe(static_cast<double>(context.response.bytes_sent()));
  }
  if (context.user && context.user->name == auth::kApiServerUser) {
    self_requests_.With({verb, route.group, route.resource, route.subresource}).Add();
  }
}

void RequestMetrics::RecordDropped(RequestContext& context) {
  const auto& info = context.info;
  auto scope = ScopeOf(info);
  auto verb = ReportedVerb(context, scope);
  auto dry_run = DryRunLabel(context);
  if (info.is_resource_request) {
    requests_
        .With({verb, info.api_group, info.api_version, info.resource, info.subresource, scope,
               kComponent, dry_run, "429"})
        .Add();
  } else {
    requests_.With({verb, "", "", "", info.subresource, scope, kComponent, dry_run, "429"}).Add();
  }
}

void RequestMetrics::RecordTermination(RequestContext& context, int code) {
  auto labels = LabelsOf(context.info);
  terminations_
      .With({ReportedVerb(context, labels.scope), labels.group, labels.version, labels.resource,
             labels.subresource, labels.scope, labels.component, CodeText(code)})
      .Add();
}

metrics::Gauge& RequestMetrics::LongRunning(RequestContext& context) {
  const auto labels = LabelsOf(context.info);
  return long_running_.With({ReportedVerb(context, labels.scope), labels.group, labels.version,
                             labels.resource, labels.subresource, labels.scope, labels.component});
}

void RequestMetrics::RecordAbort(RequestContext& context) {
  const auto& info = context.info;
  auto scope = ScopeOf(info);
  aborts_
      .With({ReportedVerb(context, scope), info.api_group, info.api_version, info.resource,
             info.subresource, scope})
      .Add();
}

void RequestMetrics::RecordPostTimeout(bool threw) {
  post_timeout_.With({"timeout-handler", threw ? "panic" : "ok"}).Add();
}

}  // namespace keelson::server
