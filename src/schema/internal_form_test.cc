#include "schema/internal_form.h"

#include <gtest/gtest.h>

#include "api/apps_v1.h"
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

}  // namespace
}  // namespace keelson::schema
