#include "kube/stored_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/catalog.h"

namespace keelson::kube {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kConfigMap =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n"}})";

TEST(StoredKinds, TellsWhatCannotBeServed) {
  StoredKinds kinds(api::kCatalog);
  EXPECT_TRUE(kinds.Check("/registry/configmaps/n/a", kConfigMap).has_value());
  EXPECT_THAT(kinds.Check("/registry/configmaps/n/b", kConfigMap).error().message,
              HasSubstr("belongs under /registry/configmaps/n/a"));
  EXPECT_THAT(kinds.Check("/registry/secrets/n/a", kConfigMap).error().message,
              HasSubstr("a ConfigMap is stored among the secrets"));
  EXPECT_FALSE(kinds.Check("/registry/configmaps/n/a", "k").has_value());
}

TEST(StoredKinds, LeavesOtherKeysAlone) {
  StoredKinds kinds(api::kCatalog);
  EXPECT_TRUE(kinds.Check("/registry/example.com/things/n/a", "whatever").has_value());
  EXPECT_TRUE(kinds.Check("compact_rev_key", "7").has_value());
}

}  // namespace
}  // namespace keelson::kube
