#pragma once

// The endpoints every server has.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "http/exchange.h"
#include "server/endpoint.h"
#include "server/lifecycle.h"
#include "server/path_mux.h"
#include "server/version.h"

namespace keelson::server {

// {"paths": [...]}, answered with `code`: 200 at "/", 404 for unknown paths of a chain without
// another answer.
std::shared_ptr<Endpoint> IndexEndpoint(int code, std::function<std::vector<std::string>()> paths);

// GET only; anything else is 405 with a Status.
std::shared_ptr<Endpoint> VersionEndpoint(const VersionInfo& version);

// The registry as text, compressed for clients that accept it; DELETE resets it when `reset`.
std::shared_ptr<Endpoint> MetricsEndpoint(metrics::Registry& registry, const Clock& clock,
                                          bool reset);

std::shared_ptr<Endpoint> LifecycleEndpoint(const Signals& signals, LifecycleOptions options);

// /debug/flags/v: PUT a number to change the log's verbosity while running.
void InstallDebugFlags(PathMux& mux);
// /debug/pprof/...
void InstallProfiling(PathMux& mux);

// Profiles and verbosity with no pipeline in front, for a socket only the machine's owner reaches.
std::unique_ptr<http::Handler> MakeDebugHandler();

// 405 as a Status, in upstream's words for a path that exists.
void SendMethodNotAllowed(RequestContext& context);

}  // namespace keelson::server
