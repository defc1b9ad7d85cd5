// Stages that know about time running out: for the request, and for the server.

#include "base/duration.h"
#include "base/log.h"
#include "base/quote.h"
#include "server/reply.h"
#include "server/stages.h"

namespace keelson::server {
namespace {

// Probes and scrapes are answered to the end, and so is the server's own client. RetryAfter and
// WaitGroup must agree on this, or the drain would wait for what the other lets in.
bool ExemptFromShutdown(const RequestContext& context) {
  for (std::string_view prefix : {"/readyz", "/livez", "/healthz", "/metrics"}) {
    if (context.path.starts_with(prefix)) return true;
  }
  return context.request.headers.Get("user-agent").value_or("").starts_with("kube-apiserver/");
}

void AnswerShuttingDown(RequestContext& context) {
  auto& headers = context.response.headers();
  headers.AddView("Retry-After", "1");
  headers.AddView("X-Content-Type-Options", "nosniff");
  SendBody(context, 503, "application/json",
           ServiceUnavailableStatus("apiserver is shutting down").ToJson() + "\n\n");
}

class RetryAfter final : public Stage {
 public:
  explicit RetryAfter(const Signal& not_accepting) : not_accepting_(not_accepting) {}
  std::string_view name() const override { return "RetryAfter"; }
  Verdict Before(RequestContext& context) override {
    if (!not_accepting_.raised() || ExemptFromShutdown(context)) return Verdict::kPass;
    context.response.CloseConnection();
    context.response.headers().AddView("Retry-After", "5");
    SendError(context, 429, "The apiserver is shutting down, please try again later.");
    return Verdict::kAnswer;
  }

 private:
  const Signal& not_accepting_;
};

class WatchTermination final : public Stage {
 public:
  explicit WatchTermination(WatchGroup& watches) : watches_(watches) {}
  std::string_view name() const override { return "WatchTerminationDuringShutdown"; }
  Verdict Before(RequestContext& context) override {
    if (context.info.verb != "watch") return Verdict::kPass;
    context.watch_ticket = watches_.Enter();
    if (context.watch_ticket) return Verdict::kPass;
    AnswerShuttingDown(context);
    return Verdict::kAnswer;
  }
  void After(RequestContext& context) noexcept override {
    context.watch_ticket = WatchGroup::Ticket();
  }

 private:
  WatchGroup& watches_;
};

class WaitGroup final : public Stage {
 public:
  explicit WaitGroup(RequestGroup& requests) : requests_(requests) {}
  std::string_view name() const override { return "WaitGroup"; }
  Verdict Before(RequestContext& context) override {
    if (context.long_running) return Verdict::kPass;
    context.in_request_group = requests_.Enter();
    if (context.in_request_group || ExemptFromShutdown(context)) return Verdict::kPass;
    AnswerShuttingDown(context);
    return Verdict::kAnswer;
  }
  void After(RequestContext& context) noexcept override {
    if (context.in_request_group) requests_.Leave();
  }

 private:
  RequestGroup& requests_;
};

class RequestDeadline final : public Stage {
 public:
  explicit RequestDeadline(Duration request_timeout) : request_timeout_(request_timeout) {}
  std::string_view name() const override { return "RequestDeadline"; }
  Verdict Before(RequestContext& context) override {
    if (context.long_running) return Verdict::kPass;
    Duration timeout = request_timeout_;
    if (!context.request.raw_query.empty()) {
      auto given = context.query().Get("timeout").value_or("");
      if (!given.empty()) {
        auto parsed = ParseDuration(given);
        if (!parsed) {
          auto message = "invalid timeout specified in the request URL - " + parsed.error().message;
          log::Error("Error - {}: {}", message, Quote(context.request.target));
          SendStatus(context, BadRequestStatus(std::move(message)));
          return Verdict::kAnswer;
        }
        // Zero asks for no limit and more than ours cannot be had: both get ours.
        if (*parsed > Duration::zero() && *parsed < timeout) timeout = *parsed;
      }
    }
    context.deadline = context.request.received + timeout;
    context.exchange.deadline = context.deadline;
    return Verdict::kPass;
  }

 private:
  const Duration request_timeout_;
};

}  // namespace

StagePtr RetryAfterStage(const Signals& signals) {
  return std::make_unique<RetryAfter>(signals[LifecycleEvent::kNotAcceptingNewRequest]);
}
StagePtr WatchTerminationStage(WatchGroup& watches) {
  return std::make_unique<WatchTermination>(watches);
}
StagePtr WaitGroupStage(RequestGroup& requests) { return std::make_unique<WaitGroup>(requests); }
StagePtr RequestDeadlineStage(Duration request_timeout) {
  return std::make_unique<RequestDeadline>(request_timeout);
}

}  // namespace keelson::server
