#include "server/generic_api_server.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "server/default_stages.h"
#include "server/routes.h"

namespace keelson::server {

Result<std::unique_ptr<GenericApiServer>> GenericApiServer::Create(
    std::string name, ServerOptions options, ServerDeps deps,
    std::shared_ptr<DelegationTarget> delegate) {
  if (!deps.loopback) {
    return Fail(ErrorCode::kInvalid, "{}: no loopback client configuration was given", name);
  }
  if (!deps.audit) deps.audit = std::make_shared<audit::NoAudit>();
  std::unique_ptr<GenericApiServer> server(
      new GenericApiServer(std::move(name), std::move(options), std::move(deps), delegate));
  TRY_VOID(server->Inherit());
  return server;
}

GenericApiServer::GenericApiServer(std::string name, ServerOptions options, ServerDeps deps,
                                   std::shared_ptr<DelegationTarget> delegate)
    : name_(std::move(name)),
      options_(std::move(options)),
      process_(deps.process),
      version_(std::move(deps.version)),
      audit_(std::move(deps.audit)),
      loopback_(std::move(deps.loopback)),
      fatal_(std::move(deps.fatal)),
      delegate_(std::move(delegate)),
      in_flight_(options_.run.max_requests_inflight, options_.run.max_mutating_requests_inflight),
      mux_(std::make_shared<PathMux>()),
      post_start_hooks_(options_.disabled_post_start_hooks),
      healthz_("/healthz", process_.clock),
      livez_("/livez", process_.clock),
      readyz_("/readyz", process_.clock) {
  stage_parts_ =
      std::make_unique<StageParts>(StageParts{.process = process_,
                                              .audit = *audit_,
                                              .in_flight = in_flight_,
                                              .authenticator = std::move(deps.authenticator),
                                              .authorizer = std::move(deps.authorizer),
                                              .impersonator = std::move(deps.impersonator),
                                              .flow_control = std::move(deps.flow_control)});
}

GenericApiServer::~GenericApiServer() {
  hooks_stop_.request_stop();
  background_.CloseAndWait();
}

Result<void> GenericApiServer::Inherit() {
  for (auto& registry : {&healthz_, &livez_, &readyz_}) {
    TRY_VOID(registry->Add(PingCheck()));
    TRY_VOID(registry->Add(LogCheck(process_.clock)));
  }
  if (loopback_->expires) {
    auto check = LoopbackCertificateCheck(process_.clock, *loopback_->expires);
    TRY_VOID(healthz_.Add(check));
    TRY_VOID(livez_.Add(std::move(check)));
  }
  for (const auto& entry : delegate_->PostStartHookEntries()) post_start_hooks_.Inherit(entry);
  pre_shutdown_hooks_.Inherit(delegate_->PreShutdown());
  for (auto& [name, signal] : delegate_->MuxAndDiscoveryCompleteSignals()) {
    TRY_VOID(RegisterMuxAndDiscoveryCompleteSignal(name, signal));
  }
  bool limits_in_flight = !stage_parts_->flow_control;
  if (limits_in_flight && !post_start_hooks_.Has(kMaxInFlightHook)) {
    TRY_VOID(AddPostStartHook(kMaxInFlightHook, [this](PostStartHookContext context) {
      return WatermarkHook(std::move(context));
    }));
  }
  for (auto& check : delegate_->HealthzChecks()) {
    if (!healthz_.Has(check.name)) TRY_VOID(AddHealthCheck(check));
  }
  auto not_found = delegate_->UnprotectedEndpoint();
  if (not_found) {
    mux_->SetNotFound(std::move(not_found));
  } else if (options_.features.index) {
    mux_->SetNotFound(IndexEndpoint(404, [this] { return ListedPaths(); }));
  }
  TRY(auto stages, DefaultStages(options_, std::move(*stage_parts_)));
  stage_parts_.reset();
  pipeline_ = std::make_unique<Pipeline>(
      PipelineOptions{.slow_request_threshold = options_.slow_request_threshold}, process_.clock,
      process_.request_metrics, *mux_, std::move(stages));
  InstallRoutes();
  return {};
}

void GenericApiServer::InstallRoutes() {
  const auto& features = options_.features;
  if (features.index) {
    auto index = IndexEndpoint(200, [this] { return ListedPaths(); });
    mux_->Handle("/", index, Listed::kNo);
    mux_->Handle("/index.html", index, Listed::kNo);
  }
  if (features.profiling) {
    InstallProfiling(*mux_);
    InstallDebugFlags(*mux_);
    mux_->Handle("/debug/lifecycle", LifecycleEndpoint(process_.signals, options_.lifecycle()),
                 Listed::kNo);
  }
  if (features.metrics) {
    mux_->Handle("/metrics", MetricsEndpoint(process_.metrics, process_.clock, features.profiling));
    mux_->Handle("/metrics/slis",
                 MetricsEndpoint(process_.slis, process_.clock, features.profiling));
  }
  mux_->HandleService("/version", VersionEndpoint(version_));
  if (!features.debug_socket_path.empty()) debug_handler_ = MakeDebugHandler();
}

http::Handler& GenericApiServer::debug_handler() {
  if (!debug_handler_) debug_handler_ = MakeDebugHandler();
  return *debug_handler_;
}

Result<void> GenericApiServer::AddPostStartHook(std::string name, PostStartHook hook,
                                                std::source_location where) {
  TRY(auto done, post_start_hooks_.Add(name, std::move(hook), where));
  if (!done) return {};
  auto check = PostStartHookCheck(name, std::move(done));
  TRY_VOID(healthz_.Add(check));
  TRY_VOID(livez_.AddDelayed(options_.run.livez_grace_period, check));
  return readyz_.Add(std::move(check));
}

Result<void> GenericApiServer::AddPostStartHook(PostStartHookProvider& provider,
                                                std::source_location where) {
  TRY(auto provided, provider.ProvidePostStartHook());
  return AddPostStartHook(std::move(provided.first), std::move(provided.second), where);
}

Result<void> GenericApiServer::AddPreShutdownHook(std::string name, PreShutdownHook hook) {
  return pre_shutdown_hooks_.Add(std::move(name), std::move(hook));
}

Result<void> GenericApiServer::AddHealthCheck(HealthCheck check) {
  TRY_VOID(healthz_.Add(check));
  TRY_VOID(livez_.Add(check));
  return readyz_.Add(std::move(check));
}

Result<void> GenericApiServer::AddReadyzCheck(HealthCheck check) {
  return readyz_.Add(std::move(check));
}

Result<void> GenericApiServer::AddLivezCheck(Duration delay, HealthCheck check) {
  return livez_.AddDelayed(delay, std::move(check));
}

Result<void> GenericApiServer::RegisterMuxAndDiscoveryCompleteSignal(
    std::string name, std::shared_ptr<Signal> signal) {
  if (path_signals_.contains(name)) {
    return Fail(ErrorCode::kAlreadyExists, "{} already registered", name);
  }
  path_signals_.emplace(std::move(name), std::move(signal));
  return {};
}

void GenericApiServer::RegisterDestroy(std::function<void()> function) {
  destroy_.push_back(std::move(function));
}

std::vector<PostStartHooks::Entry> GenericApiServer::PostStartHookEntries() const {
  return post_start_hooks_.entries();
}

std::vector<std::string> GenericApiServer::ListedPaths() const {
  std::set<std::string> paths;
  for (auto& path : mux_->ListedPaths()) paths.insert(std::move(path));
  for (auto& path : delegate_->ListedPaths()) paths.insert(std::move(path));
  return {paths.begin(), paths.end()};
}

Result<void> GenericApiServer::Prepare() {
  TRY_VOID(delegate_->Prepare());
  if (std::exchange(prepared_, true)) return {};
  auto install = [&](HealthRegistry& registry, std::function<void()> first_healthy = {}) {
    registry.Install(*mux_, process_.slis, std::move(first_healthy));
  };
  install(healthz_);
  install(livez_);
  TRY_VOID(readyz_.Add(ShutdownCheck(process_.signals)));
  install(readyz_, [this] { process_.signals.Raise(LifecycleEvent::kHasBeenReady); });
  return {};
}

void GenericApiServer::Destroy() {
  while (!destroy_.empty()) {
    auto function = std::move(destroy_.back());
    destroy_.pop_back();
    function();
  }
  delegate_->Destroy();
}

// The signal of the chain follows the last of those its members registered.
void GenericApiServer::AwaitPathSignals() {
  auto left = std::make_shared<std::atomic<size_t>>(path_signals_.size() + 1);
  auto one_raised = [this, left] {
    if (left->fetch_sub(1) != 1) return;
    process_.signals.Raise(LifecycleEvent::kMuxAndDiscoveryComplete);
    if (log::V(1)) {
      log::Info("{} has all endpoints registered and discovery information is complete",
                LifecycleEventName(LifecycleEvent::kMuxAndDiscoveryComplete));
    }
  };
  for (auto& [name, signal] : path_signals_) signal->OnRaised(one_raised);
  one_raised();  // the one too many: without registered signals this is all
}

Task<Result<void>> GenericApiServer::WatermarkHook(PostStartHookContext context) {
  background_.Spawn(&process_.executor, KeepWatermarks(context.stop));
  co_return Result<void>();
}

Task<void> GenericApiServer::KeepWatermarks(std::stop_token stop) {
  co_await MaintainWatermarks(in_flight_, process_.request_metrics.current_inflight(),
                              process_.clock, std::move(stop));
}

Task<Result<void>> GenericApiServer::Run(Serving& serving, std::stop_token stop,
                                         std::function<void()> notify_ready) {
  KEELSON_CHECK(prepared_);
  AwaitPathSignals();
  RegisterLifecycleMetrics(process_);
  // Hooks may call the server until it takes no more requests; then they are told to end.
  process_.signals[LifecycleEvent::kNotAcceptingNewRequest].OnRaised(
      [stop_hooks = hooks_stop_]() mutable { stop_hooks.request_stop(); });
  auto result = co_await RunLifecycle(
      options_.lifecycle(),
      {.process = process_,
       .handler = *pipeline_,
       .serving = serving,
       .audit = *audit_,
       .run_post_start_hooks =
           [this] {
             post_start_hooks_.Run(background_, process_.executor,
                                   {.loopback = loopback_, .stop = hooks_stop_.get_token()},
                                   fatal_);
           },
       .run_pre_shutdown_hooks = [this] { return pre_shutdown_hooks_.Run(); },
       .notify_ready = std::move(notify_ready)},
      std::move(stop));
  hooks_stop_.request_stop();
  co_await background_.Close();
  Destroy();
  co_return result;
}

}  // namespace keelson::server
