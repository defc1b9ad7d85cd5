// What happens around a write: plugins, reservations, subresources, the delete of many.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rest/scale.h"
#include "rest/status_strategy.h"
#include "rest/subresource.h"
#include "rest/testing_verbs.h"

namespace keelson::rest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT: the fixtures' language

// Takes a number for every object, and counts what is out.
class Counting final : public Strategy {
 public:
  class Taken final : public Reservation {
   public:
    explicit Taken(const Counting& owner) : owner_(owner) { ++owner_.out; }
    ~Taken() override {
      if (!committed_) --owner_.out;
    }
    void Commit() override { committed_ = true; }

   private:
    const Counting& owner_;
    bool committed_ = false;
  };

  bool Reserves() const override { return true; }
  Task<ApiResult<ReservationPtr>> Reserve(const WriteScope& scope, value::Ref object,
                                          const value::Value* old) const override {
    if (old != nullptr) co_return ReservationPtr();
    object.Field("data").SetField("number", value::Value::String("7"));
    co_return std::make_unique<Taken>(*this);
  }
  mutable int out = 0;
};

class ReservationTest : public ::testing::Test {
 protected:
  Counting strategy_;
  TestResource resource_{"", "v1", "configmaps", strategy_};
  Verbs maps_{resource_};
};

TEST_F(ReservationTest, IsKeptByWhatIsStored) {
  auto created = maps_.Create(R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(created["data"]["number"].AsString(), "7");
  EXPECT_EQ(strategy_.out, 1);
}

TEST_F(ReservationTest, IsGivenBackByWhatIsNot) {
  EXPECT_EQ(maps_.Create(R"({"metadata":{"name":"Bad"}})").status, 422);
  EXPECT_EQ(maps_.Create(R"({"metadata":{"name":"a"}})", "dryRun=All").status, 201);
  EXPECT_EQ(strategy_.out, 0);
  maps_.Create(R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(maps_.Create(R"({"metadata":{"name":"a"}})").status, 409);
  EXPECT_EQ(strategy_.out, 1);
}

// Labels what is written by whom, and refuses what is labelled bad.
class Labeller final : public admission::Plugin {
 public:
  std::string_view name() const override { return "Labeller"; }
  bool Handles(const admission::Request& request) const override {
    return request.IsFor("", "configmaps");
  }
  bool mutates() const override { return true; }
  bool validates() const override { return true; }
  Task<ApiResult<void>> Mutate(const admission::Request& request,
                               value::Ref object) const override {
    auto& builder = object.builder();
    object.Field("metadata").Field("labels").SetField("by", builder.String(request.user->name));
    co_return ApiResult<void>();
  }
  Task<ApiResult<void>> Validate(const admission::Request& request) const override {
    const auto& judged =
        request.operation == admission::Operation::kDelete ? request.old_object : request.object;
    if (judged["data"]["bad"].AsString() == admission::OperationName(request.operation)) {
      co_return std::unexpected(
          ForbiddenStatus({"", "configmaps"}, request.name, "it is labelled bad"));
    }
    co_return ApiResult<void>();
  }
};

class AdmittedTest : public ::testing::Test {
 protected:
  static admission::Chain MakeChain() {
    std::vector<std::unique_ptr<const admission::Plugin>> plugins;
    plugins.push_back(std::make_unique<Labeller>());
    return admission::Chain(std::move(plugins));
  }
  static ResourceSpec With(ResourceSpec spec, const admission::Chain& chain) {
    spec.admission = &chain;
    return spec;
  }

  Strategy strategy_;
  const admission::Chain chain_ = MakeChain();
  TestResource resource_{"", "v1", "configmaps", strategy_};
  ResourceHandler handler_{With(resource_.spec(), chain_)};
  Verbs maps_{resource_, handler_};
};

TEST_F(AdmittedTest, PluginsChangeAndJudgeEveryWrite) {
  auto created = maps_.Create(R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(created.metadata()["labels"]["by"].AsString(), "jane");
  auto refused = maps_.Create(R"({"metadata":{"name":"b"},"data":{"bad":"CREATE"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.message(), "configmaps \"b\" is forbidden: it is labelled bad");
  EXPECT_EQ(maps_.Patch("a", kMergePatch, R"({"data":{"bad":"UPDATE"}})").status, 403);
  EXPECT_EQ(maps_.Patch("a", kMergePatch, R"({"data":{"bad":"DELETE"}})").status, 200);
  EXPECT_EQ(maps_.Delete("a").status, 403);
  EXPECT_EQ(maps_.Get("a").status, 200);
}

TEST_F(AdmittedTest, RepeatedOwnersAreDroppedWithAWarning) {
  auto created = maps_.Create(R"({"metadata":{"name":"a","ownerReferences":[)"
                              R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"},)"
                              R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}})");
  EXPECT_EQ(created.metadata()["ownerReferences"].size(), 1u) << created.body;
  ASSERT_EQ(resource_.warnings().size(), 1u);
  EXPECT_THAT(resource_.warnings()[0], HasSubstr("duplicate UID(s) observed: u"));
}

// A kind whose status is a subresource.
class Deployments : public Strategy {
 public:
  bool CountsGeneration() const override { return true; }
};

class SubresourceTest : public ::testing::Test {
 protected:
  SubresourceTest() { EXPECT_EQ(deployments_.Create(kDeployment).status, 201); }
  static constexpr std::string_view kDeployment =
      R"({"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}}},)"
      R"("status":{"replicas":9}})";

  const schema::Subresource* Find(std::string_view name) {
    for (const auto& entry : resource_.spec().info->subresources) {
      if (entry.name == name) return &entry;
    }
    return nullptr;
  }
  ResourceSpec StatusSpec() {
    auto spec = resource_.spec();
    spec.subresource = Find("status");
    spec.strategy = &status_strategy_;
    spec.ownership = nullptr;
    return spec;
  }
  ResourceSpec ScaleSpec() {
    auto spec = resource_.spec();
    spec.subresource = Find("scale");
    spec.projection = &scale_projection_;
    spec.ownership = nullptr;
    return spec;
  }

  Deployments strategy_;
  TestResource resource_{"apps", "v1", "deployments", strategy_};
  StatusStrategy status_strategy_{strategy_, *resource_.spec().info};
  ScaleProjection scale_projection_{*resource_.spec().info, *Find("scale")->type};
  Verbs deployments_{resource_};
  ResourceHandler status_handler_{StatusSpec()};
  ResourceHandler scale_handler_{ScaleSpec()};
  Verbs status_{resource_, status_handler_};
  Verbs scale_{resource_, scale_handler_};
};

