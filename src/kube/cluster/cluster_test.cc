#include "kube/cluster/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/admissionregistration_v1.h"
#include "api/apiregistration_v1.h"
#include "api/certificates_v1.h"
#include "api/flowcontrol_v1.h"
#include "api/networking_v1.h"
#include "api/node_v1.h"
#include "api/resource_v1.h"
#include "api/scheduling_v1.h"
#include "api/storage_v1.h"
#include "kube/cluster/kinds.h"
#include "rest/testing_kind.h"

namespace keelson::kube::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

template <typename Kind>
rest::KindTester Tester(std::string_view resource) {
  return rest::KindTester(Kind::Schema(), schema::DefaultHooks(Defaults()),
                          rest::StrategyOf(Strategies(), resource));
}

TEST(NetworkPolicy, ConcernsWhatItSpeaksOf) {
  const auto policies = Tester<api::networking_v1::NetworkPolicy>("networkpolicies");
  EXPECT_THAT(policies.Prepared(R"({"spec":{}})"), HasSubstr(R"("policyTypes":["Ingress"])"));
  EXPECT_THAT(policies.Prepared(R"({"spec":{"egress":[{}]}})"),
              HasSubstr(R"("policyTypes":["Ingress","Egress"])"));
}

TEST(NetworkPolicy, RefusesPeersThatAreNone) {
  const auto policies = Tester<api::networking_v1::NetworkPolicy>("networkpolicies");
  EXPECT_THAT(
      policies.Create(R"({"spec":{"ingress":[{"from":[{},{"ipBlock":{"cidr":"10.0.0.0/8",)"
                      R"("except":["11.0.0.0/16"]}}],"ports":[{"port":"x","endPort":5}]}]}})"),
      ElementsAre("spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when "
                  "`port` is non-numeric",
                  "spec.ingress[0].from[0]: Required value: must specify a peer",
                  "spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": "
                  "must be a strict subset of `cidr`"));
}

TEST(NetworkPolicy, WarnsOfPrefixesThatNameAnAddress) {
  const auto policies = Tester<api::networking_v1::NetworkPolicy>("networkpolicies");
  EXPECT_THAT(
      policies.Warnings(R"({"spec":{"ingress":[{"from":[{"ipBlock":{"cidr":"10.0.0.5/8"}}]}]}})"),
      ElementsAre(R"(spec.ingress[0].from[0].ipBlock.cidr: CIDR value "10.0.0.5/8" is ambiguous )"
                  R"(in this context (should be "10.0.0.0/8" or "10.0.0.5/32"?))"));
}

