#pragma once

// GenericApiServer: everything an API server has apart from its resources.
//
//   auto server = GenericApiServer::Create("apiserver", options, deps, delegate);
//   server->AddPostStartHook("start-informers", ...);
//   server->Prepare();
//   co_await server->Run(serving, stop);
//
// The last server of a delegation chain is run; those it delegates to are only prepared. Created,
// changed and prepared on one thread; after Run has begun it is thread-safe except where said.

#include <functional>
#include <memory>
#include <source_location>
#include <stop_token>
#include <string>
#include <vector>

#include "audit/backend.h"
#include "auth/authenticator.h"
#include "auth/authorizer.h"
#include "auth/impersonation.h"
#include "base/gate.h"
#include "server/delegation.h"
#include "server/hooks.h"
#include "server/in_flight.h"
#include "server/options.h"
#include "server/path_mux.h"
#include "server/pipeline.h"
#include "server/process_state.h"
#include "server/serving.h"
#include "server/stages.h"
#include "server/version.h"

namespace keelson::server {

// What a server needs from its composer. The references outlive it.
struct ServerDeps {
  ProcessState& process;
  std::shared_ptr<auth::Authenticator> authenticator;
  std::shared_ptr<auth::Authorizer> authorizer;
  std::shared_ptr<audit::Backend> audit;             // null: none
  std::shared_ptr<auth::Impersonator> impersonator;  // null: refused
  std::shared_ptr<const LoopbackClientConfig> loopback;
  StagePtr flow_control;  // null: in-flight limits
  VersionInfo version;
  // Ends the process with a message; a post-start hook has failed.
  std::function<void(std::string)> fatal;
};

class GenericApiServer final : public DelegationTarget {
 public:
  // Takes over the delegate's hooks, health checks and signals. Fails for options that contradict
  // each other.
  static Result<std::unique_ptr<GenericApiServer>> Create(
      std::string name, ServerOptions options, ServerDeps deps,
      std::shared_ptr<DelegationTarget> delegate);
  ~GenericApiServer() override;

  // --- until Prepare

  // With its health check poststarthook/<name> on all three paths.
  Result<void> AddPostStartHook(std::string name, PostStartHook hook,
                                std::source_location where = std::source_location::current());
  Result<void> AddPostStartHook(PostStartHookProvider& provider,
                                std::source_location where = std::source_location::current());
  Result<void> AddPreShutdownHook(std::string name, PreShutdownHook hook);
  // To healthz, livez and readyz.
  Result<void> AddHealthCheck(HealthCheck check);
  Result<void> AddReadyzCheck(HealthCheck check);
  Result<void> AddLivezCheck(Duration delay, HealthCheck check);
  // MuxAndDiscoveryComplete is raised once all registered signals are.
  Result<void> RegisterMuxAndDiscoveryCompleteSignal(std::string name,
                                                     std::shared_ptr<Signal> signal);
  // Run in reverse order when the server has stopped.
  void RegisterDestroy(std::function<void()> function);

  // --- any time

  PathMux& mux() { return *mux_; }
  ProcessState& process() { return process_; }
  const ServerOptions& options() const { return options_; }
  const std::string& name() const { return name_; }
  // Pipeline, then router: what a transport serves.
  http::Handler& handler() { return *pipeline_; }
  std::vector<std::string_view> StageNames() const { return pipeline_->StageNames(); }
  // Profiles and verbosity without pipeline, for the debug socket.
  http::Handler& debug_handler();

  // Serves until `stop` is requested, then shuts down as lifecycle.h says and destroys the chain.
  // `notify_ready` is called when everything has started. Prepare first.
  Task<Result<void>> Run(
      Serving& serving, std::stop_token stop, std::function<void()> notify_ready = [] {});

  // --- DelegationTarget
  std::shared_ptr<Endpoint> UnprotectedEndpoint() override { return mux_; }
  std::vector<PostStartHooks::Entry> PostStartHookEntries() const override;
  const PreShutdownHooks& PreShutdown() const override { return pre_shutdown_hooks_; }
  std::vector<HealthCheck> HealthzChecks() const override { return healthz_.checks(); }
  std::vector<std::string> ListedPaths() const override;
  PathSignals MuxAndDiscoveryCompleteSignals() const override { return path_signals_; }
  Result<void> Prepare() override;
  void Destroy() override;

 private:
  GenericApiServer(std::string name, ServerOptions options, ServerDeps deps,
                   std::shared_ptr<DelegationTarget> delegate);
  Result<void> Inherit();
  void InstallRoutes();
  void AwaitPathSignals();
  Task<Result<void>> WatermarkHook(PostStartHookContext context);
  Task<void> KeepWatermarks(std::stop_token stop);

  const std::string name_;
  const ServerOptions options_;
  ProcessState& process_;
  const VersionInfo version_;
  std::shared_ptr<audit::Backend> audit_;
  std::shared_ptr<const LoopbackClientConfig> loopback_;
  std::function<void(std::string)> fatal_;
  std::shared_ptr<DelegationTarget> delegate_;
  InFlightLimits in_flight_;
  std::unique_ptr<struct StageParts> stage_parts_;  // until the pipeline is built
  std::shared_ptr<PathMux> mux_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<http::Handler> debug_handler_;
  PostStartHooks post_start_hooks_;
  PreShutdownHooks pre_shutdown_hooks_;
  HealthRegistry healthz_;
  HealthRegistry livez_;
  HealthRegistry readyz_;
  PathSignals path_signals_;
  std::vector<std::function<void()>> destroy_;
  Gate background_;
  std::stop_source hooks_stop_;
  bool prepared_ = false;
};

}  // namespace keelson::server
