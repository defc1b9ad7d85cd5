#include "kube/pod/validate_pod.h"

#include <gtest/gtest.h>

#include <string>

#include "api/core_v1.h"
#include "kube/pod/defaults.h"
#include "schema/transform.h"
#include "value/json.h"

namespace keelson::kube::pod {
namespace {

namespace core = api::core_v1;
using value::Document;

Document Pod(std::string_view spec, std::string_view metadata = R"("name":"a")",
             std::string_view status = "{}") {
  auto pod = value::ParseJson("{\"metadata\":{" + std::string(metadata) + "},\"spec\":" +
                              std::string(spec) + ",\"status\":" + std::string(status) + "}");
  schema::Normalize(core::Pod::Schema(), *pod);
  schema::ApplyDefaults(core::Pod::Schema(), *pod, schema::DefaultHooks(Defaults()));
  return *pod;
}

std::string Joined(const schema::FieldErrors& errors) {
  return errors.empty() ? "" : schema::Join(errors);
}

std::string Created(std::string_view spec, std::string_view metadata = R"("name":"a")") {
  schema::FieldErrors errors;
  ValidatePodCreate(Pod(spec, metadata).root(), {.is_pod = true}, errors);
  return Joined(errors);
}

// A pod of one container with these fields more.
std::string OneContainer(std::string_view fields) {
  return R"({"containers":[{"name":"c","image":"i",)" + std::string(fields) + "}]}";
}
// The same with fields of the spec.
std::string WithSpec(std::string_view fields) {
  return R"({"containers":[{"name":"c","image":"i"}],)" + std::string(fields) + "}";
}

struct Case {
  std::string spec;
  std::string error;
};

TEST(ValidatePod, AcceptsWhatMakesSense) {
  EXPECT_EQ(Created(R"({"containers":[{"name":"c","image":"i"}]})"), "");
  EXPECT_EQ(Created(R"({"initContainers":[{"name":"s","image":"i","restartPolicy":"Always",
      "livenessProbe":{"tcpSocket":{"port":"web"}}}],"containers":[{"name":"c","image":"i",
      "ports":[{"containerPort":80,"name":"web"}],"env":[{"name":"A","value":"b"},{"name":"N",
      "valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a/b']"}}}],"resources":{"limits":
      {"cpu":"1","example.com/gpu":"1"}},"volumeMounts":[{"name":"v","mountPath":"/v"}]}],
      "volumes":[{"name":"v"}],"tolerations":[{"operator":"Exists"}]})"),
            "");
}

TEST(ValidatePod, SaysWhatIsWrongWithContainers) {
  const Case cases[] = {
      {R"({"containers":[]})", "spec.containers: Required value"},
      {R"({"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]})",
       R"(spec.containers[1].name: Duplicate value: "c")"},
      {OneContainer(R"("terminationMessagePolicy":"X")"),
       R"(spec.containers[0].terminationMessagePolicy: Unsupported value: "X": supported values: )"
       R"("File", "FallbackToLogsOnError")"},
      {OneContainer(
           R"("ports":[{"containerPort":1,"hostPort":9},{"containerPort":2,"hostPort":9}])"),
       R"(spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//9")"},
      {OneContainer(R"("resizePolicy":[{"resourceName":"disk","restartPolicy":"NotRequired"}])"),
       R"(spec.containers[0].resizePolicy: Unsupported value: "disk": supported values: "cpu", )"
       R"("memory")"},
      {OneContainer(R"("restartPolicyRules":[{"action":"Restart"}])"),
       "[spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart "
       "rules are used, spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must "
       "be specified]"},
      {R"({"initContainers":[{"name":"i","image":"i","lifecycle":{}}],"containers":[{"name":"c",
          "image":"i"}]})",
       "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without "
       "restartPolicy=Always"},
  };
  for (const auto& [spec, error] : cases) EXPECT_EQ(Created(spec), error) << spec;
}

