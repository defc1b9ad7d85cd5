#pragma once

// Everything the server knows about one request while it is served.
//
// Made by the pipeline, filled by its stages in order, read by the endpoint. Lives on the
// connection's io thread from the first stage to the end of the last; nothing here is shared.

#include <array>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "auth/user.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "http/exchange.h"
#include "http/query.h"
#include "server/drain.h"
#include "server/guarded_writer.h"
#include "server/in_flight.h"
#include "server/request_info.h"
#include "server/warnings.h"

namespace keelson::server {

class InstrumentedRoute;

class RequestContext {
 public:
  explicit RequestContext(http::Exchange& exchange)
      : exchange(exchange), request(exchange.request), response(*exchange.response) {}
  RequestContext(const RequestContext&) = delete;
  RequestContext& operator=(const RequestContext&) = delete;

  http::Exchange& exchange;
  http::Request& request;
  // Where endpoints write. Goes quiet once the request has timed out.
  GuardedWriter response;

  std::string_view path;  // percent-decoded
  RequestInfo info;
  bool long_running = false;
  bool paths_incomplete = false;  // arrived before MuxAndDiscoveryComplete

  std::string audit_id;
  auth::UserPtr user;
  std::optional<TimePoint> deadline;
  bool timed_out = false;
  Warnings warnings;

  InFlightLimit* in_flight = nullptr;  // the limit this request counts against
  bool in_request_group = false;

  // What the endpoint wants this request counted as; null when nothing counts it.
  const InstrumentedRoute* route = nullptr;

  // A watch's place among those to be drained; its stop token tells the watch to end.
  WatchGroup::Ticket watch_ticket;

  // The query's parameters, decoded at first use.
  const http::Query& query() {
    if (!query_) query_.emplace(request.raw_query);
    return *query_;
  }

  // When the tracked stages began, for latency metrics and the slow-request line.
  struct Mark {
    std::string_view stage;
    TimePoint at;
    metrics::Histogram* latency = nullptr;
  };
  static constexpr size_t kMaxMarks = 12;
  std::array<Mark, kMaxMarks> marks;
  size_t mark_count = 0;

  std::string kept_path;  // owns `path` when it needed decoding

 private:
  std::optional<http::Query> query_;
};

}  // namespace keelson::server
