// What kubelets may read and write.

#include <gtest/gtest.h>

#include "kube/access/node_authorizer.h"
#include "kube/access/node_restriction.h"
#include "kube/access/testing_access.h"

namespace keelson::kube::access {
namespace {

using testing::TestCluster;

class Stores final : public rest::ObjectStores {
 public:
  explicit Stores(TestCluster& cluster) : cluster_(cluster) {}
  storage::ObjectStore* FindStore(std::string_view, std::string_view resource) const override {
    return cluster_.spec(resource).store;
  }

 private:
  TestCluster& cluster_;
};

constexpr std::string_view kPod = R"({"kind":"Pod","apiVersion":"v1",
  "metadata":{"name":"p","namespace":"n","uid":"u"},
  "spec":{"nodeName":"one","serviceAccountName":"account","imagePullSecrets":[{"name":"pull"}],
    "containers":[{"name":"c","env":[{"name":"e","valueFrom":{"secretKeyRef":{"name":"key"}}}],
      "envFrom":[{"configMapRef":{"name":"settings"}}]}],
    "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"claim"}},
      {"name":"x","ephemeral":{}},
      {"name":"w","projected":{"sources":[{"secret":{"name":"projected"}}]}}]}})";

auth::UserPtr Node(std::string name) {
  return std::make_shared<const auth::User>(auth::User{
      .name = "system:node:" + name, .groups = {"system:nodes", "system:authenticated"}});
}

class NodeAuthorizerTest : public ::testing::Test {
 protected:
  NodeAuthorizerTest() : stores_(cluster_), authorizer_({}) {
    for (auto plural : {"pods", "persistentvolumes", "secrets"}) cluster_.AddResource("", plural);
    cluster_.Put("pods", kPod);
    cluster_.Put("persistentvolumes",
                 R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"volume"},)"
                 R"("spec":{"claimRef":{"namespace":"n","name":"claim"},)"
                 R"("csi":{"nodeStageSecretRef":{"namespace":"s","name":"stage"}}}})");
    authorizer_.SetStores(&stores_);
  }

  // Empty when allowed, else the reason.
  std::string Refusal(std::string node, std::string_view verb, std::string_view resource,
                      std::string_view ns, std::string_view name, std::string_view selector = "",
                      std::string_view subresource = "") {
    auth::Attributes attributes{.user = Node(std::move(node)),
                                .resource_request = true,
                                .verb = verb,
                                .ns = ns,
                                .resource = resource,
                                .subresource = subresource,
                                .name = name,
                                .field_selector = selector};
    auto verdict = authorizer_.TryAuthorize(attributes);
    if (!verdict) verdict = cluster_.Run(authorizer_.Authorize(attributes));
    return verdict->decision == auth::Decision::kAllow ? "" : "no: " + verdict->reason;
  }

  TestCluster cluster_;
  Stores stores_;
  NodeAuthorizer authorizer_;
};

TEST_F(NodeAuthorizerTest, ReadsWhatItsPodsNeed) {
  for (auto secret : {"pull", "key", "projected"}) {
    EXPECT_EQ(Refusal("one", "get", "secrets", "n", secret), "");
    EXPECT_EQ(Refusal("two", "get", "secrets", "n", secret),
              "no: no relationship found between node 'two' and this object");
  }
  EXPECT_EQ(Refusal("one", "get", "configmaps", "n", "settings"), "");
  EXPECT_EQ(Refusal("one", "get", "persistentvolumeclaims", "n", "claim"), "");
  EXPECT_EQ(Refusal("one", "get", "persistentvolumeclaims", "n", "p-x"), "");
  EXPECT_EQ(Refusal("one", "get", "persistentvolumes", "", "volume"), "");
  EXPECT_NE(Refusal("two", "get", "persistentvolumes", "", "volume"), "");
  EXPECT_EQ(Refusal("one", "get", "secrets", "s", "stage"), "");
  EXPECT_NE(Refusal("two", "get", "secrets", "s", "stage"), "");
  EXPECT_EQ(Refusal("one", "create", "serviceaccounts", "n", "account", "", "token"), "");
  EXPECT_NE(Refusal("one", "create", "serviceaccounts", "n", "other", "", "token"), "");
  EXPECT_EQ(Refusal("one", "get", "pods", "n", "p"), "");
  EXPECT_NE(Refusal("two", "get", "pods", "n", "p"), "");
  EXPECT_EQ(Refusal("one", "list", "pods", "", "", "spec.nodeName=one"), "");
  EXPECT_EQ(Refusal("two", "list", "pods", "", "", "spec.nodeName=one"),
            "no: can only list/watch pods with spec.nodeName field selector");
  EXPECT_EQ(Refusal("one", "list", "configmaps", "n", ""), "no: No Object name found");
  EXPECT_EQ(Refusal("one", "get", "nodes", "", "two"),
            "no: node 'one' cannot read 'two', only its own Node object");
}

