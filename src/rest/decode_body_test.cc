#include "rest/decode_body.h"

#include <gtest/gtest.h>

#include "api/catalog.h"
#include "schema/protobuf.h"
#include "value/json.h"

namespace keelson::rest {
namespace {

class DecodeBodyTest : public testing::Test {
 protected:
  ExpectedBody Expect(std::string_view group, std::string_view version, std::string_view kind) {
    return {{group, version, kind}, api::kCatalog.Find(group, version)->FindKind(kind)};
  }
  ApiResult<DecodedBody> Decode(std::string_view body, Format format = Format::kJson,
                                FieldValidation validation = FieldValidation::kStrict) {
    return DecodeBody(api::kCatalog, Expect("", "v1", "ConfigMap"), format, body, validation);
  }
  std::string Why(std::string_view body, Format format = Format::kJson) {
    auto decoded = Decode(body, format);
    return decoded ? "" : decoded.error().message;
  }
};

TEST_F(DecodeBodyTest, CompletesTheTypeFromTheUrl) {
  for (auto body :
       {R"({"metadata":{"name":"a"}})", R"({"kind":"ConfigMap","metadata":{"name":"a"}})",
        R"({"metadata":{"name":"a"},"apiVersion":"v1"})"}) {
    auto decoded = Decode(body);
    ASSERT_TRUE(decoded.has_value()) << body;
    EXPECT_EQ(value::ToJson(decoded->object.root()),
              R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})");
  }
  EXPECT_TRUE(Decode("null").has_value());
}

TEST_F(DecodeBodyTest, QuotesWhatItCannotRead) {
  const std::string start = "the object provided is unrecognized (must be of type ConfigMap): ";
  EXPECT_EQ(Why("{bad json"),
            start +
                "couldn't get version/kind; json parse error: invalid character 'b' looking for "
                "beginning of object key string ({bad json)");
  EXPECT_EQ(Why(""),
            start +
                "couldn't get version/kind; json parse error: unexpected end of JSON input "
                "(<empty>)");
  EXPECT_EQ(
      Why(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"trail"}}{"x":1})"),
      start +
          "couldn't get version/kind; json parse error: invalid character '{' after top-level "
          "value ({\"kind\":\"ConfigMap\",\"apiVersio ...)");
  EXPECT_EQ(Why("notproto", Format::kProtobuf),
            start +
                "provided data does not appear to be a protobuf message, expected prefix [107 56 "
                "115 0] (6e6f7470726f746f)");
  EXPECT_EQ(Why("a: b: c: [", Format::kYaml),
            start + "yaml: mapping values are not allowed in this context (613a20623a20633a205b)");
  EXPECT_EQ(
      Why(R"({"apiVersion": "a/b/c", "kind": "ConfigMap"})"),
      start + "unexpected GroupVersion string: a/b/c ({\"apiVersion\": \"a/b/c\", \"kind\" ...)");
}

TEST_F(DecodeBodyTest, RefusesOtherKinds) {
  EXPECT_EQ(Why(R"({"apiVersion":"v1","kind":"Secret"})"),
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to "
            "(core.ConfigMap): unknown conversion");
  EXPECT_EQ(
      Why(R"({"apiVersion":"v2","kind":"ConfigMap"})"),
      "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is "
      "registered for version \"v2\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
  auto other = DecodeBody(api::kCatalog, Expect("autoscaling", "v2", "HorizontalPodAutoscaler"),
                          Format::kJson,
                          R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler"})",
                          FieldValidation::kWarn);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().message,
            "the API version in the data (autoscaling/v1) does not match the expected API version "
            "(autoscaling/v2)");
}

TEST_F(DecodeBodyTest, PassesTypeErrorsOn) {
  EXPECT_EQ(Why(R"({"kind":"ConfigMap","apiVersion":"v1","data":"notamap"})"),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
            "string into Go struct field ConfigMap.data of type map[string]string");
}

TEST_F(DecodeBodyTest, UnknownFieldsAreRefusedWarnedOfOrIgnored) {
  constexpr std::string_view kBody = R"({"metadata":{"name":"a","bogus":1},"unknown":{"x":1}})";
  EXPECT_EQ(Why(kBody),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "unknown field \"metadata.bogus\", unknown field \"unknown\"");
  auto warned = Decode(kBody, Format::kJson, FieldValidation::kWarn);
  EXPECT_EQ(warned->warnings, (std::vector<std::string>{"unknown field \"metadata.bogus\"",
                                                        "unknown field \"unknown\""}));
  EXPECT_TRUE(Decode(kBody, Format::kJson, FieldValidation::kIgnore)->warnings.empty());
}

TEST_F(DecodeBodyTest, YamlReportsRepeatedKeysWithTheirLine) {
  EXPECT_EQ(Why("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fv\n  name: fv\nbogus: 1\n",
                Format::kYaml),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "yaml: unmarshal errors:\n  line 5: key \"name\" already set in map, unknown field "
            "\"bogus\"");
}

TEST_F(DecodeBodyTest, ReadsProtobuf) {
  auto object = Decode(R"({"metadata":{"name":"a"},"data":{"k":"v"}})")->object;
  auto bytes = schema::EncodeProtobufEnvelope(*Expect("", "v1", "ConfigMap").type, object.root());
  auto decoded = Decode(bytes, Format::kProtobuf);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(value::ToJson(decoded->object.root()), value::ToJson(object.root()));
}

}  // namespace
}  // namespace keelson::rest
