#include "kube/pod/defaults.h"

#include <gtest/gtest.h>

#include "api/core_v1.h"
#include "kube/pod/image_name.h"
#include "kube/pod/resources.h"
#include "schema/decode_json.h"
#include "schema/transform.h"
#include "value/json.h"

namespace keelson::kube::pod {
namespace {

namespace core = api::core_v1;

// The object with its defaults, as JSON.
std::string Defaulted(const schema::Type& type, std::string_view json) {
  auto object = value::ParseJson(json);
  schema::Normalize(type, *object);
  const schema::DefaultHooks hooks(Defaults());
  schema::ApplyDefaults(type, *object, hooks);
  return value::ToJson(object->root());
}

std::string DefaultedPod(std::string_view spec) {
  auto object = value::ParseJson(Defaulted(
      core::Pod::Schema(), R"({"metadata":{"name":"a"},"spec":)" + std::string(spec) + "}"));
  return value::ToJson(object->root()["spec"]);
}

TEST(PodDefaults, FillWhatAMinimalPodLeavesOut) {
  EXPECT_EQ(DefaultedPod(R"({"containers":[{"name":"c","image":"nginx"}]})"),
            R"({"containers":[{"name":"c","image":"nginx","resources":{},)"
            R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",)"
            R"("imagePullPolicy":"Always"}],"restartPolicy":"Always",)"
            R"("terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},)"
            R"("schedulerName":"default-scheduler","enableServiceLinks":true})");
}

TEST(PodDefaults, TakeLimitsForRequestsOfPodsOnly) {
  constexpr std::string_view kContainer =
      R"({"name":"c","image":"i:1","resources":{"limits":{"cpu":"1","memory":"1Gi"},)"
      R"("requests":{"memory":"1Mi"}}})";
  const auto spec = R"({"containers":[)" + std::string(kContainer) + "]}";
  EXPECT_NE(DefaultedPod(spec).find(R"("requests":{"cpu":"1","memory":"1Mi"})"), std::string::npos);
  const auto of_template = Defaulted(core::PodTemplateSpec::Schema(), R"({"spec":)" + spec + "}");
  EXPECT_NE(of_template.find(R"("requests":{"memory":"1Mi"})"), std::string::npos);
  EXPECT_EQ(of_template.find("enableServiceLinks"), std::string::npos);
}

TEST(PodDefaults, RoundAmountsUpToThousandths) {
  const auto spec = DefaultedPod(
      R"({"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1500u"}}}]})");
  EXPECT_NE(spec.find(R"("cpu":"2m")"), std::string::npos) << spec;
}

TEST(PodDefaults, GivePortsOfTheNodesNetworkToTheNode) {
  const auto spec =
      DefaultedPod(R"({"hostNetwork":true,"containers":[{"name":"c","image":"i",)"
                   R"("ports":[{"containerPort":80},{"containerPort":81,"hostPort":82}]}]})");
  EXPECT_NE(spec.find(R"({"hostPort":80,"containerPort":80,"protocol":"TCP"})"), std::string::npos)
      << spec;
  EXPECT_NE(spec.find(R"({"hostPort":82,"containerPort":81,"protocol":"TCP"})"), std::string::npos);
}

TEST(PodDefaults, ShowTheServiceAccountUnderBothNames) {
  EXPECT_NE(DefaultedPod(R"({"serviceAccount":"old","containers":[]})")
                .find(R"("serviceAccountName":"old","serviceAccount":"old")"),
            std::string::npos);
  EXPECT_NE(DefaultedPod(R"({"serviceAccountName":"new","serviceAccount":"old","containers":[]})")
                .find(R"("serviceAccountName":"new","serviceAccount":"new")"),
            std::string::npos);
}

TEST(PodDefaults, MakeAVolumeWithoutASourceAnEmptyDirectory) {
  const auto& type = core::Volume::Schema();
  EXPECT_EQ(Defaulted(type, R"({"name":"v"})"), R"({"name":"v","emptyDir":{}})");
  EXPECT_EQ(Defaulted(type, R"({"name":"v","hostPath":{"path":"/"}})"),
            R"({"name":"v","hostPath":{"path":"/","type":""}})");
  EXPECT_EQ(Defaulted(type, R"({"name":"v","secret":{"secretName":"s"}})"),
            R"({"name":"v","secret":{"secretName":"s","defaultMode":420}})");
  EXPECT_EQ(Defaulted(type, R"({"name":"v","image":{"reference":"a/b:1"}})"),
            R"({"name":"v","image":{"reference":"a/b:1","pullPolicy":"IfNotPresent"}})");
}

