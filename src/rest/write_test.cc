#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rest/decode_body.h"
#include "rest/testing_resource.h"

namespace keelson::rest {
namespace {

using http::FakeExchange;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestResource;

class WriteTest : public ::testing::Test {
 protected:
  struct Answer {
    int status;
    std::string body;
    value::Document json;
    value::Value operator[](std::string_view name) const { return json.root()[name]; }
    std::string message() const { return std::string(json.root()["message"].AsString()); }
  };

  Answer Serve(TestResource::Verb verb, std::string_view method, std::string target,
               std::string name, std::string_view body) {
    FakeExchange fake(method, target);
    if (!body.empty()) fake.Body(body);
    resource_.Serve(fake, verb, "n", std::move(name));
    EXPECT_TRUE(fake.finished());
    auto json = value::ParseJson(fake.body());
    return {fake.status(), fake.body(), json ? *json : value::Document()};
  }
  Answer Create(std::string_view body, std::string target = "/x") {
    return Serve(&ResourceHandler::Create, "POST", std::move(target), "", body);
  }
  Answer Update(std::string name, std::string_view body, std::string target = "/x") {
    return Serve(&ResourceHandler::Update, "PUT", std::move(target), std::move(name), body);
  }
  Answer Delete(std::string name, std::string_view body = "", std::string target = "/x") {
    return Serve(&ResourceHandler::Delete, "DELETE", std::move(target), std::move(name), body);
  }
  Answer Get(std::string name) {
    return Serve(&ResourceHandler::Get, "GET", "/x", std::move(name), "");
  }

