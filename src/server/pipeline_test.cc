#include "server/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "auth/token.h"
#include "base/log.h"
#include "http/fake_exchange.h"
#include "server/default_stages.h"
#include "server/path_mux.h"
#include "server/reply.h"

namespace keelson::server {
namespace {

using http::FakeExchange;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class FixedUser final : public auth::Authenticator {
 public:
  std::optional<auth::Authentication> TryAuthenticate(const http::Request& request) override {
    if (waits && !asked_to_wait_) {
      asked_to_wait_ = true;
      return std::nullopt;
    }
    if (auth::BearerToken(request) == "bad") {
      return auth::Authentication{.error = Error{ErrorCode::kDenied, "bad token"}};
    }
    return auth::Authentication{.user = user};
  }
  auth::UserPtr user = std::make_shared<auth::User>(auth::User{.name = "alice"});
  bool waits = false;

 private:
  bool asked_to_wait_ = false;
};

// A pipeline around one mux, with a clock that stands still.
class Fixture {
 public:
  explicit Fixture(ServerOptions options = {})
      : Fixture(options, std::make_shared<auth::AlwaysAllow>()) {}
  Fixture(ServerOptions options, std::shared_ptr<auth::Authorizer> authorizer)
      : in_flight(options.run.max_requests_inflight, options.run.max_mutating_requests_inflight) {
    auto stages = DefaultStages(options, {.process = process,
                                          .audit = audit,
                                          .in_flight = in_flight,
                                          .authenticator = users,
                                          .authorizer = std::move(authorizer)});
    KEELSON_CHECK(stages.has_value());
    pipeline = std::make_unique<Pipeline>(PipelineOptions{}, clock, process.request_metrics, mux,
                                          *std::move(stages));
    process.signals.Raise(LifecycleEvent::kMuxAndDiscoveryComplete);
    mux.Handle("/ok", std::make_shared<FunctionEndpoint>([](RequestContext& context) {
                 SendBody(context, 200, "text/plain", "fine");
               }));
    mux.Handle("/throw", std::make_shared<FunctionEndpoint>(
                             [](RequestContext&) { throw std::runtime_error("boom"); }));
    mux.Handle("/who", std::make_shared<FunctionEndpoint>([](RequestContext& context) {
                 SendBody(
                     context, 200, "text/plain",
                     context.user->name + " " +
                         std::string(context.request.headers.Get("authorization").value_or("-")));
               }));
    mux.Handle("/slow", std::make_shared<Slow>(*this));
    mux.HandleService("/api/v1", std::make_shared<FunctionEndpoint>([](RequestContext& context) {
                        SendBody(context, 200, "text/plain", std::string(context.info.verb));
                      }));
  }

  void Get(FakeExchange& fake) {
    fake.exchange().request.received = clock.Now();
    fake.Run(*pipeline);
  }
  // Runs a GET and returns "code body".
  std::string Get(std::string_view target, std::string_view method = "GET") {
    FakeExchange fake(method, target);
    Get(fake);
    return fmt::format("{} {}", fake.status(), fake.body());
  }

  // Waits for `release` before it answers.
  struct Slow final : Endpoint {
    explicit Slow(Fixture& f) : fixture(f) {}
    Pending Serve(RequestContext& context) override { return Wait(context, fixture); }
    static Task<void> Wait(RequestContext& context, Fixture& fixture) {
      if (fixture.start_early) context.response.Start(200);
      co_await Completion<bool>::Wait(fixture.release);
      SendBody(context, 200, "text/plain", "late");
    }
    Fixture& fixture;
  };

