#include "server/openapi_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "api/catalog.h"
#include "http/fake_exchange.h"
#include "server/compression.h"
#include "value/json.h"

namespace keelson::server {
namespace {

using http::FakeExchange;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OpenApiEndpointTest : public ::testing::Test {
 protected:
  OpenApiEndpointTest() { Install(2 << 20); }

  void Install(size_t budget) {
    auto worker = std::make_unique<ManualExecutor>();
    worker_ = worker.get();
    InstallOpenApi(mux_,
                   std::make_shared<OpenApiDocuments>(
                       OpenApiDocuments::Parts{schema::DefaultOpenApiSource(api::kCatalog)},
                       std::move(worker), clock_, budget),
                   clock_);
  }

  // Serves to the end and says how often the worker had something to do.
  int Serve(FakeExchange& fake) {
    fake.Run(adapter_);
    const int worked = worker_->RunUntilIdle();
    fake.Settle();
    EXPECT_TRUE(fake.finished());
    return worked;
  }

  struct Adapter final : http::Handler {
    explicit Adapter(PathMux& to) : mux(to) {}
    Task<void> Serve(http::Exchange& exchange) override {
      RequestContext context(exchange);
      context.path = exchange.request.path;
      if (auto pending = mux.Serve(context)) co_await *std::move(pending);
    }
    PathMux& mux;
  };

  std::string HashOf(std::string_view name) {
    FakeExchange fake("GET", "/openapi/v3");
    Serve(fake);
    auto index = value::ParseJson(fake.body());
    std::string url(index->root()["paths"][name]["serverRelativeURL"].AsString());
    return url.substr(url.find("?hash=") + 6);
  }

  FakeClock clock_;
  PathMux mux_;
  Adapter adapter_{mux_};
  ManualExecutor* worker_ = nullptr;
};

TEST_F(OpenApiEndpointTest, IndexNamesEveryDocumentByItsHash) {
  FakeExchange index("GET", "/openapi/v3");
  Serve(index);
  EXPECT_EQ(index.status(), 200);
  EXPECT_EQ(index.Header("content-type"), "text/plain; charset=utf-8");
  EXPECT_THAT(index.body(), StartsWith(R"({"paths":{".well-known/openid-configuration":)"));

  FakeExchange document("GET", "/openapi/v3/apis/apps/v1?hash=" + HashOf("apis/apps/v1"));
  Serve(document);
  EXPECT_EQ(document.status(), 200);
  EXPECT_EQ(document.Header("cache-control"), "public, immutable");
  EXPECT_EQ(document.Header("expires"), "Fri, 01 Jan 2027 05:49:12 UTC");
  EXPECT_EQ(document.Header("last-modified"), "Thu, 01 Jan 2026 00:00:00 GMT");
  EXPECT_EQ(document.Header("etag"), "\"" + schema::OpenApiHash(document.body()) + "\"");
  EXPECT_THAT(document.sent_headers().GetAll("vary"), ElementsAre("Accept"));
}

TEST_F(OpenApiEndpointTest, AnotherHashLeadsToTheRightOne) {
  FakeExchange fake("GET", "/openapi/v3/version?hash=old");
  Serve(fake);
  EXPECT_EQ(fake.status(), 301);
  EXPECT_EQ(fake.Header("location"), "/openapi/v3/version?hash=" + HashOf("version"));
  EXPECT_EQ(fake.body(), "");
}

TEST_F(OpenApiEndpointTest, WhoHasTheDocumentGetsNoBody) {
  FakeExchange fake("GET", "/openapi/v3/version");
  const std::string hash = HashOf("version");
  fake.AddHeader("if-none-match", "\"other\", W/\"" + hash + "\"");
  Serve(fake);
  EXPECT_EQ(fake.status(), 304);
  EXPECT_EQ(fake.Header("etag"), "\"" + hash + "\"");
  EXPECT_EQ(fake.Header("content-type"), std::nullopt);
}

TEST_F(OpenApiEndpointTest, AcceptDecidesTheForm) {
  struct Case {
    std::string_view target;
    std::string_view accept;
    int status;
    std::string_view type;
  };
  for (const Case& c : {
           Case{"/openapi/v2", "", 200, "application/json"},
           Case{"/openapi/v2", "application/json;q=0.1,*/*", 200, "application/json"},
           Case{"/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", 200,
                "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"},
           Case{"/openapi/v2",
                "application/json;q=0.5,application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"},
           Case{"/openapi/v2", "text/html", 406, ""},
           Case{"/openapi/v3/version", "application/*", 200, "application/json"},
           Case{"/openapi/v3/version", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
                200, "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"},
           Case{"/openapi/v3/version", "text/html", 406, ""},
           Case{"/openapi/v3/apis/nosuch", "", 404, ""},
           Case{"/openapi/v3/", "", 404, ""},
       }) {
    FakeExchange fake("GET", c.target);
    if (!c.accept.empty()) fake.AddHeader("accept", c.accept);
    Serve(fake);
    EXPECT_EQ(fake.status(), c.status) << c.target << " " << c.accept;
    EXPECT_EQ(fake.Header("content-type").value_or(""), c.type) << c.accept;
  }
}

TEST_F(OpenApiEndpointTest, CompressedAndPlainAreTheSameDocument) {
  FakeExchange plain("GET", "/openapi/v2");
  Serve(plain);
  FakeExchange compressed("GET", "/openapi/v2");
  compressed.AddHeader("accept-encoding", "gzip");
  Serve(compressed);
  EXPECT_EQ(compressed.Header("content-encoding"), "gzip");
  EXPECT_LT(compressed.body().size() * 5, plain.body().size());
  EXPECT_EQ(Gunzip(compressed.body(), plain.body().size()).value(), plain.body());
  EXPECT_EQ(compressed.Header("etag"), plain.Header("etag"));
  EXPECT_THAT(plain.sent_headers().GetAll("vary"), ElementsAre("Accept-Encoding", "Accept"));
}

TEST_F(OpenApiEndpointTest, KeepsNoMoreThanItsBudgetAndAnswersTheSame) {
  Install(1);
  FakeExchange first("GET", "/openapi/v3/api/v1");
  Serve(first);
  HashOf("version");  // drops everything else
  FakeExchange again("GET", "/openapi/v3/api/v1");
  Serve(again);
  EXPECT_EQ(first.body(), again.body());
}

TEST_F(OpenApiEndpointTest, DoesNothingOnTheRequestsThread) {
  FakeExchange fake("GET", "/openapi/v2");
  fake.Run(adapter_);
  EXPECT_FALSE(fake.finished());
  EXPECT_EQ(worker_->RunUntilIdle(), 1);
  fake.Settle();
  EXPECT_THAT(fake.body(), HasSubstr("\"swagger\":\"2.0\""));
}

}  // namespace
}  // namespace keelson::server