  Strategy strategy_;
  TestResource resource_{"", "v1", "configmaps", strategy_};
};

TEST_F(WriteTest, CreateStampsAndStores) {
  auto created = Create(R"({"metadata":{"name":"a","uid":"mine"},"data":{"k":"v"}})");
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(created["metadata"]["namespace"].AsString(), "n");
  EXPECT_EQ(created["metadata"]["uid"].size(), 36u);
  EXPECT_EQ(created["metadata"]["creationTimestamp"].AsString(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(created["metadata"]["resourceVersion"].AsString(), "2");
  EXPECT_EQ(Get("a").body, created.body);
}

TEST_F(WriteTest, CreateNamesWhatAsksForAName) {
  auto created = Create(R"({"metadata":{"generateName":"web-"}})");
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(created["metadata"]["name"].size(), 9u);
}

TEST_F(WriteTest, CreateRefusesWhatIsThere) {
  Create(R"({"metadata":{"name":"a"}})");
  auto refused = Create(R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.message(), "configmaps \"a\" already exists");
  EXPECT_EQ(Create(R"({"metadata":{"name":"a"}})", "/x?dryRun=All").status, 409);
}

TEST_F(WriteTest, CreateRefusesBadObjects) {
  EXPECT_EQ(Create("{}").message(),
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
            "required");
  EXPECT_EQ(Create(R"({"metadata":{"name":"a","namespace":"other"}})").message(),
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
  EXPECT_EQ(Create(R"({"metadata":{"name":"a","resourceVersion":"5"}})").message(),
            "resourceVersion should not be set on objects to be created");
  EXPECT_EQ(Get("a").status, 404);
}

TEST_F(WriteTest, DryRunsAnswerAndLeaveNothing) {
  auto dry = Create(R"({"metadata":{"name":"a"}})", "/x?dryRun=All");
  EXPECT_EQ(dry.status, 201);
  EXPECT_EQ(dry["metadata"]["resourceVersion"].AsString(), "");
  EXPECT_EQ(Get("a").status, 404);
}

TEST_F(WriteTest, UnknownFieldsAreWarnedOf) {
  Create(R"({"metadata":{"name":"a"},"bogus":1})");
  EXPECT_THAT(resource_.warnings(), ElementsAre("unknown field \"bogus\""));
}

TEST_F(WriteTest, BodiesBeyondTheLimitAreRefused) {
  auto refused = Create(std::string(kMaxBodyBytes + 1, ' '));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.message(), "Request entity too large: limit is 3145728");
}

TEST_F(WriteTest, UpdateKeepsIdentity) {
  auto created = Create(R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  auto updated = Update("a", R"({"metadata":{"name":"a"},"data":{"k":"w"}})");
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(updated["metadata"]["uid"], created["metadata"]["uid"]);
  EXPECT_EQ(updated["metadata"]["resourceVersion"].AsString(), "3");
  EXPECT_EQ(updated["data"]["k"].AsString(), "w");
}

TEST_F(WriteTest, AnUpdateThatChangesNothingWritesNothing) {
  Create(R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  auto updated = Update("a", R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  EXPECT_EQ(updated["metadata"]["resourceVersion"].AsString(), "2") << updated.body;
}

TEST_F(WriteTest, UpdateComparesVersions) {
  Create(R"({"metadata":{"name":"a"}})");
  auto lost = Update("a", R"({"metadata":{"name":"a","resourceVersion":"1"}})");
  EXPECT_EQ(lost.status, 409);
  EXPECT_EQ(lost.message(),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
  EXPECT_EQ(Update("a", R"({"metadata":{"name":"a","resourceVersion":"x"}})").message(),
            "strconv.ParseUint: parsing \"x\": invalid syntax");
}

TEST_F(WriteTest, UpdateWantsTheNameOfTheUrl) {
  EXPECT_EQ(Update("a", R"({"metadata":{"name":"b"}})").message(),
            "the name of the object (b) does not match the name on the URL (a)");
  EXPECT_EQ(Update("a", R"({"metadata":{}})").message(),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
  EXPECT_EQ(Update("a", R"({"metadata":{"name":"a"}})").status, 404);
}

TEST_F(WriteTest, DryUpdateLeavesTheObject) {
  Create(R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  auto dry = Update("a", R"({"metadata":{"name":"a"},"data":{"k":"w"}})", "/x?dryRun=All");
  EXPECT_EQ(dry["data"]["k"].AsString(), "w");
  EXPECT_EQ(Get("a")["data"]["k"].AsString(), "v");
}

TEST_F(WriteTest, DeleteSaysWhatIsGone) {
  auto uid = std::string(Create(R"({"metadata":{"name":"a"}})")["metadata"]["uid"].AsString());
  auto deleted = Delete("a");
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.body,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":)"
            R"({"name":"a","kind":"configmaps","uid":")" +
                uid + "\"}}\n");
  EXPECT_EQ(Get("a").status, 404);
}

TEST_F(WriteTest, DeleteWaitsForFinalizers) {
  Create(R"({"metadata":{"name":"a","finalizers":["example.com/f"]}})");
  auto marked = Delete("a");
  EXPECT_EQ(marked.status, 200);
  EXPECT_EQ(marked["metadata"]["deletionTimestamp"].AsString(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(marked["metadata"]["deletionGracePeriodSeconds"].AsInt(), 0);
  EXPECT_EQ(Delete("a").body, marked.body) << "a second delete changes nothing";
  // Taking the last finalizer away removes the object and answers with its last state.
  auto last = Update("a", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(Get("a").status, 404);
}

TEST_F(WriteTest, PropagationBecomesAFinalizer) {
  Create(R"({"metadata":{"name":"a"}})");
  auto marked = Delete("a", "", "/x?propagationPolicy=Foreground");
  EXPECT_EQ(marked["metadata"]["finalizers"].At(0).AsString(), "foregroundDeletion");
  Create(R"({"metadata":{"name":"b"}})");
  marked = Delete("b", R"({"propagationPolicy":"Orphan"})");
  EXPECT_EQ(marked["metadata"]["finalizers"].At(0).AsString(), "orphan");
}

TEST_F(WriteTest, DeleteChecksItsPreconditionsAndOptions) {
  Create(R"({"metadata":{"name":"a"}})");
  auto refused = Delete("a", R"({"preconditions":{"uid":"wrong"}})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.message(), HasSubstr("Operation cannot be fulfilled on ConfigMap \"a\": the "
                                           "UID in the precondition (wrong) does not match"));
  EXPECT_THAT(Delete("a", R"({"preconditions":{"resourceVersion":"1"}})").message(),
              HasSubstr("the ResourceVersion in the precondition (1) does not match"));
  EXPECT_EQ(Delete("a", "{bad").message(),
            "couldn't get version/kind; json parse error: invalid character 'b' looking for "
            "beginning of object key string");
  EXPECT_EQ(Delete("a", R"({"kind":"Foo","apiVersion":"v1"})").message(),
            "no kind \"Foo\" is registered for version \"v1\" in scheme "
            "\"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\"");
  EXPECT_EQ(Delete("a", R"({"propagationPolicy":"Bogus"})").status, 422);
  EXPECT_EQ(Delete("a", "", "/x?dryRun=All").status, 200);
  EXPECT_EQ(Get("a").status, 200);
}

// A kind with grace and generations, as pods have them.
class Graceful final : public Strategy {
 public:
  bool CountsGeneration() const override { return true; }
  std::optional<int64_t> DeletionGrace(const value::Value&,
                                       std::optional<int64_t> asked) const override {
    return asked.value_or(30);
  }
};

class GracefulTest : public WriteTest {
 protected:
  Graceful graceful_;
  TestResource pods_{"", "v1", "pods", graceful_};

  Answer Pods(TestResource::Verb verb, std::string_view body, std::string target = "/x") {
    FakeExchange fake("POST", target);
    if (!body.empty()) fake.Body(body);
    pods_.Serve(fake, verb, "n", "p");
    return {fake.status(), fake.body(), *value::ParseJson(fake.body())};
  }
};

TEST_F(GracefulTest, GraceMayOnlyShrink) {
  ASSERT_EQ(Pods(&ResourceHandler::Create, R"({"metadata":{"name":"p"},"spec":{}})").status, 201);
  auto deleted = Pods(&ResourceHandler::Delete, "");
  EXPECT_EQ(deleted["metadata"]["deletionGracePeriodSeconds"].AsInt(), 30);
  EXPECT_EQ(deleted["metadata"]["deletionTimestamp"].AsString(), "2026-01-01T00:00:30Z");
  EXPECT_EQ(deleted["metadata"]["generation"].AsInt(), 2);
  deleted = Pods(&ResourceHandler::Delete, "", "/x?gracePeriodSeconds=5");
  EXPECT_EQ(deleted["metadata"]["deletionGracePeriodSeconds"].AsInt(), 5);
  EXPECT_EQ(deleted["metadata"]["deletionTimestamp"].AsString(), "2026-01-01T00:00:05Z");
  deleted = Pods(&ResourceHandler::Delete, "", "/x?gracePeriodSeconds=100");
  EXPECT_EQ(deleted["metadata"]["deletionGracePeriodSeconds"].AsInt(), 5);
  EXPECT_EQ(Pods(&ResourceHandler::Delete, "", "/x?gracePeriodSeconds=0").status, 200);
  EXPECT_EQ(Pods(&ResourceHandler::Get, "").status, 404);
}

TEST_F(GracefulTest, WithoutGraceLeftItIsMarkedAndThenGoes) {
  ASSERT_EQ(Pods(&ResourceHandler::Create, R"({"metadata":{"name":"p"},"spec":{}})").status, 201);
  const auto deleted = Pods(&ResourceHandler::Delete, "", "/x?gracePeriodSeconds=0");
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted["metadata"]["deletionGracePeriodSeconds"].kind(), value::Kind::kInt);
  EXPECT_EQ(deleted["metadata"]["deletionTimestamp"].AsString(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(deleted["metadata"]["generation"].AsInt(), 2);
  EXPECT_EQ(Pods(&ResourceHandler::Get, "").status, 404);
}

TEST_F(GracefulTest, GenerationCountsChangesOfTheSpecOnly) {
  Pods(&ResourceHandler::Create, R"({"metadata":{"name":"p"},"spec":{"nodeName":"x"}})");
  auto relabelled = Pods(&ResourceHandler::Update,
                         R"({"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"nodeName":"x"}})");
  EXPECT_EQ(relabelled["metadata"]["generation"].AsInt(), 1);
  auto moved =
      Pods(&ResourceHandler::Update, R"({"metadata":{"name":"p"},"spec":{"nodeName":"y"}})");
  EXPECT_EQ(moved["metadata"]["generation"].AsInt(), 2);
}

}  // namespace
}  // namespace keelson::rest
