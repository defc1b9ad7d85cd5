#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rest/testing_resource.h"
#include "schema/protobuf.h"

namespace keelson::rest {
namespace {

using http::FakeExchange;
using testing::TestResource;

class ReadTest : public ::testing::Test {
 protected:
  void StoreConfigMap(std::string_view name, std::string_view more = "") {
    resource_.Store(fmt::format(
        R"({{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{}","namespace":"n",)"
        R"("uid":"u-{}","labels":{{"app":"{}"}}}}{}}})",
        name, name, name, more));
  }
  void Get(FakeExchange& fake, std::string name) {
    resource_.Serve(fake, &ResourceHandler::Get, "n", std::move(name));
  }
  void List(FakeExchange& fake) { resource_.Serve(fake, &ResourceHandler::List, "n", ""); }

  Strategy strategy_;
  TestResource resource_{"", "v1", "configmaps", strategy_};
};

TEST_F(ReadTest, GetSendsTheStoredBytesWithTheirVersion) {
  StoreConfigMap("a", R"(,"data":{"k":"v"})");
  FakeExchange fake;
  Get(fake, "a");
  EXPECT_EQ(fake.status(), 200);
  EXPECT_EQ(fake.Header("content-type"), "application/json");
  EXPECT_EQ(fake.body(),
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n",)"
            R"("uid":"u-a","resourceVersion":"2","labels":{"app":"a"}},"data":{"k":"v"}})"
            "\n");
}

TEST_F(ReadTest, GetIndentsForPeople) {
  StoreConfigMap("a");
  FakeExchange fake("GET", "/x?pretty=true");
  Get(fake, "a");
  EXPECT_EQ(fake.body(),
            "{\n  \"kind\": \"ConfigMap\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {\n"
            "    \"name\": \"a\",\n    \"namespace\": \"n\",\n    \"uid\": \"u-a\",\n"
            "    \"resourceVersion\": \"2\",\n    \"labels\": {\n      \"app\": \"a\"\n    }\n"
            "  }\n}");
}

TEST_F(ReadTest, GetWritesProtobufOnRequest) {
  StoreConfigMap("a", R"(,"data":{"k":"v"})");
  FakeExchange fake;
  fake.AddHeader("accept", "application/vnd.kubernetes.protobuf");
  Get(fake, "a");
  EXPECT_EQ(fake.Header("content-type"), "application/vnd.kubernetes.protobuf");
  auto decoded = schema::DecodeProtobufEnvelope(
      *api::kCatalog.Find("", "v1")->FindKind("ConfigMap"), fake.body());
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->root()["metadata"]["resourceVersion"].AsString(), "2");
}

TEST_F(ReadTest, YamlIsLaidOutAsUpstreamDoes) {
  StoreConfigMap("a", R"(,"data":{"k":"1"})");
  FakeExchange fake;
  fake.AddHeader("accept", "application/yaml");
  Get(fake, "a");
  EXPECT_EQ(fake.Header("content-type"), "application/yaml");
  EXPECT_EQ(fake.body(),
            "apiVersion: v1\n"
            "data:\n"
            "  k: \"1\"\n"
            "kind: ConfigMap\n"
            "metadata:\n"
            "  labels:\n"
            "    app: a\n"
            "  name: a\n"
            "  namespace: \"n\"\n"
            "  resourceVersion: \"2\"\n"
            "  uid: u-a\n");
}

TEST_F(ReadTest, ListsAndWatchesSpeakProtobuf) {
  StoreConfigMap("a", R"(,"data":{"k":"v"})");
  StoreConfigMap("b");
  FakeExchange list("GET", "/x?limit=1");
  list.AddHeader("accept", "application/vnd.kubernetes.protobuf");
  List(list);
  const auto& version = *api::kCatalog.Find("", "v1");
  auto decoded = schema::DecodeProtobufEnvelope(*version.FindType("ConfigMapList"), list.body());
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->root()["kind"].AsString(), "ConfigMapList");
  EXPECT_EQ(decoded->root()["metadata"]["remainingItemCount"].AsInt(), 1);
  ASSERT_EQ(decoded->root()["items"].size(), 1u);
  EXPECT_EQ(decoded->root()["items"].At(0)["data"]["k"].AsString(), "v");

  FakeExchange watch("GET", "/x?watch=1");
  watch.AddHeader("accept", "application/vnd.kubernetes.protobuf");
  List(watch);
  EXPECT_EQ(watch.Header("content-type"), "application/vnd.kubernetes.protobuf;stream=watch");
  const auto& body = watch.body();
  ASSERT_GT(body.size(), 8u);
  const auto size =
      static_cast<unsigned char>(body[2]) * 256u + static_cast<unsigned char>(body[3]);
  const auto event = body.substr(4, size);
  EXPECT_TRUE(
      event.starts_with("\x0a\x05"
                        "ADDED"));
  auto object = schema::DecodeProtobufEnvelope(*version.FindKind("ConfigMap"),
                                               event.substr(event.find("k8s")));
  ASSERT_TRUE(object.has_value()) << object.error().message;
  EXPECT_EQ(object->root()["metadata"]["name"].AsString(), "a");
  watch.ClientGone();
  resource_.Settle(watch);
}

