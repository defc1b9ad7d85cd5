#include "schema/protobuf.h"

#include <gtest/gtest.h>

#include "schema/decode_json.h"
#include "schema/test_types.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using testing::kPod;

std::string Hex(std::string_view bytes) {
  std::string out;
  for (char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string FromHex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

value::Document Pod(std::string_view json) { return DecodeJson(kPod.type, json)->object; }

TEST(Protobuf, ValueFieldsAreAlwaysWrittenPointersOnlyWhenSet) {
  // metadata{name "", creationTimestamp {}}, spec{hostNetwork false}, status{phase ""}
  EXPECT_EQ(Hex(EncodeProtobuf(kPod.type, Pod("{}").root())),
            "0a040a00420012025800"
            "1a020a00");
  EXPECT_EQ(
      Hex(EncodeProtobuf(
          kPod.type,
          Pod(R"({"metadata":{"name":"a","labels":{"k":"v"}},"spec":{"containers":[{"name":"c",)"
              R"("livenessProbe":{"port":80}}],"terminationGracePeriodSeconds":-1}})")
              .root())),
      "0a0d0a01614200"                // metadata: name, creationTimestamp
      "5a060a016b120176"              // its labels
      "122412150a016312004200"        // spec, container: name, image, resources
      "520c0a080a06080010501a001000"  // its probe: handler with port 80, delay
      "20ffffffffffffffffff015800"    // grace period -1, hostNetwork
      "1a020a00");
}

TEST(Protobuf, RoundTripsEverythingJsonHolds) {
  constexpr std::string_view kFull =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":)"
      R"("2024-01-02T03:04:05Z","labels":{"a":"1","b":""}},"spec":{"containers":[{"name":"c","image":)"
      R"("i","args":["","x"],"resources":{"limits":{"cpu":"500m","memory":"1Gi"}},"livenessProbe":)"
      R"({"port":"http","initialDelaySeconds":-3},"ratio":0.25},{"name":"","resources":{}}],)"
      R"("terminationGracePeriodSeconds":0,"hostNetwork":true,"timeout":"1m30s","extra":{"z":[1,)"
      R"({"y":null}],"a":"b"}},"status":{"phase":"Running"},"data":{"k":"AP8=","n":"YQ=="}})";
  auto pod = Pod(kFull);
  ASSERT_EQ(value::ToJson(pod.root()), kFull);
  std::string bytes = EncodeProtobufEnvelope(kPod.type, pod.root());
  auto back = DecodeProtobufEnvelope(kPod.type, bytes);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(value::ToJson(back->root()), kFull);
  EXPECT_EQ(EncodeProtobufEnvelope(kPod.type, back->root()), bytes);
}

TEST(Protobuf, EnvelopeCarriesKindAndVersion) {
  auto pod = Pod(R"({"kind":"Pod","apiVersion":"v1"})");
  std::string bytes = EncodeProtobufEnvelope(kPod.type, pod.root());
  EXPECT_EQ(Hex(bytes.substr(0, 17)), "6b3873000a090a0276311203506f64120e");
  EXPECT_EQ(Hex(bytes.substr(bytes.size() - 4)), "1a002200");
  auto envelope = ReadProtobufEnvelope(bytes);
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "Pod");
}

TEST(Protobuf, SkipsUnknownFieldsAndRefusesBadOnes) {
  auto decode = [](std::string_view hex) {
    auto pod = DecodeProtobuf(kPod.type, FromHex(hex));
    return pod ? value::ToJson(pod->root()) : pod.error().message;
  };
  const std::string empty = R"({"metadata":{},"spec":{"containers":null},"status":{}})";
  EXPECT_EQ(decode(""), empty);
  EXPECT_EQ(decode("a20603616263"
                   "a00601"
                   "a506aabbccdd"
                   "a1060011223344556677"
                   "a3060801a406"),
            empty);
  EXPECT_EQ(decode("0801"), "proto: wrong wireType = 0 for field ObjectMeta");
  EXPECT_EQ(decode("0a05"), "unexpected EOF");
  EXPECT_EQ(decode("0a"), "unexpected EOF");
  EXPECT_EQ(decode("0c"), "proto: Pod: wiretype end group for non-group");
  EXPECT_EQ(decode("00"), "proto: Pod: illegal tag 0 (wire type 0)");
  EXPECT_EQ(decode("67"), "proto: illegal wireType 7");
  EXPECT_EQ(decode("0affffffffffffffffffff01"), "proto: integer overflow");
  EXPECT_EQ(decode("0affffffffffffffffff01"), "proto: negative length found during unmarshaling");
}

TEST(Protobuf, RepeatedOccurrencesMerge) {
  auto bytes =
      EncodeProtobuf(kPod.type, Pod(R"({"metadata":{"name":"a","labels":{"x":"1"}},"spec":)"
                                    R"({"containers":[{"name":"c"}]}})")
                                    .root()) +
      EncodeProtobuf(kPod.type, Pod(R"({"metadata":{"name":"b","labels":{"x":"2","w":"3"}},)"
                                    R"("spec":{"containers":[{"name":"d"}]}})")
                                    .root());
  auto pod = DecodeProtobuf(kPod.type, bytes);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(
      value::ToJson(pod->root()),
      R"({"metadata":{"name":"b","labels":{"w":"3","x":"2"}},"spec":{"containers":[{"name":"c",)"
      R"("resources":{}},{"name":"d","resources":{}}]},"status":{}})");
}

TEST(Protobuf, EnvelopeErrorsAreUpstreams) {
  EXPECT_EQ(
      ReadProtobufEnvelope("notproto").error().message,
      "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  EXPECT_EQ(ReadProtobufEnvelope(std::string("k8s\0garbage", 11)).error().message,
            "proto: illegal wireType 7");
}

TEST(Protobuf, WatchFrameMeasuresItsObject) {
  std::string object(200, 'x');
  std::string frame = ProtobufWatchHeader("ADDED", object.size()) + object;
  EXPECT_EQ(Hex(frame.substr(0, 4)), fmt::format("{:08x}", frame.size() - 4));
  EXPECT_EQ(Hex(frame.substr(4, 7)), "0a054144444544");
  EXPECT_EQ(Hex(frame.substr(11, 6)), "12cb010ac801");
}

}  // namespace
}  // namespace keelson::schema
