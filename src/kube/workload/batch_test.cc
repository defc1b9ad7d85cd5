#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/autoscaling_v2.h"
#include "api/batch_v1.h"
#include "api/policy_v1.h"
#include "kube/pod/defaults.h"
#include "kube/workload/job.h"
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
rest::KindTester Jobs() { return Tester<api::batch_v1::Job>("jobs"); }
rest::KindTester CronJobs() { return Tester<api::batch_v1::CronJob>("cronjobs"); }

std::string Job(std::string_view spec = "", std::string_view labels = "") {
  return R"({"metadata":{"name":"j","uid":"u")" + std::string(labels) +
         R"(},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":)"
         R"([{"name":"c","image":"i"}]}})" +
         std::string(spec) + "}}";
}

std::string CronJob(std::string_view schedule) {
  return R"({"metadata":{"name":"c"},"spec":{"schedule":")" + std::string(schedule) +
         R"(","jobTemplate":)" + Job() + "}}";
}

TEST(Job, SelectsItsPodsByUid) {
  const auto stored = Jobs().Prepared(Job());
  EXPECT_THAT(stored, HasSubstr(R"("selector":{"matchLabels":)"
                                R"({"batch.kubernetes.io/controller-uid":"u"}})"));
  constexpr std::string_view kLabels =
      R"("labels":{"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j",)"
      R"("controller-uid":"u","job-name":"j"})";
  EXPECT_THAT(stored, HasSubstr(std::string(R"("metadata":{"name":"j","uid":"u",)") +
                                std::string(kLabels)));
  EXPECT_THAT(stored, HasSubstr(std::string(R"("template":{"metadata":{)") + std::string(kLabels)));
  EXPECT_THAT(Jobs().Prepared(Job("", R"(,"labels":{"own":"label"})")),
              HasSubstr(R"("metadata":{"name":"j","uid":"u","labels":{"own":"label"}})"));
}

TEST(Job, RefusesNumbersBelowZero) {
  EXPECT_THAT(Jobs().Create(Job()), IsEmpty());
  EXPECT_THAT(
      Jobs().Create(Job(R"(,"completions":-1,"parallelism":-2,"backoffLimit":-1)")),
      ElementsAre("spec.parallelism: Invalid value: -2: must be greater than or equal to 0",
                  "spec.completions: Invalid value: -1: must be greater than or equal to 0",
                  "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"));
}

TEST(Job, RefusesPoliciesItCannotFollow) {
  EXPECT_THAT(
      Jobs().Create(Job(R"(,"podFailurePolicy":{"rules":[{"action":"X"}]})")),
      ElementsAre(R"(spec.podFailurePolicy.rules[0].action: Unsupported value: "X": supported )"
                  R"(values: "Count", "FailIndex", "FailJob", "Ignore")",
                  "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes "
                  "and OnPodConditions is required"));
}

TEST(Job, KeepsCompletionsUnlessItScalesByIndex) {
  EXPECT_THAT(Jobs().Update(Job(R"(,"manualSelector":true)"),
                            Job(R"(,"manualSelector":true,"completions":9)")),
              testing::Contains("spec.completions: Invalid value: 9: field is immutable"));
}

TEST(Job, CountsIndexes) {
  EXPECT_EQ(CountIndexes("", 5).value(), 0);
  EXPECT_EQ(CountIndexes("0,2-4", 5).value(), 4);
  EXPECT_EQ(CountIndexes("5", 5).error().message, "too large index: \"5\"");
  EXPECT_EQ(CountIndexes("2,1", 5).error().message,
            "non-increasing order, previous: 2, current: 1");
  EXPECT_EQ(CountIndexes("x", 5).error().message,
            "cannot convert string to integer for index: \"x\"");
  EXPECT_TRUE(CheckDisjointIndexes("0-2", "3,4", 5).has_value());
  EXPECT_EQ(CheckDisjointIndexes("0-2,4", "3-4", 5).error().message,
            "failedIndexes and completedIndexes overlap at index: 4");
}

TEST(Job, FinishesOnlyOnce) {
  constexpr std::string_view kBoth =
      R"({"metadata":{"name":"j"},"status":{"conditions":[{"type":"Complete","status":"True"},)"
      R"({"type":"Failed","status":"True"}]}})";
  EXPECT_THAT(Jobs().Update(Job(), kBoth, "status"),
              testing::Contains("status.conditions: Invalid value: cannot set Complete=True and "
                                "Failed=true conditions"));
}

TEST(CronJob, MustHaveAScheduleThatCanBeRead) {
  EXPECT_THAT(CronJobs().Create(CronJob("*/5 * * * *")), IsEmpty());
  EXPECT_THAT(CronJobs().Create(CronJob("bad")),
              ElementsAre("spec.schedule: Invalid value: \"bad\": expected exactly 5 fields, "
                          "found 1: [bad]"));
  EXPECT_THAT(CronJobs().Create(CronJob("TZ=UTC * * * * *")),
              ElementsAre("spec.schedule: Invalid value: \"TZ=UTC * * * * *\": cannot use TZ or "
                          "CRON_TZ in schedule, use timeZone field instead"));
}

TEST(HorizontalPodAutoscaler, NeedsATargetAndRoomToScale) {
  const auto autoscalers =
      Tester<api::autoscaling_v2::HorizontalPodAutoscaler>("horizontalpodautoscalers");
  EXPECT_THAT(
      autoscalers.Create(R"({"metadata":{"name":"a"},"spec":{}})"),
      ElementsAre("spec.maxReplicas: Required value: must be set and greater than 0",
                  "spec.maxReplicas: Invalid value: 0: must be greater than or equal to "
                  "`minReplicas`",
                  "spec.scaleTargetRef.kind: Required value",
                  "spec.scaleTargetRef.name: Required value",
                  "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify "
                  "API group"));
  EXPECT_THAT(
      autoscalers.Prepared(
          R"({"spec":{"maxReplicas":2,"behavior":{"scaleDown":{"selectPolicy":"Min"}}}})"),
      HasSubstr(R"("behavior":{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max",)"
                R"("policies":[{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent",)"
                R"("value":100,"periodSeconds":15}]},"scaleDown":{"selectPolicy":"Min",)"
                R"("policies":[{"type":"Percent","value":100,"periodSeconds":15}]}})"));
}

TEST(PodDisruptionBudget, ChoosesOneLimit) {
  const auto budgets = Tester<api::policy_v1::PodDisruptionBudget>("poddisruptionbudgets");
  EXPECT_THAT(budgets.Create(R"({"spec":{"minAvailable":1,"maxUnavailable":1}})"),
              ElementsAre(R"(spec: Invalid value: {"MinAvailable":1,"Selector":null,)"
                          R"("MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable )"
                          "and maxUnavailable cannot be both set"));
}

}  // namespace
}  // namespace keelson::kube::workload
