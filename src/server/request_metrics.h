#pragma once

// The apiserver_* metrics about requests, with upstream's names, labels and buckets.
//
// Endpoints name the route they serve a request by (RequestContext::route) and the pipeline records
// it when it is finished. A route remembers the metrics of the label sets it has met, so recording
// is a short walk and a few atomic additions. Thread-safe.

#include <atomic>
#include <deque>
#include <mutex>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "server/request_context.h"

namespace keelson::server {

// How a route reports itself; the texts outlive it. `verb` is upper case, as in upstream's routes.
// The scope is the request's.
struct RouteLabels {
  std::string_view verb;
  std::string_view group;
  std::string_view version;
  std::string_view resource;
  std::string_view subresource;
  std::string_view component;
};

// The metrics of one label set.
struct RouteMetrics;

// A route whose requests are counted. Belongs to one server.
class InstrumentedRoute {
 public:
  explicit InstrumentedRoute(const RouteLabels& labels) : labels_(labels) {}
  const RouteLabels& labels() const { return labels_; }

 private:
  friend class RequestMetrics;
  const RouteLabels labels_;
  mutable std::atomic<const RouteMetrics*> met_{nullptr};  // a list, newest first
};

class RequestMetrics {
 public:
  explicit RequestMetrics(metrics::Registry& registry);
  ~RequestMetrics();

  // A finished request.
  void Monitor(RequestContext& context, const InstrumentedRoute& route, Duration elapsed);
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
  const RouteMetrics& Resolve(const InstrumentedRoute& route, std::string_view verb,
                              std::string_view scope, std::string_view dry_run, int code);

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
  std::mutex mutex_;  // for adding to
  std::deque<RouteMetrics> met_;
};

// The verb as metrics report it: LIST and WATCH told apart from GET, APPLY from PATCH, CONNECT for
// tunnels, "other" for what is no Kubernetes method.
std::string_view ReportedVerb(RequestContext& context, std::string_view scope);

}  // namespace keelson::server
