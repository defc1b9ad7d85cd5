// What each kind makes of objects that clients send, in upstream's words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/catalog.h"
#include "kube/core/strategies.h"
#include "schema/decode_json.h"
#include "schema/transform.h"
#include "value/json.h"

namespace keelson::kube::core {
namespace {

using value::Document;

class CoreKindsTest : public ::testing::Test {
 protected:
  CoreKindsTest() { kinds_.AddTo(table_); }

  // Decoded and defaulted, as the verbs hand it to a strategy.
  Document Read(std::string_view group, std::string_view plural, std::string_view json) {
    const auto& type = *Info(group, plural).type;
    auto decoded = schema::DecodeJson(type, json);
    KEELSON_CHECK(decoded.has_value());
    schema::ApplyDefaults(type, decoded->object, table_.Defaults());
    schema::Normalize(type, decoded->object);
    return decoded->object;
  }
  std::string Defaulted(std::string_view plural, std::string_view json) {
    return value::ToJson(Read("", plural, json).root());
  }
  std::string Errors(std::string_view plural, std::string_view json, std::string_view group = "") {
    schema::FieldErrors errors;
    table_.FindStrategy(group, plural)->Validate(scope_, Read(group, plural, json).root(), errors);
    return errors.empty() ? "" : schema::Join(errors);
  }
  std::string UpdateErrors(std::string_view plural, std::string_view before,
                           std::string_view after) {
    schema::FieldErrors errors;
    const auto old = Read("", plural, before);
    table_.FindStrategy("", plural)
        ->ValidateUpdate(scope_, Read("", plural, after).root(), old.root(), errors);
    return errors.empty() ? "" : schema::Join(errors);
  }
  std::string Prepared(std::string_view plural, std::string_view json) {
    value::Builder builder(Read("", plural, json));
    table_.FindStrategy("", plural)->PrepareForCreate(scope_, builder.root());
    auto object = std::move(builder).Finish();
    schema::Normalize(*Info("", plural).type, object);
    return value::ToJson(object.root());
  }
  static const schema::ResourceInfo& Info(std::string_view group, std::string_view plural) {
    return *api::kCatalog.Find(group, "v1")->FindResource(plural);
  }

