#include "storage/cached_object.h"

#include <gtest/gtest.h>

#include "storage/object_record.h"
#include "storage/resource.h"
#include "storage/testing_objects.h"

namespace keelson::storage {
namespace {

using testing::MakeImage;
using testing::MakeObject;

const testing::Sample kSample{.ns = "kube-system",
                              .name = "coredns",
                              .labels = {{"k8s-app", "kube-dns"}, {"tier", ""}},
                              .fields = {{"nodeName", "n1"}, {"phase", ""}},
                              .data = "x"};

TEST(ObjectRecord, CanBeMadeAgainFromTheObject) {
  for (size_t size : {0, 600, 3400}) {
    for (Revision revision : {1, 123456789}) {
      auto sample = testing::PodSample(7, size);
      if (size == 600) sample.labels.clear();
      if (size == 3400) sample.ns.clear();
      auto image = MakeImage(sample);
      std::string elsewhere = "a value that the JSON does not hold";
      image.facts.fields.push_back(elsewhere);
      Slice record = *ObjectRecord::Encode(image, 7);
      auto object = *ObjectRecord::Decode(record.view(), 7, revision);
      ASSERT_TRUE(object->from_record());
      EXPECT_EQ(ObjectRecord::Restore(*object, 7).view(), record.view());
      EXPECT_EQ(ObjectRecord::Restore(*object->AtRevision(revision * 1000), 7).view(),
                record.view());
    }
  }
  EXPECT_FALSE(MakeObject({}, 1)->from_record());
}

TEST(CachedObject, PutsTheVersionInItsPlace) {
  auto object = MakeObject(kSample, 12345);
  EXPECT_EQ(
      object->json_view(),
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"coredns","namespace":"kube-system",)"
      R"("uid":"00000000-0000-4000-8000-000000000000","resourceVersion":"12345","labels":)"
      R"({"k8s-app":"kube-dns","tier":""}},"spec":{"nodeName":"n1","phase":""},"data":"x"})");
  EXPECT_TRUE(object->ListItem().view().starts_with(R"("metadata":{"name":"coredns")"));
}

TEST(CachedObject, KnowsItsFacts) {
  for (Revision revision : {Revision{7}, Revision{1} << 60}) {
    auto object = MakeObject(kSample, revision);
    EXPECT_EQ(object->revision(), revision);
    EXPECT_EQ(object->name(), "coredns");
    EXPECT_EQ(object->ns(), "kube-system");
    EXPECT_EQ(object->uid(), "00000000-0000-4000-8000-000000000000");
    EXPECT_EQ(object->labels().Find("k8s-app"), "kube-dns");
    EXPECT_EQ(object->labels().Find("tier"), "");
    EXPECT_EQ(object->labels().Find("app"), std::nullopt);
    EXPECT_EQ(object->field(0), "n1");
    EXPECT_EQ(object->field(1), "");
    EXPECT_EQ(object->field(2), "");
  }
}

TEST(CachedObject, KeepsFactsThatItsJsonDoesNotHold) {
  auto image = MakeImage(kSample);
  image.facts.name = "a\"b";  // escaped in the JSON of a real object
  image.facts.labels.push_back({"computed", "yes"});
  image.facts.fields[1] = "true";
  auto object = *CachedObject::Create(image, 5);
  EXPECT_EQ(object->name(), "a\"b");
  EXPECT_EQ(object->labels().Find("computed"), "yes");
  EXPECT_EQ(object->labels().Find("k8s-app"), "kube-dns");
  EXPECT_EQ(object->field(0), "n1");
  EXPECT_EQ(object->field(1), "true");
  auto later = object->AtRevision(123456789);
  EXPECT_EQ(later->name(), "a\"b");
  EXPECT_EQ(later->field(1), "true");
}

TEST(CachedObject, AtAnotherRevisionOnlyTheVersionDiffers) {
  auto object = MakeObject(kSample, 99);
  auto later = object->AtRevision(100);
  EXPECT_EQ(later->json_view(), MakeObject(kSample, 100)->json_view());
  EXPECT_EQ(later->labels().Find("k8s-app"), "kube-dns");
  EXPECT_EQ(later->field(0), "n1");
  EXPECT_EQ(later->name(), "coredns");
  EXPECT_TRUE(later->SameExceptVersion(MakeImage(kSample).json.view()));
  auto other = kSample;
  other.data = "y";
  EXPECT_FALSE(later->SameExceptVersion(MakeImage(other).json.view()));
}

TEST(CachedObject, VersionMayStandBehindTheLabels) {
  // Custom resources are written in the order of their keys.
  ObjectImage image;
  image.json = Slice::Static(
      R"({"apiVersion":"x/v1","kind":"W","metadata":{"labels":{"a":"b"},"name":"n","uid":"u"}})");
  auto json = image.json.view();
  image.facts = {
      .name = json.substr(json.find("\"n\"") + 1, 1),
      .uid = json.substr(json.find("\"u\"") + 1, 1),
      .labels = {{json.substr(json.find("\"a\"") + 1, 1), json.substr(json.find("\"b\"") + 1, 1)}},
      .version_at = static_cast<uint32_t>(json.find(R"(,"uid")"))};
  auto object = *CachedObject::Create(image, 8);
  EXPECT_EQ(object->json_view(),
            R"({"apiVersion":"x/v1","kind":"W","metadata":{"labels":{"a":"b"},"name":"n",)"
            R"("resourceVersion":"8","uid":"u"}})");
  EXPECT_FALSE(object->omits_type());
  EXPECT_EQ(object->ListItem().view(), object->json_view());
  EXPECT_EQ(object->uid(), "u");
  EXPECT_EQ(object->labels().Find("a"), "b");
}

TEST(CachedObject, SlicesOutliveTheReference) {
  Slice json;
  {
    auto object = MakeObject(kSample, 2);
    json = object->Json();
  }
  EXPECT_TRUE(json.view().ends_with(R"("data":"x"})"));
}

TEST(ObjectRecord, RefusesEveryDamage) {
  auto record = *ObjectRecord::Encode(MakeImage(kSample), 7);
  ASSERT_TRUE(ObjectRecord::Decode(record.view(), 7, 2).has_value());
  EXPECT_EQ(ObjectRecord::Decode(record.view(), 8, 2).error().code, ErrorCode::kUnsupported);
  for (size_t size = 0; size < record.size() - 40; ++size) {
    std::string cut(record.view().substr(0, size));
    if (auto decoded = ObjectRecord::Decode(cut, 7, 2)) {
      ADD_FAILURE() << "cut at " << size;
    }
  }
  // No single byte of the tables may lead outside of the record; the address sanitizer watches.
  for (size_t i = 4; i < 40 + 2 * 8 + 2 * 6; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged(record.view());
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      if (auto decoded = ObjectRecord::Decode(damaged, 7, 2)) {
        (void)(*decoded)->labels().Find("k8s-app");
        for (size_t f = 0; f < (*decoded)->field_count(); ++f)
          (void)std::string((*decoded)->field(f));
        (void)std::string((*decoded)->name());
        (void)std::string((*decoded)->AtRevision(999)->uid());
      }
    }
  }
}