TEST(Ingress, NeedsSomewhereToSendRequests) {
  const auto ingresses = Tester<api::networking_v1::Ingress>("ingresses");
  EXPECT_THAT(ingresses.Create(R"({"spec":{}})"),
              ElementsAre("spec: Invalid value: null: either `defaultBackend` or `rules` must be "
                          "specified"));
  EXPECT_THAT(ingresses.Create(R"({"spec":{"rules":[{"host":"1.2.3.4","http":{"paths":[)"
                               R"({"path":"a//b","pathType":"Exact","backend":{}}]}}]}})"),
              ElementsAre("spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not "
                          "an IP address",
                          "spec.rules[0].http.paths[0].path: Invalid value: \"a//b\": must be an "
                          "absolute path",
                          "spec.rules[0].http.paths[0].path: Invalid value: \"a//b\": must not "
                          "contain '//'",
                          "spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or "
                          "service backend is required"));
}

TEST(IngressClass, KeepsItsController) {
  const auto classes = Tester<api::networking_v1::IngressClass>("ingressclasses");
  EXPECT_THAT(
      classes.Update(R"({"spec":{"controller":"a.io/x"}})", R"({"spec":{"controller":"a.io/y"}})"),
      ElementsAre("spec.controller: Invalid value: \"a.io/y\": field is immutable"));
}

TEST(StorageClass, KeepsWhatVolumesWereMadeWith) {
  const auto classes = Tester<api::storage_v1::StorageClass>("storageclasses");
  EXPECT_THAT(classes.Prepared(R"({"provisioner":"a.io/x"})"),
              HasSubstr(R"("reclaimPolicy":"Delete","volumeBindingMode":"Immediate")"));
  EXPECT_THAT(classes.Update(R"({"provisioner":"a.io/x"})",
                             R"({"provisioner":"a.io/y","reclaimPolicy":"Retain"})"),
              ElementsAre("provisioner: Invalid value: \"a.io/y\": field is immutable",
                          "reclaimPolicy: Invalid value: \"Retain\": field is immutable"));
}

TEST(VolumeAttachment, NeverMoves) {
  const auto attachments = Tester<api::storage_v1::VolumeAttachment>("volumeattachments");
  EXPECT_THAT(
      attachments.Update(
          R"({"spec":{"attacher":"a","source":{"persistentVolumeName":"p"},"nodeName":"n"}})",
          R"({"spec":{"attacher":"z","source":{"persistentVolumeName":"p"},"nodeName":"n"}})"),
      ElementsAre(R"(spec: Invalid value: {"Attacher":"z","Source":{"PersistentVolumeName":"p",)"
                  R"("InlineVolumeSpec":null},"NodeName":"n"}: field is immutable)"));
}

TEST(PriorityClass, LeavesTheHighestToTheSystem) {
  const auto classes = Tester<api::scheduling_v1::PriorityClass>("priorityclasses");
  EXPECT_THAT(classes.Create(R"({"metadata":{"name":"a"},"value":1000000001})"),
              ElementsAre("value: Forbidden: maximum allowed value of a user defined priority is "
                          "1000000000"));
  EXPECT_THAT(classes.Create(R"({"metadata":{"name":"system-x"},"value":1})"),
              ElementsAre("metadata.name: Forbidden: priority class names with 'system-' prefix "
                          "are reserved for system use only. error: system-x is not a known system "
                          "priority class"));
}

TEST(RuntimeClass, NeedsAHandler) {
  const auto classes = Tester<api::node_v1::RuntimeClass>("runtimeclasses");
  EXPECT_THAT(classes.Create("{}"), ElementsAre("handler: Required value"));
}

TEST(PriorityLevelConfiguration, QueuesWithinReason) {
  const auto levels =
      Tester<api::flowcontrol_v1::PriorityLevelConfiguration>("prioritylevelconfigurations");
  EXPECT_THAT(
      levels.Create(R"({"metadata":{"name":"a"},"spec":{"type":"Limited","limited":)"
                    R"({"nominalConcurrencyShares":-1,"limitResponse":{"type":"Queue","queuing":)"
                    R"({"queues":0,"handSize":99,"queueLengthLimit":-1}}}}})"),
      ElementsAre("spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a "
                  "non-negative integer",
                  "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be "
                  "positive",
                  "spec.limited.limitResponse.queuing.handSize: Invalid value: 99: should not be "
                  "greater than queues (64)"));
}

TEST(ValidatingWebhookConfiguration, NamesWhoIsAsked) {
  const auto webhooks = Tester<api::admissionregistration_v1::ValidatingWebhookConfiguration>(
      "validatingwebhookconfigurations");
  EXPECT_THAT(
      webhooks.Create(R"({"webhooks":[{"name":"short","clientConfig":{}}]})"),
      ElementsAre("webhooks[0].name: Invalid value: \"short\": should be a domain with at least "
                  "three segments separated by dots",
                  "webhooks[0].sideEffects: Required value: must specify one of None, "
                  "NoneOnDryRun",
                  "webhooks[0].clientConfig: Required value: exactly one of url or service is "
                  "required",
                  "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, "
                  "v1beta1"));
}

TEST(CertificateSigningRequest, MustHoldARequest) {
  const auto requests =
      Tester<api::certificates_v1::CertificateSigningRequest>("certificatesigningrequests");
  EXPECT_THAT(requests.Create(R"({"spec":{"request":"eA==","signerName":"nope","usages":[]}})"),
              ElementsAre("spec.request: Invalid value: \"eA==\": PEM block type must be "
                          "CERTIFICATE REQUEST",
                          "spec.usages: Required value",
                          "spec.signerName: Invalid value: \"nope\": must be a fully qualified "
                          "domain and path of the form 'example.com/signer-name'"));
}

TEST(CertificateSigningRequest, AVerdictStays) {
  const rest::KindTester approvals(api::certificates_v1::CertificateSigningRequest::Schema(),
                                   schema::DefaultHooks(Defaults()), kSigningRequestApproval);
  constexpr std::string_view kApproved =
      R"({"status":{"conditions":[{"type":"Approved","status":"True"}]}})";
  constexpr std::string_view kRemoved =
      "status.conditions: Forbidden: updates may not remove a condition of type \"Approved\"";
  EXPECT_THAT(approvals.Update(kApproved, R"({"status":{"conditions":[]}})"), Contains(kRemoved));
  EXPECT_THAT(approvals.Update(kApproved, "{}"), Contains(kRemoved));
  EXPECT_THAT(approvals.Update("{}", kApproved), Not(Contains(HasSubstr("status.conditions"))));
}

TEST(ResourceClaim, AsksForSomethingByName) {
  const auto claims = Tester<api::resource_v1::ResourceClaim>("resourceclaims");
  EXPECT_THAT(
      claims.Create(R"({"spec":{"devices":{"requests":[{"name":"r"},{"name":"s","exactly":)"
                    R"({"deviceClassName":"","allocationMode":"X"}}]}}})"),
      ElementsAre("spec.devices.requests[0]: Required value: exactly one of `exactly` or "
                  "`firstAvailable` is required",
                  "spec.devices.requests[1].exactly.deviceClassName: Required value",
                  "spec.devices.requests[1].exactly.allocationMode: Unsupported value: \"X\": "
                  "supported values: \"All\", \"ExactCount\""));
}

TEST(ApiService, IsNamedAfterWhatItServes) {
  const auto services = Tester<api::apiregistration_v1::APIService>("apiservices");
  EXPECT_THAT(services.Create(R"({"metadata":{"name":"bad"},"spec":{"group":"g","version":"v1",)"
                              R"("groupPriorityMinimum":1,"versionPriority":1}})"),
              ElementsAre("metadata.name: Invalid value: \"bad\": must be "
                          "`spec.version+\".\"+spec.group`: \"v1.g\""));
}

}  // namespace
}  // namespace keelson::kube::cluster