  Kinds kinds_{Options{}};
  rest::KindTable table_;
  rest::WriteScope scope_;
};

TEST_F(CoreKindsTest, NamespacesAreBornActiveWithTheirNameAsLabel) {
  EXPECT_EQ(Prepared("namespaces", R"({"metadata":{"name":"a","labels":{"x":"y"}}})"),
            R"({"metadata":{"name":"a","labels":{"kubernetes.io/metadata.name":"a","x":"y"}},)"
            R"("spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  EXPECT_EQ(Errors("namespaces", R"({"spec":{"finalizers":["nosuch"]}})"),
            "spec.finalizers: Invalid value: \"nosuch\": name is neither a standard finalizer name "
            "nor is it fully qualified");
}

TEST_F(CoreKindsTest, ANamespaceWaitsForItsFinalizers) {
  const auto& strategy = *table_.FindStrategy("", "namespaces");
  EXPECT_TRUE(strategy.AwaitsFinalization(
      Read("", "namespaces", R"({"spec":{"finalizers":["kubernetes"]}})").root()));
  EXPECT_FALSE(strategy.AwaitsFinalization(Read("", "namespaces", "{}").root()));
}

TEST_F(CoreKindsTest, SecretsTakePlainTextAndKeepIt) {
  EXPECT_EQ(Defaulted("secrets", R"({"stringData":{"a":"x"},"data":{"a":"AA==","b":"Yg=="}})"),
            R"({"metadata":{},"data":{"a":"eA==","b":"Yg=="},"type":"Opaque"})");
  EXPECT_EQ(Errors("secrets", R"({"type":"kubernetes.io/tls"})"),
            "[data[tls.crt]: Required value, data[tls.key]: Required value]");
  EXPECT_EQ(
      Errors("secrets", R"({"type":"kubernetes.io/basic-auth","stringData":{"password":""}})"), "");
  EXPECT_EQ(
      Errors("secrets", R"({"type":"kubernetes.io/dockercfg","stringData":{".dockercfg":"[]"}})"),
      "data[.dockercfg]: Invalid value: \"<secret contents redacted>\": json: cannot "
      "unmarshal array into Go value of type map[string]interface {}");
}

TEST_F(CoreKindsTest, ImmutableDataStaysAsItIs) {
  EXPECT_EQ(
      UpdateErrors("configmaps", R"({"immutable":true,"data":{"a":"b"}})", R"({"data":{"a":"c"}})"),
      "[immutable: Forbidden: field is immutable when `immutable` is set, data: Forbidden: "
      "field is immutable when `immutable` is set]");
  EXPECT_EQ(UpdateErrors("configmaps", R"({"immutable":true,"data":{"a":"b"}})",
                         R"({"immutable":true,"data":{"a":"b"},"metadata":{"labels":{"x":"y"}}})"),
            "");
  EXPECT_EQ(UpdateErrors("secrets", R"({"type":"a"})", R"({"type":"b"})"),
            "type: Invalid value: \"b\": field is immutable");
}

TEST_F(CoreKindsTest, ConfigMapKeysAreUniqueAcrossBothMaps) {
  EXPECT_EQ(Errors("configmaps", R"({"data":{"a":"x"},"binaryData":{"a":"AA=="}})"),
            "data[a]: Invalid value: \"a\": duplicate of key present in binaryData");
  const std::string big(1 << 20, 'x');
  EXPECT_EQ(Errors("configmaps", R"({"data":{"a":")" + big + R"("}})"), "");
  EXPECT_EQ(Errors("configmaps", R"({"data":{"a":")" + big + R"(","b":"x"}})"),
            "[]: Too long: may not be more than 1048576 bytes");
}

TEST_F(CoreKindsTest, LimitsFollowFromEachOther) {
  EXPECT_EQ(Defaulted("limitranges", R"({"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},)"
                                     R"("min":{"memory":"4Mi"}}]}})"),
            R"({"metadata":{},"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},)"
            R"("min":{"memory":"4Mi"},"default":{"cpu":"2"},)"
            R"("defaultRequest":{"cpu":"2","memory":"4Mi"}}]}})");
  EXPECT_EQ(Errors("limitranges", R"({"spec":{"limits":[{"type":"Container","min":{"cpu":"2"},)"
                                  R"("max":{"cpu":"1"}}]}})"),
            "[spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value "
            "1, spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min value 2 is greater "
            "than default request value 1, spec.limits[0].default[cpu]: Invalid value: \"2\": min "
            "value 2 is greater than default value 1]");
}

TEST_F(CoreKindsTest, QuotasLimitWhatIsKnown) {
  EXPECT_EQ(Errors("resourcequotas", R"({"spec":{"hard":{"pods":"-1","bogus":"1","count/x.y":"1"},)"
                                     R"("scopes":["X"]}})"),
            "[spec.hard[bogus]: Invalid value: \"bogus\": must be a standard resource type or "
            "fully qualified, spec.hard[bogus]: Invalid value: \"bogus\": must be a standard "
            "resource for quota, spec.hard[pods]: Invalid value: \"-1\": must be greater than or "
            "equal to 0, spec.scopes: Invalid value: [\"X\"]: unsupported scope]");
  EXPECT_EQ(UpdateErrors("resourcequotas", R"({"spec":{"scopes":["BestEffort"]}})", R"({})"),
            "spec.scopes: Invalid value: null: field is immutable");
}

