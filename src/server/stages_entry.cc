// The outermost stages: they give the request its identity.

#include "base/duration.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/reply.h"
#include "server/stages.h"

namespace keelson::server {
namespace {

class Runner final : public Stage {
 public:
  explicit Runner(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }

 private:
  std::string_view name_;
};

class AuditInit final : public Stage {
 public:
  std::string_view name() const override { return "AuditInit"; }
  Verdict Before(RequestContext& context) override {
    auto given = context.request.headers.Get("audit-id");
    context.audit_id = given && !given->empty() ? std::string(*given) : NewUuid();
    context.response.headers().Add("Audit-Id", context.audit_id);
    return Verdict::kPass;
  }
};

class MuxAndDiscoveryComplete final : public Stage {
 public:
  explicit MuxAndDiscoveryComplete(const Signal& complete) : complete_(complete) {}
  std::string_view name() const override { return "MuxAndDiscoveryComplete"; }
  Verdict Before(RequestContext& context) override {
    // Noted now, used only if the path turns out to be unknown: the signal may come in between, and
    // a 404 for a path that was just not installed yet would make controllers delete things.
    context.paths_incomplete = !complete_.raised();
    return Verdict::kPass;
  }

 private:
  const Signal& complete_;
};

class ReadRequestInfo final : public Stage {
 public:
  std::string_view name() const override { return "RequestInfo"; }
  Verdict Before(RequestContext& context) override {
    context.path = context.request.path;
    if (context.path.find('%') != std::string_view::npos) {
      auto decoded = http::DecodePath(context.path);
      if (!decoded) {
        context.response.CloseConnection();
        SendBody(context, 400, "text/plain; charset=utf-8", "400 Bad Request");
        return Verdict::kAnswer;
      }
      context.kept_path = *std::move(decoded);
      context.path = context.kept_path;
    }
    auto parsed =
        ParseRequestInfo(context.request.method, context.path, context.query(), context.info);
    if (!parsed) {
      SendInternalError(context, "failed to create RequestInfo: " + parsed.error().message);
      return Verdict::kAnswer;
    }
    context.long_running = IsLongRunning(context.info);
    return Verdict::kPass;
  }
};

class HttpLogging final : public Stage {
 public:
  explicit HttpLogging(const Clock& clock) : clock_(clock) {}
  std::string_view name() const override { return "HTTPLogging"; }
  void After(RequestContext& context) noexcept override {
    if (!log::V(3)) return;
    log::InfoS("HTTP", {{"verb", ReportedVerb(context, ScopeOf(context.info))},
                        {"URI", context.request.target},
                        {"latency", FormatDuration(clock_.Now() - context.request.received)},
                        {"userAgent", context.request.headers.Get("user-agent").value_or("")},
                        {"audit-ID", context.audit_id},
                        {"srcIP", context.request.connection != nullptr
                                      ? context.request.connection->remote_address
                                      : std::string()},
                        {"resp", context.response.status()}});
  }

 private:
  const Clock& clock_;
};

}  // namespace

StagePtr RunnerStage(std::string_view name) { return std::make_unique<Runner>(name); }
StagePtr AuditInitStage() { return std::make_unique<AuditInit>(); }
StagePtr MuxAndDiscoveryCompleteStage(const Signals& signals) {
  return std::make_unique<MuxAndDiscoveryComplete>(
      signals[LifecycleEvent::kMuxAndDiscoveryComplete]);
}
StagePtr RequestInfoStage() { return std::make_unique<ReadRequestInfo>(); }
StagePtr HttpLoggingStage(const Clock& clock) { return std::make_unique<HttpLogging>(clock); }

}  // namespace keelson::server