TEST(ValidatePod, SaysWhatIsWrongWithProbesAndEnvironment) {
  const Case cases[] = {
      {OneContainer(R"("livenessProbe":{"httpGet":{"port":0,"scheme":"ftp"}})"),
       "[spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and "
       "65535, inclusive, spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "
       R"("ftp": supported values: "HTTP", "HTTPS"])"},
      {OneContainer(R"("lifecycle":{"preStop":{"sleep":{"seconds":31}}})"),
       "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and "
       "less than terminationGracePeriodSeconds (30)"},
      {OneContainer(R"("env":[{"name":"A","valueFrom":{}}])"),
       R"(spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, )"
       "`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"},
      {OneContainer(R"("envFrom":[{"prefix":"A="}])"),
       R"([spec.containers[0].envFrom[0].prefix: Invalid value: "A=": a valid environment variable )"
       "name must consist only of printable ASCII characters other than '=', "
       R"(spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or )"
       "`secretRef`]"},
  };
  for (const auto& [spec, error] : cases) EXPECT_EQ(Created(spec), error) << spec;
}

TEST(ValidatePod, SaysWhatIsWrongWithVolumes) {
  const Case cases[] = {
      {WithSpec(R"("volumes":[{"name":"v","nfs":{"server":"s","path":"p"}}])"),
       R"(spec.volumes[0].nfs.path: Invalid value: "p": must be an absolute path)"},
      {WithSpec(R"("volumes":[{"name":"v","hostPath":{"path":"/a/../b"}}])"),
       R"(spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..')"},
      {WithSpec(R"("volumes":[{"name":"V","emptyDir":{}}])"),
       R"(spec.volumes[0].name: Invalid value: "V": a lowercase RFC 1123 label must consist of )"
       "lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
       "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
      {WithSpec(R"("volumes":[{"name":"v","projected":{"sources":[{"configMap":{"name":"m",
          "items":[{"key":"k","path":"p"}]}},{"secret":{"name":"s","items":[{"key":"k",
          "path":"p"}]}}]}}])"),
       R"(spec.volumes[0].projected: Invalid value: "s": conflicting duplicate paths)"},
      {WithSpec(R"("volumes":[{"name":"v","ephemeral":{}}])"),
       "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"},
  };
  for (const auto& [spec, error] : cases) EXPECT_EQ(Created(spec), error) << spec;
}

TEST(ValidatePod, SaysWhatIsWrongWithPlacementAndSecurity) {
  const Case cases[] = {
      {WithSpec(R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":
          [{"weight":101,"preference":{"matchExpressions":[{"key":"a","operator":"Near"}]}}]}})"),
       "[spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
       "Invalid value: 101: must be in the range 1-100, "
       "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
       R"(matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator])"},
      {WithSpec(R"("securityContext":{"sysctls":[{"name":"net.core.x","value":"1"}]},
          "hostNetwork":true)"),
       R"(spec.securityContext.sysctls[0].name: Invalid value: "net.core.x": may not be specified )"
       "when 'hostNetwork' is true"},
      {WithSpec(R"("hostUsers":false,"hostPID":true)"),
       "spec.HostPID: Forbidden: when `hostUsers` is false"},
      {WithSpec(R"("os":{"name":"windows"},"hostPID":true)"),
       "spec.hostPID: Forbidden: cannot be set for a windows pod"},
      {WithSpec(R"("resources":{"requests":{"cpu":"1","storage":"1"}})"),
       R"(spec.resources.requests[storage]: Unsupported value: "storage": supported values: "cpu", )"
       R"("hugepages-", "memory")"},
      {WithSpec(R"("dnsConfig":{"nameservers":["1.2.3.4","010.0.0.1"]})"),
       R"(spec.dnsConfig.nameservers[1]: Invalid value: "010.0.0.1": must not have leading 0s)"},
  };
  for (const auto& [spec, error] : cases) EXPECT_EQ(Created(spec), error) << spec;
}

TEST(ValidatePod, RefusesPrivilegeWhereItIsNotAllowed) {
  const auto pod = Pod(OneContainer(R"("securityContext":{"privileged":true})"));
  schema::FieldErrors errors;
  ValidatePodCreate(pod.root(), {.is_pod = true}, errors);
  EXPECT_EQ(Joined(errors), "");
  ValidatePodCreate(pod.root(), {.is_pod = true, .allow_privileged = false}, errors);
  EXPECT_EQ(Joined(errors),
            "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster "
            "policy");
}

TEST(ValidatePod, HoldsAnnotationsToTheFieldsTheyBecame) {
  EXPECT_EQ(Created(R"({"containers":[{"name":"c","image":"i"}]})",
                    R"("name":"a","annotations":{"kubernetes.io/config.mirror":"x"})"),
            R"(metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set )"
            "spec.nodeName if mirror pod annotation is set");
  EXPECT_EQ(Created(R"({"securityContext":{"seccompProfile":{"type":"Unconfined"}},"containers":
      [{"name":"c","image":"i"}]})",
                    R"("name":"a","annotations":{"seccomp.security.alpha.kubernetes.io/pod":
      "runtime/default"})"),
            "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and "
            "field must match");
}

