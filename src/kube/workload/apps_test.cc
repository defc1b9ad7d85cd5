#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apps_v1.h"
#include "kube/pod/defaults.h"
#include "kube/workload/workload.h"
#include "rest/testing_kind.h"

namespace keelson::kube::workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Kind>
rest::KindTester Tester(std::string_view resource) {
  std::vector<schema::DefaultHook> hooks(Defaults().begin(), Defaults().end());
  for (const auto& hook : pod::Defaults()) hooks.push_back(hook);
  return rest::KindTester(Kind::Schema(), schema::DefaultHooks(hooks),
                          rest::StrategyOf(Strategies(), resource));
}
rest::KindTester Deployments() { return Tester<api::apps_v1::Deployment>("deployments"); }
rest::KindTester DaemonSets() { return Tester<api::apps_v1::DaemonSet>("daemonsets"); }
rest::KindTester StatefulSets() { return Tester<api::apps_v1::StatefulSet>("statefulsets"); }

// An object whose template fits its selector, with more in its spec.
std::string Workload(std::string_view spec = "", std::string_view metadata = R"("name":"a")") {
  return "{\"metadata\":{" + std::string(metadata) +
         R"(},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":)"
         R"({"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}})" +
         std::string(spec) + "}}";
}

TEST(Deployment, IsFilledInAsUpstreamDoes) {
  EXPECT_THAT(Deployments().Prepared(Workload()),
              HasSubstr(R"("strategy":{"type":"RollingUpdate","rollingUpdate":)"
                        R"({"maxUnavailable":"25%","maxSurge":"25%"}},)"
                        R"("revisionHistoryLimit":10,"progressDeadlineSeconds":600)"));
  EXPECT_THAT(Deployments().Prepared(Workload(R"(,"strategy":{"type":"Recreate"})")),
              HasSubstr(R"("strategy":{"type":"Recreate"},)"));
}

TEST(Deployment, MustSelectItsOwnPods) {
  EXPECT_THAT(Deployments().Create(Workload()), IsEmpty());
  EXPECT_THAT(
      Deployments().Create(R"({"metadata":{"name":"a"},"spec":{}})"),
      ElementsAre("spec.selector: Required value",
                  "spec.template.metadata.labels: Invalid value: null: `selector` does not match "
                  "template `labels`",
                  "spec.template.spec.containers: Required value"));
}

TEST(Deployment, RefusesStrategiesThatCannotWork) {
  EXPECT_THAT(Deployments().Create(Workload(R"(,"strategy":{"type":"Foo"})")),
              ElementsAre(R"(spec.strategy: Unsupported value: {"Type":"Foo","RollingUpdate":)"
                          R"(null}: supported values: "Recreate", "RollingUpdate")"));
  EXPECT_THAT(Deployments().Create(
                  Workload(R"(,"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}})")),
              ElementsAre("spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not "
                          "be 0 when `maxSurge` is 0"));
  EXPECT_THAT(Deployments().Create(Workload(R"(,"minReadySeconds":700)")),
              ElementsAre("spec.progressDeadlineSeconds: Invalid value: 600: must be greater than "
                          "minReadySeconds"));
}

TEST(Deployment, KeepsItsSelector) {
  auto changed = Workload();
  for (auto at = changed.find(R"("a":"b")"); at != std::string::npos;
       at = changed.find(R"("a":"b")", at + 1)) {
    changed.replace(at, 7, R"("a":"c")");
  }
  EXPECT_THAT(Deployments().Update(Workload(), changed),
              ElementsAre(R"(spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is )"
                          "immutable"));
}

TEST(Deployment, StatusCountsMustAddUp) {
  EXPECT_THAT(
      Deployments().Update(Workload(),
                           R"({"metadata":{"name":"a"},"status":{"replicas":1,"readyReplicas":2}})",
                           "status"),
      ElementsAre("status.readyReplicas: Invalid value: 2: cannot be greater than "
                  "status.replicas"));
}

TEST(DaemonSet, CountsItsTemplateInAnAnnotation) {
  EXPECT_THAT(DaemonSets().Prepared(Workload("", R"("name":"a","annotations":{"x":"y","b":"c"})")),
              HasSubstr(R"("annotations":{"b":"c","deprecated.daemonset.template.generation":"1",)"
                        R"("x":"y"})"));
}

TEST(DaemonSet, CannotSurgeAndMissAtOnce) {
  EXPECT_THAT(
      DaemonSets().Create(Workload(R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}})")),
      ElementsAre("spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: "
                  "cannot be 0 when maxSurge is 0"));
}

TEST(StatefulSet, FixesWhatPodsDependOn) {
  EXPECT_THAT(StatefulSets().Update(Workload(), Workload(R"(,"replicas":3)")), IsEmpty());
  EXPECT_THAT(StatefulSets().Update(Workload(), Workload(R"(,"serviceName":"s")")),
              ElementsAre(HasSubstr("spec: Forbidden: updates to statefulset spec for fields other "
                                    "than 'replicas', 'ordinals', 'template'")));
}

TEST(StatefulSet, MountsItsClaimsInEveryPod) {
  constexpr std::string_view kMount =
      R"({"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":)"
      R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i",)"
      R"("volumeMounts":[{"name":"data","mountPath":"/d"}]}]}},"volumeClaimTemplates":)"
      R"([{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":)"
      R"({"requests":{"storage":"1Gi"}}}}]}})";
  EXPECT_THAT(StatefulSets().Create(kMount), IsEmpty());
}

TEST(ControllerRevision, NeverChanges) {
  const rest::KindTester revisions =
      Tester<api::apps_v1::ControllerRevision>("controllerrevisions");
  EXPECT_THAT(revisions.Create(R"({"metadata":{"name":"a"},"revision":-1})"),
              ElementsAre("revision: Invalid value: -1: must be greater than or equal to 0",
                          "data: Required value: data is mandatory"));
  EXPECT_THAT(revisions.Update(R"({"data":{"a":1},"revision":1})",
                               R"({"data":{"a":1,"b":2},"revision":1})"),
              ElementsAre(R"(data: Invalid value: {"a":1,"b":2}: field is immutable)"));
}

}  // namespace
}  // namespace keelson::kube::workload
