#pragma once

// The chain of servers behind one port: each answers what it knows and hands the rest to the next.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/endpoint.h"
#include "server/health.h"
#include "server/hooks.h"
#include "server/signals.h"

namespace keelson::server {

// Signals that must all be raised before an unknown path is really unknown, by name.
using PathSignals = std::map<std::string, std::shared_ptr<Signal>>;

// What an outer server takes over from the one it delegates to.
class DelegationTarget {
 public:
  virtual ~DelegationTarget() = default;

  // The target's router without its pipeline, since the outer server has already run one. Null when
  // nothing is behind.
  virtual std::shared_ptr<Endpoint> UnprotectedEndpoint() = 0;
  virtual std::vector<PostStartHooks::Entry> PostStartHookEntries() const = 0;
  virtual const PreShutdownHooks& PreShutdown() const = 0;
  virtual std::vector<HealthCheck> HealthzChecks() const = 0;
  virtual std::vector<std::string> ListedPaths() const = 0;
  virtual PathSignals MuxAndDiscoveryCompleteSignals() const = 0;
  // Installs what can only be installed when nothing more is added. Recurses to the end.
  virtual Result<void> Prepare() = 0;
  // Releases resources, its own first, then the target's. May be called more than once.
  virtual void Destroy() = 0;
};

// The end of every chain. Unknown paths get `not_found`, if given; else the outer server's index.
class EmptyDelegate final : public DelegationTarget {
 public:
  explicit EmptyDelegate(std::shared_ptr<Endpoint> not_found = nullptr)
      : not_found_(std::move(not_found)) {}
  std::shared_ptr<Endpoint> UnprotectedEndpoint() override { return not_found_; }
  std::vector<PostStartHooks::Entry> PostStartHookEntries() const override { return {}; }
  const PreShutdownHooks& PreShutdown() const override { return hooks_; }
  std::vector<HealthCheck> HealthzChecks() const override { return {}; }
  std::vector<std::string> ListedPaths() const override { return {}; }
  PathSignals MuxAndDiscoveryCompleteSignals() const override { return {}; }
  Result<void> Prepare() override { return {}; }
  void Destroy() override {}

 private:
  std::shared_ptr<Endpoint> not_found_;
  PreShutdownHooks hooks_;
};

// 404 as plain text; 503 with Retry-After for a request that came before all paths were installed,
// because controllers take a 404 for the truth and delete things.
std::shared_ptr<Endpoint> NotFoundEndpoint();

}  // namespace keelson::server