  FakeClock clock;
  ManualExecutor executor;
  ProcessState process{clock, executor};
  audit::NoAudit audit;
  InFlightLimits in_flight;
  PathMux mux;
  std::shared_ptr<FixedUser> users = std::make_shared<FixedUser>();
  std::unique_ptr<Pipeline> pipeline;
  std::shared_ptr<Completion<bool>> release = Completion<bool>::Create();
  bool start_early = false;
};

ServerOptions EveryOption() {
  ServerOptions options;
  options.run.shutdown_send_retry_after = true;
  options.run.strict_transport_security_directives = {"max-age=31536000", "preload"};
  options.run.goaway_chance = 0.02;
  options.run.shutdown_watch_termination_grace_period = seconds(1);
  options.run.cors_allowed_origins = {"//example\\.com(:|$)"};
  return options;
}

TEST(Pipeline, StagesAreInUpstreamsOrder) {
  EXPECT_THAT(
      Fixture(EveryOption()).pipeline->StageNames(),
      ElementsAre("AuditInit", "PanicRecovery", "MuxAndDiscoveryComplete",
                  "RequestReceivedTimestamp", "RequestInfo", "LatencyTrackers", "HTTPLogging",
                  "RetryAfter", "HSTS", "CacheControl", "ProbabilisticGoaway",
                  "WatchTerminationDuringShutdown", "WaitGroup", "RequestDeadline",
                  "TimeoutForNonLongRunningRequests", "WarningRecorder", "CORS", "Authentication",
                  "Audit", "ConstrainedImpersonation", "MaxInFlightLimit", "Authorization"));
}

TEST(Pipeline, EveryAnswerCarriesAuditIdAndCacheControl) {
  Fixture fixture;
  FakeExchange fake("GET", "/ok");
  fixture.Get(fake);
  EXPECT_EQ(fake.status(), 200);
  EXPECT_EQ(fake.Header("Audit-Id")->size(), 36u);
  EXPECT_EQ(fake.Header("Cache-Control"), "no-cache, private");
  FakeExchange given("GET", "/ok");
  given.AddHeader("audit-id", "mine");
  fixture.Get(given);
  EXPECT_EQ(given.Header("Audit-Id"), "mine");
}

TEST(Pipeline, AnExceptionIsContained) {
  Fixture fixture;
  log::Capture capture;
  EXPECT_EQ(fixture.Get("/throw"),
            "500 This request caused apiserver to panic. Look in the logs for details.\n");
  EXPECT_THAT(capture.text(), HasSubstr("boom"));
  EXPECT_EQ(fixture.process.requests.active(), 0);
  EXPECT_EQ(fixture.Get("/ok"), "200 fine");
}

TEST(Pipeline, UnknownPathsAreNotFound) {
  Fixture fixture;
  FakeExchange fake("POST", "/nosuch");
  fixture.Get(fake);
  EXPECT_EQ(fake.status(), 404);
  EXPECT_EQ(fake.body(), "404 page not found\n");
  EXPECT_EQ(fake.Header("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(fake.Header("X-Content-Type-Options"), "nosniff");
}

TEST(Pipeline, BadPathsAndVerbsInPathAreRefused) {
  Fixture fixture;
  FakeExchange broken("GET", "/%zz");
  fixture.Get(broken);
  EXPECT_EQ(broken.status(), 400);
  EXPECT_EQ(broken.body(), "400 Bad Request");
  EXPECT_TRUE(broken.close_requested());
  FakeExchange watch("GET", "/api/v1/watch");
  fixture.Get(watch);
  EXPECT_EQ(watch.body(),
            "Internal Server Error: \"/api/v1/watch\": failed to create RequestInfo: unable to "
            "determine kind and namespace from url, /api/v1/watch\n");
  EXPECT_EQ(watch.Header("Cache-Control"), std::nullopt);
  EXPECT_EQ(fixture.Get("/api/v1/pods/a%20b"), "200 get");
}

TEST(Pipeline, TimeoutParameterIsReadOrRefused) {
  Fixture fixture;
  FakeExchange bad("GET", "/api/v1/pods?timeout=5");
  fixture.Get(bad);
  EXPECT_EQ(bad.status(), 400);
  EXPECT_EQ(bad.body(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"invalid timeout specified in the request URL - time: missing unit in "
            "duration \\\"5\\\"\",\"reason\":\"BadRequest\",\"code\":400}\n");
  auto deadline = [&](std::string_view target) {
    FakeExchange fake("GET", target);
    fixture.Get(fake);
    auto when = fake.exchange().deadline;
    return when ? *when - fixture.clock.Now() : Duration(-1);
  };
  EXPECT_EQ(deadline("/ok"), std::chrono::minutes(1));
  EXPECT_EQ(deadline("/ok?timeout=5s"), seconds(5));
  EXPECT_EQ(deadline("/ok?timeout=0s"), std::chrono::minutes(1));
  EXPECT_EQ(deadline("/ok?timeout=2h"), std::chrono::minutes(1));
  EXPECT_EQ(deadline("/api/v1/pods?watch=1&timeout=bad"), Duration(-1));
}

TEST(Pipeline, ADeadlineThatPassesIsAnsweredWhileTheEndpointStillWaits) {
  Fixture fixture;
  FakeExchange fake("GET", "/slow?timeout=1s");
  fixture.Get(fake);
  EXPECT_FALSE(fake.finished());
  fixture.clock.Advance(seconds(1));
  fake.exchange().cancelled.request_stop();
  EXPECT_EQ(fake.status(), 504);
  EXPECT_EQ(fake.body(),
            "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Timeout: request did not "
            "complete within the allotted timeout\",\"reason\":\"Timeout\",\"details\":{},"
            "\"code\":504}\n");
  EXPECT_FALSE(fake.finished());
  EXPECT_EQ(fixture.process.requests.active(), 1);
  fixture.release->Set(true);
  fake.Settle();
  EXPECT_TRUE(fake.finished());
  EXPECT_EQ(fake.status(), 504);  // what the endpoint said afterwards went nowhere
  EXPECT_EQ(fixture.process.requests.active(), 0);
  auto metrics = fixture.process.metrics.Text();
  EXPECT_THAT(metrics, HasSubstr("apiserver_request_terminations_total{code=\"504\""));
  EXPECT_THAT(metrics, HasSubstr("apiserver_request_post_timeout_total{source=\"timeout-handler\","
                                 "status=\"ok\"} 1"));
}

TEST(Pipeline, AnAnswerThatHasBegunIsCutAtTheDeadline) {
  Fixture fixture;
  fixture.start_early = true;
  FakeExchange fake("GET", "/slow?timeout=1s");
  fixture.Get(fake);
  fixture.clock.Advance(seconds(1));
  fake.exchange().cancelled.request_stop();
  EXPECT_TRUE(fake.aborted());
  fixture.release->Set(true);
  fake.Settle();
  EXPECT_TRUE(fake.finished());
}

TEST(Pipeline, AClientThatLeavesIsNotATimeout) {
  Fixture fixture;
  FakeExchange fake("GET", "/slow");
  fixture.Get(fake);
  fake.ClientGone();
  EXPECT_EQ(fake.status(), 0);
  fixture.release->Set(true);
  fake.Settle();
  EXPECT_TRUE(fake.finished());
}

TEST(Pipeline, AuthenticationForgetsCredentialsAndRefusesBadOnes) {
  Fixture fixture;
  FakeExchange good("GET", "/who");
  good.AddHeader("authorization", "Bearer x").AddHeader("x-remote-user", "root");
  fixture.Get(good);
  EXPECT_EQ(good.body(), "alice -");
  log::Capture capture;
  FakeExchange bad("GET", "/who");
  bad.AddHeader("authorization", "Bearer bad");
  bad.exchange().request.protocol = http::Protocol::kHttp2;
  fixture.Get(bad);
  EXPECT_EQ(bad.status(), 401);
  EXPECT_EQ(bad.Header("www-authenticate"), "Bearer");
  EXPECT_EQ(bad.body(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n");
  EXPECT_TRUE(bad.close_requested());
  EXPECT_THAT(capture.text(), HasSubstr("Unable to authenticate the request"));
}

TEST(Pipeline, AnonymousHttp2ConnectionsServeOneRequest) {
  Fixture fixture;
  fixture.users->user = std::make_shared<auth::User>(auth::User{.name = "system:anonymous"});
  for (auto protocol : {http::Protocol::kHttp1, http::Protocol::kHttp2}) {
    FakeExchange fake("GET", "/ok");
    fake.exchange().request.protocol = protocol;
    fixture.Get(fake);
    EXPECT_EQ(fake.close_requested(), protocol == http::Protocol::kHttp2);
  }
}

TEST(Pipeline, AnAuthenticatorMayWait) {
  Fixture fixture;
  fixture.users->waits = true;
  EXPECT_EQ(fixture.Get("/who"), "200 alice -");
}

TEST(Pipeline, ForbiddenIsSaidInUpstreamsWords) {
  Fixture fixture({}, std::make_shared<auth::AlwaysDeny>());
  FakeExchange fake("GET", "/apis/apps/v1/namespaces/n/deployments/d/scale");
  fixture.Get(fake);
  EXPECT_EQ(fake.status(), 403);
  EXPECT_EQ(fake.Header("X-Content-Type-Options"), "nosniff");
  EXPECT_THAT(fake.body(),
              HasSubstr("\"deployments.apps \\\"d\\\" is forbidden: User \\\"alice\\\" cannot get "
                        "resource \\\"deployments/scale\\\" in API group \\\"apps\\\" in the "
                        "namespace \\\"n\\\": Everything is forbidden.\""));
  EXPECT_THAT(fixture.Get("/x?pretty=1"),
              HasSubstr("\"message\": \"forbidden: User \\\"alice\\\" cannot get path \\\"/x\\\": "
                        "Everything is forbidden.\",\n"));
}

TEST(Pipeline, ImpersonationIsRefusedWithoutAnImpersonator) {
  Fixture fixture;
  FakeExchange fake("GET", "/ok");
  fake.AddHeader("impersonate-user", "root");
  fixture.Get(fake);
  EXPECT_EQ(fake.status(), 403);
}

TEST(Pipeline, LimitsInFlightByKind) {
  ServerOptions options;
  options.run.max_requests_inflight = 1;
  options.run.max_mutating_requests_inflight = 1;
  Fixture fixture(options);
  FakeExchange running("GET", "/slow");
  fixture.Get(running);
  FakeExchange second("GET", "/ok");
  fixture.Get(second);
  EXPECT_EQ(second.status(), 429);
  EXPECT_EQ(second.body(), "Too many requests, please try again later.\n");
  EXPECT_EQ(second.Header("Retry-After"), "1");
  EXPECT_EQ(fixture.Get("/ok", "POST"), "200 fine");            // the other kind
  EXPECT_EQ(fixture.Get("/api/v1/pods?watch=1"), "200 watch");  // long-running
  fixture.users->user =
      std::make_shared<auth::User>(auth::User{.name = "root", .groups = {"system:masters"}});
  EXPECT_EQ(fixture.Get("/ok"), "200 fine");
  fixture.release->Set(true);
  running.Settle();
  EXPECT_EQ(fixture.Get("/ok"), "200 fine");
  EXPECT_EQ(fixture.in_flight.read_only.TakeWatermark(), 1);
  EXPECT_EQ(fixture.in_flight.read_only.TakeWatermark(), 0);
  EXPECT_THAT(fixture.process.metrics.Text(), HasSubstr("code=\"429\""));
}

TEST(Pipeline, ShutdownTurnsNewRequestsAwayWithRetryAfter) {
  Fixture fixture(EveryOption());
  fixture.process.signals.Raise(LifecycleEvent::kNotAcceptingNewRequest);
  fixture.process.requests.Close();
  FakeExchange fake("GET", "/ok");
  fixture.Get(fake);
  EXPECT_EQ(fake.status(), 429);
  EXPECT_EQ(fake.Header("Retry-After"), "5");
  EXPECT_EQ(fake.body(), "The apiserver is shutting down, please try again later.\n");
  EXPECT_TRUE(fake.close_requested());
  fixture.mux.Handle("/readyz", std::make_shared<FunctionEndpoint>([](RequestContext& context) {
                       SendBody(context, 500, "text/plain", "red");
                     }));
  EXPECT_EQ(fixture.Get("/readyz"), "500 red");
  FakeExchange own("GET", "/ok");
  own.AddHeader("user-agent", "kube-apiserver/v1.36");
  fixture.Get(own);
  EXPECT_EQ(own.status(), 200);
}

TEST(Pipeline, AClosedGroupAnswers503) {
  Fixture fixture;
  fixture.process.requests.Close();
  FakeExchange fake("GET", "/ok");
  fixture.Get(fake);
  EXPECT_EQ(fake.status(), 503);
  EXPECT_EQ(fake.Header("Retry-After"), "1");
  EXPECT_THAT(fake.body(), HasSubstr("\"message\":\"apiserver is shutting down\""));
}

TEST(Pipeline, SetsHstsAndCorsHeaders) {
  Fixture fixture(EveryOption());
  FakeExchange fake("GET", "/ok");
  fake.AddHeader("origin", "https://example.com");
  fixture.Get(fake);
  EXPECT_EQ(fake.Header("Strict-Transport-Security"), "max-age=31536000; preload");
  EXPECT_EQ(fake.Header("Access-Control-Allow-Origin"), "https://example.com");
  EXPECT_EQ(fake.Header("Access-Control-Allow-Credentials"), "true");
  FakeExchange preflight("OPTIONS", "/ok");
  preflight.AddHeader("origin", "https://example.com:8443");
  fixture.Get(preflight);
  EXPECT_EQ(preflight.status(), 204);
  FakeExchange foreign("GET", "/ok");
  foreign.AddHeader("origin", "https://example.com.evil.org");
  fixture.Get(foreign);
  EXPECT_EQ(foreign.Header("Access-Control-Allow-Origin"), std::nullopt);
  EXPECT_EQ(foreign.status(), 200);
}

TEST(Pipeline, StatusIsIndentedForPeople) {
  Fixture fixture;
  FakeExchange fake("GET", "/ok?timeout=x");
  fake.AddHeader("user-agent", "curl/8.0");
  fixture.Get(fake);
  EXPECT_THAT(fake.body(), testing::StartsWith("{\n  \"kind\": \"Status\",\n  \"apiVersion\""));
  EXPECT_THAT(fake.body(), testing::EndsWith("\"code\": 400\n}"));
  FakeExchange plain("GET", "/ok?timeout=x&pretty=no");
  plain.AddHeader("user-agent", "curl/8.0");
  fixture.Get(plain);
  EXPECT_THAT(plain.body(), Not(HasSubstr("\n  ")));
}

TEST(Pipeline, ASlowRequestLeavesALineWithItsStages) {
  Fixture fixture;
  log::Capture capture;
  FakeExchange fake("GET", "/slow");
  fixture.Get(fake);
  fixture.clock.Advance(seconds(2));
  fixture.release->Set(true);
  fake.Settle();
  EXPECT_THAT(capture.text(), HasSubstr("\"Slow request\" verb=\"get\" URI=\"/slow\""));
  EXPECT_THAT(capture.text(), HasSubstr("total=\"2s\""));
  EXPECT_THAT(capture.text(), HasSubstr("authorization:0s,handler:2s"));
  EXPECT_THAT(
      fixture.process.metrics.Text(),
      HasSubstr("apiserver_request_filter_duration_seconds_count{filter=\"authorization\"} 1"));
}

TEST(Warnings, AreDeduplicatedAndCutWhenTooLong) {
  http::Headers headers;
  Warnings warnings;
  warnings.Add(headers, "", "a \"b\"");
  warnings.Add(headers, "", "a \"b\"");
  warnings.Add(headers, "", "");
  EXPECT_THAT(headers.GetAll("Warning"), ElementsAre("299 - \"a \\\"b\\\"\""));
  log::Capture capture;
  for (int i = 0; i < 6; ++i)
    warnings.Add(headers, "", std::string(1000, 'a' + static_cast<char>(i)));
  auto all = headers.GetAll("Warning");
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[1], "299 - \"" + std::string(256, 'a') + "\"");
}

}  // namespace
}  // namespace keelson::server
