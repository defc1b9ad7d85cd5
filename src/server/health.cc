#include "server/health.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

namespace keelson::server {

HealthCheck PingCheck() {
  return {"ping", [] { return Result<void>(); }};
}

HealthCheck LogCheck(const Clock& clock) {
  auto last_writable = std::make_shared<std::atomic<TimePoint>>(clock.Now());
  return {"log", [&clock, last_writable]() -> Result<void> {
            pollfd stderr_state{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
            poll(&stderr_state, 1, 0);
            TimePoint now = clock.Now();
            if ((stderr_state.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0 &&
                (stderr_state.revents & POLLOUT) != 0) {
              last_writable->store(now);
              return {};
            }
            if (now - last_writable->load() < std::chrono::minutes(2)) return {};
            return Fail(ErrorCode::kUnavailable, "logging blocked");
          }};
}

HealthCheck ShutdownCheck(const Signals& signals) {
  return {"shutdown", [&initiated = signals[LifecycleEvent::kShutdownInitiated]]() -> Result<void> {
            if (!initiated.raised()) return {};
            return Fail(ErrorCode::kUnavailable, "process is shutting down");
          }};
}

HealthCheck InformerSyncCheck(std::function<std::vector<std::string>()> unsynced) {
  return {"informer-sync", [unsynced = std::move(unsynced)]() -> Result<void> {
            auto names = unsynced();
            if (names.empty()) return {};
            return Fail(ErrorCode::kUnavailable, "{} informers not started yet: [{}]", names.size(),
                        fmt::join(names, " "));
          }};
}

HealthCheck LoopbackCertificateCheck(const Clock& clock, WallTime expires) {
  return {"loopback-serving-certificate", [&clock, expires]() -> Result<void> {
            if (clock.WallNow() <= expires) return {};
            return Fail(ErrorCode::kExpired, "loopback serving certificate is expired");
          }};
}

HealthCheck PostStartHookCheck(std::string_view hook, std::shared_ptr<std::atomic<bool>> done) {
  return {"poststarthook/" + std::string(hook), [done = std::move(done)]() -> Result<void> {
            if (done->load(std::memory_order_acquire)) return {};
            return Fail(ErrorCode::kUnavailable, "not finished");
          }};
}

Result<void> HealthRegistry::AddDelayed(Duration delay, HealthCheck check) {
  std::lock_guard lock(mutex_);
  if (installed_) {
    return Fail(ErrorCode::kConflict,
                "unable to add because the {} endpoint has already been created", path_);
  }
  if (delay > Duration::zero()) {
    check.check = [inner = std::move(check.check), &clock = clock_,
                   from = clock_.Now() + delay]() -> Result<void> {
      return clock.Now() > from ? inner() : Result<void>();
    };
  }
  checks_.push_back(std::move(check));
  return {};
}

bool HealthRegistry::Has(std::string_view name) const {
  std::lock_guard lock(mutex_);
  return std::any_of(checks_.begin(), checks_.end(),
                     [&](const HealthCheck& check) { return check.name == name; });
}

std::vector<HealthCheck> HealthRegistry::checks() const {
  std::lock_guard lock(mutex_);
  return checks_;
}

}  // namespace keelson::server