TEST_F(ReadTest, GetShowsMetadataAlone) {
  StoreConfigMap("a", R"(,"data":{"k":"v"})");
  FakeExchange fake;
  fake.AddHeader("accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  Get(fake, "a");
  EXPECT_EQ(fake.body(),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
            R"({"name":"a","namespace":"n","uid":"u-a","resourceVersion":"2",)"
            R"("labels":{"app":"a"}}})"
            "\n");
}

TEST_F(ReadTest, ListShowsMetadataAlone) {
  StoreConfigMap("a", R"(,"data":{"k":"v"})");
  StoreConfigMap("b");
  FakeExchange fake("GET", "/x?limit=1");
  fake.AddHeader("accept", "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io");
  List(fake);
  EXPECT_THAT(fake.body(),
              ::testing::StartsWith(R"({"kind":"PartialObjectMetadataList","apiVersion":)"
                                    R"("meta.k8s.io/v1beta1","metadata":{"resourceVersion":"3",)"
                                    R"("continue":")"));
  EXPECT_THAT(fake.body(),
              ::testing::EndsWith(
                  R"("remainingItemCount":1},"items":[{"kind":"PartialObjectMetadata",)"
                  R"("apiVersion":"meta.k8s.io/v1beta1","metadata":{"name":"a","namespace":"n",)"
                  R"("uid":"u-a","resourceVersion":"2","labels":{"app":"a"}}}]})"
                  "\n"));
  FakeExchange none("GET", "/x?labelSelector=app=z");
  none.AddHeader("accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  List(none);
  EXPECT_THAT(none.body(), ::testing::EndsWith("\"items\":null}\n"));
}

TEST_F(ReadTest, ShapesMustFitWhatIsAskedFor) {
  StoreConfigMap("a");
  FakeExchange list;
  list.AddHeader("accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  List(list);
  EXPECT_EQ(list.status(), 406);
  EXPECT_THAT(list.body(), ::testing::HasSubstr("the requested object is a list (*core.ConfigMap"));
  FakeExchange get;
  get.AddHeader("accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  Get(get, "a");
  EXPECT_EQ(get.status(), 406);
  // Who accepts no plain object gets a failure laid out for people.
  EXPECT_THAT(get.body(), ::testing::StartsWith("{\n  \"kind\": \"Status\""));
}

TEST_F(ReadTest, MetadataIsProtobufForClientsThatAskForIt) {
  StoreConfigMap("a", R"(,"data":{"k":"v"})");
  FakeExchange fake;
  fake.AddHeader(
      "accept",
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  List(fake);
  auto envelope = schema::ReadProtobufEnvelope(fake.body());
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->kind, "PartialObjectMetadataList");
  EXPECT_EQ(envelope->api_version, "meta.k8s.io/v1");
  auto list = schema::DecodeProtobufEnvelope(
      *api::kCatalog.Find("meta.k8s.io", "v1")->FindType("PartialObjectMetadataList"), fake.body());
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->root()["items"].At(0)["metadata"]["name"].AsString(), "a");
}

TEST_F(ReadTest, LongListsAreStreamedPageByPage) {
  for (int i = 0; i < 300; ++i) {
    StoreConfigMap(fmt::format("c{:03}", i),
                   fmt::format(R"(,"data":{{"k":"{}"}})", std::string(1000, 'v')));
  }
  FakeExchange fake;
  fake.Window(1);
  List(fake);
  EXPECT_FALSE(fake.finished());  // waits for the peer after a page
  EXPECT_LT(fake.body().size(), 250'000u);
  while (!fake.finished()) {
    fake.Drain(100'000);
    resource_.Settle(fake);
  }
  EXPECT_TRUE(fake.complete());
  auto list = value::ParseJson(fake.body());
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->root()["items"].size(), 300u);
}

TEST_F(ReadTest, LongAnswersAreCompressedForThoseWhoTakeIt) {
  StoreConfigMap("big", fmt::format(R"(,"data":{{"k":"{}"}})", std::string(200'000, 'v')));
  StoreConfigMap("small");
  auto ask = [&](FakeExchange& fake, std::string_view accepted, std::string name) {
    fake.AddHeader("accept-encoding", accepted);
    name.empty() ? List(fake) : Get(fake, std::move(name));
    return fake.Header("content-encoding").value_or("none");
  };
  for (std::string name : {"big", ""}) {
    FakeExchange gzip;
    EXPECT_EQ(ask(gzip, "br, gzip", name), "gzip");
    EXPECT_EQ(gzip.Header("vary"), "Accept-Encoding");
    EXPECT_TRUE(gzip.complete());
    EXPECT_LT(gzip.body().size(), 3000u);
    EXPECT_THAT(gzip.body(), ::testing::StartsWith("\x1f\x8b\x08"));
    FakeExchange weighted;
    EXPECT_EQ(ask(weighted, "gzip;q=1.0", name), "none");
  }
  FakeExchange small;
  EXPECT_EQ(ask(small, "gzip", "small"), "none");
}

TEST_F(ReadTest, MissingObjectsAreNotFound) {
  FakeExchange fake;
  Get(fake, "nosuch");
  EXPECT_EQ(fake.status(), 404);
  EXPECT_EQ(fake.body(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
            R"("configmaps \"nosuch\" not found","reason":"NotFound","details":)"
            R"({"name":"nosuch","kind":"configmaps"},"code":404})"
            "\n");
}

TEST_F(ReadTest, StatusIsProtobufForClientsThatAskForIt) {
  FakeExchange fake;
  fake.AddHeader("accept", "application/vnd.kubernetes.protobuf");
  Get(fake, "nosuch");
  EXPECT_EQ(fake.status(), 404);
  auto envelope = schema::ReadProtobufEnvelope(fake.body());
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->kind, "Status");
}

TEST_F(ReadTest, ListLeavesTheItemsTypeOut) {
  StoreConfigMap("b");
  StoreConfigMap("a");
  FakeExchange fake;
  List(fake);
  EXPECT_EQ(fake.body(),
            R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"3"},)"
            R"("items":[{"metadata":{"name":"a","namespace":"n","uid":"u-a",)"
            R"("resourceVersion":"3","labels":{"app":"a"}}},)"
            R"({"metadata":{"name":"b","namespace":"n","uid":"u-b","resourceVersion":"2",)"
            R"("labels":{"app":"b"}}}]})"
            "\n");
}

TEST_F(ReadTest, ListSelectsAndPages) {
  StoreConfigMap("a");
  StoreConfigMap("b");
  StoreConfigMap("c");
  FakeExchange selected("GET", "/x?labelSelector=app+in+(b)");
  List(selected);
  EXPECT_THAT(selected.body(), ::testing::HasSubstr(R"("name":"b")"));
  EXPECT_THAT(selected.body(), ::testing::Not(::testing::HasSubstr(R"("name":"a")")));
  FakeExchange page("GET", "/x?limit=2");
  List(page);
  EXPECT_THAT(page.body(), ::testing::HasSubstr(R"("remainingItemCount":1)"));
  EXPECT_THAT(page.body(), ::testing::HasSubstr(R"("continue":")"));
}

TEST_F(ReadTest, BadSelectorsAreRefused) {
  FakeExchange fake("GET", "/x?fieldSelector=spec.nope=1");
  List(fake);
  EXPECT_EQ(fake.status(), 400);
  EXPECT_THAT(fake.body(), ::testing::HasSubstr("is not a known field selector"));
}

TEST_F(ReadTest, WatchStreamsFrames) {
  StoreConfigMap("a");
  FakeExchange fake("GET", "/x?watch=1&timeoutSeconds=60");
  List(fake);
  EXPECT_EQ(fake.status(), 200);
  EXPECT_FALSE(fake.finished());
  StoreConfigMap("b");
  resource_.Settle(fake);
  EXPECT_EQ(fake.body(),
            R"({"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":)"
            R"({"name":"a","namespace":"n","uid":"u-a","resourceVersion":"2",)"
            R"("labels":{"app":"a"}}}})"
            "\n"
            R"({"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":)"
            R"({"name":"b","namespace":"n","uid":"u-b","resourceVersion":"3",)"
            R"("labels":{"app":"b"}}}})"
            "\n");
  resource_.clock().Advance(std::chrono::seconds(61), [&] { resource_.Settle(fake); });
  EXPECT_TRUE(fake.finished());
  EXPECT_TRUE(fake.complete());
}

TEST_F(ReadTest, WatchShowsMetadataAlone) {
  StoreConfigMap("a", R"(,"data":{"k":"v"})");
  FakeExchange fake("GET", "/x?watch=1");
  fake.AddHeader("accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  List(fake);
  EXPECT_EQ(fake.body(), R"({"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":)"
                         R"("meta.k8s.io/v1","metadata":{"name":"a","namespace":"n","uid":"u-a",)"
                         R"("resourceVersion":"2","labels":{"app":"a"}}}})"
                         "\n");
  fake.ClientGone();
  resource_.Settle(fake);
}

TEST_F(ReadTest, WatchEndsWithItsClient) {
  FakeExchange fake("GET", "/x?watch=1&resourceVersion=1");
  List(fake);
  EXPECT_FALSE(fake.finished());
  fake.ClientGone();
  resource_.Settle(fake);
  EXPECT_TRUE(fake.finished());
}

}  // namespace
}  // namespace keelson::rest
