#pragma once

// The pipeline's stages in upstream's order, the only place where it is written down.

#include <memory>
#include <vector>

#include "audit/backend.h"
#include "auth/authenticator.h"
#include "auth/authorizer.h"
#include "auth/impersonation.h"
#include "server/in_flight.h"
#include "server/options.h"
#include "server/process_state.h"
#include "server/stages.h"

namespace keelson::server {

struct StageParts {
  ProcessState& process;
  audit::Backend& audit;
  InFlightLimits& in_flight;
  std::shared_ptr<auth::Authenticator> authenticator;
  std::shared_ptr<auth::Authorizer> authorizer;
  std::shared_ptr<auth::Impersonator> impersonator;
  StagePtr flow_control;  // takes the place of the in-flight limits when given
  bool http2 = true;
};

Result<std::vector<StagePtr>> DefaultStages(const ServerOptions& options, StageParts parts);

}  // namespace keelson::server
