#include "server/path_mux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/log.h"
#include "http/fake_exchange.h"
#include "server/reply.h"

namespace keelson::server {
namespace {

using testing::ElementsAre;

std::shared_ptr<Endpoint> Says(std::string text) {
  return std::make_shared<FunctionEndpoint>(
      [text](RequestContext& context) { SendBody(context, 200, "text/plain", text); });
}

class MuxHandler final : public http::Handler {
 public:
  explicit MuxHandler(PathMux& mux) : mux_(mux) {}
  Task<void> Serve(http::Exchange& exchange) override {
    RequestContext context(exchange);
    context.path = exchange.request.path;
    if (auto pending = mux_.Serve(context)) co_await *std::move(pending);
  }

 private:
  PathMux& mux_;
};

std::string Get(PathMux& mux, std::string_view path) {
  http::FakeExchange fake("GET", path);
  MuxHandler handler(mux);
  fake.Run(handler);
  return fake.body();
}

TEST(PathMux, ServicesThenExactThenTheMostSpecificPrefix) {
  PathMux mux;
  mux.Handle("/metrics", Says("exact"));
  mux.HandlePrefix("/debug/", Says("short"), Listed::kNo);
  mux.HandlePrefix("/debug/pprof/", Says("long"), Listed::kNo);
  mux.HandleService("/apis", Says("groups"));
  mux.HandleService("/apis/apps", Says("group"));
  mux.HandleService("/apis/apps/v1", Says("version"));
  EXPECT_EQ(Get(mux, "/metrics"), "exact");
  EXPECT_EQ(Get(mux, "/metrics/"), "404 page not found\n");
  EXPECT_EQ(Get(mux, "/debug/x"), "short");
  EXPECT_EQ(Get(mux, "/debug/pprof/heap"), "long");
  EXPECT_EQ(Get(mux, "/debug"), "404 page not found\n");
  EXPECT_EQ(Get(mux, "/apis"), "groups");
  EXPECT_EQ(Get(mux, "/apis/"), "groups");
  EXPECT_EQ(Get(mux, "/apis/other"), "404 page not found\n");
  EXPECT_EQ(Get(mux, "/apis/apps"), "group");
  EXPECT_EQ(Get(mux, "/apis/apps/"), "group");
  EXPECT_EQ(Get(mux, "/apis/apps/v1/namespaces/a/deployments"), "version");
  EXPECT_EQ(Get(mux, "/apis/apps/v1beta1"), "group");
  EXPECT_EQ(Get(mux, "/apis/appsx"), "404 page not found\n");
  EXPECT_EQ(Get(mux, ""), "404 page not found\n");
  EXPECT_THAT(mux.ListedPaths(), ElementsAre("/apis", "/apis/apps", "/apis/apps/v1", "/metrics"));
}

TEST(PathMux, ChangesAreSeenByEveryThread) {
  PathMux mux;
  mux.Handle("/a", Says("one"));
  EXPECT_EQ(Get(mux, "/a"), "one");
  std::thread([&] {
    EXPECT_EQ(Get(mux, "/a"), "one");
    mux.Unregister("/a");
    mux.Handle("/b", Says("two"));
  }).join();
  EXPECT_EQ(Get(mux, "/a"), "404 page not found\n");
  EXPECT_EQ(Get(mux, "/b"), "two");
  mux.SetNotFound(Says("nobody"));
  EXPECT_EQ(Get(mux, "/a"), "nobody");
}

TEST(PathMux, DuplicatesAreLoggedWithBothPlaces) {
  PathMux mux;
  log::Capture capture;
  mux.Handle("/a", Says("one"));
  mux.Handle("/a", Says("two"));
  EXPECT_THAT(capture.text(), testing::HasSubstr("duplicate path registration of \"/a\""));
  EXPECT_EQ(Get(mux, "/a"), "two");
}

}  // namespace
}  // namespace keelson::server