std::string Updated(std::string_view before, std::string_view after) {
  schema::FieldErrors errors;
  ValidatePodUpdate(Pod(after).root(), Pod(before).root(), {.is_pod = true}, errors);
  return Joined(errors);
}

TEST(ValidatePodUpdate, LetsLittleChange) {
  const std::string plain = R"({"containers":[{"name":"c","image":"i"}]})";
  EXPECT_EQ(Updated(plain, plain), "");
  EXPECT_EQ(Updated(plain, R"({"containers":[{"name":"c","image":"other:1",
      "imagePullPolicy":"Always"}]})"),
            "");
  EXPECT_EQ(Updated(plain, WithSpec(R"("activeDeadlineSeconds":9,"tolerations":[{"key":"a"}])")),
            "");
  EXPECT_EQ(
      Updated(WithSpec(R"("activeDeadlineSeconds":9)"), WithSpec(R"("activeDeadlineSeconds":10)")),
      "spec.activeDeadlineSeconds: Invalid value: 10: must be less than or equal to previous "
      "value");
  EXPECT_EQ(Updated(WithSpec(R"("tolerations":[{"key":"a"}])"), plain),
            "spec.tolerations: Forbidden: existing toleration can not be modified except its "
            "tolerationSeconds");
  EXPECT_EQ(Updated(plain, R"({"containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]})"),
            "spec.containers: Forbidden: pod updates may not add or remove containers");
  EXPECT_TRUE(Updated(plain, WithSpec(R"("hostname":"h")"))
                  .starts_with("spec: Forbidden: pod updates may not change fields other than "));
}

TEST(ValidatePodUpdate, LetsGatedPodsBeNarrowed) {
  EXPECT_EQ(Updated(WithSpec(R"("schedulingGates":[{"name":"g"}])"),
                    WithSpec(R"("nodeSelector":{"a":"b"})")),
            "");
  EXPECT_EQ(Updated(WithSpec(R"("schedulingGates":[{"name":"g"}])"),
                    WithSpec(R"("schedulingGates":[{"name":"g"},{"name":"h"}])")),
            "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new "
            "scheduling gate 'h'");
}

TEST(ValidatePodStatus, KeepsEndedContainersEnded) {
  constexpr std::string_view kSpec =
      R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]})";
  const auto ended = Pod(kSpec, R"("name":"a")",
                         R"({"containerStatuses":[{"name":"c","state":{"terminated":
      {"exitCode":0}}}]})");
  const auto running = Pod(kSpec, R"("name":"a")",
                           R"({"containerStatuses":[{"name":"c","state":{"running":{}}}],
      "podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]})");
  schema::FieldErrors errors;
  ValidatePodStatusUpdate(running.root(), ended.root(), errors);
  EXPECT_EQ(Joined(errors),
            "[status.containerStatuses[0].state: Forbidden: may not be transitioned to "
            R"(non-terminated state, status.podIPs: Invalid value: [{"ip":"10.0.0.1"},)"
            R"({"ip":"10.0.0.2"}]: may specify no more than one IP for each IP family])");
}

TEST(ValidatePodResize, ChangesCpuAndMemoryOnly) {
  auto resized = [](std::string_view before, std::string_view after) {
    schema::FieldErrors errors;
    ValidatePodResize(Pod(OneContainer(after)).root(), Pod(OneContainer(before)).root(),
                      {.is_pod = true}, errors);
    return Joined(errors);
  };
  EXPECT_EQ(resized(R"("resources":{"requests":{"cpu":"1"}})",
                    R"("resources":{"requests":{"cpu":"2","memory":"1Gi"}})"),
            "");
  EXPECT_EQ(resized(R"("resources":{"requests":{"cpu":"1"}})", R"("resources":{})"),
            R"([spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of )"
            "resizing, spec.containers[0].resources.requests: Forbidden: resource requests cannot "
            "be removed]");
  EXPECT_EQ(resized(R"("resources":{"requests":{"cpu":"1"}})",
                    R"("resources":{"requests":{"cpu":"1","ephemeral-storage":"1"}})"),
            "spec: Forbidden: only cpu and memory resources are mutable");
}

}  // namespace
}  // namespace keelson::kube::pod
