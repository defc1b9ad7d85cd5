#pragma once

// Health checks and the answers of /healthz, /livez and /readyz.
//
// A check is asked on every probe and must answer at once from what it knows. Reasons of failures
// are kept from the public answer; they are logged, and shown by the check's own path.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "server/path_mux.h"
#include "server/request_metrics.h"
#include "server/signals.h"

namespace keelson::server {

struct HealthCheck {
  std::string name;
  std::function<Result<void>()> check;
  std::string group = {};  // may be excluded by this name together with others
};

HealthCheck PingCheck();
// Fails when the log's reader has hung up or has taken nothing for two minutes.
HealthCheck LogCheck(const Clock& clock);
// Fails from the moment shutdown begins.
HealthCheck ShutdownCheck(const Signals& signals);
// Names what has not been filled yet: "2 informers not started yet: [a b]".
HealthCheck InformerSyncCheck(std::function<std::vector<std::string>()> unsynced);
// Fails once the certificate of the server's own client has run out: only a restart makes another.
HealthCheck LoopbackCertificateCheck(const Clock& clock, WallTime expires);
// Ok once `done`.
HealthCheck PostStartHookCheck(std::string_view hook, std::shared_ptr<std::atomic<bool>> done);

// The checks behind one path. Thread-safe.
class HealthRegistry {
 public:
  HealthRegistry(std::string path, const Clock& clock) : path_(std::move(path)), clock_(clock) {}

  // Fails once installed: probes would not see the check.
  Result<void> Add(HealthCheck check) { return AddDelayed(Duration::zero(), std::move(check)); }
  // Counts as ok until `delay` from now has passed.
  Result<void> AddDelayed(Duration delay, HealthCheck check);
  bool Has(std::string_view name) const;
  std::vector<HealthCheck> checks() const;

  // Serves the path and one path per check. Without checks, ping stands in. `first_healthy` is
  // called once, by the first probe that succeeds.
  void Install(PathMux& mux, metrics::Registry& slis, std::function<void()> first_healthy = {});

 private:
  const std::string path_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  bool installed_ = false;
  std::vector<HealthCheck> checks_;
};

}  // namespace keelson::server