TEST_F(SubresourceTest, SpecWritesKeepStatusAndStatusWritesKeepSpec) {
  EXPECT_TRUE(deployments_.Get("d")["status"]["replicas"].is_null())
      << "a creator has no say in it";
  auto reported =
      status_.Patch("d", kMergePatch, R"({"spec":{"replicas":5},"status":{"replicas":2}})");
  EXPECT_EQ(reported["spec"]["replicas"].AsInt(), 2);
  EXPECT_EQ(reported["status"]["replicas"].AsInt(), 2);
  EXPECT_EQ(reported.metadata()["generation"].AsInt(), 1);
  auto scaled =
      deployments_.Patch("d", kMergePatch, R"({"spec":{"replicas":5},"status":{"replicas":5}})");
  EXPECT_EQ(scaled["spec"]["replicas"].AsInt(), 5);
  EXPECT_EQ(scaled["status"]["replicas"].AsInt(), 2);
  EXPECT_EQ(scaled.metadata()["generation"].AsInt(), 2);
}

TEST_F(SubresourceTest, OwnersOfStatusAreTheSubresources) {
  auto reported = status_.Patch("d", kMergePatch, R"({"status":{"replicas":2}})");
  const auto owners = reported.metadata()["managedFields"];
  ASSERT_EQ(owners.size(), 2u) << reported.body;
  EXPECT_EQ(owners.At(1)["subresource"].AsString(), "status");
  EXPECT_EQ(value::ToJson(owners.At(1)["fieldsV1"]), R"({"f:status":{"f:replicas":{}}})");
}

