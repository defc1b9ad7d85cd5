#include "server/request_metrics.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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
  if (!info.is_resource_request) return {.subresource = info.path, .component = kComponent};
  return {.group = info.api_group,
          .version = info.api_version,
          .resource = info.resource,
          .subresource = info.subresource,
          .component = kComponent};
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

struct RouteMetrics {
  std::string verb;
  std::string scope;
  std::string dry_run;
  int code = 0;
  const RouteMetrics* next = nullptr;

  metrics::Counter* requests = nullptr;
  metrics::Histogram* latency = nullptr;
  metrics::Histogram* slo = nullptr;  // of dry runs null, and so is
  metrics::Histogram* sli = nullptr;
  metrics::Histogram* size = nullptr;  // of writes null

  bool Is(std::string_view a_verb, std::string_view a_scope, std::string_view a_dry_run,
          int a_code) const {
    return code == a_code && verb == a_verb && scope == a_scope && dry_run == a_dry_run;
  }
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
                    Stability::kAlpha, {}))) {}

RequestMetrics::~RequestMetrics() = default;

const RouteMetrics& RequestMetrics::Resolve(const InstrumentedRoute& route, std::string_view verb,
                                            std::string_view scope, std::string_view dry_run,
                                            int code) {
  std::lock_guard lock(mutex_);
  const RouteMetrics* first = route.met_.load(std::memory_order_relaxed);
  for (const auto* met = first; met != nullptr; met = met->next) {
    if (met->Is(verb, scope, dry_run, code)) return *met;  // another thread was faster
  }
  const auto& labels = route.labels();
  auto with = [&](auto& vector, std::initializer_list<std::string_view> more) -> auto* {
    std::vector<std::string_view> values{
        verb,  labels.group,    labels.version, labels.resource, labels.subresource,
        scope, labels.component};
    values.insert(values.end(), more);
    return &vector.With(values);
  };
  auto& added = met_.emplace_back();
  added.verb = verb;
  added.scope = scope;
  added.dry_run = dry_run;
  added.code = code;
  added.next = first;
  added.requests = with(requests_, {dry_run, CodeText(code)});
  added.latency = with(latencies_, {dry_run});
  if (dry_run.empty()) {
    added.slo = with(slo_latencies_, {});
    added.sli = with(sli_latencies_, {});
  }
  if (labels.verb == "GET" || labels.verb == "LIST") added.size = with(response_sizes_, {});
  route.met_.store(&added, std::memory_order_release);
  return added;
}

void RequestMetrics::Monitor(RequestContext& context, const InstrumentedRoute& route,
                             Duration elapsed) {
  const auto scope = ScopeOf(context.info);
  const auto verb = ReportedVerb(context, scope);
  const auto dry_run = DryRunLabel(context);
  const int code = context.response.status();
  const RouteMetrics* met = route.met_.load(std::memory_order_acquire);
  while (met != nullptr && !met->Is(verb, scope, dry_run, code)) met = met->next;
  if (met == nullptr) met = &Resolve(route, verb, scope, dry_run, code);
  const double seconds = std::chrono::duration<double>(elapsed).count();
  met->requests->Add();
  met->latency->Observe(seconds);
  if (met->sli != nullptr) {
    met->slo->Observe(seconds);
    met->sli->Observe(seconds);
  }
  if (met->size != nullptr) met->size->Observe(static_cast<double>(context.response.bytes_sent()));
  if (context.user && context.user->name == auth::kApiServerUser) {
    const auto& labels = route.labels();
    self_requests_.With({verb, labels.group, labels.resource, labels.subresource}).Add();
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
  const auto labels = LabelsOf(context.info);
  const auto scope = ScopeOf(context.info);
  terminations_
      .With({ReportedVerb(context, scope), labels.group, labels.version, labels.resource,
             labels.subresource, scope, labels.component, CodeText(code)})
      .Add();
}

metrics::Gauge& RequestMetrics::LongRunning(RequestContext& context) {
  const auto labels = LabelsOf(context.info);
  const auto scope = ScopeOf(context.info);
  return long_running_.With({ReportedVerb(context, scope), labels.group, labels.version,
                             labels.resource, labels.subresource, scope, labels.component});
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