TEST(ObjectRecord, RefusesFactsThatContradict) {
  auto image = MakeImage(kSample);
  image.facts.version_at = static_cast<uint32_t>(image.json.size());
  EXPECT_EQ(ObjectRecord::Encode(image, 0).error().code, ErrorCode::kInvalid);
  image = MakeImage(kSample);
  std::string huge(70000, 'n');
  image.facts.name = huge;
  EXPECT_EQ(ObjectRecord::Encode(image, 0).error().code, ErrorCode::kTooLarge);
}

// Stands for a reader of plain JSON: all it knows is the sample.
class SampleReader final : public ImageReader {
 public:
  Result<ObjectImage> Read(const Slice& value) const override {
    ++reads;
    auto image = MakeImage(kSample);
    if (value.view() != image.json.view()) return Fail(ErrorCode::kCorrupt, "unknown");
    return image;
  }
  mutable int reads = 0;
};

TEST(RecordCodec, TakesFactsFromTheJsonWhenTheFieldsHaveChanged) {
  SampleReader reader;
  RecordCodec before({"spec.nodeName"}, &reader);
  RecordCodec after({"spec.nodeName", "status.phase"}, &reader);
  auto stored = *before.Encode(MakeImage(kSample));
  EXPECT_EQ((*before.Decode(stored, 3))->field(0), "n1");
  EXPECT_EQ(reader.reads, 0);
  EXPECT_EQ((*after.Decode(stored, 3))->field(0), "n1");
  EXPECT_EQ(reader.reads, 1);
  EXPECT_EQ((*after.Decode(MakeImage(kSample).json, 3))->name(), "coredns");
  EXPECT_FALSE(RecordCodec({}).Decode(Slice::Static("{}"), 3).has_value());
}

}  // namespace
}  // namespace keelson::storage
