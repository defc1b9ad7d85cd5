#include "client/api_client.h"

#include <gtest/gtest.h>

#include "base/gate.h"
#include "client/testing_transport.h"
#include "value/json.h"

namespace keelson::client {
namespace {

using testing::ScriptedTransport;
using value::Document;

class ApiClientTest : public ::testing::Test {
 protected:
  template <typename T>
  T Run(Task<T> task) {
    std::optional<T> result;
    const auto keep = [](Task<T> task, std::optional<T>* out) -> Task<void> {
      out->emplace(co_await std::move(task));
    };
    Gate gate;
    gate.Spawn(&executor_, keep(std::move(task), &result));
    executor_.RunUntilIdle();
    gate.CloseAndWait();
    return *std::move(result);
  }

  ManualExecutor executor_;
  ScriptedTransport transport_;
  ApiClient client_{transport_};
};

TEST(Resource, PathsAreThoseOfTheServer) {
  const Resource pods{"", "v1", "pods"};
  EXPECT_EQ(pods.Path(), "/api/v1/pods");
  EXPECT_EQ(pods.Path("n", "p", "log"), "/api/v1/namespaces/n/pods/p/log");
  const Resource roles{"rbac.authorization.k8s.io", "v1", "clusterroles", false};
  EXPECT_EQ(roles.Path("ignored", "system:node"),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode");
}

TEST_F(ApiClientTest, SendsWhatItIsGiven) {
  transport_.steps = {{201, R"({"a":1})"}, {200, "{}"}, {200, "{}"}, {200, "{}"}};
  auto object = value::ParseJson(R"({"kind":"Pod"})");
  auto created = Run(client_.Create("/x", *object));
  ASSERT_TRUE(created);
  EXPECT_EQ(created->root()["a"].AsInt(), 1);
  EXPECT_TRUE(Run(client_.Update("/x/y", *object)));
  EXPECT_TRUE(Run(client_.Patch("/x/y", PatchType::kMerge, R"({"b":2})")));
  EXPECT_TRUE(Run(client_.Delete("/x/y")));
  const auto& calls = transport_.calls;
  EXPECT_EQ(calls[0].method + " " + calls[0].target + " " + calls[0].body,
            R"(POST /x {"kind":"Pod"})");
  EXPECT_EQ(calls[1].method, "PUT");
  EXPECT_EQ(calls[2].content_type, "application/merge-patch+json");
  EXPECT_EQ(calls[3].method, "DELETE");
}

TEST_F(ApiClientTest, ARefusalIsTheStatusThatWasSent) {
  transport_.steps = {
      {409, R"({"kind":"Status","reason":"Conflict","message":"m","code":409,"details":)"
            R"({"name":"n","retryAfterSeconds":3,"causes":[{"field":"f","message":"c"}]}})"},
      {502, "bad gateway"},
      {0, "connection refused"},
      {200, "not json"}};
  auto conflict = Run(client_.Get("/x"));
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, 409);
  EXPECT_EQ(conflict.error().reason, "Conflict");
  EXPECT_EQ(conflict.error().details->retry_after_seconds, 3);
  EXPECT_EQ(conflict.error().details->causes[0].field, "f");
  EXPECT_EQ(Run(client_.Get("/x")).error(), (Status{.code = 502, .message = "bad gateway"}));
  EXPECT_EQ(Run(client_.Get("/x")).error(), (Status{.code = 0, .message = "connection refused"}));
  EXPECT_EQ(Run(client_.Get("/x")).error().code, 500);
}

TEST(WatchFrames, LinesComeWholeHoweverTheyAreCut) {
  const std::string text = "one\n\n \r\ntwo\nthree";
  for (size_t cut = 1; cut <= text.size(); ++cut) {
    WatchFrames frames(100);
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size(); at += cut) {
      ASSERT_TRUE(frames.Feed(text.substr(at, cut)));
      while (auto line = frames.Next()) lines.emplace_back(*line);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"})) << cut;
  }
}

TEST(WatchFrames, ALineWithoutEndIsRefused) {
  WatchFrames frames(8);
  EXPECT_TRUE(frames.Feed("12345678"));
  EXPECT_FALSE(frames.Next().has_value());
  EXPECT_FALSE(frames.Feed("9").has_value());
}

TEST(WatchEvents, AnErrorIsAStatus) {
  auto event = ParseWatchEvent(R"({"type":"ERROR","object":{"code":410,"reason":"Expired"}})");
  ASSERT_FALSE(event);
  EXPECT_TRUE(IsExpired(event.error()));
  EXPECT_FALSE(ParseWatchEvent(R"({"type":"OTHER","object":{}})").has_value());
  EXPECT_FALSE(ParseWatchEvent("[").has_value());
}

}  // namespace
}  // namespace keelson::client
