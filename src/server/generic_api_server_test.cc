#include "server/generic_api_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "http/fake_exchange.h"
#include "server/reply.h"
#include "server/testing/fake_serving.h"

namespace keelson::server {
namespace {

using http::FakeExchange;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Task<Result<void>> Succeed() { co_return Result<void>(); }

// A process with servers in it: world.Make("name", delegate), world.Get(server, "/readyz").
class World {
 public:
  ServerDeps Deps() {
    return {.process = process,
            .authenticator = std::make_shared<auth::AnonymousAuthenticator>(),
            .authorizer = std::make_shared<auth::AlwaysAllow>(),
            .loopback = std::make_shared<LoopbackClientConfig>(),
            .fatal = [this](std::string message) { fatal.push_back(message); }};
  }
  std::unique_ptr<GenericApiServer> Make(std::string name,
                                         std::shared_ptr<DelegationTarget> delegate = nullptr) {
    if (!delegate) delegate = std::make_shared<EmptyDelegate>(NotFoundEndpoint());
    auto server = GenericApiServer::Create(std::move(name), options, Deps(), std::move(delegate));
    KEELSON_CHECK(server.has_value());
    return *std::move(server);
  }
  std::string Get(GenericApiServer& server, std::string_view target,
                  std::string_view method = "GET") {
    FakeExchange fake(method, target);
    fake.exchange().request.received = clock.Now();
    fake.Run(server.handler());
    return fmt::format("{} {}", fake.status(), fake.body());
  }
  void Settle() {
    clock.Advance(Duration::zero(), [this] { executor.RunUntilIdle(); });
  }
  void After(Duration time) {
    clock.Advance(time, [this] { executor.RunUntilIdle(); });
  }

  // Runs `server` until Stop.
  void Start(GenericApiServer& server) {
    struct Runner {
      static Task<void> Run(GenericApiServer& server, World& world) {
        world.result = co_await server.Run(world.serving, world.stop.get_token(),
                                           [&world] { world.ready = true; });
      }
    };
    gate.Spawn(&executor, Runner::Run(server, *this));
    Settle();
  }
  void Stop() {
    stop.request_stop();
    Settle();
  }
  ~World() { gate.CloseAndWait(); }

