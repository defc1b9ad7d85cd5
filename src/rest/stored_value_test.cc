#include "rest/stored_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/catalog.h"
#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "storage/object_record.h"

namespace keelson::rest {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// One resource's codecs in every form.
class Forms {
 public:
  Forms(std::string_view group, std::string_view version, std::string_view plural)
      : info_(*api::kCatalog.Find(group, version)->FindResource(plural)) {}

  Result<storage::ObjectRef> Decode(std::string_view value, storage::Revision revision = 7) const {
    return records_.Decode(Slice::Copy(value), revision);
  }
  // What an object stored as this JSON is stored as in another form.
  std::string Encode(StoredForm form, std::string_view json) const {
    auto image = reader_.Read(Slice::Copy(json)).value();
    return std::string(StoredCodec(info_, encoder_, reader_, form).Encode(image).value().view());
  }

 private:
  const schema::ResourceInfo& info_;
  ImageEncoder encoder_{info_, /*list_items_keep_type=*/false};
  schema::DefaultHooks defaults_;
  StoredReader reader_{api::kCatalog, info_, defaults_, encoder_};
  StoredCodec records_{info_, encoder_, reader_, StoredForm::kRecord};
};

constexpr std::string_view kConfigMap =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n",)"
    R"("uid":"u","creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"x"}},)"
    R"("data":{"k":"v"}})";
constexpr std::string_view kServed =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n",)"
    R"("uid":"u","resourceVersion":"7","creationTimestamp":"2026-01-02T03:04:05Z",)"
    R"("labels":{"app":"x"}},"data":{"k":"v"}})";

TEST(StoredValue, EveryFormIsServedAlike) {
  Forms forms("", "v1", "configmaps");
  for (auto form : {StoredForm::kRecord, StoredForm::kJson, StoredForm::kProtobuf}) {
    auto stored = forms.Encode(form, kConfigMap);
    auto object = forms.Decode(stored);
    ASSERT_TRUE(object.has_value()) << object.error().message;
    EXPECT_EQ((*object)->json_view(), kServed);
    EXPECT_EQ((*object)->labels().Find("app"), "x");
  }
}

TEST(StoredValue, WritesTheFormsThatUpstreamWrites) {
  Forms forms("", "v1", "configmaps");
  EXPECT_EQ(forms.Encode(StoredForm::kJson, kConfigMap), std::string(kConfigMap) + "\n");
  EXPECT_THAT(forms.Encode(StoredForm::kProtobuf, kConfigMap),
              StartsWith(std::string("k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12", 22)));
  EXPECT_TRUE(storage::ObjectRecord::IsRecord(forms.Encode(StoredForm::kRecord, kConfigMap)));
}

TEST(StoredValue, ConvertsFromTheVersionItWasStoredIn) {
  Forms forms("autoscaling", "v2", "horizontalpodautoscalers");
  auto object = forms.Decode(
      R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1",)"
      R"("metadata":{"name":"a","namespace":"n"},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},)"
      R"("maxReplicas":3,"targetCPUUtilizationPercentage":50}})");
  ASSERT_TRUE(object.has_value()) << object.error().message;
  EXPECT_THAT((*object)->json_view(), HasSubstr(R"("apiVersion":"autoscaling/v2")"));
  EXPECT_THAT((*object)->json_view(), HasSubstr(R"("averageUtilization":50)"));
}

TEST(StoredValue, ReadsDefinitionsAsUpstreamStoresThem) {
  Forms forms("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  constexpr std::string_view kHead =
      R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",)"
      R"("metadata":{"name":"things.x.io"},"spec":{"group":"x.io","version":"v1",)"
      R"("names":{"plural":"things","kind":"Thing"},"scope":"Namespaced",)";
  auto json = [&](std::string_view rest) {
    auto object = forms.Decode(std::string(kHead) + std::string(rest) + "}}");
    EXPECT_TRUE(object.has_value()) << object.error().message;
    return object ? std::string((*object)->json_view()) : "";
  };
  auto shared =
      json(R"("validation":{"openAPIV3Schema":{"type":"object"}},"subresources":{"status":{}},)"
           R"("additionalPrinterColumns":[{"name":"Age","type":"date","JSONPath":".a"}],)"
           R"("versions":[{"name":"v1","served":true,"storage":true},)"
           R"({"name":"v2","served":true,"storage":false,"subresources":{}}],)"
           R"("conversion":{"strategy":"Webhook","webhookClientConfig":{"url":"https://x"},)"
           R"("conversionReviewVersions":["v1"]})");
  EXPECT_THAT(shared, HasSubstr(R"({"name":"v1","served":true,"storage":true,"schema":)"
                                R"({"openAPIV3Schema":{"type":"object"}},"subresources":)"
                                R"({"status":{}},"additionalPrinterColumns":)"
                                R"([{"name":"Age","type":"date","jsonPath":".a"}]})"));
  EXPECT_THAT(shared, HasSubstr(R"("subresources":{},"additionalPrinterColumns")"));
  EXPECT_THAT(shared, HasSubstr(R"("conversion":{"strategy":"Webhook","webhook":{"clientConfig":)"
                                R"({"url":"https://x"},"conversionReviewVersions":["v1"]}})"));
  EXPECT_THAT(json(R"("conversion":{"strategy":"None"})"),
              HasSubstr(R"("versions":[{"name":"v1","served":true,"storage":true}])"));
}

TEST(StoredValue, FillsInDefaultsOnReading) {
  Forms forms("", "v1", "services");
  auto object =
      forms.Decode(R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"a","namespace":"n"},)"
                   R"("spec":{"ports":[{"port":80}]}})");
  ASSERT_TRUE(object.has_value()) << object.error().message;
  EXPECT_THAT((*object)->json_view(), HasSubstr(R"("protocol":"TCP")"));
}

TEST(StoredValue, RefusesWhatIsNotOfTheResource) {
  Forms forms("", "v1", "configmaps");
  EXPECT_FALSE(forms.Decode("").has_value());
  EXPECT_FALSE(forms.Decode(std::string_view("k8s\0garbage", 11)).has_value());
  EXPECT_THAT(forms.Decode(R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}})")
                  .error()
                  .message,
              HasSubstr("a Secret is stored among the configmaps"));
  EXPECT_THAT(forms.Decode(R"({"kind":"Thing","apiVersion":"x/v1","metadata":{"name":"a"}})")
                  .error()
                  .message,
              HasSubstr("not known"));
}

TEST(StoredValue, KnowsTheMediaTypesOfTheFlag) {
  EXPECT_EQ(ParseStoredForm(""), StoredForm::kRecord);
  EXPECT_EQ(ParseStoredForm("application/json"), StoredForm::kJson);
  EXPECT_EQ(ParseStoredForm("application/vnd.kubernetes.protobuf"), StoredForm::kProtobuf);
  EXPECT_FALSE(ParseStoredForm("application/yaml").has_value());
}

}  // namespace
}  // namespace keelson::rest
