#include "schema/convert.h"

#include <gtest/gtest.h>

#include "api/catalog.h"
#include "schema/decode_json.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

std::string Convert(std::string_view group, std::string_view version, std::string_view kind,
                    std::string_view json, std::string_view to) {
  const Type& type = *api::kCatalog.Find(group, version)->FindKind(kind);
  auto decoded = DecodeJson(type, json, {.strict = true});
  EXPECT_TRUE(decoded.has_value() && decoded->strict_errors.empty());
  TableConverter converter(api::kCatalog, BuiltInConversions());
  auto converted = converter.ConvertNow(decoded->object, to);
  return converted ? value::ToJson(converted->root()) : converted.error().message;
}

TEST(Convert, EventsRenameTheirFields) {
  constexpr std::string_view kCore =
      R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e"},"involvedObject":{"kind":"Pod",)"
      R"("name":"p"},"reason":"Pulled","message":"done","source":{"component":"kubelet"},)"
      R"("firstTimestamp":"2024-01-02T03:04:05Z","lastTimestamp":null,"count":2,"type":"Normal",)"
      R"("eventTime":null,"reportingComponent":"kubelet","reportingInstance":"n"})";
  constexpr std::string_view kEvents =
      R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"eventTime":null,)"
      R"("reportingController":"kubelet","reportingInstance":"n","reason":"Pulled","regarding":{)"
      R"("kind":"Pod","name":"p"},"note":"done","type":"Normal","deprecatedSource":{"component":)"
      R"("kubelet"},"deprecatedFirstTimestamp":"2024-01-02T03:04:05Z","deprecatedLastTimestamp":null,)"
      R"("deprecatedCount":2})";
  EXPECT_EQ(Convert("", "v1", "Event", kCore, "events.k8s.io/v1"), kEvents);
  EXPECT_EQ(Convert("events.k8s.io", "v1", "Event", kEvents, "v1"), kCore);
}

TEST(Convert, AutoscalerKeepsOtherMetricsInAnnotations) {
  constexpr std::string_view kV2 =
      R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":"h"},)"
      R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":3,"metrics":[{"type":)"
      R"("Pods","pods":{"metric":{"name":"rps"},"target":{"type":"AverageValue","averageValue":"10"}}},)"
      R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization",)"
      R"("averageUtilization":70}}}],"behavior":{"scaleUp":{"selectPolicy":"Max"}}},"status":{)"
      R"("desiredReplicas":0,"currentMetrics":null}})";
  constexpr std::string_view kV1 =
      R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":{"name":"h",)"
      R"("annotations":{"autoscaling.alpha.kubernetes.io/behavior":"{\"ScaleUp\":{\"SelectPolicy\":)"
      R"(\"Max\"}}","autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Pods\",\"pods\":{)"
      R"(\"metricName\":\"rps\",\"targetAverageValue\":\"10\"}}]"}},"spec":{"scaleTargetRef":{"kind":)"
      R"("Deployment","name":"d"},"maxReplicas":3,"targetCPUUtilizationPercentage":70},"status":{)"
      R"("currentReplicas":0,"desiredReplicas":0}})";
  EXPECT_EQ(Convert("autoscaling", "v2", "HorizontalPodAutoscaler", kV2, "autoscaling/v1"), kV1);
  EXPECT_EQ(Convert("autoscaling", "v1", "HorizontalPodAutoscaler", kV1, "autoscaling/v2"), kV2);
}

TEST(Convert, AutoscalerWithoutMetricsAsksForCpu) {
  EXPECT_EQ(
      Convert("autoscaling", "v1", "HorizontalPodAutoscaler",
              R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","spec":{}})",
              "autoscaling/v2"),
      R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{},"spec":{)"
      R"("scaleTargetRef":{"kind":"","name":""},"maxReplicas":0,"metrics":[{"type":"Resource",)"
      R"("resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]},)"
      R"("status":{"desiredReplicas":0,"currentMetrics":null}})");
}

TEST(Convert, RefusesVersionsWithoutAWay) {
  EXPECT_EQ(Convert("", "v1", "Pod", R"({"kind":"Pod","apiVersion":"v1"})", "v2"),
            "v1 Pod cannot be converted to v2");
  EXPECT_EQ(Convert("", "v1", "Pod", R"({"kind":"Pod","apiVersion":"v1"})", "v1").substr(0, 12),
            "{\"kind\":\"Pod");
}

}  // namespace
}  // namespace keelson::schema
