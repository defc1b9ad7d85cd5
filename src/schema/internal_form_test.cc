#include "schema/internal_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "api/networking_v1.h"
#include "api/policy_v1.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

std::string Printed(const Type& type, std::string_view json) {
  return InternalForm(type, value::ParseJson(json)->root());
}

TEST(InternalForm, NamesEveryFieldAsGoDoes) {
  EXPECT_EQ(Printed(api::apps_v1::DeploymentStrategy::Schema(), R"({"type":"Foo"})"),
            R"({"Type":"Foo","RollingUpdate":null})");
  EXPECT_EQ(Printed(api::networking_v1::IngressClassParametersReference::Schema(),
                    R"({"apiGroup":"g","kind":"k"})"),
            R"({"APIGroup":"g","Kind":"k","Name":"","Scope":null,"Namespace":null})");
}

TEST(InternalForm, LeavesMetaTypesAsClientsKnowThem) {
  EXPECT_EQ(
      Printed(api::policy_v1::PodDisruptionBudgetSpec::Schema(),
              R"({"minAvailable":1,"selector":{"matchLabels":{"a":"<b>"}},"maxUnavailable":"5%"})"),
      R"({"MinAvailable":1,"Selector":{"matchLabels":{"a":"\u003cb\u003e"}},)"
      R"("MaxUnavailable":"5%","UnhealthyPodEvictionPolicy":null})");
}

TEST(InternalForm, EmbedsMetadataAndMovesWhatPodsShareWithTheirHost) {
  const auto printed =
      Printed(api::core_v1::PodTemplateSpec::Schema(),
              R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],)"
              R"("hostNetwork":true,"securityContext":{"fsGroup":1},"dnsPolicy":"ClusterFirst"}})");
  EXPECT_THAT(printed, testing::StartsWith(R"({"labels":{"a":"b"},"Spec":{"Volumes":null,)"
                                           R"("InitContainers":null,"Containers":[{"Name":"c",)"
                                           R"("Image":"i","Command":null,)"));
  EXPECT_THAT(printed,
              testing::HasSubstr(
                  R"("NodeName":"","SecurityContext":{"HostNetwork":true,"HostPID":false,)"
                  R"("HostIPC":false,"ShareProcessNamespace":null,"HostUsers":null,)"
                  R"("SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,)"
                  R"("RunAsGroup":null,"RunAsNonRoot":null,"SupplementalGroups":null,)"
                  R"("SupplementalGroupsPolicy":null,"FSGroup":1,"FSGroupChangePolicy":null,)"));
}

}  // namespace
}  // namespace keelson::schema
