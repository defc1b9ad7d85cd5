#include "kube/admission/pod_security.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace keelson::kube::plugins {
namespace {

std::string Violations(SecurityLevel level, std::string_view spec) {
  auto parsed = value::ParseJson(spec);
  return SecurityViolations(level, value::Value(), api::core_v1::PodSpec(parsed->root()));
}

TEST(PodSecurity, AllowsEverythingToThePrivileged) {
  EXPECT_EQ(Violations(SecurityLevel::kPrivileged, R"({"hostPID":true})"), "");
}

TEST(PodSecurity, BaselineKeepsPodsFromTheNode) {
  EXPECT_EQ(Violations(SecurityLevel::kBaseline, R"({"containers":[{"name":"c"}]})"), "");
  EXPECT_EQ(
      Violations(SecurityLevel::kBaseline,
                 R"({"hostNetwork":true,"hostIPC":true,"volumes":[{"name":"v","hostPath":{}}],
      "containers":[{"name":"c","ports":[{"hostPort":9}],"securityContext":{"privileged":true,
      "capabilities":{"add":["NET_RAW","CHOWN"]}}}]})"),
      R"(non-default capabilities (container "c" must not include "NET_RAW" in )"
      "securityContext.capabilities.add), host namespaces (hostNetwork=true, hostIPC=true), "
      R"(hostPath volumes (volume "v"), hostPort (container "c" uses hostPort 9), privileged )"
      R"((container "c" must not set securityContext.privileged=true))");
}

TEST(PodSecurity, RestrictedAsksForMore) {
  EXPECT_EQ(
      Violations(SecurityLevel::kRestricted, R"({"containers":[{"name":"a"},{"name":"b"}]})"),
      R"(allowPrivilegeEscalation != false (containers "a", "b" must set )"
      "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (containers "
      R"("a", "b" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true )"
      R"((pod or containers "a", "b" must set securityContext.runAsNonRoot=true), )"
      R"(seccompProfile (pod or containers "a", "b" must set )"
      R"(securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"))");
  EXPECT_EQ(Violations(SecurityLevel::kRestricted,
                       R"({"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":
      "RuntimeDefault"}},"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c",
      "securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]})"),
            "");
}

}  // namespace
}  // namespace keelson::kube::plugins
