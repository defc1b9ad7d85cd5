#include "server/default_stages.h"

namespace keelson::server {

Result<std::vector<StagePtr>> DefaultStages(const ServerOptions& options, StageParts parts) {
  auto& process = parts.process;
  const auto& run = options.run;
  std::vector<StagePtr> stages;
  auto add = [&](StagePtr stage) { stages.push_back(std::move(stage)); };

  add(AuditInitStage());
  add(RunnerStage("PanicRecovery"));
  add(MuxAndDiscoveryCompleteStage(process.signals));
  add(RunnerStage("RequestReceivedTimestamp"));
  add(RequestInfoStage());
  add(RunnerStage("LatencyTrackers"));
  add(HttpLoggingStage(process.clock));
  if (run.shutdown_send_retry_after) add(RetryAfterStage(process.signals));
  if (!run.strict_transport_security_directives.empty()) {
    add(HstsStage(run.strict_transport_security_directives));
  }
  add(CacheControlStage());
  if (run.goaway_chance > 0 && parts.http2) add(ProbabilisticGoawayStage(run.goaway_chance));
  if (run.shutdown_watch_termination_grace_period > Duration::zero()) {
    add(WatchTerminationStage(process.watches));
  }
  add(WaitGroupStage(process.requests));
  add(RequestDeadlineStage(run.request_timeout));
  add(RunnerStage("TimeoutForNonLongRunningRequests"));
  add(RunnerStage("WarningRecorder"));
  if (!run.cors_allowed_origins.empty()) {
    TRY(auto cors, CorsStage(run.cors_allowed_origins));
    add(std::move(cors));
  }
  add(AuthenticationStage(std::move(parts.authenticator), options.api_audiences));
  add(AuditStage(parts.audit, process.clock));
  add(ImpersonationStage(std::move(parts.impersonator)));
  add(parts.flow_control ? std::move(parts.flow_control)
                         : MaxInFlightStage(parts.in_flight, process.request_metrics));
  add(AuthorizationStage(std::move(parts.authorizer)));
  return stages;
}

}  // namespace keelson::server
