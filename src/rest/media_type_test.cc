#include "rest/media_type.h"

#include <gtest/gtest.h>

namespace keelson::rest {
namespace {

ApiResult<OutputMedia> Output(std::string_view accept, OutputOffer offer = {}) {
  return NegotiateOutput({.accept = accept}, offer);
}

TEST(NegotiateOutput, TakesJsonWhenNothingIsAsked) {
  EXPECT_EQ(Output("")->format, Format::kJson);
  EXPECT_EQ(Output("*/*")->format, Format::kJson);
}

TEST(NegotiateOutput, FollowsQualityThenOrder) {
  EXPECT_EQ(Output("application/yaml;q=0.5, application/vnd.kubernetes.protobuf")->format,
            Format::kProtobuf);
  EXPECT_EQ(Output("text/html, application/json;q=0.5")->format, Format::kJson);
  EXPECT_EQ(Output("*/*, application/yaml")->format, Format::kYaml);
}

TEST(NegotiateOutput, ReadsTheAskedShape) {
  auto media = Output("application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  EXPECT_EQ(media->shape, Shape::kTable);
  EXPECT_EQ(Output("application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io")->shape,
            Shape::kPartialObjectMetadataList);
}

TEST(NegotiateOutput, FallsBackWhenTheShapeIsNotOffered) {
  auto media =
      Output("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", {.table = false});
  EXPECT_EQ(media->shape, Shape::kObject);
  // A Table has no protobuf form, so the next clause is taken.
  media =
      Output("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json");
  EXPECT_EQ(media->format, Format::kJson);
}

TEST(NegotiateOutput, RefusesUnknownShapesInTheHandlersWords) {
  for (auto accept : {"application/json;as=Foo;v=v1;g=meta.k8s.io",
                      "application/json;as=Table;v=v1;g=other.io"}) {
    auto refused = Output(accept);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().ToJson(),
              R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
              R"("only the following media types are accepted: application/json, )"
              R"(application/yaml, application/vnd.kubernetes.protobuf",)"
              R"("reason":"NotAcceptable","code":406})");
  }
}

TEST(NegotiateOutput, RefusesUnknownTypesInTheRoutersWords) {
  auto refused = Output("text/html", {.watch = true});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch");
  EXPECT_EQ(Output("application/cbor").error().message,
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf");
}

TEST(NegotiateOutput, DoesNotStreamYaml) {
  auto refused = Output("application/yaml", {.watch = true, .streaming = true});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "only the following media types are accepted: application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch");
}

TEST(NegotiateOutput, KeepsProtobufFromCustomResources) {
  EXPECT_EQ(
      Output("application/vnd.kubernetes.protobuf,application/json", {.protobuf = false})->format,
      Format::kJson);
}

TEST(NegotiateOutput, PrettyByParameterQueryOrTool) {
  EXPECT_TRUE(Output("application/json;pretty=1")->pretty);
  EXPECT_TRUE(NegotiateOutput({.raw_query = "pretty=true"}, {})->pretty);
  EXPECT_TRUE(NegotiateOutput({.user_agent = "curl/8.0"}, {})->pretty);
  EXPECT_FALSE(NegotiateOutput({.user_agent = "curl/8.0", .raw_query = "pretty=0"}, {})->pretty);
  EXPECT_FALSE(NegotiateOutput({.user_agent = "kubectl/v1.36"}, {})->pretty);
}

TEST(NegotiateDiscovery, KnowsTheAggregatedForm) {
  const std::string aggregated =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const std::string beta =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  EXPECT_TRUE(NegotiateDiscovery({.accept = aggregated})->aggregated);
  EXPECT_TRUE(
      NegotiateDiscovery({.accept = aggregated + "," + beta + ",application/json"})->aggregated);
  EXPECT_FALSE(NegotiateDiscovery({.accept = "application/json"})->aggregated);
  EXPECT_FALSE(NegotiateDiscovery({.accept = ""})->aggregated);
  EXPECT_FALSE(NegotiateDiscovery({.accept = beta + ",application/json"})->aggregated);
  EXPECT_EQ(NegotiateDiscovery({.accept = beta}).error().code, 406);
  EXPECT_EQ(
      NegotiateDiscovery({.accept = "application/json;as=Table;g=meta.k8s.io;v=v1"}).error().code,
      406);
  EXPECT_EQ(NegotiateDiscovery({.accept = "application/vnd.kubernetes.protobuf"})->format,
            Format::kProtobuf);
}

TEST(NegotiateInput, ReadsTheTypeAndIgnoresParameters) {
  EXPECT_EQ(NegotiateInput(""), Format::kJson);
  EXPECT_EQ(NegotiateInput("application/json; charset=utf-8"), Format::kJson);
  EXPECT_EQ(NegotiateInput("Application/YAML"), Format::kYaml);
}

TEST(NegotiateInput, RefusesTheRest) {
  for (auto type : {"text/plain", "bad//type", "application/cbor", "application/json; ="}) {
    auto refused = NegotiateInput(type);
    ASSERT_FALSE(refused.has_value()) << type;
    EXPECT_EQ(refused.error().message,
              "the body of the request was in an unknown format - accepted media types include: "
              "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    EXPECT_EQ(refused.error().code, 415);
  }
}

TEST(NegotiatePatch, KnowsTheFourTypes) {
  EXPECT_EQ(NegotiatePatch("application/json-patch+json"), PatchType::kJsonPatch);
  EXPECT_EQ(NegotiatePatch("application/merge-patch+json; charset=utf-8"), PatchType::kMergePatch);
  EXPECT_EQ(NegotiatePatch("application/strategic-merge-patch+json"),
            PatchType::kStrategicMergePatch);
  EXPECT_EQ(NegotiatePatch("application/apply-patch+yaml"), PatchType::kApply);
  EXPECT_EQ(NegotiatePatch("application/json").error().message, "415: Unsupported Media Type");
  EXPECT_EQ(NegotiatePatch("application/strategic-merge-patch+json", false).error().message,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
}

}  // namespace
}  // namespace keelson::rest