  ServerOptions options;
  FakeClock clock;
  ManualExecutor executor;
  ProcessState process{clock, executor};
  FakeServing serving{clock};
  std::stop_source stop;
  std::vector<std::string> fatal;
  std::optional<Result<void>> result;
  bool ready = false;
  Gate gate;
};

TEST(GenericApiServer, HealthAnswersAreUpstreams) {
  World world;
  auto server = world.Make("apiserver");
  bool healthy = false;
  ASSERT_TRUE(server->AddHealthCheck({"etcd", [&]() -> Result<void> {
                                        if (healthy) return {};
                                        return Fail(ErrorCode::kUnavailable, "no quorum");
                                      }}));
  ASSERT_TRUE(server->Prepare());
  EXPECT_EQ(world.Get(*server, "/livez"),
            "500 [+]ping ok\n[+]log ok\n[-]poststarthook/max-in-flight-filter failed: reason "
            "withheld\n[-]etcd failed: reason withheld\nlivez check failed\n");
  EXPECT_EQ(world.Get(*server, "/livez/etcd"), "500 internal server error: no quorum\n");
  healthy = true;
  world.Start(*server);
  EXPECT_TRUE(world.ready);
  EXPECT_EQ(world.Get(*server, "/healthz"), "200 ok");
  EXPECT_EQ(world.Get(*server, "/livez?verbose"),
            "200 [+]ping ok\n[+]log ok\n[+]poststarthook/max-in-flight-filter ok\n[+]etcd "
            "ok\nlivez check passed\n");
  EXPECT_EQ(world.Get(*server, "/livez?verbose&exclude=etcd&exclude=nosuch2&exclude=nosuch"),
            "200 [+]ping ok\n[+]log ok\n[+]poststarthook/max-in-flight-filter ok\n[+]etcd "
            "excluded: ok\nwarn: some health checks cannot be excluded: no matches for "
            "\"nosuch\",\"nosuch2\"\nlivez check passed\n");
  EXPECT_EQ(world.Get(*server, "/livez/ping"), "200 ok");
  EXPECT_EQ(world.Get(*server, "/livez/nosuch"), "404 404 page not found\n");
  EXPECT_EQ(world.Get(*server, "/healthz", "DELETE"), "200 ok");
  FakeExchange fake("GET", "/readyz");
  fake.exchange().request.received = world.clock.Now();
  fake.Run(server->handler());
  EXPECT_EQ(fake.Header("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(fake.Header("X-Content-Type-Options"), "nosniff");
  EXPECT_TRUE(world.process.signals[LifecycleEvent::kHasBeenReady].raised());
  EXPECT_THAT(
      world.process.metrics.Text(),
      HasSubstr("apiserver_request_total{code=\"200\",component=\"\",dry_run=\"\",group=\"\","
                "resource=\"\",scope=\"\",subresource=\"/readyz\",verb=\"GET\",version=\"\"} 1"));
  EXPECT_THAT(world.process.slis.Text(),
              HasSubstr("kubernetes_healthcheck{name=\"etcd\",type=\"livez\"} 1\n"));
  world.Stop();
  EXPECT_EQ(world.Get(*server, "/readyz/shutdown"),
            "500 internal server error: process is shutting down\n");
  EXPECT_THAT(world.Get(*server, "/readyz"),
              EndsWith("[-]shutdown failed: reason withheld\nreadyz check failed\n"));
  EXPECT_EQ(world.Get(*server, "/livez"), "200 ok");
  world.After(seconds(2));
  EXPECT_TRUE(world.result.has_value());
}

TEST(GenericApiServer, ChecksAreRefusedOnceInstalled) {
  World world;
  auto server = world.Make("apiserver");
  ASSERT_TRUE(server->Prepare());
  EXPECT_EQ(server->AddHealthCheck(PingCheck()).error().message,
            "unable to add because the /healthz endpoint has already been created");
  EXPECT_EQ(server->AddReadyzCheck(PingCheck()).error().message,
            "unable to add because the /readyz endpoint has already been created");
}

TEST(GenericApiServer, LivezWaitsForHooksOnlyAfterItsGracePeriod) {
  World world;
  world.options.run.livez_grace_period = seconds(10);
  auto server = world.Make("apiserver");
  ASSERT_TRUE(server->Prepare());
  EXPECT_EQ(world.Get(*server, "/livez"), "200 ok");
  EXPECT_THAT(world.Get(*server, "/healthz"), StartsWith("500 "));
  world.clock.Advance(seconds(11));
  EXPECT_THAT(world.Get(*server, "/livez"), StartsWith("500 "));
}

TEST(GenericApiServer, LivezFailsWhenTheLoopbackCertificateHasRunOut) {
  World world;
  auto deps = world.Deps();
  auto loopback = std::make_shared<LoopbackClientConfig>();
  loopback->expires = world.clock.WallNow() + std::chrono::hours(1);
  deps.loopback = loopback;
  world.options.disabled_post_start_hooks = {"max-in-flight-filter"};
  auto server = *GenericApiServer::Create("apiserver", world.options, std::move(deps),
                                          std::make_shared<EmptyDelegate>());
  ASSERT_TRUE(server->Prepare());
  EXPECT_EQ(world.Get(*server, "/livez?verbose"),
            "200 [+]ping ok\n[+]log ok\n[+]loopback-serving-certificate ok\nlivez check passed\n");
  EXPECT_EQ(world.Get(*server, "/readyz?verbose"),
            "200 [+]ping ok\n[+]log ok\n[+]shutdown ok\nreadyz check passed\n");
  world.clock.Advance(std::chrono::hours(2));
  EXPECT_EQ(world.Get(*server, "/livez/loopback-serving-certificate"),
            "500 internal server error: loopback serving certificate is expired\n");
  EXPECT_EQ(world.Get(*server, "/readyz"), "200 ok");
}

TEST(GenericApiServer, InformerSyncNamesWhatIsMissing) {
  std::vector<std::string> missing{"pods", "nodes"};
  auto check = InformerSyncCheck([&] { return missing; });
  EXPECT_EQ(check.check().error().message, "2 informers not started yet: [pods nodes]");
  missing.clear();
  EXPECT_TRUE(check.check().has_value());
}

TEST(GenericApiServer, HookWithItsHealthCheckAndProvider) {
  World world;
  auto server = world.Make("apiserver");
  auto release = Completion<bool>::Create();
  struct Provider final : PostStartHookProvider {
    std::shared_ptr<Completion<bool>> release;
    static Task<Result<void>> Wait(std::shared_ptr<Completion<bool>> release) {
      co_await Completion<bool>::Wait(release);
      co_return Result<void>();
    }
    Result<std::pair<std::string, PostStartHook>> ProvidePostStartHook() override {
      return std::pair<std::string, PostStartHook>{
          "rbac/bootstrap-roles", [this](PostStartHookContext) { return Wait(release); }};
    }
  } provider;
  provider.release = release;
  ASSERT_TRUE(server->AddPostStartHook(provider));
  auto again = server->AddPostStartHook(provider);
  EXPECT_THAT(again.error().message, HasSubstr("generic_api_server_test.cc"));
  ASSERT_TRUE(server->Prepare());
  world.Start(*server);
  EXPECT_EQ(world.Get(*server, "/readyz/poststarthook/rbac/bootstrap-roles"),
            "500 internal server error: not finished\n");
  release->Set(true);
  world.Settle();
  EXPECT_EQ(world.Get(*server, "/readyz/poststarthook/rbac/bootstrap-roles"), "200 ok");
  EXPECT_THAT(server->AddPostStartHook("late", [](auto) { return Succeed(); }).error().message,
              HasSubstr("PostStartHooks have already been called"));
  world.Stop();
}

TEST(GenericApiServer, DisabledHooksLeaveNoCheck) {
  World world;
  world.options.disabled_post_start_hooks = {"max-in-flight-filter"};
  auto server = world.Make("apiserver");
  ASSERT_TRUE(server->Prepare());
  EXPECT_EQ(world.Get(*server, "/healthz"), "200 ok");
}

TEST(GenericApiServer, OuterServerInheritsFromItsDelegate) {
  World world;
  std::vector<std::string> destroyed;
  std::shared_ptr<GenericApiServer> inner = world.Make("inner");
  int hook_runs = 0;
  ASSERT_TRUE(inner->AddPostStartHook("inner-hook", [&](PostStartHookContext) {
    ++hook_runs;
    return Succeed();
  }));
  bool pre_shutdown_ran = false;
  ASSERT_TRUE(inner->AddPreShutdownHook("inner-stop", [&] {
    pre_shutdown_ran = true;
    return Succeed();
  }));
  ASSERT_TRUE(inner->AddHealthCheck({"store", [] { return Result<void>(); }}));
  auto paths = std::make_shared<Signal>();
  ASSERT_TRUE(inner->RegisterMuxAndDiscoveryCompleteSignal("crds", paths));
  EXPECT_EQ(inner->RegisterMuxAndDiscoveryCompleteSignal("crds", paths).error().message,
            "crds already registered");
  inner->mux().Handle("/inner", std::make_shared<FunctionEndpoint>([](RequestContext& context) {
                        SendBody(context, 200, "text/plain", "from inner");
                      }));
  inner->RegisterDestroy([&] { destroyed.push_back("inner 1"); });
  inner->RegisterDestroy([&] { destroyed.push_back("inner 2"); });
  auto outer = world.Make("outer", inner);
  outer->RegisterDestroy([&] { destroyed.push_back("outer"); });
  ASSERT_TRUE(outer->Prepare());
  world.Start(*outer);

  EXPECT_EQ(hook_runs, 1);
  EXPECT_EQ(world.Get(*outer, "/inner"), "200 from inner");
  EXPECT_THAT(world.Get(*outer, "/readyz?verbose"), HasSubstr("[+]store ok\n"));
  EXPECT_THAT(world.Get(*outer, "/readyz?verbose"), HasSubstr("[+]poststarthook/inner-hook ok\n"));
  auto verbose = world.Get(*outer, "/healthz?verbose");
  EXPECT_EQ(verbose.find("[+]ping"), verbose.rfind("[+]ping"));  // not twice
  EXPECT_THAT(world.Get(*outer, "/"), HasSubstr("\"/inner\",\n"));
  // Until all paths are installed an unknown one may just not be there yet.
  EXPECT_EQ(world.Get(*outer, "/apis/new.example.com/v1/things/a"),
            "503 {\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"the request has been made before all known HTTP paths have been "
            "installed, please try again\",\"reason\":\"ServiceUnavailable\",\"details\":{"
            "\"retryAfterSeconds\":5},\"code\":503}\n");
  paths->Raise(world.clock);
  EXPECT_EQ(world.Get(*outer, "/apis/new.example.com/v1/things/a"), "404 404 page not found\n");
  world.Stop();
  EXPECT_TRUE(pre_shutdown_ran);
  world.After(seconds(2));
  EXPECT_THAT(destroyed, ElementsAre("outer", "inner 2", "inner 1"));
}

TEST(GenericApiServer, RoutesOfABareServer) {
  World world;
  auto server = world.Make("apiserver");
  ASSERT_TRUE(server->Prepare());
  world.process.signals.Raise(LifecycleEvent::kMuxAndDiscoveryComplete);
  EXPECT_EQ(
      world.Get(*server, "/index.html"),
      "200 {\n  \"paths\": [\n    \"/healthz\",\n    \"/healthz/log\",\n    \"/healthz/ping\",\n"
      "    \"/healthz/poststarthook/max-in-flight-filter\",\n    \"/livez\",\n    "
      "\"/livez/log\",\n    \"/livez/ping\",\n    "
      "\"/livez/poststarthook/max-in-flight-filter\",\n    \"/metrics\",\n    "
      "\"/metrics/slis\",\n    \"/readyz\",\n    \"/readyz/log\",\n    \"/readyz/ping\",\n    "
      "\"/readyz/poststarthook/max-in-flight-filter\",\n    \"/readyz/shutdown\",\n    "
      "\"/version\"\n  ]\n}");
  EXPECT_THAT(world.Get(*server, "/version"),
              StartsWith("200 {\n  \"major\": \"1\",\n  \"minor\": \"36\",\n  \"emulationMajor\": "
                         "\"1\",\n  \"emulationMinor\": \"36\",\n  \"minCompatibilityMajor\": "
                         "\"1\",\n  \"minCompatibilityMinor\": \"35\",\n  \"gitVersion\": "
                         "\"v1.36.4+keelson\""));
  EXPECT_THAT(world.Get(*server, "/version/"), StartsWith("200 "));
  EXPECT_EQ(world.Get(*server, "/version", "POST"),
            "405 {\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"the server does not allow this method on the requested "
            "resource\",\"reason\":\"MethodNotAllowed\",\"details\":{},\"code\":405}\n");
  EXPECT_EQ(world.Get(*server, "/version/x"),
            "404 {\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"the server could not find the requested "
            "resource\",\"reason\":\"NotFound\",\"details\":{},\"code\":404}\n");
  EXPECT_EQ(world.Get(*server, "//healthz"), "404 404 page not found\n");
  EXPECT_EQ(world.Get(*server, "/healthz/"), "404 404 page not found\n");
  EXPECT_THAT(world.Get(*server, "/metrics"),
              HasSubstr("# TYPE apiserver_request_filter_duration_seconds histogram\n"));
  EXPECT_EQ(world.Get(*server, "/metrics", "DELETE"), "200 metrics reset\n");
  EXPECT_THAT(world.Get(*server, "/debug/lifecycle"), HasSubstr("\"ShutdownInitiated\""));
  EXPECT_EQ(world.Get(*server, "/debug/flags/v"), "406 unsupported http method\n");
  EXPECT_THAT(world.Get(*server, "/debug/flags"), HasSubstr("<tr>v<br>"));
}

TEST(GenericApiServer, VerbosityChangesWhileRunning) {
  World world;
  auto server = world.Make("apiserver");
  auto put = [&](std::string_view body) {
    FakeExchange fake("PUT", "/debug/flags/v");
    fake.Body(body);
    fake.exchange().request.received = world.clock.Now();
    fake.Run(server->handler());
    return fmt::format("{} {}", fake.status(), fake.body());
  };
  EXPECT_EQ(put("3"), "200 successfully set klog.logging.verbosity to 3\n");
  EXPECT_EQ(log::Verbosity(), 3);
  EXPECT_EQ(put("x"), "400 strconv.ParseUint: parsing \"x\": invalid syntax\n");
  EXPECT_EQ(put(""), "400 strconv.ParseUint: parsing \"\": invalid syntax\n");
  EXPECT_EQ(put("99999999999"),
            "400 strconv.ParseUint: parsing \"99999999999\": value out of range\n");
  log::Capture capture;
  EXPECT_EQ(put("0"), "200 successfully set klog.logging.verbosity to 0\n");
}

TEST(GenericApiServer, FeaturesCanBeTurnedOff) {
  World world;
  world.options.features = {.profiling = false, .index = false, .metrics = false};
  auto server = world.Make("apiserver");
  ASSERT_TRUE(server->Prepare());
  world.process.signals.Raise(LifecycleEvent::kMuxAndDiscoveryComplete);
  for (auto path : {"/", "/index.html", "/metrics", "/metrics/slis", "/debug/pprof/",
                    "/debug/flags/v", "/debug/lifecycle"}) {
    EXPECT_EQ(world.Get(*server, path), "404 404 page not found\n") << path;
  }
}

TEST(GenericApiServer, WithoutAnotherAnswerUnknownPathsShowTheIndex) {
  World world;
  auto server = world.Make("sample", std::make_shared<EmptyDelegate>());
  EXPECT_THAT(world.Get(*server, "/nosuch"), StartsWith("404 {\n  \"paths\": [\n"));
}

TEST(GenericApiServer, WatermarksAreTheMaximumOfTheLastSecond) {
  World world;
  auto server = world.Make("apiserver");
  ASSERT_TRUE(server->Prepare());
  world.Start(*server);
  world.Get(*server, "/version");
  world.After(seconds(1));
  EXPECT_THAT(world.process.metrics.Text(),
              HasSubstr("apiserver_current_inflight_requests{request_kind=\"readOnly\"} 1\n"));
  world.After(seconds(1));
  EXPECT_THAT(world.process.metrics.Text(),
              HasSubstr("apiserver_current_inflight_requests{request_kind=\"readOnly\"} 0\n"));
  world.Stop();
}

TEST(GenericApiServer, AFailedPostStartHookIsFatal) {
  World world;
  auto server = world.Make("apiserver");
  struct Failing {
    static Task<Result<void>> Run() { co_return Fail(ErrorCode::kInternal, "no CA"); }
  };
  ASSERT_TRUE(server->AddPostStartHook("ca", [](auto) { return Failing::Run(); }));
  ASSERT_TRUE(server->Prepare());
  world.Start(*server);
  EXPECT_THAT(world.fatal, ElementsAre("PostStartHook \"ca\" failed: no CA"));
  world.Stop();
}

TEST(Options, AreValidatedInUpstreamsWords) {
  ServerRunOptions run;
  EXPECT_THAT(run.Validate(), testing::IsEmpty());
  run.goaway_chance = 1;
  run.max_requests_inflight = -1;
  run.cors_allowed_origins = {"example.com"};
  run.strict_transport_security_directives = {"max-age"};
  EXPECT_THAT(run.Validate(),
              ElementsAre("--max-requests-inflight can not be negative value",
                          "--goaway-chance can not be less than 0 or greater than 0.02",
                          StartsWith("--strict-transport-security-directives invalid"),
                          StartsWith("--cors-allowed-origins has an invalid regular expression: "
                                     "regular expression does not pin to start/end of host")));
  SecureServingOptions serving;
  serving.secure_port = 0;
  EXPECT_THAT(serving.Validate(),
              ElementsAre("--secure-port 0 must be between 1 and 65535, inclusive. It cannot be "
                          "turned off with 0"));
}

}  // namespace
}  // namespace keelson::server
