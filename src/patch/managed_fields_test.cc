#include "patch/managed_fields.h"

#include <gtest/gtest.h>

#include "patch/scale_fields.h"
#include "patch/test_types.h"

namespace keelson::patch {
namespace {

using value::Value;

std::string Entry(std::string_view manager, std::string_view operation, std::string_view version,
                  std::string_view fields, std::string_view rest = "") {
  return fmt::format(
      R"({{"manager":"{}","operation":"{}","apiVersion":"{}","fieldsType":"FieldsV1","fieldsV1":{}{}}})",
      manager, operation, version, fields, rest);
}

TEST(ManagedFields, AreStoredInUpstreamsOrder) {
  auto arena = value::Arena::Make();
  auto document = Parse(
      "[" + Entry("b", "Update", "v1", R"({"f:a":{}})", R"(,"time":"2020-01-02T00:00:00Z")") + "," +
      Entry("z", "Update", "v1", R"({"f:a":{}})", R"(,"time":"2020-01-01T00:00:00Z")") + "," +
      Entry("a", "Update", "v1", R"({"f:a":{}})",
            R"(,"time":"2020-01-02T00:00:00Z","subresource":"status")") +
      "," + Entry("m", "Apply", "v1", R"({"f:a":{}})", R"(,"time":"2025-01-01T00:00:00Z")") + "]");
  auto managed = ManagedFields::Decode(*arena, document.root());
  ASSERT_TRUE(managed.has_value());
  std::string order;
  Value encoded = managed->Encode(*arena);
  for (const Value& entry : encoded.items()) order += entry["manager"].AsString();
  EXPECT_EQ(order, "mzab");
  std::string names;
  for (const auto& member : encoded.items()[2].members()) names += std::string(member.key()) + " ";
  EXPECT_EQ(names, "manager operation apiVersion time fieldsType fieldsV1 subresource ");
}

TEST(ManagedFields, TheLastEntryOfAWriterCounts) {
  auto arena = value::Arena::Make();
  auto document = Parse("[" + Entry("a", "Apply", "v1", R"({"f:a":{}})") + "," +
                        Entry("a", "Apply", "v2", R"({"f:b":{}})") + "," +
                        Entry("a", "Update", "v1", R"({"f:c":{}})") + "]");
  auto managed = ManagedFields::Decode(*arena, document.root());
  ASSERT_EQ(managed->entries().size(), 2u);
  EXPECT_EQ(managed->entries()[0].api_version, "v2");
}

TEST(ManagedFields, MalformedEntriesAreRefused) {
  auto arena = value::Arena::Make();
  auto message = [&](const std::string& entry) {
    auto document = Parse("[" + entry + "]");
    return ManagedFields::Decode(*arena, document.root()).error().message;
  };
  EXPECT_EQ(message(R"({"operation":"Patch"})"), "operation must be `Apply` or `Update`");
  EXPECT_EQ(message(R"({"operation":"Apply"})"), "apiVersion must not be empty");
  EXPECT_EQ(message(R"({"operation":"Apply","apiVersion":"v1"})"),
            "missing fieldsType in managed fields entry 0");
  EXPECT_EQ(message(R"({"operation":"Apply","apiVersion":"v1","fieldsType":"V2"})"),
            "invalid fieldsType \"V2\" in managed fields entry 0");
  EXPECT_TRUE(message(Entry("a", "Apply", "v1", R"({"q":{}})")).starts_with("error decoding set"));
}

TEST(ManagedFields, ResetIsAnEmptyListOrOneEmptyEntry) {
  for (auto [text, reset] : {std::pair("[]", true),
                             {"[{}]", true},
                             {R"([{"manager":""}])", true},
                             {"null", false},
                             {R"([{"manager":"a"}])", false},
                             {"[{},{}]", false}}) {
    EXPECT_EQ(AsksForReset(Parse(text).root()), reset) << text;
  }
}

TEST(ManagedFields, CappingJoinsTheOldestOfAVersion) {
  auto arena = value::Arena::Make();
  std::string list = "[";
  for (int i = 0; i < 5; ++i) {
    list += Entry(fmt::format("m{}", i), "Update", i == 1 ? "v2" : "v1",
                  fmt::format(R"({{"f:k{}":{{}}}})", i),
                  fmt::format(R"(,"time":"2020-01-01T00:00:0{}Z")", i)) +
            ",";
  }
  auto document = Parse(list + Entry("m9", "Apply", "v1", R"({"f:x":{}})") + "]");
  auto managed = ManagedFields::Decode(*arena, document.root());
  managed->CapUpdates(*arena, 3);
  Value encoded = managed->Encode(*arena);
  ASSERT_EQ(encoded.size(), 4u);
  EXPECT_EQ(encoded.At(1)["manager"].AsString(), "m1");
  EXPECT_EQ(encoded.At(2)["manager"].AsString(), "ancient-changes");
  EXPECT_EQ(Text(encoded.At(2)["fieldsV1"]), R"({"f:k0":{},"f:k2":{},"f:k3":{}})");
  EXPECT_EQ(encoded.At(3)["manager"].AsString(), "m4");
}

class ScaleFields : public testing::Test {
 protected:
  std::string ToScale(const std::string& entries) {
    auto document = Parse(entries);
    return Text(*ScaleManagedFields(*arena, document.root(), paths));
  }
  std::string ToResource(const std::string& resource, const std::string& scale) {
    auto before = Parse(resource);
    auto written = Parse(scale);
    return Text(*ResourceManagedFields(*arena, before.root(), written.root(), "apps/v1", paths));
  }
  value::ArenaRef arena = value::Arena::Make();
  ReplicasPaths paths = {{"apps/v1", {"spec", "replicas"}}, {"apps/v0", {}}};
};

TEST_F(ScaleFields, ScaleShowsOnlyOwnersOfTheReplicaCount) {
  EXPECT_EQ(
      ToScale("[" + Entry("a", "Update", "apps/v1", R"({"f:spec":{"f:replicas":{},"f:x":{}}})") +
              "," + Entry("b", "Update", "apps/v1", R"({"f:spec":{"f:x":{}}})") + "," +
              Entry("c", "Update", "apps/v9", R"({"f:spec":{"f:replicas":{}}})") + "]"),
      Text(Parse("[" + Entry("a", "Update", "autoscaling/v1", R"({"f:spec":{"f:replicas":{}}})") +
                 "]")));
}

TEST_F(ScaleFields, WriterOfScaleTakesTheReplicaCount) {
  EXPECT_EQ(
      ToResource(
          "[" + Entry("a", "Apply", "apps/v1", R"({"f:spec":{"f:replicas":{},"f:x":{}}})") + "]",
          "[" +
              Entry("s", "Update", "autoscaling/v1", R"({"f:spec":{"f:replicas":{}}})",
                    R"(,"subresource":"scale","time":"2020-01-01T00:00:00Z")") +
              "]"),
      Text(Parse("[" + Entry("a", "Apply", "apps/v1", R"({"f:spec":{"f:x":{}}})") + "," +
                 Entry("s", "Update", "apps/v1", R"({"f:spec":{"f:replicas":{}}})",
                       R"(,"subresource":"scale")") +
                 "]")));
}

TEST_F(ScaleFields, OwnersThatKeptTheCountStayAndUnknownVersionsGo) {
  std::string owner = Entry("a", "Apply", "apps/v1", R"({"f:spec":{"f:replicas":{},"f:x":{}}})");
  EXPECT_EQ(
      ToResource(
          "[" + owner + "," + Entry("b", "Update", "apps/v9", R"({"f:x":{}})") + "," +
              Entry("c", "Update", "apps/v0", R"({"f:y":{}})") + "]",
          "[" + Entry("a", "Apply", "autoscaling/v1", R"({"f:spec":{"f:replicas":{}}})") + "]"),
      Text(Parse("[" + owner + "," + Entry("c", "Update", "apps/v0", R"({"f:y":{}})") + "]")));
}

}  // namespace
}  // namespace keelson::patch
