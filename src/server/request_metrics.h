#pragma once

// The apiserver_* metrics about requests, with upstream's names, labels and buckets.
//
// Handles for a label set are resolved once per thread and label set; recording a request is then
// one hash lookup and a few atomic additions. Thread-safe.

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "server/request_context.h"

namespace keelson::server {

// How a route reports itself. `verb` is upper case, as in upstream's routes.
struct RouteLabels {
  std::string_view verb;
  std::string_view group;
  std::string_view version;
  std::string_view resource;
  std::string_view subresource;
  std::string_view scope;
  std::string_view component;
};

class RequestMetrics {
 public:
  explicit RequestMetrics(metrics::Registry& registry);

  // A finished request of an instrumented route.
  void Monitor(RequestContext& context, const RouteLabels& route, Duration elapsed);
  // Turned away by the in-flight limit.
  void RecordDropped(RequestContext& context);
  // Ended by the server in self-defence (timeout, limit).
  void RecordTermination(RequestContext& context, int code);
  // Cut after the answer had begun.
  void RecordAbort(RequestContext& context);
  // The endpoint finished after its request had timed out.
  void RecordPostTimeout(bool threw);

  metrics::Histogram& FilterLatency(std::string_view filter) {
    return filter_duration_.With({filter});
  }
  // Where a long-running request is counted while it is being served.
  metrics::Gauge& LongRunning(RequestContext& context);
  metrics::Vector<metrics::Gauge>& current_inflight() { return current_inflight_; }
  metrics::Counter& tls_handshake_errors() { return tls_handshake_errors_; }

 private:
  struct Handles;
  Handles Resolve(std::string_view verb, std::string_view dry_run, std::string_view code,
                  const RouteLabels& route, bool sizes);

  metrics::Vector<metrics::Counter>& requests_;
  metrics::Vector<metrics::Histogram>& latencies_;
  metrics::Vector<metrics::Histogram>& slo_latencies_;
  metrics::Vector<metrics::Histogram>& sli_latencies_;
  metrics::Vector<metrics::Histogram>& response_sizes_;
  metrics::Vector<metrics::Counter>& self_requests_;
  metrics::Vector<metrics::Counter>& terminations_;
  metrics::Vector<metrics::Counter>& aborts_;
  metrics::Vector<metrics::Counter>& post_timeout_;
  metrics::Vector<metrics::Histogram>& filter_duration_;
  metrics::Vector<metrics::Gauge>& long_running_;
  metrics::Vector<metrics::Gauge>& current_inflight_;
  metrics::Counter& tls_handshake_errors_;
  const uint64_t id_;  // tells the per-thread caches of several servers apart
};

// The verb as metrics report it: LIST and WATCH told apart from GET, APPLY from PATCH, CONNECT for
// tunnels, "other" for what is no Kubernetes method.
std::string_view ReportedVerb(RequestContext& context, std::string_view scope);

}  // namespace keelson::server
