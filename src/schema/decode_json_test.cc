#include "schema/decode_json.h"

#include <gtest/gtest.h>

#include "schema/test_types.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using testing::kPod;

std::string Decode(std::string_view text) {
  auto decoded = DecodeJson(kPod.type, text);
  return decoded ? value::ToJson(decoded->object.root()) : decoded.error().message;
}

std::string Strict(std::string_view text) {
  auto decoded = DecodeJson(kPod.type, text, {.strict = true});
  if (!decoded) return decoded.error().message;
  std::string all;
  for (const std::string& error : decoded->strict_errors) {
    if (!all.empty()) all += ", ";
    all += error;
  }
  return all;
}

constexpr std::string_view kEmptyRest = R"("spec":{"containers":null},"status":{})";

TEST(DecodeJson, PutsFieldsInStructOrderAndFillsWhatIsAlwaysWritten) {
  EXPECT_EQ(Decode("{}"), R"({"metadata":{},"spec":{"containers":null},"status":{}})");
  EXPECT_EQ(Decode("null"), R"({"metadata":{},"spec":{"containers":null},"status":{}})");
  EXPECT_EQ(
      Decode(
          R"({"spec":{"hostNetwork":true,"containers":[{"image":"i"}]},"kind":"Pod","apiVersion":"v1"})"),
      R"({"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"containers":[{"name":"","image":"i",)"
      R"("resources":{}}],"hostNetwork":true},"status":{}})");
}

TEST(DecodeJson, DropsEmptyValuesAndKeepsZeroPointers) {
  EXPECT_EQ(
      Decode(R"({"kind":"","spec":{"containers":[],"hostNetwork":false,)"
             R"("terminationGracePeriodSeconds":0},"data":{}})"),
      R"({"metadata":{},"spec":{"containers":[],"terminationGracePeriodSeconds":0},"status":{}})");
  EXPECT_EQ(Decode(R"({"metadata":null,"spec":{"containers":null,)"
                   R"("terminationGracePeriodSeconds":null,"hostNetwork":null}})"),
            "{\"metadata\":{}," + std::string(kEmptyRest) + "}");
}

TEST(DecodeJson, SortsMapsAndNullsInThemBecomeZero) {
  EXPECT_EQ(Decode(R"({"metadata":{"labels":{"b":"2","a":null,"c":"3"}}})"),
            R"({"metadata":{"labels":{"a":"","b":"2","c":"3"}},)" + std::string(kEmptyRest) + "}");
}

TEST(DecodeJson, ScalarsTakeTheirCanonicalSpelling) {
  EXPECT_EQ(
      Decode(R"({"metadata":{"creationTimestamp":"2024-01-02T03:04:05.5+02:00"},"spec":{)"
             R"("containers":[{"name":"c","resources":{"limits":{"cpu":0.5,"memory":" 1024Ki "}},)"
             R"("ratio":2}],"timeout":"90s","extra":{"z":1, "a":[ ]}},"data":{"k":"aGk=\n"}})"),
      R"({"metadata":{"creationTimestamp":"2024-01-02T01:04:05Z"},"spec":{"containers":[{"name":"c",)"
      R"("resources":{"limits":{"cpu":"500m","memory":"1Mi"}},"ratio":2}],"timeout":"1m30s",)"
      R"("extra":{"z":1,"a":[]}},"status":{},"data":{"k":"aGk="}})");
  EXPECT_EQ(Decode(R"({"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}})"),
            "{\"metadata\":{}," + std::string(kEmptyRest) + "}");
}

