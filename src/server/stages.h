#pragma once

// The stages of the generic pipeline, each made by one function. `DefaultStages` (default_stages.h)
// puts them in upstream's order.

#include <memory>
#include <string>
#include <vector>

#include "audit/backend.h"
#include "auth/authenticator.h"
#include "auth/authorizer.h"
#include "auth/impersonation.h"
#include "base/clock.h"
#include "server/drain.h"
#include "server/in_flight.h"
#include "server/request_metrics.h"
#include "server/signals.h"
#include "server/stage.h"

namespace keelson::server {

using StagePtr = std::unique_ptr<Stage>;

// A step the runner itself performs; listed so that the order is complete.
StagePtr RunnerStage(std::string_view name);

// stages_entry.cc
StagePtr AuditInitStage();
StagePtr MuxAndDiscoveryCompleteStage(const Signals& signals);
StagePtr RequestInfoStage();
StagePtr HttpLoggingStage(const Clock& clock);

// stages_headers.cc
StagePtr HstsStage(const std::vector<std::string>& directives);
StagePtr CacheControlStage();
StagePtr ProbabilisticGoawayStage(double chance);
// Fails for an origin that is no regular expression.
Result<StagePtr> CorsStage(const std::vector<std::string>& allowed_origins);

// stages_shutdown.cc
StagePtr RetryAfterStage(const Signals& signals);
StagePtr WatchTerminationStage(WatchGroup& watches);
StagePtr WaitGroupStage(RequestGroup& requests);
StagePtr RequestDeadlineStage(Duration request_timeout);

// stages_access.cc
StagePtr AuthenticationStage(std::shared_ptr<auth::Authenticator> authenticator,
                             std::vector<std::string> api_audiences);
StagePtr AuditStage(audit::Backend& backend, const Clock& clock);
StagePtr ImpersonationStage(std::shared_ptr<auth::Impersonator> impersonator);
StagePtr AuthorizationStage(std::shared_ptr<auth::Authorizer> authorizer);

// in_flight.cc
StagePtr MaxInFlightStage(InFlightLimits& limits, RequestMetrics& metrics);

}  // namespace keelson::server