TEST(PodDefaults, FillResourcesOfThePodFromItsContainers) {
  const auto spec =
      DefaultedPod(R"({"resources":{"limits":{"cpu":"4","memory":"4Gi"}},"containers":[)"
                   R"({"name":"a","image":"i","resources":{"requests":{"cpu":"500m"}}},)"
                   R"({"name":"b","image":"i","resources":{"requests":{"cpu":"1"}}}]})");
  EXPECT_NE(spec.find(R"("resources":{"limits":{"cpu":"4","memory":"4Gi"},)"
                      R"("requests":{"cpu":"1500m","memory":"4Gi"}})"),
            std::string::npos)
      << spec;
}

TEST(PodDefaults, GiveAPodWithNegativeGraceAMoment) {
  const std::string spec = R"({"terminationGracePeriodSeconds":-1,"containers":[]})";
  const auto grace = [&](const schema::Type& type) {
    const auto object = value::ParseJson(Defaulted(type, R"({"spec":)" + spec + "}"));
    return object->root()["spec"]["terminationGracePeriodSeconds"].AsInt();
  };
  EXPECT_EQ(grace(core::Pod::Schema()), 1);
  EXPECT_EQ(grace(core::PodTemplateSpec::Schema()), -1);
}

TEST(PodDefaults, ShowThePodsFirstAddressTwice) {
  const auto& type = core::PodStatus::Schema();
  EXPECT_EQ(Defaulted(type, R"({"podIP":"10.0.0.1"})"),
            R"({"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}]})");
  EXPECT_EQ(Defaulted(type, R"({"podIPs":[{"ip":"10.0.0.1"},{"ip":"::1"}]})"),
            R"({"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"::1"}]})");
  EXPECT_EQ(Defaulted(type, R"({"podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.1"}]})"),
            R"({"podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.2"}]})");
}

TEST(ImageName, MeansLatestWithoutTagAndDigest) {
  constexpr std::string_view kDigest =
      "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  for (std::string image : {"nginx", "a/b", "localhost/a", "r.example:5000/a/b", "a:latest",
                            "R.example/a", "a__b.c-d", "[::1]:80/a"}) {
    EXPECT_TRUE(MeansLatest(image)) << image;
    EXPECT_FALSE(MeansLatest(image + std::string(kDigest)) && image.find(':') == image.npos)
        << image;
  }
  EXPECT_TRUE(MeansLatest("a:latest" + std::string(kDigest)));
  for (std::string image : {"nginx:1", "r.example:5000/a:v1", "", "UPPER", "a b",
                            "a:", "a@sha256:0", "a/", "-a", "a..b", "a___b", "a:b:c"}) {
    EXPECT_FALSE(MeansLatest(image)) << image;
  }
}

TEST(PodResources, ClassFollowsFromRequestsAndLimits) {
  auto qos = [](std::string_view spec) {
    auto object = value::ParseJson(spec);
    return QosClass(core::PodSpec(object->root()));
  };
  EXPECT_EQ(qos(R"({"containers":[{"name":"a"}]})"), "BestEffort");
  EXPECT_EQ(qos(R"({"containers":[{"resources":{"requests":{"cpu":"0"}}}]})"), "BestEffort");
  EXPECT_EQ(qos(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})"), "Burstable");
  EXPECT_EQ(qos(R"({"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},)"
                R"("requests":{"cpu":"1000m","memory":"1Gi"}}}]})"),
            "Guaranteed");
  EXPECT_EQ(qos(R"({"resources":{"limits":{"cpu":"1","memory":"1"},"requests":{"cpu":"1",)"
                R"("memory":"1"}},"containers":[{}]})"),
            "Guaranteed");
}

TEST(PodResources, AggregateCountsSidecarsWithEveryStep) {
  auto object = value::ParseJson(
      R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[)"
      R"({"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},)"
      R"({"resources":{"requests":{"cpu":"5"}}}]})");
  const auto amounts = AggregateContainers(core::PodSpec(object->root()), Demand::kRequests);
  EXPECT_EQ(amounts.at("cpu").ToString(), "7");
}

}  // namespace
}  // namespace keelson::kube::pod
