// keelson: reads flags, puts the parts together, serves until told to stop.

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "access.h"
#include "api/catalog.h"
#include "api_services.h"
#include "base/gate.h"
#include "base/ids.h"
#include "base/log.h"
#include "cluster.h"
#include "custom_resources.h"
#include "kube/built_in_api.h"
#include "kube/component_statuses.h"
#include "kube/relay/subresources.h"
#include "kube/stored_kinds.h"
#include "kube/strategies.h"
#include "kv/rocksdb/store_command.h"
#include "net/io_thread.h"
#include "options.h"
#include "owner.h"
#include "server/generic_api_server.h"
#include "server/https_serving.h"
#include "server/openapi_endpoint.h"
#include "server/systemd.h"
#include "storage.h"
#include "store_tools.h"

namespace keelson::app {
namespace {

constexpr const char* kIntroduction =
    "Keelson serves the Kubernetes API: it validates, stores and hands out the cluster's objects\n"
    "to everything that works on them.";

// The first SIGTERM or SIGINT asks for a graceful end, the second ends at once. Blocks them in this
// thread and in those started afterwards.
class StopSignals {
 public:
  StopSignals() {
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::thread([set = set_, stop = stop_]() mutable {
      int number = 0;
      sigwait(&set, &number);
      stop.request_stop();
      sigwait(&set, &number);
      _exit(1);
    }).detach();
  }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  sigset_t set_;
  std::stop_source stop_;
};

void Fatal(std::string message) {
  log::internal::Write(log::Severity::kFatal, std::source_location::current(), message);
  _exit(255);
}

void NotifyReady() {
  if (auto notified = server::NotifySystemd("READY=1\n"); !notified) {
    log::Error("Unable to send systemd daemon successful start message: {}",
               notified.error().message);
  }
}

Task<void> RunServer(server::GenericApiServer& server, server::Serving& serving,
                     std::stop_token stop, Result<void>& result) {
  result = co_await server.Run(serving, std::move(stop), NotifyReady);
}

std::string LocalUrl(int64_t port) { return fmt::format("https://localhost:{}", port); }

// Where others find the keys that verify service account tokens.
std::string JwksUri(const Options& options) {
  const auto& uri = options.access.service_account_jwks_uri;
  if (!uri.empty()) return uri;
  const auto& run = options.run;
  auto host = run.external_hostname.empty() ? run.advertise_address : run.external_hostname;
  if (host.empty()) host = "localhost";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("https://{}:{}/openid/v1/jwks", host, options.serving.secure_port);
}

// What nobody has said, the server makes for itself: certificates, keys, a way in for its owner.
Result<std::optional<OwnerFiles>> OpenOwnerFiles(Options& options, const Clock& clock) {
  const bool serves_own = options.serving.tls_cert_file.empty() &&
                          options.serving.cert_dir == server::SecureServingOptions().cert_dir;
  auto& access = options.access;
  const bool own_accounts =
      access.service_account_key_files.empty() && access.service_account_signing_key_file.empty();
  if (options.storage.data_dir.empty() ||
      (!serves_own && !access.client_ca_file.empty() && !own_accounts)) {
    return std::optional<OwnerFiles>();
  }
  TRY(auto files, OwnerFiles::Open({.folder = options.storage.data_dir,
                                    .public_address = options.run.advertise_address,
                                    .external_name = options.run.external_hostname},
                                   clock));
  if (serves_own) {
    options.serving.tls_cert_file = files.serving_certificate_file();
    options.serving.tls_private_key_file = files.serving_key_file();
  }
  if (own_accounts) access.service_account_signing_key_file = files.account_key_file();
  const bool own_clients = access.client_ca_file.empty();
  if (own_clients) access.client_ca_file = files.ca_file();
  if (serves_own && own_clients && options.serving.secure_port != 0) {
    TRY_VOID(files.WriteKubeconfig(LocalUrl(options.serving.secure_port)));
  }
  return files;
}

Result<void> Serve(Options options) {
  StopSignals signals;
  SystemClock clock;
  ThreadExecutor executor("lifecycle");
  server::ProcessState process(clock, executor);
  metrics::RegisterProcessMetrics(process.metrics);
  TRY(auto pool, net::IoPool::Create());

  TRY(auto owner, OpenOwnerFiles(options, clock));
  options.serving.client_ca_file = options.access.client_ca_file;
  options.serving.request_header_ca_file = options.access.request_header_ca_file;
  const auto& public_address = options.run.advertise_address;
  TRY(auto serving, server::HttpsServing::Create(options.serving, public_address, *pool, clock,
                                                 process.request_metrics));
  const std::string loopback_token = NewUuid() + NewUuid();
  TRY(auto access, Access::Create(options.access, loopback_token, {clock, *pool}));
  CustomResources custom_resources;
  TRY(auto server, server::GenericApiServer::Create(
                       "kube-apiserver",
                       {.run = options.run,
                        .features = options.features,
                        .api_audiences = options.access.Audiences()},
                       {.process = process,
                        .authenticator = access->authenticator(),
                        .authorizer = access->authorizer(),
                        .impersonator = access->impersonator(),
                        .loopback = serving->Loopback(loopback_token),
                        .version = server::ThisVersion(),
                        .fatal = Fatal},
                       std::make_shared<server::EmptyDelegate>(custom_resources.endpoint())));
  TRY(auto storage, Storage::Open(options.storage, {*pool, clock, process.metrics}));
  TRY_VOID(storage->AddHealthChecks(*server));
  TRY(auto outbound, kube::Outbound::Create(options.kubelet, *pool));
  kube::Relays relays(*outbound);
  auto kinds = kube::BuiltInKinds();
  kinds.Add(relays.Subresources());
  access->AddKinds(kinds);
  TRY(auto components, kube::ComponentStatuses::Create(*pool));
  kinds.Add(components->Kinds());
  Cluster cluster(options, std::move(kinds), *storage, *access->authorizer(), clock);
  cluster.api().Install(server->mux(), {.discovery = options.features.discovery,
                                        .groups = &custom_resources.groups()});
  TRY_VOID(cluster.AddHooks(*server));
  server::InstallOpenApi(
      server->mux(),
      std::make_shared<server::OpenApiDocuments>(
          server::OpenApiDocuments::Parts{.source = schema::DefaultOpenApiSource(api::kCatalog),
                                          .supplement = &custom_resources.schemas()},
          std::make_unique<ThreadExecutor>("openapi"), clock),
      clock);
  access->PublishIssuer(server->mux(), JwksUri(options));
  TRY(auto connection, access->Connect(*server, cluster.api(), *storage, clock, executor));
  CustomResources::Connection definitions(custom_resources, cluster, *storage,
                                          *access->authorizer(), clock, executor);
  TRY_VOID(definitions.AddHooks(*server));
  ApiServiceConnection api_services(cluster, server->mux(), executor);
  TRY_VOID(api_services.AddHooks(*server));
  TRY_VOID(server->Prepare());

  std::unique_ptr<server::UnixServing> debug_socket;
  if (!options.features.debug_socket_path.empty()) {
    TRY(debug_socket, server::UnixServing::Create(options.features.debug_socket_path, *pool,
                                                  server->debug_handler()));
  }
  std::optional<OwnerRenewal> renewal;
  if (owner) renewal.emplace(*owner, LocalUrl(options.serving.secure_port), clock, executor);
  Result<void> result;
  Gate running;
  running.Spawn(&executor, RunServer(*server, *serving, signals.token(), result));
  running.CloseAndWait();
  return result;
}

int Main(std::vector<std::string_view> arguments) {
  if (arguments.size() >= 2 && arguments[0] == "store" && arguments[1] == "migrate") {
    return RunStoreMigrate({arguments.begin() + 2, arguments.end()});
  }
  if (arguments.size() >= 2 && arguments[0] == "store" && arguments[1] == "rewrite") {
    return RunStoreRewrite({arguments.begin() + 2, arguments.end()});
  }
  if (!arguments.empty() && arguments[0] == "store") {
    kube::StoredKinds kinds(api::kCatalog);
    return kv::RunStoreCommand(
        std::span(arguments).subspan(1),
        [&](std::string_view key, std::string_view value) { return kinds.Check(key, value); });
  }
  if (!arguments.empty() && arguments[0] == "kubeconfig") {
    arguments.erase(arguments.begin());
    return RunKubeconfigCommand(std::move(arguments));
  }
  Options options;
  flags::FlagSet flags("keelson");
  options.AddFlags(flags);
  auto positional = flags.Parse(arguments);
  if (!positional) {
    fmt::print(stderr, "Error: {}\n", positional.error().message);
    return 1;
  }
  if (options.help) {
    fmt::print("{}", flags.Help(kIntroduction));
    return 0;
  }
  if (!options.version.empty()) {
    auto version = server::ThisVersion();
    if (options.version == "raw") {
      fmt::print("{}\n", version.ToJson());
    } else {
      fmt::print("Kubernetes {}\n", version.git_version);
    }
    return 0;
  }
  if (!positional->empty()) {
    fmt::print(stderr, "Error: \"keelson\" does not take any arguments, got [\"{}\"]\n",
               fmt::join(*positional, "\" \""));
    return 1;
  }
  log::SetVerbosity(static_cast<int>(options.verbosity));
  if (auto errors = options.Validate(); !errors.empty()) {
    auto joined = fmt::format("{}", fmt::join(errors, ", "));
    log::ErrorS("command failed", {{"err", errors.size() > 1 ? "[" + joined + "]" : joined}});
    return 1;
  }
  if (auto result = Serve(options); !result) {
    log::ErrorS("command failed", {{"err", result.error().message}});
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace keelson::app

int main(int argc, char** argv) { return keelson::app::Main({argv + 1, argv + argc}); }