TEST_F(SubresourceTest, ScaleShowsAndSetsTheReplicaCount) {
  auto shown = scale_.Get("d");
  EXPECT_EQ(shown["kind"].AsString(), "Scale");
  EXPECT_EQ(value::ToJson(shown["spec"]), R"({"replicas":2})");
  EXPECT_EQ(value::ToJson(shown["status"]), R"({"replicas":0,"selector":"a=b"})");
  auto scaled = scale_.Patch("d", kMergePatch, R"({"spec":{"replicas":4}})", "fieldManager=hpa");
  EXPECT_EQ(scaled.status, 200) << scaled.body;
  EXPECT_EQ(scaled["spec"]["replicas"].AsInt(), 4);
  auto object = deployments_.Get("d");
  EXPECT_EQ(object["spec"]["replicas"].AsInt(), 4);
  EXPECT_EQ(object.metadata()["generation"].AsInt(), 2);
  const auto owners = object.metadata()["managedFields"];
  ASSERT_EQ(owners.size(), 2u) << object.body;
  EXPECT_EQ(value::ToJson(owners.At(0)["fieldsV1"]), R"({"f:spec":{"f:replicas":{}}})");
  EXPECT_EQ(owners.At(0)["manager"].AsString(), "hpa");
  EXPECT_EQ(owners.At(0)["subresource"].AsString(), "scale");
  EXPECT_EQ(scale_.Patch("d", kMergePatch, R"({"spec":{"replicas":-1}})").message(),
            "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater "
            "than or equal to 0");
  EXPECT_EQ(scale_.Get("x").message(), "deployments.apps \"x\" not found");
}

// Answers with what it was sent and for whom.
class Echo final : public Subresource {
 public:
  Task<ApiResult<Reply>> Create(const SubresourceCall& call,
                                value::Document object) const override {
    if (call.request.name == "gone") {
      co_return std::unexpected(NotFoundStatus(call.spec.group_resource(), call.request.name));
    }
    if (call.request.name == "done") co_return SuccessReply();
    value::Builder builder(object);
    builder.root().Field("metadata").SetField("name", builder.String(call.scope.user->name));
    co_return Reply{.object = std::move(builder).Finish()};
  }
};

TEST_F(SubresourceTest, KindsOfOneRequestAreAnsweredByTheirHandler) {
  const Echo echo;
  auto spec = resource_.spec();
  spec.handler = &echo;
  const ResourceHandler handler(spec);
  Verbs verbs(resource_, handler);
  auto echoed = verbs.Create(R"({"spec":{"replicas":1}})", "", "x");
  EXPECT_EQ(echoed.status, 201) << echoed.body;
  EXPECT_EQ(echoed.metadata()["name"].AsString(), "jane");
  EXPECT_EQ(verbs.Create("{}", "", "gone").status, 404);
  auto done = verbs.Create("{}", "", "done");
  EXPECT_EQ(done.status, 201);
  EXPECT_EQ(done["status"].AsString(), "Success");
  EXPECT_EQ(verbs.Create("{bad", "", "x").status, 400);
}

TEST_F(SubresourceTest, DeleteCollectionTakesWhatIsSelected) {
  deployments_.Create(R"({"metadata":{"name":"e","labels":{"keep":"no"}},"spec":{}})");
  deployments_.Create(
      R"({"metadata":{"name":"f","labels":{"keep":"no"},"finalizers":["x.y/z"]},"spec":{}})");
  EXPECT_EQ(deployments_.DeleteCollection("labelSelector=keep%3Dno&dryRun=All").status, 200);
  EXPECT_EQ(deployments_.Get("e").status, 200);
  auto deleted = deployments_.DeleteCollection("labelSelector=keep%3Dno");
  EXPECT_EQ(deleted.status, 200) << deleted.body;
  EXPECT_EQ(deployments_.Get("d").status, 200);
  EXPECT_EQ(deployments_.Get("e").status, 404);
  EXPECT_FALSE(deployments_.Get("f").metadata()["deletionTimestamp"].is_null());
  EXPECT_EQ(deployments_.DeleteCollection("propagationPolicy=Bogus").status, 422);
  EXPECT_EQ(deployments_.Create(R"({"metadata":{"name":"f"},"spec":{}})").message(),
            "object is being deleted: deployments.apps \"f\" already exists");
}

}  // namespace
}  // namespace keelson::rest
