#include "value/projection.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace keelson::value {
namespace {

std::string Project(std::initializer_list<std::string_view> paths, std::string_view json) {
  Projection projection(std::span(paths.begin(), paths.size()));
  auto arena = Arena::Make();
  return ToJson(projection.Read(json, *arena));
}

TEST(Projection, KeepsNamedPartsAlone) {
  EXPECT_EQ(
      Project(
          {"spec.nodeName", "status.phase"},
          R"({"kind":"Pod","spec":{"x":[1,{"y":2}],"nodeName":"n"},"status":{"phase":"Running"}})"),
      R"({"spec":{"nodeName":"n"},"status":{"phase":"Running"}})");
}

TEST(Projection, StepsThroughListsAndKeepsTheirLength) {
  EXPECT_EQ(Project({"a.b"}, R"({"a":[{"b":1,"c":2},{"c":3},{"b":[4,null]}]})"),
            R"({"a":[{"b":1},{},{"b":[4,null]}]})");
}

TEST(Projection, TakesEverythingBelowAPath) {
  EXPECT_EQ(Project({"m.labels"}, R"({"m":{"labels":{"a\"b":"<c>","n":1.5,"o":[true,{}]}}})"),
            "{\"m\":{\"labels\":{\"a\\\"b\":\"\\u003cc\\u003e\",\"n\":1.5,\"o\":[true,{}]}}}");
}

TEST(Projection, TellsWhereMetadataStands) {
  Projection projection(std::span<const std::string_view>{});
  auto arena = Arena::Make();
  std::string_view metadata;
  projection.Read(R"({"kind":"K","metadata":{"name":"a","x":{"metadata":1}},"spec":{}})", *arena,
                  &metadata);
  EXPECT_EQ(metadata, R"({"name":"a","x":{"metadata":1}})");
}

TEST(Projection, ReadsContainersOfAnySize) {
  std::string json = R"({"items":[)";
  for (int i = 0; i < 100; ++i)
    json += (i ? "," : "") + std::string(R"({"n":)") + std::to_string(i) + "}";
  json += "]}";
  EXPECT_EQ(Project({"items.n"}, json), json);
}

}  // namespace
}  // namespace keelson::value
