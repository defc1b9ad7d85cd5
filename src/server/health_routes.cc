// The answers of the health paths, byte for byte as upstream gives them.

#include <set>

#include "base/log.h"
#include "base/quote.h"
#include "server/health.h"
#include "server/reply.h"

namespace keelson::server {
namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";

// How one check has been doing, for /metrics/slis.
struct CheckSlis {
  metrics::Gauge& state;
  metrics::Counter& success;
  metrics::Counter& error;
  void Observe(bool ok) const {
    state.Set(ok ? 1 : 0);
    (ok ? success : error).Add();
  }
};

class RootHealth final : public Endpoint {
 public:
  RootHealth(std::string path, std::vector<HealthCheck> checks, metrics::Registry& slis,
             std::function<void()> first_healthy)
      : path_(std::move(path)),
        name_(path_.substr(1)),
        checks_(std::move(checks)),
        first_healthy_(std::move(first_healthy)) {
    auto& states =
        slis.GaugeVector({.name = "kubernetes_healthcheck",
                          .help = "This metric records the result of a single healthcheck.",
                          .stability = metrics::Stability::kStable,
                          .labels = {"name", "type"}});
    auto& totals =
        slis.CounterVector({.name = "kubernetes_healthchecks_total",
                            .help = "This metric records the results of all healthcheck.",
                            .stability = metrics::Stability::kStable,
                            .labels = {"name", "type", "status"}});
    for (const auto& check : checks_) {
      slis_.push_back({states.With({check.name, name_}),
                       totals.With({check.name, name_, "success"}),
                       totals.With({check.name, name_, "error"})});
    }
  }

  Pending Serve(RequestContext& context) override {
    context.route = &route_;
    Answer(context);
    return std::nullopt;
  }

 private:
  void Answer(RequestContext& context) {
    std::set<std::string> excluded;
    for (auto name : context.query().GetAll("exclude")) excluded.emplace(name);
    auto unmatched = excluded;
    std::string lines, reasons, failed;
    for (size_t i = 0; i < checks_.size(); ++i) {
      const auto& check = checks_[i];
      if (excluded.contains(check.name)) {
        unmatched.erase(check.name);
        lines += fmt::format("[+]{} excluded: ok\n", check.name);
        continue;
      }
      if (!check.group.empty() && excluded.contains(check.group)) {
        unmatched.erase(check.group);
        lines += fmt::format("[+]{} excluded with {}: ok\n", check.name, check.group);
        continue;
      }
      auto result = check.check();
      slis_[i].Observe(result.has_value());
      if (result) {
        lines += fmt::format("[+]{} ok\n", check.name);
        continue;
      }
      lines += fmt::format("[-]{} failed: reason withheld\n", check.name);
      reasons += fmt::format("[-]{} failed: {}\n", check.name, result.error().message);
      failed += (failed.empty() ? "" : ",") + check.name;
    }
    if (!unmatched.empty()) {
      std::string names;
      for (const auto& name : unmatched) names += (names.empty() ? "" : ",") + Quote(name);
      lines +=
          fmt::format("warn: some health checks cannot be excluded: no matches for {}\n", names);
    }
    if (!failed.empty()) {
      if (log::V(2)) log::Info("{} check failed: {}\n{}", failed, name_, reasons);
      SendError(context, 500, fmt::format("{}{} check failed", lines, name_));
      return;
    }
    if (first_healthy_ && !was_healthy_.exchange(true)) first_healthy_();
    context.response.headers().AddView("X-Content-Type-Options", "nosniff");
    bool verbose = context.query().Has("verbose");
    SendBody(context, 200, kPlain,
             verbose ? fmt::format("{}{} check passed\n", lines, name_) : std::string("ok"));
  }

  const std::string path_;
  const std::string name_;
  const std::vector<HealthCheck> checks_;
  const InstrumentedRoute route_{{.verb = "GET", .subresource = path_}};
  std::vector<CheckSlis> slis_;
  const std::function<void()> first_healthy_;
  std::atomic<bool> was_healthy_{false};
};

class SingleCheck final : public Endpoint {
 public:
  explicit SingleCheck(HealthCheck check) : check_(std::move(check)) {}
  Pending Serve(RequestContext& context) override {
    if (auto result = check_.check(); !result) {
      SendError(context, 500, "internal server error: " + result.error().message);
    } else {
      SendBody(context, 200, kPlain, "ok");
    }
    return std::nullopt;
  }

 private:
  const HealthCheck check_;
};

}  // namespace

void HealthRegistry::Install(PathMux& mux, metrics::Registry& slis,
                             std::function<void()> first_healthy) {
  std::vector<HealthCheck> checks;
  {
    std::lock_guard lock(mutex_);
    installed_ = true;
    if (checks_.empty()) checks_.push_back(PingCheck());
    checks = checks_;
  }
  if (log::V(5)) {
    std::string names;
    for (const auto& check : checks) names += (names.empty() ? "" : ",") + Quote(check.name);
    log::Info("Installing health checkers for ({}): {}", path_, names);
  }
  for (const auto& check : checks) {
    mux.Handle(path_ + "/" + check.name, std::make_shared<SingleCheck>(check));
  }
  mux.Handle(path_, std::make_shared<RootHealth>(path_, std::move(checks), slis,
                                                 std::move(first_healthy)));
}

}  // namespace keelson::server