TEST_F(CoreKindsTest, NodesHaveValidTaintsAndRanges) {
  EXPECT_EQ(Defaulted("nodes", R"({"spec":{"podCIDR":"10.0.0.0/24"}})")
                    .find(R"("podCIDRs":["10.0.0.0/24"])") != std::string::npos,
            true);
  EXPECT_EQ(Errors("nodes", R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"},)"
                            R"({"key":"a","effect":"NoSchedule"}],"podCIDRs":["10.0.0.1/24"]}})"),
            "[metadata.taints[1]: Duplicate value: {\"key\":\"a\",\"effect\":\"NoSchedule\"}: "
            "taints must be unique by key and effect pair, spec.podCIDRs[0]: Invalid value: "
            "\"10.0.0.1/24\": must not have bits set beyond the prefix length]");
  EXPECT_EQ(UpdateErrors("nodes", R"({"spec":{"providerID":"a"}})", R"({})"),
            "spec.providerID: Forbidden: node updates may not change providerID except from \"\" "
            "to valid");
}

TEST_F(CoreKindsTest, VolumesHaveOneSource) {
  EXPECT_EQ(Errors("persistentvolumes", R"({"spec":{}})"),
            "[spec.accessModes: Required value, spec.capacity: Required value, spec.capacity: "
            "Unsupported value: null: supported values: \"storage\", spec: Required value: must "
            "specify a volume type]");
  EXPECT_EQ(Errors("persistentvolumes",
                   R"({"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],)"
                   R"("hostPath":{"path":"/a/../b"},"nfs":{"server":"","path":"x"}}})"),
            "[spec.hostPath.path: Invalid value: \"/a/../b\": must not contain '..', spec.nfs: "
            "Forbidden: may not specify more than 1 volume type]");
  EXPECT_EQ(Errors("persistentvolumes",
                   R"({"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],)"
                   R"("local":{"path":"/a"}}})"),
            "spec.nodeAffinity: Required value: Local volume requires node affinity");
}

TEST_F(CoreKindsTest, ClaimsKeepTheirSpecButMayGrow) {
  const char* bound =
      R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}},)"
      R"("status":{"phase":"Bound","capacity":{"storage":"2Gi"}}})";
  EXPECT_EQ(UpdateErrors("persistentvolumeclaims", bound,
                         R"({"spec":{"accessModes":["ReadWriteOnce"],)"
                         R"("resources":{"requests":{"storage":"3Gi"}},"volumeName":"v"},)"
                         R"("status":{"phase":"Bound","capacity":{"storage":"2Gi"}}})"),
            "");
  EXPECT_EQ(UpdateErrors("persistentvolumeclaims", bound,
                         R"({"spec":{"accessModes":["ReadWriteOnce"],)"
                         R"("resources":{"requests":{"storage":"1Gi"}}},)"
                         R"("status":{"phase":"Bound","capacity":{"storage":"2Gi"}}})"),
            "spec.resources.requests.storage: Forbidden: field can not be less than "
            "status.capacity");
}

TEST_F(CoreKindsTest, EventsOfTheNewGroupMeetStricterRules) {
  const char* event = R"({"metadata":{"namespace":"a"},"involvedObject":{"namespace":"a"}})";
  EXPECT_EQ(Errors("events", event), "");
  schema::FieldErrors errors;
  table_.FindStrategy("events.k8s.io", "events")
      ->Validate(scope_, Read("", "events", event).root(), errors);
  EXPECT_EQ(schema::Join(errors),
            "[eventTime: Required value, type: Invalid value: \"\": has invalid value: ]");
}

TEST_F(CoreKindsTest, ReplicationControllersTakeTheirTemplatesLabels) {
  EXPECT_EQ(Errors("replicationcontrollers", R"({"spec":{}})"),
            "[spec.selector: Required value, spec.template: Required value]");
  const auto defaulted = Read("", "replicationcontrollers",
                              R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}})");
  EXPECT_EQ(value::ToJson(defaulted.root()["spec"]["selector"]), R"({"a":"b"})");
  EXPECT_EQ(value::ToJson(defaulted.root()["metadata"]["labels"]), R"({"a":"b"})");
}

}  // namespace
}  // namespace keelson::kube::core