TEST_F(NodeAuthorizerTest, LosesWhatGoesWithThePod) {
  EXPECT_EQ(Refusal("one", "get", "secrets", "n", "key"), "");
  cluster_.Delete("pods", "n", "p");
  EXPECT_NE(Refusal("one", "get", "secrets", "n", "key"), "");
}

TEST_F(NodeAuthorizerTest, HasNoOpinionOnOthers) {
  auth::Attributes attributes{
      .user = std::make_shared<const auth::User>(auth::User{.name = "system:node:one"}),
      .resource_request = true,
      .verb = "get",
      .resource = "nodes",
      .name = "one"};
  EXPECT_EQ(authorizer_.TryAuthorize(attributes)->decision, auth::Decision::kNoOpinion);
}

TEST(NodeReferences, AMirrorPodGivesNoAccess) {
  auto mirror =
      value::ParseJson(R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}},)"
                       R"("spec":{"imagePullSecrets":[{"name":"a"}]}})");
  EXPECT_TRUE(ReferencesOf(mirror->root()).empty());
}

TEST(NodeRestriction, LabelsOfTheSystemAreNotTheKubelets) {
  const auto forbidden = [](std::string_view labels, std::string_view old = "{}") {
    return ForbiddenNodeLabels(value::ParseJson(labels)->root(), value::ParseJson(old)->root());
  };
  EXPECT_EQ(forbidden(R"({"kubernetes.io/hostname":"a","mine":"x","node.kubernetes.io/b":"c"})"),
            "");
  EXPECT_EQ(forbidden(R"({"node-restriction.kubernetes.io/a":"b","other.k8s.io/x":"y"})"),
            "node-restriction.kubernetes.io/a, other.k8s.io/x");
  EXPECT_EQ(forbidden(R"({"other.k8s.io/x":"y"})", R"({"other.k8s.io/x":"y"})"), "");
  EXPECT_EQ(forbidden("{}", R"({"other.k8s.io/x":"y"})"), "other.k8s.io/x");
}

TEST(NodeRestriction, AKubeletWritesItsOwnNodeOnly) {
  std::atomic<const rest::ObjectStores*> stores{nullptr};
  auth::AlwaysDeny nobody;
  NodeRestriction plugin(stores, nobody);
  const auto user = Node("one");
  const auto& info = *api::kCatalog.Find("", "v1")->FindResource("nodes");
  admission::Request request{.operation = admission::Operation::kUpdate,
                             .resource = "nodes",
                             .info = &info,
                             .name = "two",
                             .user = user.get(),
                             .object = value::Value::EmptyObject(),
                             .old_object = value::Value::EmptyObject()};
  TestCluster cluster;
  ASSERT_TRUE(plugin.Handles(request));
  EXPECT_EQ(cluster.Run(plugin.Validate(request)).error().message,
            "nodes \"two\" is forbidden: node \"one\" is not allowed to modify node \"two\"");
  request.name = "one";
  EXPECT_TRUE(cluster.Run(plugin.Validate(request)).has_value());
  auto tainted = value::ParseJson(R"({"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}})");
  request.object = tainted->root();
  EXPECT_EQ(cluster.Run(plugin.Validate(request)).error().message,
            "nodes \"one\" is forbidden: node \"one\" is not allowed to modify taints");
}