TEST(DecodeJson, NamesTypeErrorsAsUpstream) {
  struct Case {
    std::string_view in;
    std::string_view error;
  };
  constexpr Case kCases[] = {
      {R"([])", "json: cannot unmarshal array into Go value of type v1.Pod"},
      {R"({"metadata":{"labels":"x"}})",
       "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type "
       "map[string]string"},
      {R"({"metadata":{"labels":{"a":1}}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
       "string"},
      {R"({"spec":{"containers":{}}})",
       "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
       "[]v1.Container"},
      {R"({"spec":{"terminationGracePeriodSeconds":5.5}})",
       "json: cannot unmarshal number 5.5 into Go struct field "
       "PodSpec.spec.terminationGracePeriodSeconds of type int64"},
      {R"({"spec":{"terminationGracePeriodSeconds":99999999999999999999}})",
       "json: cannot unmarshal number 99999999999999999999 into Go struct field "
       "PodSpec.spec.terminationGracePeriodSeconds of type int64"},
      {R"({"spec":{"hostNetwork":"true"}})",
       "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool"},
      {R"({"spec":{"containers":[{"livenessProbe":{"initialDelaySeconds":99999999999}}]}})",
       "json: cannot unmarshal number 99999999999 into Go struct field "
       "Probe.spec.containers.livenessProbe.initialDelaySeconds of type int32"},
      {R"({"spec":{"containers":[{"livenessProbe":{"port":true}}]}})",
       "json: cannot unmarshal bool into Go struct field "
       "Probe.spec.containers.livenessProbe.ProbeHandler.port of type int32"},
      {R"({"spec":{"containers":[{"livenessProbe":{"port":1.5}}]}})",
       "json: cannot unmarshal number 1.5 into Go struct field "
       "Probe.spec.containers.livenessProbe.ProbeHandler.port of type int32"},
      {R"({"spec":{"containers":[{"resources":{"limits":{"cpu":true}}}]}})",
       "quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {R"({"metadata":{"creationTimestamp":"yesterday"}})",
       "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as "
       "\"2006\""},
      {R"({"metadata":{"creationTimestamp":5}})",
       "json: cannot unmarshal number into Go struct field "
       "ObjectMeta.metadata.creationTimestamp of type string"},
      {R"({"data":{"a":"!!notb64"}})", "illegal base64 data at input byte 0"},
      // The first mismatch is reported, unless a type's own decoder refuses something.
      {R"({"kind":1,"apiVersion":2})",
       "json: cannot unmarshal number into Go struct field Pod.TypeMeta.kind of type string"},
      {R"({"kind":1,"spec":{"timeout":"x"}})", "time: invalid duration \"x\""},
      // Broken syntax beats both, wherever it is.
      {R"({"spec":{"timeout":"x"},})",
       "invalid character '}' looking for beginning of object key string"},
      {R"({"kind":1} x)", "invalid character 'x' after top-level value"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Decode(c.in), c.error) << c.in;
}

TEST(DecodeJson, StrictModeReportsUnknownAndDuplicateFields) {
  EXPECT_EQ(
      Strict(
          R"({"metadata":{"bogus":1,"name":"a","name":"b"},"spec":{"containers":[{"nam":"c"},{"Name":1}]},)"
          R"("data":{"x":"","x":""},"data":{"y":""},"what":{"x":1}})"),
      "unknown field \"metadata.bogus\", duplicate field \"metadata.name\", unknown field "
      "\"spec.containers[0].nam\", unknown field \"spec.containers[1].Name\", duplicate field "
      "\"data.x\", duplicate field \"data\", unknown field \"what\"");
  EXPECT_EQ(Strict(R"({"metadata":{"labels":{"a.b/c":"1","a.b/c":"2"}}})"),
            "duplicate field \"metadata.labels.a.b/c\"");
}

TEST(DecodeJson, FieldsGivenTwiceAreDecodedOnTopOfEachOther) {
  EXPECT_EQ(Decode(R"({"metadata":{"name":"a","labels":{"x":"1","y":"1"}},)"
                   R"("metadata":{"labels":{"y":"2","z":"2"}}})"),
            R"({"metadata":{"name":"a","labels":{"x":"1","y":"2","z":"2"}},)" +
                std::string(kEmptyRest) + "}");
}

TEST(DecodeJson, ReadsTypeMetaAlone) {
  auto meta = ReadTypeMeta(R"({"spec":{"kind":"x"},"kind":"Pod","apiVersion":"v1"})");
  EXPECT_EQ(meta->kind, "Pod");
  EXPECT_EQ(meta->api_version, "v1");
  EXPECT_EQ(ReadTypeMeta("null")->kind, "");
  EXPECT_EQ(ReadTypeMeta("[]").error().message,
            "json: cannot unmarshal array into Go value of type struct { APIVersion string "
            "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }");
  EXPECT_EQ(ReadTypeMeta(R"({"kind":5})").error().message,
            "json: cannot unmarshal number into Go struct field .kind of type string");
  EXPECT_EQ(ReadTypeMeta("").error().message, "unexpected end of JSON input");
}

TEST(Base64, ReadsAsGoDoes) {
  for (std::string_view text : {"", "a", "ab", "abc", "abcd", "\xff\xfe"}) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(text)).value(), text);
  }
  EXPECT_EQ(DecodeBase64("YW\nJj\r\n").value(), "abc");
  EXPECT_EQ(DecodeBase64("YWJ").error().message, "illegal base64 data at input byte 0");
  EXPECT_EQ(DecodeBase64("YWI=x").error().message, "illegal base64 data at input byte 4");
  EXPECT_EQ(DecodeBase64("YQ=x").error().message, "illegal base64 data at input byte 3");
}

}  // namespace
}  // namespace keelson::schema
