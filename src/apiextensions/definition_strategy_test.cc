#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apiextensions_v1.h"
#include "apiextensions/strategies.h"
#include "rest/testing_kind.h"

namespace keelson::apiextensions {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

rest::KindTester Tester() {
  return {api::apiextensions_v1::CustomResourceDefinition::Schema(),
          schema::DefaultHooks(Defaults()), rest::StrategyOf(Strategies(), kDefinitions)};
}

std::string Definition(std::string_view schema) {
  return R"({"metadata":{"name":"as.x.io"},"spec":{"group":"x.io","scope":"Cluster","names":)"
         R"({"plural":"as","kind":"A"},"versions":[{"name":"v1","served":true,"storage":true,)"
         R"("schema":{"openAPIV3Schema":)" +
         std::string(schema) + "}}]}}";
}

TEST(DefinitionStrategy, FillsInItsNames) {
  const auto definitions = Tester();
  const auto stored = definitions.Prepared(Definition(R"({"type":"object"})"));
  EXPECT_THAT(stored, HasSubstr(R"("singular":"a","kind":"A","listKind":"AList")"));
  EXPECT_THAT(stored, HasSubstr(R"("conversion":{"strategy":"None"})"));
  EXPECT_THAT(stored, HasSubstr(R"("storedVersions":["v1"])"));
  EXPECT_THAT(definitions.Create(Definition(R"({"type":"object"})")), IsEmpty());
}

TEST(DefinitionStrategy, MustDescribeEveryField) {
  const auto definitions = Tester();
  EXPECT_THAT(
      definitions.Create(Definition(
          R"({"type":"object","properties":{"a":{},"b":{"type":"array"},"g":{"type":"string",)"
          R"("pattern":"("}}})")),
      ElementsAre("spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be "
                  "empty for specified object fields",
                  "spec.validation.openAPIV3Schema.properties[b].items: Required value: must be "
                  "specified",
                  "spec.validation.openAPIV3Schema.properties[g].pattern: Invalid value: \"(\": "
                  "must be a valid regular expression, but isn't: error parsing regexp: missing "
                  "closing ): `(`"));
}

TEST(DefinitionStrategy, SelectsByFieldsThatThereAre) {
  const auto definitions = Tester();
  const auto with = [](std::string_view fields) {
    return Definition(fmt::format(
        R"({{"type":"object","properties":{{"a":{{"type":"string"}},"o":{{"type":"object"}}}}}})"
        R"(}},"selectableFields":{0},"subresources":{{)",
        fields));
  };
  EXPECT_THAT(definitions.Create(with(R"([{"jsonPath":".a"}])")), IsEmpty());
  EXPECT_THAT(
      definitions.Create(
          with(R"([{"jsonPath":".b"},{"jsonPath":".o"},{"jsonPath":".metadata.name"},)"
               R"({"jsonPath":".a"},{"jsonPath":".a"}])")),
      ElementsAre(
          HasSubstr("spec.selectableFields[0].jsonPath: Invalid value: \".b\": is an invalid "
                    "path: does not refer to a valid field"),
          HasSubstr("must point to a field of type string, boolean or integer"),
          HasSubstr("must not point to fields in metadata"),
          "spec.selectableFields[4].jsonPath: Duplicate value: \".a\""));
}

TEST(DefinitionStrategy, NeedsOneStorageVersion) {
  const auto definitions = Tester();
  EXPECT_THAT(definitions.Create(R"({"metadata":{"name":"as.x.io"},"spec":{"group":"x.io","scope":)"
                                 R"("Cluster","names":{"plural":"as","kind":"A"},"versions":[]}})"),
              Contains(HasSubstr("must have exactly one version marked as storage version")));
}

}  // namespace
}  // namespace keelson::apiextensions