class NodeTokens : public ::testing::Test {
 protected:
  NodeTokens() : stores_(cluster_), found_(&stores_) {
    for (auto plural : {"pods", "persistentvolumes", "persistentvolumeclaims"}) {
      cluster_.AddResource("", plural);
    }
    cluster_.AddResource("storage.k8s.io", "csidrivers");
    cluster_.Put("pods", R"({"kind":"Pod","apiVersion":"v1",
        "metadata":{"name":"p","namespace":"n","uid":"u"},
        "spec":{"nodeName":"one","containers":[{"name":"c"}],"volumes":[
          {"name":"t","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},
            {"serviceAccountToken":{"path":"o","audience":"other"}}]}},
          {"name":"d","csi":{"driver":"inline"}},
          {"name":"v","persistentVolumeClaim":{"claimName":"claim"}}]}})");
    cluster_.Put("persistentvolumeclaims",
                 R"({"kind":"PersistentVolumeClaim","apiVersion":"v1",)"
                 R"("metadata":{"name":"claim","namespace":"n"},"spec":{"volumeName":"volume"}})");
    cluster_.Put("persistentvolumes",
                 R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"volume"},)"
                 R"("spec":{"csi":{"driver":"behind","volumeHandle":"h"}}})");
    for (std::string name : {"inline", "behind"}) {
      cluster_.Put("csidrivers",
                   R"({"kind":"CSIDriver","apiVersion":"storage.k8s.io/v1","metadata":{"name":")" +
                       name + R"("},"spec":{"tokenRequests":[{"audience":"of-)" + name +
                       R"("}]}})");
    }
  }

  // Empty when the token is granted.
  std::string Refusal(auth::Authorizer& authorizer, std::string_view audiences) {
    const NodeRestriction plugin(found_, authorizer);
    const auto user = Node("one");
    const auto object = value::ParseJson(
        R"({"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"},)"
        R"("audiences":)" +
        std::string(audiences) + "}}");
    const admission::Request request{
        .operation = admission::Operation::kCreate,
        .resource = "serviceaccounts",
        .info = api::kCatalog.Find("", "v1")->FindResource("serviceaccounts"),
        .subresource = "token",
        .ns = "n",
        .name = "account",
        .user = user.get(),
        .object = object->root()};
    auto verdict = cluster_.Run(plugin.Validate(request));
    return verdict ? "" : verdict.error().message;
  }

  TestCluster cluster_;
  Stores stores_;
  std::atomic<const rest::ObjectStores*> found_;
  auth::AlwaysDeny nobody_;
  auth::AlwaysAllow everybody_;
};

TEST_F(NodeTokens, AreForThoseThatThePodsVolumesCallFor) {
  for (auto audiences : {"[]", R"(["other"])", R"(["of-inline"])", R"(["of-behind"])"}) {
    EXPECT_EQ(Refusal(nobody_, audiences), "") << audiences;
  }
  EXPECT_EQ(Refusal(nobody_, R"(["vault"])"),
            "serviceaccounts \"account\" is forbidden: audience \"vault\" not found in pod spec "
            "volume, system:node:one is not authorized to request tokens for this audience");
  EXPECT_EQ(Refusal(everybody_, R"(["vault"])"), "");
  EXPECT_EQ(Refusal(everybody_, R"(["a","b"])"),
            "serviceaccounts \"account\" is forbidden: node may only request 0 or 1 audiences");
}

TEST_F(NodeTokens, AreRefusedWhileAVolumeCannotBeFollowed) {
  cluster_.Delete("csidrivers", "", "inline");
  EXPECT_EQ(Refusal(nobody_, R"(["of-behind"])"), "");
  EXPECT_EQ(Refusal(everybody_, R"(["vault"])"),
            "serviceaccounts \"account\" is forbidden: error validating audience \"vault\": "
            "csidriver.storage.k8s.io \"inline\" not found");
}

}  // namespace
}  // namespace keelson::kube::access
